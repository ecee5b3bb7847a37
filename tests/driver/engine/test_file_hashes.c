/* SPDX-License-Identifier: MIT */
/* Hashes of files: what is in them now, also when nothing but the content tells that it is another. */
#include "engine/sha256.h"
#include "testing.h"

/* printf '%s' abc | sha256sum */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define XYZ "3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282"

static char *folder;

static void
set_up(void)
{
	folder = temporary_folder_new();
}

static void
tear_down(void)
{
}

/* The new file has the length and the time of the old one: cp -p does that. */
TEST(another_content_has_another_hash)
{
	struct file_hashes *hashes = at_end(file_hashes_delete, file_hashes_new());
	char *path = folder_write(folder, "file", "abc");
	struct stat status;

	ck_assert_str_eq(file_hashes_get(hashes, path), ABC);
	ck_assert_str_eq(file_hashes_get(hashes, path), ABC);
	ck_assert_int_eq(stat(path, &status), 0);
	usleep(20000); /* the clock of files ticks every few milliseconds */
	file_fill(path, "xyz");
	ck_assert_int_eq(utimensat(AT_FDCWD, path, (struct timespec[]){status.st_atim, status.st_mtim}, 0), 0);
	ck_assert_str_eq(file_hashes_get(hashes, path), XYZ);
}

TEST(what_is_no_file_has_none)
{
	struct file_hashes *hashes = at_end(file_hashes_delete, file_hashes_new());
	autofree char *missing = rot_format("%s/missing", folder);

	ck_assert_str_eq(file_hashes_get(hashes, folder), "");
	ck_assert_str_eq(file_hashes_get(hashes, missing), "");
	ck_assert_str_eq(file_hashes_get(hashes, "/dev/null"), "");
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
