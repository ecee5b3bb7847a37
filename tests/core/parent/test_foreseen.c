/* SPDX-License-Identifier: MIT */
/* Knowledge of programs, from one run to the next. */
#include "parent/translate/foreseen.h"

#include <dirent.h>

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
	at_end(free, blocks);
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
	struct foreseen_file *file = foreseen_find(foreseen_program(foreseen, PROGRAM), mapped);

	for (uint64_t i = 0; i < NR_BLOCKS; i++) {
		foreseen_add(file, place(i), false);
		foreseen_add(file, place(i), i % 3 == 0);
		foreseen_add(file, place(i), false);
	}
	foreseen_delete(foreseen);
}

/* Its rights, which another file of that name does not keep. */
static unsigned
mode_of(const char *path)
{
	struct stat status;

	ck_assert_int_eq(stat(path, &status), 0);
	return status.st_mode & 0777;
}

static size_t
nr_kept(const char *program)
{
	struct foreseen *foreseen = foreseen_new(blocks);
	const struct foreseen_file *file = foreseen_find(foreseen_program(foreseen, program), mapped);
	const size_t nr = file ? foreseen_nr(file) : 0;

	foreseen_delete(foreseen);
	return nr;
}

TEST(blocks_are_kept_in_their_order)
{
	struct foreseen *foreseen;
	const struct foreseen_file *file;

	keep_blocks();
	foreseen = foreseen_new(blocks);
	file = foreseen_find(foreseen_program(foreseen, PROGRAM), mapped);
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

TEST(a_file_that_has_changed_is_not_the_same)
{
	keep_blocks();
	file_fill(mapped, "other code");
	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	unlink(mapped);
	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
}

/* Each piece of a file is read as far as it goes, and anything else is nothing. */
TEST(damaged_files_are_survived)
{
	static const char *const texts[] = {"", "rot executed blocks 1\n",
					    "rot executed blocks 1\n1 2 3 9999999999 /x\n", "something else\n",
					    "rot executed blocks 1\n1 2 3 5 /x\nab"};
	autofree char *path = NULL;

	keep_blocks();
	path = written();
	ck_assert_int_eq(truncate(path, 4 * NR_BLOCKS / 2), 0);
	ck_assert_uint_gt(nr_kept(PROGRAM), 0);
	ck_assert_uint_lt(nr_kept(PROGRAM), NR_BLOCKS);
	for (int i = 0; i < NR_ELEMENTS(texts); i++) {
		file_fill(path, texts[i]);
		ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	}
	for (unsigned nr = 0; nr < 4; nr++) {
		struct stat status;
		autofree char *text = NULL;

		ck_assert_int_eq(stat(mapped, &status), 0);
		text = rot_format("rot executed blocks 1\n%llu %lld %lld%09ld %u %s\n%s",
				  (unsigned long long)status.st_ino, (long long)status.st_size,
				  (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, nr, mapped, "bl_1bl_2");
		file_fill(path, text);
		ck_assert_uint_eq(nr_kept(PROGRAM), nr < 2 ? nr : 2);
	}
}

/* Nothing new, no writing. */
TEST(nothing_is_written_without_need)
{
	autofree char *path = NULL;

	ck_assert_uint_eq(nr_kept(PROGRAM), 0);
	ck_assert_int_ne(access(blocks, F_OK), 0);
	keep_blocks();
	path = written();
	unlink(path);
	keep_blocks();
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(chmod(path, 0400), 0);
	keep_blocks();
	ck_assert_uint_eq(mode_of(path), 0400);
}

UNIT_TESTS(.set_up = set_up);
