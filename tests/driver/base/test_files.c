/* SPDX-License-Identifier: MIT */
/* Whole files: what writing does to what is there. */
#include "base/files.h"
#include "testing.h"

static char *folder;

static void
set_up(void)
{
	folder = temporary_folder_new();
	ck_assert_int_eq(chdir(folder), 0);
}

static void
tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
}

static void
expect_text(const char *path, const char *expected)
{
	autofree char *text = file_text(path);

	ck_assert_str_eq(text, expected);
}

static size_t
nr_files(void)
{
	char **names = folder_list(".");
	size_t nr = 0;

	while (names[nr])
		nr++;
	free(names);
	return nr;
}

TEST(a_file_is_replaced)
{
	struct stat old, new;

	file_fill("file", "old");
	ck_assert_int_eq(stat("file", &old), 0);
	ck_assert_int_eq(link("file", "other"), 0); /* so that its number is not taken again */
	ck_assert_int_eq(file_write("file", "new", 3, true, NULL), 0);
	ck_assert_int_eq(stat("file", &new), 0);
	ck_assert(old.st_ino != new.st_ino);
	expect_text("file", "new");
	expect_text("other", "old");
	ck_assert_uint_eq(nr_files(), 2);
}

TEST(a_link_stays)
{
	struct stat status;

	ck_assert_int_eq(mkdir("there", 0777), 0);
	file_fill("there/file", "old");
	ck_assert_int_eq(symlink("there/file", "link"), 0);
	ck_assert_int_eq(file_write("link", "new", 3, false, NULL), 0);
	ck_assert(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
	expect_text("there/file", "new");
	ck_assert_uint_eq(nr_files(), 2);
}

/* A shell makes one of "-j >(jq ...)"; a device that root writes to must not become a file either. */
TEST(a_pipe_is_written_to)
{
	char *path, read_back[8] = "";
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	path = rot_format("/proc/self/fd/%d", ends[1]);
	ck_assert_int_eq(file_deliver(path, "new", 3, true, NULL), 0);
	ck_assert_int_eq(read(ends[0], read_back, sizeof(read_back)), 3);
	ck_assert_str_eq(read_back, "new");
	free(path);
	ck_assert_int_eq(symlink("/dev/null", "device"), 0);
	ck_assert_int_eq(file_deliver("device", "new", 3, false, NULL), 0);
	ck_assert_uint_eq(nr_files(), 1);
	close(ends[0]);
	close(ends[1]);
}

/* A killed process left them: nobody else's files go, and only after a while. */
TEST(leftovers_are_swept)
{
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	static const char *const kept[] = {"o.json.backup", "o.json.new", "rot-XXXXXX", "o.json.rot-12345678"};

	for (size_t i = 0; i < NR_ELEMENTS(kept); i++) {
		file_fill(kept[i], "");
		ck_assert_int_eq(utimensat(AT_FDCWD, kept[i], old, 0), 0);
	}
	file_fill("young" FILE_TEMPORARY, "");
	file_fill("o.json.rot-a1B2c3", "");
	ck_assert_int_eq(mkdir(".o.rot-a1B2c3", 0777), 0);
	file_fill(".o.rot-a1B2c3/data", "");
	ck_assert_int_eq(utimensat(AT_FDCWD, ".o.rot-a1B2c3", old, 0), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, "o.json.rot-a1B2c3", old, 0), 0);
	folder_sweep(".");
	ck_assert_uint_eq(nr_files(), NR_ELEMENTS(kept) + 1);
	ck_assert_int_eq(access(".o.rot-a1B2c3", F_OK), -1);
	ck_assert_int_eq(access("o.json.rot-a1B2c3", F_OK), -1);
}

TEST(a_folder_is_an_error)
{
	ck_assert_int_eq(mkdir("folder", 0777), 0);
	ck_assert_int_eq(file_write("folder", "new", 3, false, &why), -1);
	ck_assert_str_eq(why.text, "cannot write 'folder': Is a directory");
	ck_assert_int_eq(file_write("nowhere/file", "new", 3, false, &why), -1);
	ck_assert_str_eq(why.text, "cannot write 'nowhere/file': No such file or directory");
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
