/* SPDX-License-Identifier: MIT */
/* The error type, and suggesting the nearest word. */
#include "error.h"
#include "nearest.h"
#include "testing.h"

TEST(test_set_adds_the_reason_and_clears_the_hint)
{
	rot_error_hint(&why, "old");
	ck_assert_int_eq(rot_error_set(&why, ENOENT, "cannot open '%s'", "x.xml"), -1);
	ck_assert_str_eq(why.text, "cannot open 'x.xml': No such file or directory");
	ck_assert_str_eq(why.hint, "");
	ck_assert_int_eq(rot_error_set(&why, 0, "plain"), -1);
	ck_assert_str_eq(why.text, "plain");
}

TEST(test_context_is_added_on_both_ends)
{
	rot_error_set(&why, 0, "unknown event");
	ck_assert_int_eq(rot_error_prefix(&why, "%s:%d", "a.xml", 7), -1);
	ck_assert_int_eq(rot_error_append(&why, " (%d known)", 3), -1);
	ck_assert_int_eq(rot_error_hint(&why, "see %s", "rot list"), -1);
	ck_assert_str_eq(why.text, "a.xml:7: unknown event (3 known)");
	ck_assert_str_eq(why.hint, "see rot list");
}

TEST(test_a_message_may_be_made_from_itself)
{
	rot_error_set(&why, 0, "inner");
	rot_error_set(&why, 0, "outer (%s)", why.text);
	ck_assert_str_eq(why.text, "outer (inner)");
}

TEST(test_what_does_not_fit_is_cut_visibly)
{
	autofree char *text = rot_calloc(2 * sizeof(why.text), 1);

	memset(text, 'x', 2 * sizeof(why.text) - 1);
	rot_error_set(&why, 0, "%s", text);
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
	ck_assert_str_eq(why.text + sizeof(why.text) - 4, "...");
	rot_error_prefix(&why, "prefix");
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
	ck_assert(strncmp(why.text, "prefix: xxx", 11) == 0);
	ck_assert_str_eq(why.text + sizeof(why.text) - 4, "...");
	rot_error_hint(&why, "%s", text);
	ck_assert_str_eq(why.hint + sizeof(why.hint) - 4, "...");
}

TEST(test_a_line_has_the_hint_if_there_is_one)
{
	rot_error_set(&why, 0, "no");
	ck_assert_str_eq(rot_error_line(&why), "no");
	rot_error_hint(&why, "try %d", 2);
	ck_assert_str_eq(rot_error_line(&why), "no (try 2)");
	ck_assert_str_eq(rot_error_line(&why), "no (try 2)");
}

TEST(test_nobody_has_to_ask_for_the_message)
{
	ck_assert_int_eq(rot_error_set(NULL, EIO, "x"), -1);
	ck_assert_int_eq(rot_error_prefix(NULL, "x"), -1);
	ck_assert_int_eq(rot_error_append(NULL, "x"), -1);
	ck_assert_int_eq(rot_error_hint(NULL, "x"), -1);
}

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
	{__LINE__, "pld", "dlp"},
	{__LINE__, "bufferZise", "bufferSize"},
	{__LINE__, "warmcode", "warmCode"},
	{__LINE__, "warmDatas", "warmData"},
	{__LINE__, "optimisation", "optimization"},
	{__LINE__, "xyz", NULL},
	{__LINE__, "", NULL},
	{__LINE__, "size", NULL},
	{__LINE__, "abcdefghijkl", NULL},
};

TEST_OF(test_nearest, NR_ELEMENTS(near_words))
{
	const char *found = rot_nearest(near_words[_i].word, words, sizeof(words) / sizeof(words[0]));

	ck_assert_msg((!found && !near_words[_i].expected) ||
			      (found && near_words[_i].expected && strcmp(found, near_words[_i].expected) == 0),
		      "line %d: '%s' gave '%s'", near_words[_i].line, near_words[_i].word, found ? found : "(none)");
}

TEST(test_nearest_of_long_words)
{
	autofree char *long_word = rot_calloc(1001, 1);
	const char *candidates[] = {long_word, "a"};

	memset(long_word, 'a', 1000);
	ck_assert_ptr_null(rot_nearest(long_word, candidates, 2));
	ck_assert_str_eq(rot_nearest("b", candidates, 2), "a");
}

static const struct {
	const char *word, *more, *expected, *expected_all;
} hints[] = {
	{"unrol", "", "did you mean 'unroll'?", "did you mean 'unroll'? Possible: unroll, dlp, anything"},
	{"unrol", "all: rot list", "did you mean 'unroll'? All: rot list",
	 "did you mean 'unroll'? Possible: unroll, dlp, anything"},
	{"xyz", "all: rot list", "all: rot list", "possible: unroll, dlp, anything"},
	{"xyz", "", "", "possible: unroll, dlp, anything"},
};

TEST_OF(test_hints, NR_ELEMENTS(hints))
{
	static const char *const candidates[] = {"unroll", "dlp", NULL};

	ck_assert_int_eq(rot_nearest_hint(&why, hints[_i].word, candidates, 3, hints[_i].more), -1);
	ck_assert_str_eq(why.hint, hints[_i].expected);
	ck_assert_int_eq(rot_nearest_hint_all(&why, hints[_i].word, candidates, 3, "possible"), -1);
	ck_assert_str_eq(why.hint, hints[_i].expected_all);
	rot_nearest_hint_all(&why, hints[_i].word, candidates, 0, "possible");
	ck_assert_str_eq(why.hint, "possible: nothing");
}

TEST(test_memory)
{
	autofree char *copy = rot_strdup(NULL), *part = rot_strndup("abc", 2), *text = rot_format("%d-%s", 7, "x");
	autofree char *zero = rot_calloc(4, 4);

	ck_assert_str_eq(copy, "");
	ck_assert_str_eq(part, "ab");
	ck_assert_str_eq(text, "7-x");
	for (int i = 0; i < 16; i++)
		ck_assert_int_eq(zero[i], 0);
}

TEST(test_too_much_memory_ends_the_process)
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
