/* SPDX-License-Identifier: MIT */
/* Which files a program is made of, as the loader says; and what damaged files do to those who read them. */
#include "base/files.h"
#include "engine/program_files.h"
#include "engine/sha256.h"
#include "testing.h"

static char *folder, *before;

static void
setup(void)
{
	before = getcwd(NULL, 0);
	folder = temporary_folder_new();
	ck_assert_int_eq(chdir(folder), 0);
	unsetenv("LD_LIBRARY_PATH");
}

static void
teardown(void)
{
	ck_assert_int_eq(chdir(before), 0);
	free(before);
}

static struct program *
program_named(const char *executable)
{
	struct program *program = program_new();

	rot_string_set(&program->executable, executable);
	return program;
}

static bool
has(const struct file_list *files, const char *path)
{
	for (size_t i = 0; i < files->nr; i++)
		if (strcmp(files->paths[i], path) == 0)
			return true;
	return false;
}

static struct file_list
files_of(const char *executable)
{
	struct program *program = program_named(executable);
	struct file_list files;

	program_files_find(program, &files);
	program_delete(program);
	return files;
}

/* The libraries that this process has mapped, and its loader, are among them. */
TEST(all_that_the_loader_loads)
{
	cleared_by(file_list_clear) struct file_list files = files_of("/proc/self/exe");
	char line[4096];
	size_t nr = 0;
	FILE *in = fopen("/proc/self/maps", "r");

	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in)) {
		char *path = strchr(line, '/'), *real = NULL;
		bool is_listed = false;

		if (!path || !strstr(path, ".so") || !strstr(line, "r-xp"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		for (size_t i = 0; i < files.nr && !is_listed; i++, free(real)) {
			real = realpath(files.paths[i], NULL);
			is_listed = real && strcmp(real, path) == 0;
		}
		ck_assert_msg(is_listed, "%s is missing", path);
		nr++;
	}
	fclose(in);
	ck_assert_uint_gt(nr, 2);
}

TEST(interpreters_of_scripts)
{
	struct file_list files;

	file_fill("inner", "#!/bin/sh\nexit 0\n");
	file_fill("outer", "#!/usr/bin/env -S inner\nexit 0\n");
	ck_assert_int_eq(chmod("inner", 0755) + chmod("outer", 0755), 0);
	files = files_of("./outer");
	ck_assert(has(&files, "./outer") && has(&files, "/usr/bin/env"));
	ck_assert(has(&files, "inner (not found)") && !has(&files, "/bin/sh"));
	file_list_clear(&files);
	setenv("PATH", folder, 1);
	files = files_of("outer");
	ck_assert_str_eq(strrchr(files.paths[0], '/'), "/outer");
	ck_assert(has(&files, "/bin/sh"));
	ck_assert(!has(&files, "inner (not found)"));
	file_list_clear(&files);
	setenv("PATH", "/no:", 1); /* nothing is the current folder */
	files = files_of("outer");
	ck_assert(has(&files, "./outer"));
	file_list_clear(&files);
}

/* In front of the system's, and by the program's own environment. */
TEST(library_path_comes_first)
{
	struct file_list files = files_of("/proc/self/exe");
	struct program *program = program_named("/proc/self/exe");
	char *libc = NULL, *libm = NULL, *own = rot_format("%s/libc.so.6", folder),
	     *set = rot_format("LD_LIBRARY_PATH=/no:%s", folder);

	for (size_t i = 0; i < files.nr; i++) {
		if (path_ends_in(files.paths[i], "/libc.so.6"))
			libc = rot_strdup(files.paths[i]);
		if (path_ends_in(files.paths[i], "/libm.so.6"))
			libm = rot_strdup(files.paths[i]);
	}
	ck_assert(libc && libm);
	ck_assert_int_eq(symlink(libc, "libc.so.6"), 0);
	file_list_clear(&files);
	program_environment_add(program, set);
	program_environment_add(program, "LD_PRELOAD=./preloaded.so");
	ck_assert_int_eq(symlink(libm, "preloaded.so"), 0);
	program_files_find(program, &files);
	ck_assert(has(&files, own) && !has(&files, libc));
	ck_assert(has(&files, "./preloaded.so"));
	file_list_clear(&files);
	program_delete(program);
	free(libc);
	free(libm);
	free(own);
	free(set);
}

TEST(what_is_not_there)
{
	struct file_list files = files_of("no-such-program-at-all");

	ck_assert_uint_eq(files.nr, 0);
	file_list_clear(&files);
	files = files_of("./no-such-program-at-all");
	ck_assert_uint_eq(files.nr, 1);
	file_list_clear(&files);
}

/* Beginnings of a program, and bytes of its head changed: an answer, whatever it is. */
TEST(damaged_programs)
{
	size_t length;
	autofree char *bytes = file_read("/proc/self/exe", &length, NULL);

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < 1024 && i < length; i += 7) {
		struct file_list files;
		char kept = bytes[i];

		bytes[i] = (char)~kept;
		ck_assert_int_eq(file_write("damaged", bytes, length < 65536 ? length : 65536, false, NULL), 0);
		ck_assert_int_eq(file_write("cut", bytes, i, false, NULL), 0);
		files = files_of("./damaged");
		ck_assert_str_eq(files.paths[0], "./damaged");
		file_list_clear(&files);
		files = files_of("./cut");
		ck_assert_uint_ge(files.nr, 1);
		file_list_clear(&files);
		bytes[i] = kept;
	}
}

TEST(hashes_follow_the_content)
{
	struct file_hashes *hashes = at_end(file_hashes_delete, file_hashes_new());
	autofree char *first = NULL;

	file_fill("a", "one");
	file_fill("b", "one");
	first = rot_strdup(file_hashes_get(hashes, "a"));
	ck_assert_uint_eq(strlen(first), 64);
	ck_assert_str_eq(file_hashes_get(hashes, "b"), first);
	file_fill("a", "two!");
	ck_assert_str_ne(file_hashes_get(hashes, "a"), first);
	ck_assert_str_eq(file_hashes_get(hashes, "b"), first);
	ck_assert_str_eq(file_hashes_get(hashes, "/dev/null"), "");
	ck_assert_str_eq(file_hashes_get(hashes, "no such file"), "");
	ck_assert_str_eq(file_hashes_get(hashes, "."), "");
}

UNIT_TESTS(.set_up = setup, .tear_down = teardown);
