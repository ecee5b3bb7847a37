/* SPDX-License-Identifier: MIT */
/* The error type, and suggesting the nearest word. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"
#include "nearest.h"
#include "testing.h"

START_TEST(test_set_adds_the_reason_and_clears_the_hint)
{
	struct rot_error err = {0};

	rot_error_hint(&err, "old");
	ck_assert_int_eq(rot_error_set(&err, ENOENT, "cannot open '%s'", "x.xml"), -1);
	ck_assert_str_eq(err.text, "cannot open 'x.xml': No such file or directory");
	ck_assert_str_eq(err.hint, "");
	ck_assert_int_eq(rot_error_set(&err, 0, "plain"), -1);
	ck_assert_str_eq(err.text, "plain");
}
END_TEST

START_TEST(test_context_is_added_on_both_ends)
{
	struct rot_error err = {0};

	rot_error_set(&err, 0, "unknown event");
	ck_assert_int_eq(rot_error_prefix(&err, "%s:%d", "a.xml", 7), -1);
	ck_assert_int_eq(rot_error_append(&err, " (%d known)", 3), -1);
	ck_assert_int_eq(rot_error_hint(&err, "see %s", "rot list"), -1);
	ck_assert_str_eq(err.text, "a.xml:7: unknown event (3 known)");
	ck_assert_str_eq(err.hint, "see rot list");
}
END_TEST

START_TEST(test_a_message_may_be_made_from_itself)
{
	struct rot_error err = {0};

	rot_error_set(&err, 0, "inner");
	rot_error_set(&err, 0, "outer (%s)", err.text);
	ck_assert_str_eq(err.text, "outer (inner)");
}
END_TEST

START_TEST(test_what_does_not_fit_is_cut_visibly)
{
	struct rot_error err = {0};
	char *text = rot_calloc(2 * sizeof(err.text), 1);

	memset(text, 'x', 2 * sizeof(err.text) - 1);
	rot_error_set(&err, 0, "%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_str_eq(err.text + sizeof(err.text) - 4, "...");
	rot_error_prefix(&err, "prefix");
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert(strncmp(err.text, "prefix: xxx", 11) == 0);
	ck_assert_str_eq(err.text + sizeof(err.text) - 4, "...");
	rot_error_hint(&err, "%s", text);
	ck_assert_str_eq(err.hint + sizeof(err.hint) - 4, "...");
	free(text);
}
END_TEST

START_TEST(test_a_line_has_the_hint_if_there_is_one)
{
	struct rot_error err = {0};

	rot_error_set(&err, 0, "no");
	ck_assert_str_eq(rot_error_line(&err), "no");
	rot_error_hint(&err, "try %d", 2);
	ck_assert_str_eq(rot_error_line(&err), "no (try 2)");
	ck_assert_str_eq(rot_error_line(&err), "no (try 2)");
}
END_TEST

START_TEST(test_nobody_has_to_ask_for_the_message)
{
	ck_assert_int_eq(rot_error_set(NULL, EIO, "x"), -1);
	ck_assert_int_eq(rot_error_prefix(NULL, "x"), -1);
	ck_assert_int_eq(rot_error_append(NULL, "x"), -1);
	ck_assert_int_eq(rot_error_hint(NULL, "x"), -1);
}
END_TEST

static const char *const words[] = {"bufferSize", NULL,           "numThreads", "unroll",
				    "dlp",        "optimization", "warmCode",   "warmData"};

static const struct {
	int line;
	const char *word, *expected;
} near_words[] = {
	{__LINE__, "bufferSiez", "bufferSize"},
	{__LINE__, "buffersize", "bufferSize"},
	{__LINE__, "BUFFERSIZE", "bufferSize"},
	{__LINE__, "bufferSz", "bufferSize"},
	{__LINE__, "unrol", "unroll"},
	{__LINE__, "dpl", "dlp"},
	{__LINE__, "warmcode", "warmCode"},
	{__LINE__, "warmDatas", "warmData"},
	{__LINE__, "optimisation", "optimization"},
	{__LINE__, "xyz", NULL},
	{__LINE__, "", NULL},
	{__LINE__, "size", NULL},
	{__LINE__, "abcdefghijkl", NULL},
};

START_TEST(test_nearest)
{
	const char *found = rot_nearest(near_words[_i].word, words, sizeof(words) / sizeof(words[0]));

	ck_assert_msg((!found && !near_words[_i].expected) ||
			      (found && near_words[_i].expected && strcmp(found, near_words[_i].expected) == 0),
		      "line %d: '%s' gave '%s'", near_words[_i].line, near_words[_i].word, found ? found : "(none)");
}
END_TEST

START_TEST(test_nearest_of_long_words)
{
	char *long_word = rot_calloc(1001, 1);
	const char *candidates[] = {long_word, "a"};

	memset(long_word, 'a', 1000);
	ck_assert_ptr_null(rot_nearest(long_word, candidates, 2));
	ck_assert_str_eq(rot_nearest("b", candidates, 2), "a");
	free(long_word);
}
END_TEST

static const struct {
	const char *word, *more, *expected, *expected_all;
} hints[] = {
	{"unrol", "", "did you mean 'unroll'?", "did you mean 'unroll'? Possible: unroll, dlp, anything"},
	{"unrol", "all: rot list", "did you mean 'unroll'? All: rot list",
	 "did you mean 'unroll'? Possible: unroll, dlp, anything"},
	{"xyz", "all: rot list", "all: rot list", "possible: unroll, dlp, anything"},
	{"xyz", "", "", "possible: unroll, dlp, anything"},
};

START_TEST(test_hints)
{
	static const char *const candidates[] = {"unroll", "dlp", NULL};
	struct rot_error err = {0};

	ck_assert_int_eq(rot_nearest_hint(&err, hints[_i].word, candidates, 3, hints[_i].more), -1);
	ck_assert_str_eq(err.hint, hints[_i].expected);
	ck_assert_int_eq(rot_nearest_hint_all(&err, hints[_i].word, candidates, 3, "possible"), -1);
	ck_assert_str_eq(err.hint, hints[_i].expected_all);
	rot_nearest_hint_all(&err, hints[_i].word, candidates, 0, "possible");
	ck_assert_str_eq(err.hint, "possible: nothing");
}
END_TEST

START_TEST(test_memory)
{
	char *copy = rot_strdup(NULL), *part = rot_strndup("abc", 2), *text = rot_format("%d-%s", 7, "x");
	char *zero = rot_calloc(4, 4);

	ck_assert_str_eq(copy, "");
	ck_assert_str_eq(part, "ab");
	ck_assert_str_eq(text, "7-x");
	for (int i = 0; i < 16; i++)
		ck_assert_int_eq(zero[i], 0);
	free(copy);
	free(part);
	free(text);
	free(zero);
}
END_TEST

START_TEST(test_too_much_memory_ends_the_process)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		rot_realloc(NULL, (size_t)-1, 16);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

static const struct listed_test tests[] = {
	{&test_set_adds_the_reason_and_clears_the_hint, 1},
	{&test_a_line_has_the_hint_if_there_is_one, 1},
	{&test_context_is_added_on_both_ends, 1},
	{&test_a_message_may_be_made_from_itself, 1},
	{&test_what_does_not_fit_is_cut_visibly, 1},
	{&test_nobody_has_to_ask_for_the_message, 1},
	{&test_nearest, NR_ELEMENTS(near_words)},
	{&test_nearest_of_long_words, 1},
	{&test_hints, NR_ELEMENTS(hints)},
	{&test_memory, 1},
	{&test_too_much_memory_ends_the_process, 1},
};

UNIT_TESTS("error", tests);
