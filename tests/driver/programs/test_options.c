/* SPDX-License-Identifier: MIT */
/* The options of "rot run" end where the program begins. */
#include "programs/options.h"
#include "testing.h"

#define MAX_WORDS 12

static const struct {
	const char *words[MAX_WORDS];
	int nr_words; /* options before the program */
	const char *output_name;
	long max_passes, nr_runs, process_id;
	bool per_thread;
	size_t nr_regions;
	const char *region_backend; /* NULL: auto */
} rows[] = {
	{{"gzip", "-o", "x"}, 0, NULL, 0, 1, 0, false, 0, NULL},
	{{"--", "gzip", "-t"}, 1, NULL, 0, 1, 0, false, 0, NULL},
	{{"-o", "a", "--", "--", "-t"}, 3, "a", 0, 1, 0, false, 0, NULL},
	{{"-t", "-o", "a", "gzip", "--passes", "3"}, 3, "a", 0, 1, 0, true, 0, NULL},
	{{"--output=a", "-passes=3", "-r", "2", "gzip"}, 4, "a", 3, 2, 0, false, 0, NULL},
	{{"--per-thread", "--runs=7", "--", "-x"}, 3, NULL, 0, 7, 0, true, 0, NULL},
	{{"-p", "17", "-d", "0.5"}, 4, NULL, 0, 1, 17, false, 0, NULL},
	{{"-pid=17"}, 1, NULL, 0, 1, 17, false, 0, NULL},
	{{"-", "x"}, 0, NULL, 0, 1, 0, false, 0, NULL},
	{{"-R", "solve", "--region=x=a..b", "-R=y=a", "cc"}, 4, NULL, 0, 1, 0, false, 3, NULL},
	{{"-R", "solve", "--region-backend", "int3", "cc"}, 4, NULL, 0, 1, 0, false, 1, "int3"},
	{{"-p", "17", "-R", "solve"}, 4, NULL, 0, 1, 17, false, 1, NULL},
	{{"--counts-only", "-j", "-", "cc"}, 3, NULL, 0, 1, 0, false, 0, NULL},
	{{"--by", "loop", "cc"}, 2, NULL, 0, 1, 0, false, 0, NULL},
};

static const struct {
	const char *words[MAX_WORDS];
	const char *error; /* part of it */
} refused[] = {
	{{"--counts-only", "-t", "cc"}, "no -o, -t, --runs"},
	{{"--counts-only", "-f", "5", "cc"}, "no -o, -t, --runs"},
	{{"-f", "5", "-p", "17"}, "--functions with -p PID"},
	{{"--by=core", "cc"}, "core"},
	{{"--by=line", "--counts-only", "cc"}, "--by without samples"},
	{{"--by=line", "-f", "0", "cc"}, "--by without samples"},
	{{"--by=loop", "-p", "17"}, "--by without samples"},
	{{"--counts-only", "--runs=2", "cc"}, "no -o, -t, --runs"},
	{{NULL}, "no program given"},
	{{"--"}, "no program given"},
	{{"-o"}, "'-o' needs a value"},
	{{"-o=", "x"}, "'-o=' needs a value"},
	{{"-t=yes", "x"}, "takes no value"},
	{{"--passes", "0", "x"}, "'0' is no whole number from 1"},
	{{"--passes=2x", "x"}, "'2x' is no whole number"},
	{{"--runs", "99999999999999999999", "x"}, "is no whole number"},
	{{"-p", "0"}, "is no whole number"},
	{{"-p", "17", "x"}, "either to be run or running"},
	{{"-p", "17", "--passes=2"}, "cannot be run again"},
	{{"-d", "1", "x"}, "a duration without -p"},
	{{"-p", "17", "-d", "nan"}, "is no number of seconds"},
	{{"-R"}, "'-R' needs a value"},
	{{"-R", "a..", "x"}, "region 'a..': the place where it ends is missing"},
	{{"-R", "a", "-R", "b=c", "-R", "a#2", "x"}, "region 'a#2': a second one with the name 'a'"},
	{{"-R", "a", "--region-backend=gdb", "x"},
	 "'gdb' is no value of 'region-backend', which takes auto, uprobe, breakpoint or int3"},
	{{"--region-backend=int3", "x"}, "without --region"},
	{{"--nonsense", "x"}, "unknown option '--nonsense'"},
};

