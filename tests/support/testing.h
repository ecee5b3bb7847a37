/* SPDX-License-Identifier: MIT */
/*
 * Tests need these: files of the source and build tree, folders and files of their own. Tests get the headers of
 * the C library that most of them need from here.
 */
#pragma once

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"

/* How many elements an array has, as check's loop tests count them. */
#define NR_ELEMENTS(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The exit status of a test that this machine cannot run. */
#define TEST_SKIPPED 77

/* All of many variants and trials are asked for (ROT_SLOW_TESTS), not some of each. */
bool all_are_tested(void);

/* A test of the file that it stands in. */
#define TEST(name) TEST_OF(name, 1)

/* A test that runs as often as the expression says when its turn comes, with _i counting from 0. */
#define TEST_OF(name, times)                                                                                           \
	static void name##_test(int _i);                                                                               \
                                                                                                                       \
	static int name##_times(void)                                                                                  \
	{                                                                                                              \
		return (int)(times);                                                                                   \
	}                                                                                                              \
                                                                                                                       \
	__attribute__((constructor)) static void name##_add(void)                                                      \
	{                                                                                                              \
		static const TTest test = {#name, name##_test, __FILE__, __LINE__};                                    \
		static struct listed_test listed = {&test, name##_times, NULL};                                        \
                                                                                                                       \
		test_add(&listed);                                                                                     \
	}                                                                                                              \
                                                                                                                       \
	static void name##_test(int _i CK_ATTRIBUTE_UNUSED)

struct listed_test {
	const TTest *test;
	int (*times)(void);
	struct listed_test *next;
};

/* All C files with tests of one library are one program, unit-tests, which finds tests by file. */
void test_add(struct listed_test *test);

/* Called around each test. */
void test_begin(void);
void test_end(void);

/* The tests of a file have this in common. Members that are left out are not there. */
struct suite {
	const char *path;
	bool (*needs[3])(void); /* what must be so, in this order; else, after saying on standard error what is not, it
				   is false and the suite skipped */
	void (*set_up)(void);   /* around each test, in its process */
	void (*tear_down)(void);
	void (*close)(void);    /* once, after all; after what is skipped, too */
	int timeout_s;          /* of each test; left out: ten minutes */
	bool is_in_one_process; /* nothing is forked: for many tests that are short and keep no state */
	const struct suite *next;
};
void suite_add(struct suite *suite);

/* Runs one test of the file, as a need of its others. Returns 0 if it passed. */
int test_run_alone(const char *path, const char *name);

/* Stands at the end of a file, with the members that its tests need: UNIT_TESTS(.set_up = open, .tear_down = close); */
#define UNIT_TESTS(...)                                                                                                \
	__attribute__((constructor)) static void suite_of_file_add(void)                                               \
	{                                                                                                              \
		static struct suite suite_of_file = {.path = __FILE__, __VA_ARGS__};                                   \
                                                                                                                       \
		suite_add(&suite_of_file);                                                                             \
	}                                                                                                              \
	struct suite

/* For what the code that is tested refuses. It is empty when a test begins. */
extern struct rot_error why;

#define ck_assert_ok(call) ck_assert_msg((call) == 0, "%s", why.text)

#define ck_assert_has(text, part)                                                                                      \
	do {                                                                                                           \
		const char *whole_ = (text), *part_ = (part);                                                          \
		ck_assert_msg(strstr(whole_ ? whole_ : "", part_), "there is no '%s' in: %s", part_, whole_);          \
	} while (0)

#define ck_assert_lacks(text, part)                                                                                    \
	do {                                                                                                           \
		const char *whole_ = (text), *part_ = (part);                                                          \
		ck_assert_msg(whole_ && !strstr(whole_, part_), "there is '%s' in: %s", part_, whole_);                \
	} while (0)

/* A local variable with this is given to the function when its block ends. */
#define cleared_by(function) __attribute__((cleanup(function)))

/* Calls the function with the object when the test ends, or behind all tests if it is none that calls. Returns the
 * object. */
#define at_end(clear, object) at_end_call((void (*)(void *))(clear), object)
void *at_end_call(void (*clear)(void *), void *object);

/* Text that the following functions return is there to the end, and may be freed before. */

/* The path of a file of the source tree and of the build tree. */
char *source_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *built_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A fresh folder, which is removed with all in it as at_end says. */
char *temporary_folder_new(void);

/* The content of the file. The program ends if it cannot be read. */
char *file_text(const char *path);

/* Writes folder/name, with the folders that name needs, and returns its path. */
char *folder_write(const char *folder, const char *name, const char *text);

/* Makes the file hold just this text. The program ends if it cannot be written. */
void file_fill(const char *path, const char *text);

/* The text must be that of the file of the source tree, which "rot check --accept" writes anew. */
void expect_golden(const char *path, const char *text);
