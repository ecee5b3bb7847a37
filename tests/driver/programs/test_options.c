/* SPDX-License-Identifier: MIT */
/* The options of "rot run" end where the program begins. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "programs/options.h"
#include "testing.h"

#define MAX_WORDS 12

static const struct {
	const char *words[MAX_WORDS];
	const char *error; /* part of it; NULL: right */
	int nr_words;      /* before the program      */
	const char *output_name;
	long max_passes, nr_runs, process_id;
	bool per_thread;
} rows[] = {
	{{"gzip", "-o", "x"}, NULL, 0, NULL, 1, 1, 0, false},
	{{"--", "gzip", "-t"}, NULL, 1, NULL, 1, 1, 0, false},
	{{"-o", "a", "--", "--", "-t"}, NULL, 3, "a", 1, 1, 0, false},
	{{"-t", "-o", "a", "gzip", "--passes", "3"}, NULL, 3, "a", 1, 1, 0, true},
	{{"--output=a", "-passes=3", "-r", "2", "gzip"}, NULL, 4, "a", 3, 2, 0, false},
	{{"--per-thread", "--runs=7", "--", "-x"}, NULL, 3, NULL, 1, 7, 0, true},
	{{"-p", "17", "-d", "0.5"}, NULL, 4, NULL, 1, 1, 17, false},
	{{"-pid=17"}, NULL, 1, NULL, 1, 1, 17, false},
	{{"-", "x"}, NULL, 0, NULL, 1, 1, 0, false},
	{{NULL}, "no program given", 0, NULL, 0, 0, 0, false},
	{{"--"}, "no program given", 0, NULL, 0, 0, 0, false},
	{{"-o"}, "'-o' needs a value", 0, NULL, 0, 0, 0, false},
	{{"-o=", "x"}, "'-o=' needs a value", 0, NULL, 0, 0, 0, false},
	{{"-t=yes", "x"}, "takes no value", 0, NULL, 0, 0, 0, false},
	{{"--passes", "0", "x"}, "'0' is no whole number from 1", 0, NULL, 0, 0, 0, false},
	{{"--passes=2x", "x"}, "'2x' is no whole number", 0, NULL, 0, 0, 0, false},
	{{"--runs", "99999999999999999999", "x"}, "is no whole number", 0, NULL, 0, 0, 0, false},
	{{"-p", "0"}, "is no whole number", 0, NULL, 0, 0, 0, false},
	{{"-p", "17", "x"}, "either to be run or running", 0, NULL, 0, 0, 0, false},
	{{"-p", "17", "--passes=2"}, "cannot be run again", 0, NULL, 0, 0, 0, false},
	{{"-d", "1", "x"}, "a duration without -p", 0, NULL, 0, 0, 0, false},
	{{"-p", "17", "-d", "nan"}, "is no number of seconds", 0, NULL, 0, 0, 0, false},
	{{"--nonsense", "x"}, "unknown option '--nonsense'", 0, NULL, 0, 0, 0, false},
};

static int
count(const char *const *words)
{
	int nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

START_TEST(options_of_a_command_line)
{
	struct run_options options;
	struct rot_error err = {{0}, {0}};
	int rc = run_options_parse(&options, count(rows[_i].words), (char *const *)rows[_i].words, &err);

	if (rows[_i].error) {
		ck_assert_int_eq(rc, -1);
		ck_assert_ptr_nonnull(strstr(err.text, rows[_i].error));
		ck_assert_int_ne(err.hint[0], '\0');
		return;
	}
	ck_assert_msg(rc == 0, "%s", err.text);
	ck_assert_int_eq(options.nr_words, rows[_i].nr_words);
	ck_assert_pstr_eq(options.output_name, rows[_i].output_name);
	ck_assert_int_eq(options.max_passes, rows[_i].max_passes);
	ck_assert_int_eq(options.nr_runs, rows[_i].nr_runs);
	ck_assert_int_eq(options.process_id, rows[_i].process_id);
	ck_assert_int_eq(options.per_thread, rows[_i].per_thread);
}
END_TEST

START_TEST(length_of_one_option)
{
	static const struct {
		const char *words[3];
		int length;
	} lengths[] = {
		{{"-o", "a"}, 2}, {{"-o=a", "b"}, 1},   {{"-o"}, 1},
		{{"-t", "x"}, 1}, {{"-quiet", "x"}, 0}, {{"-timeLimit=3", "x"}, 0},
		{{"x"}, -1},      {{"--", "x"}, -1},    {{"-"}, -1},
		{{NULL}, -1},
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		ck_assert_int_eq(run_option_length(count(lengths[i].words), (char *const *)lengths[i].words),
				 lengths[i].length);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_loop_test(tc, options_of_a_command_line, 0, NR_ELEMENTS(rows));
	tcase_add_test(tc, length_of_one_option);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