static int
count(const char *const *words)
{
	int nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

static void
refuse(void *context, char *word)
{
	rot_error_set(context, 0, "unknown option '%s'", word);
}

/* NULL: they are wrong. Words that are left are counted in *nr_left. */
static struct run_options *
parse(const char *const *words, int *nr_left, struct rot_error *err)
{
	struct run_options *options = option_values_new(&run_options_table);
	char *argv[MAX_WORDS + 1];

	*nr_left = count(words);
	memcpy(argv, words, (size_t)*nr_left * sizeof(*argv));
	*err = (struct rot_error){0};
	if (options_take(&run_options_table, options, nr_left, argv, refuse, err, err) == 0 && !err->text[0] &&
	    run_options_check(options, *nr_left > 0, err) == 0)
		return options;
	option_values_delete(&run_options_table, options);
	return NULL;
}

TEST_OF(options_of_a_command_line, NR_ELEMENTS(rows))
{
	int nr_left;
	struct run_options *options = parse(rows[_i].words, &nr_left, &why);

	ck_assert_msg(options != NULL, "%s", why.text);
	ck_assert_int_eq(count(rows[_i].words) - nr_left, rows[_i].nr_words);
	ck_assert_pstr_eq(options->output_name, rows[_i].output_name);
	ck_assert_int_eq(options->max_passes, rows[_i].max_passes);
	ck_assert_int_eq(options->nr_runs, rows[_i].nr_runs);
	ck_assert_int_eq(options->process_id, rows[_i].process_id);
	ck_assert_int_eq(options->per_thread, rows[_i].per_thread);
	ck_assert_uint_eq(options->nr_regions, rows[_i].nr_regions);
	ck_assert_str_eq(options->region_backend, rows[_i].region_backend ? rows[_i].region_backend : "auto");
	option_values_delete(&run_options_table, options);
}

TEST_OF(wrong_command_lines, NR_ELEMENTS(refused))
{
	int nr_left;

	ck_assert_ptr_null(parse(refused[_i].words, &nr_left, &why));
	ck_assert_has(why.text, refused[_i].error);
}

TEST(children_are_measured_unless_they_are_left_out)
{
	static const char *const words[] = {"--no-children", "-t", "make", NULL};

	for (int i = 0; i < 2; i++) {
		int nr_left;
		struct run_options *options = parse(words + i, &nr_left, &why);

		ck_assert_ptr_nonnull(options);
		ck_assert_int_eq(nr_left, 1);
		ck_assert_int_eq(options->has_no_children, i == 0);
		option_values_delete(&run_options_table, options);
	}
}

TEST(length_of_one_option)
{
	static const struct {
		const char *words[3];
		int length;
	} lengths[] = {
		{{"-o", "a"}, 2},
		{{"-o=a", "b"}, 1},
		{{"-o"}, 1},
		{{"-R", "a"}, 2},
		{{"--region=a", "b"}, 1},
		{{"-t", "x"}, 1},
		{{"-quiet", "x"}, 0},
		{{"-timeLimit=3", "x"}, 0},
		{{"x"}, -1},
		{{"--", "x"}, -1},
		{{"-"}, -1},
		{{NULL}, -1},
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		ck_assert_int_eq(
			options_length(&run_options_table, count(lengths[i].words), (char *const *)lengths[i].words),
			lengths[i].length);
}

/* 0 is a number of functions, and not the same as not to say one. */
TEST(number_of_functions)
{
	static const struct {
		const char *words[4];
		long nr;
	} asked[] = {{{"cc"}, -1}, {{"--functions=0", "cc"}, 0}, {{"-f", "25", "cc"}, 25}};
	static const char *const wrong[] = {"--functions=-1", "--functions=1.5", "--functions=x", "--functions=1e99"};
	int nr_left;

	for (int i = 0; i < NR_ELEMENTS(asked); i++) {
		struct run_options *options = parse(asked[i].words, &nr_left, &why);

		ck_assert_ptr_nonnull(options);
		ck_assert_int_eq(options->nr_functions, asked[i].nr);
		option_values_delete(&run_options_table, options);
	}
	for (int i = 0; i < NR_ELEMENTS(wrong); i++) {
		const char *words[] = {wrong[i], "cc", NULL};

		ck_assert_ptr_null(parse(words, &nr_left, &why));
		ck_assert_has(why.text, "'--functions' takes a whole number, 0 for none");
	}
}

UNIT_TESTS(.is_in_one_process = true);
