/* SPDX-License-Identifier: MIT */
/* What is known of programs, from one run to the next. */
#include "parent/translate/foreseen.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "testing.h"

#define PROGRAM "/program"
#define NR_BLOCKS 5000 /* so many that tables grow */

static char *folder, *mapped, *blocks;

static void
set_up(void)
{
	folder = temporary_folder_new();
	mapped = folder_write(folder, "mapped", "code");
	blocks = rot_format("%s/blocks", folder);
}

static void
tear_down(void)
{
	free(blocks);
	free(mapped);
	temporary_folder_delete(folder);
}

static uint64_t
place(uint64_t number)
{
	return number * UINT64_C(2654435761) % (1 << 20);
}

/* The path of the only file that was written (free). */
static char *
written(void)
{
	DIR *entries = opendir(blocks);
	char *path = NULL;

	ck_assert_ptr_nonnull(entries);
	for (const struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		ck_assert_ptr_null(path);
		path = rot_format("%s/%s", blocks, entry->d_name);
	}
	closedir(entries);
	ck_assert_ptr_nonnull(path);
	return path;
}

static void
keep_blocks(void)
{
	struct foreseen *foreseen = foreseen_new(blocks);
	struct foreseen_file *file = foreseen_find(foreseen, PROGRAM, mapped);

	for (uint64_t i = 0; i < NR_BLOCKS; i++) {
		foreseen_add(file, place(i), false);
		foreseen_add(file, place(i), i % 3 == 0);
		foreseen_add(file, place(i), false);
	}
	foreseen_delete(foreseen);
}

static size_t
nr_kept(const char *program)
{
	struct foreseen *foreseen = foreseen_new(blocks);
	const struct foreseen_file *file = foreseen_find(foreseen, program, mapped);
	const size_t nr = file ? foreseen_nr(file) : 0;

	foreseen_delete(foreseen);
	return nr;
}

START_TEST(blocks_are_kept_in_their_order)
{
	struct foreseen *foreseen;
	const struct foreseen_file *file;

	keep_blocks();
	foreseen = foreseen_new(blocks);
	file = foreseen_find(foreseen, PROGRAM, mapped);
	ck_assert_uint_eq(foreseen_nr(file), NR_BLOCKS);
	for (uint64_t i = 0; i < NR_BLOCKS; i++) {
		bool has_entry;

		ck_assert_uint_eq(foreseen_at(file, i, &has_entry), place(i));
		ck_assert_int_eq(has_entry, i % 3 == 0);
		ck_assert(foreseen_has(file, place(i)));
	}
	ck_assert(!foreseen_has(file, place(NR_BLOCKS)));
	ck_assert(!foreseen_has(file, place(0) + (UINT64_C(1) << 32)));
	foreseen_delete(foreseen);
	ck_assert_uint_eq(nr_kept("/other"), 0);
}
END_TEST

START_TEST(a_file_that_has_changed_is_not_the_same)
{
	keep_blocks();
	file_fill(mapped, "other code");
	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	unlink(mapped);
	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
}
END_TEST

/* Each piece of a file is read as far as it goes, and anything else is nothing. */
START_TEST(damaged_files_are_survived)
{
	static const char *const texts[] = {"", "rot executed blocks 1\n",
					    "rot executed blocks 1\n1 2 3 9999999999 /x\n", "something else\n",
					    "rot executed blocks 1\n1 2 3 5 /x\nab"};
	char *path;

	keep_blocks();
	path = written();
	ck_assert_int_eq(truncate(path, 4 * NR_BLOCKS / 2), 0);
	ck_assert_uint_gt(nr_kept(PROGRAM), 0);
	ck_assert_uint_lt(nr_kept(PROGRAM), NR_BLOCKS);
	for (int i = 0; i < NR_ELEMENTS(texts); i++) {
		file_fill(path, texts[i]);
		ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	}
	free(path);
}
END_TEST

START_TEST(nothing_is_written_without_need)
{
	struct foreseen *foreseen = foreseen_new(NULL);

	foreseen_add(foreseen_find(foreseen, PROGRAM, mapped), 1, true);
	foreseen_delete(foreseen);
	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	ck_assert_int_ne(access(blocks, F_OK), 0);
}
END_TEST

static const struct listed_test tests[] = {
	{&blocks_are_kept_in_their_order, 1},
	{&a_file_that_has_changed_is_not_the_same, 1},
	{&damaged_files_are_survived, 1},
	{&nothing_is_written_without_need, 1},
};

UNIT_TESTS("foreseen", tests, .set_up = set_up, .tear_down = tear_down);
