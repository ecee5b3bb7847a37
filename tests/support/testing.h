/* SPDX-License-Identifier: MIT */
/* What tests need: suites, files of the source and build tree, folders and files of their own. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <check.h>
#include <stdbool.h>

/* How many elements an array has, as check's loop tests count them. */
#define NR_ELEMENTS(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The exit status of a test that this machine cannot run. */
#define TEST_SKIPPED 77

/* All of many variants and trials are asked for (ROT_SLOW_TESTS), not some of each. */
bool all_are_tested(void);

/* times: how often it runs, with _i counting from 0; of 0 it does not. */
struct listed_test {
	const TTest **test;
	int times;
};

/* Tests and what they need. Members that are left out are not there. */
struct suite {
	const char *name;
	bool (*needs[3])(void); /* what must be so, in this order; else, after saying on standard error what is not, it
				   is false and the suite skipped */
	void (*set_up)(void);   /* around each test, in its process */
	void (*tear_down)(void);
	void (*close)(void);    /* once, after all; after what is skipped, too */
	int timeout_s;          /* of each test; left out: ten minutes */
	bool is_in_one_process; /* nothing is forked: for many tests that are short and keep no state */
	const struct listed_test *tests;
	int nr_tests;
};

/* The suite of that name, of a table of listed tests; with other members as they are needed: ".set_up = open". */
#define SUITE(its_name, list, ...)                                                                                     \
	{                                                                                                              \
		.name = its_name, .tests = list, .nr_tests = NR_ELEMENTS(list), __VA_ARGS__                            \
	}

/* The exit status: 0 when all passed, TEST_SKIPPED, otherwise 1. */
int suite_run(const struct suite *suite);

/* A source file with tests. All files for one library are one program, unit-tests, which finds them by path. */
struct test_file {
	const char *path;
	int (*run)(void); /* returns an exit status as suite_run does */
	struct test_file *next;
};
void test_file_add(struct test_file *file);

/* Stands at the end of a file whose tests are this suite. */
#define UNIT_TESTS(its_name, list, ...)                                                                                \
	static int run_suite_of_file(void)                                                                             \
	{                                                                                                              \
		static const struct suite suite_of_file = SUITE(its_name, list, __VA_ARGS__);                          \
                                                                                                                       \
		return suite_run(&suite_of_file);                                                                      \
	}                                                                                                              \
	UNIT_TESTS_BY(run_suite_of_file)

/* Stands at the end of a file whose tests are run by a function. */
#define UNIT_TESTS_BY(function)                                                                                        \
	__attribute__((constructor)) static void add_file(void)                                                        \
	{                                                                                                              \
		static struct test_file this_file = {__FILE__, function, NULL};                                        \
                                                                                                                       \
		test_file_add(&this_file);                                                                             \
	}                                                                                                              \
	struct test_file

/* The path of a file of the source tree and of the build tree (free). */
char *source_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *built_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A fresh folder; temporary_folder_delete removes it with all in it and frees the name (NULL: nothing). */
char *temporary_folder_new(void);
void temporary_folder_delete(char *folder);

/* The content of the file (free). The program ends if it cannot be read. */
char *file_text(const char *path);

/* Makes the file hold just this text. The program ends if it cannot be written. */
void file_fill(const char *path, const char *text);

/* The test fails unless the text is that of the file of the source tree; with GOLDEN=write the file is made so. */
void expect_golden(const char *path, const char *text);

/* Writes folder/name, with the folders that name needs, and returns its path (free). */
char *folder_write(const char *folder, const char *name, const char *text);

#endif
