/* SPDX-License-Identifier: MIT */
/*
 * unit-tests               prints the source files whose tests it holds
 * unit-tests --has FILE    succeeds if it holds the tests of this one
 * unit-tests FILE          runs them; libcheck's CK_FORK=no and CK_RUN_CASE serve as usual
 */
#include "testing.h"

static struct test_file *files;

void
test_file_add(struct test_file *file)
{
	file->next = files;
	files = file;
}

/* The path within the source tree, whatever way leads to it. */
static const char *
path_in_tree(const char *path)
{
	const char *found = path;

	for (const char *next = path; (next = strstr(next, "tests/")); next++)
		found = next;
	return found;
}

/* FILE may be the end of a path, as test_paths.c. */
static const struct test_file *
file_of(const char *path)
{
	const char *end = path_in_tree(path);

	for (const struct test_file *file = files; file; file = file->next) {
		const size_t length = strlen(file->path), nr = strlen(end);

		if (length >= nr && strcmp(file->path + length - nr, end) == 0 &&
		    (length == nr || file->path[length - nr - 1] == '/'))
			return file;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct test_file *file = argc > 1 ? file_of(argv[argc - 1]) : NULL;

	if (argc == 1) {
		for (file = files; file; file = file->next)
			printf("%s\n", path_in_tree(file->path));
		return 0;
	}
	if (strcmp(argv[1], "--has") == 0)
		return file ? 0 : 1;
	if (!file) {
		fprintf(stderr, "%s: no tests of '%s'; without an argument it prints the files that it has\n", argv[0],
			argv[1]);
		return 2;
	}
	return file->run();
}
