/* SPDX-License-Identifier: MIT */
/* The search for peaks, over ceilings of its own and on a machine whose rates are computed. */
#include <time.h>

#include "base/configuration.h"
#include "base/paths.h"
#include "find_fixture.h"
#include "roof/profile.h"
#include "roof/roof.h"
#include "testing.h"

/* ---- rates ---- */

/* One variant is seen in a better light until it was chosen, after 5 runs of the search and 8 more. */
static double
lucky_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_lucky = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	return is_lucky && run < 13 ? 100 : arithmetic_per_cycle(measurement, run);
}

/* The seed is the best, but was disturbed while the search looked at it. */
static double
unlucky_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_seed = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	if (is_seed)
		return run < 5 ? 0.1 : 5;
	return arithmetic_per_cycle(measurement, run);
}

/* Half of the limit, and so the seed, until it was not chosen. */
static double
late_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_seed = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	if (is_seed)
		return run < 13 ? 0.1 : 3.9;
	return arithmetic_per_cycle(measurement, run) / 2;
}

/* ---- tests ---- */

TEST(full_search_finds_the_best_variant)
{
	const struct peak *peak;

	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, 2);
	peak = &list.peaks[1];
	ck_assert_str_eq(peak->name, "SSE MUL");
	ck_assert_str_eq(peak->operation, "doublePrecisionFlop");
	ck_assert_str_eq(peak->border, "");
	ck_assert_str_eq(peak->access, "MUL");
	ck_assert_str_eq(peak->instruction_set, "SSE");
	ck_assert_str_eq(peak->search, "full");
	ck_assert_str_eq(peak->clock_source, "probe");
	ck_assert_int_eq(peak->kind, PEAK_PERFORMANCE);
	ck_assert_int_eq(peak->nr_threads, 1);
	ck_assert_uint_eq(peak->nr_coordinates, 2);
	ck_assert_str_eq(peak->variant[0].name, "dlp");
	ck_assert_int_ge(peak->variant[0].value, 8);
	ck_assert_int_le(peak->variant[0].value, 14); /* more do not fit into 16 registers */
	ck_assert_int_eq(peak->variant[1].value, 4);
	ck_assert_double_eq(peak->per_cycle.value, 4);
	ck_assert_double_eq(peak->per_cycle.low, 4);
	ck_assert_double_eq(peak->per_second.value, 16e9);
	ck_assert_double_eq(peak->per_tsc_cycle.value, 8);
	ck_assert_double_eq(peak->clock_hz, 4e9);
	ck_assert_uint_eq(peak->nr_samples, 15); /* of 16 */
	ck_assert_uint_eq(peak->nr_tainted, 1);
	ck_assert(isnan(peak->limit_per_cycle));
	ck_assert_uint_eq(peak->landscape.nr_axes, 2);
	ck_assert_uint_gt(peak->landscape.nr_points, 20);
	ck_assert_uint_lt(peak->landscape.nr_points, 200);
	ck_assert_int_eq(peak->landscape.points[0].coordinates[0], 2); /* the seed */
	ck_assert_double_eq(peak->landscape.points[0].per_cycle, 0.96);
}

TEST(quick_search_takes_the_seed)
{
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_str_eq(list.peaks[0].search, "quick");
	ck_assert_uint_eq(list.peaks[0].landscape.nr_points, 1);
	/* With nothing to choose from, all runs are reported: those of the second call are the same. */
	ck_assert_uint_eq(fake_nr_calls, 4);
	ck_assert_int_eq(fake_nr_runs, 12);
	ck_assert_uint_eq(list.peaks[0].nr_samples, 11);
}

TEST(what_was_chosen_by_is_not_reported)
{
	per_cycle = lucky_per_cycle;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_FAST);
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_double_eq(list.peaks[0].per_cycle.high, 0.96);
}

TEST(seed_that_met_a_bad_moment_is_chosen)
{
	per_cycle = unlucky_per_cycle;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_FAST);
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 5);
}

TEST(seed_is_reported_where_the_best_stayed_below_the_limit)
{
	per_cycle = late_per_cycle;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_FAST);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 2); /* no limit is known here */
	peak_list_clear(&list);
	be_zen5();
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[0].name, "SSE ADD");
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 3.9);
	ck_assert_str_eq(list.peaks[1].name, "SSE MUL");
}

TEST(time_that_is_up_ends_a_search)
{
	ck_assert_int_eq(
		find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST, .time_limit_s = 1e-9}), 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_uint_eq(list.peaks[0].landscape.nr_points, 6); /* the seed and five starting points */
	ck_assert_str_ne(list.peaks[0].remark, "");
}

static const struct {
	const char *words[3];
	size_t nr;
} filters[] = {
	{{NULL}, 3}, /* memory is rare */
	{{"sse"}, 2},
	{{"sse", "mul"}, 1},
	{{"add,mul"}, 2},
	{{"Bandwidth"}, 1},
	{{"latency,llcram"}, 2},
	{{"cpuL"}, 0}, /* a border is meant as a whole */
	{{"double", "load"}, 0},
};

TEST_OF(words_choose_peaks, NR_ELEMENTS(filters))
{
	struct peaks_options options = {.strategy = SEARCH_QUICK, .words = filters[_i].words};
	int rc;

	while (options.words[options.nr_words])
		options.nr_words++;
	rc = find(HEAD PERFORMANCES MEMORY LATENCY TAIL, options);
	ck_assert_uint_eq(list.nr, filters[_i].nr);
	ck_assert_int_eq(rc, filters[_i].nr ? 0 : -1);
	ck_assert(filters[_i].nr || strstr(find_error.text, "no peak has all these words"));
}

/* Whole words, and what is rare as well. */
TEST_OF(wishes_choose_peaks, 3)
{
	static const struct {
		struct peak_wish wishes[2];
		size_t nr_wishes, nr;
	} rows[] = {
		{{{.access = "load", .border = "llcRam"}}, 1, 1},
		{{{.access = "load", .border = "llcRam", .instruction_set = ""}, {.border = "l1l2"}}, 2, 1},
		{{{.access = "loa"}}, 1, 0},
	};
	int rc = find(HEAD PERFORMANCES MEMORY LATENCY TAIL, (struct peaks_options){.strategy = SEARCH_QUICK,
										    .wishes = rows[_i].wishes,
										    .nr_wishes = rows[_i].nr_wishes});

	ck_assert_uint_eq(list.nr, rows[_i].nr);
	ck_assert_int_eq(rc, rows[_i].nr ? 0 : -1);
	ck_assert(rows[_i].nr || strstr(find_error.text, "no such peak"));
}

TEST(disturbed_runs_alone_have_no_interval)
{
	fake_measure = measure_disturbed;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert(isnan(list.peaks[0].per_cycle.low) && isnan(list.peaks[0].per_second.high));
	ck_assert_has(list.peaks[0].remark, "every run was disturbed");
}

static void
get_roof(void)
{
	peak_list_clear(&list);
	list = (struct peak_list){0};
	fake_nr_calls = 0;
	ck_assert_ok(roof_get(&rot, NULL, &list, &why));
}

/* Lower ones are not kept, so that the peaks stay in doubt and as old as they are. */
TEST(doubtful_peaks_are_searched_once_an_hour)
{
	const struct timespec hour_ago[2] = {{.tv_sec = time(NULL) - 3700}, {.tv_sec = time(NULL) - 3700}};
	struct profile_state state;

	file_fill("default-peaks.xml", HEAD PERFORMANCES L2 TAIL);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "findPeaks", "true", NULL);
	rot.is_cached_only = false;
	fake_measure = measure_disturbed;
	per_cycle = ten_per_cycle;
	get_roof();
	ck_assert_int_gt(fake_nr_calls, 0);
	per_cycle = arithmetic_per_cycle;
	get_roof();
	ck_assert_int_eq(fake_nr_calls, 0);

	peak_list_clear(&list);
	ck_assert_int_eq(profile_load(&rot, &list, &state, &why), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, state.path, hour_ago, 0), 0);
	get_roof();
	ck_assert_int_gt(fake_nr_calls, 0);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 10);
	get_roof();
	ck_assert_int_eq(fake_nr_calls, 0);
}

TEST(latency_is_time_of_an_access)
{
	per_cycle = ten_per_cycle;
	find_peaks(HEAD LATENCY TAIL, SEARCH_QUICK);
	ck_assert_int_eq(list.peaks[0].kind, PEAK_LATENCY);
	ck_assert_double_eq_tol(list.peaks[0].per_cycle.value, 0.1, 1e-12);
	ck_assert_double_eq_tol(list.peaks[0].per_second.value, 0.1 / 4e9, 1e-20);
	ck_assert_uint_eq(list.peaks[0].buffer_bytes, 4096);
}

/* The kernel told this in two processes; NULL: nothing. */
static const struct {
	const char *facts[2];
	bool has_huge_pages;
} pages[] = {
	{{"buffer in pages of 2 MiB", "buffer in pages of 2 MiB"}, true},
	{{"buffer in pages of 2 MiB", "OpenBLAS"}, true},
	{{"buffer in pages of 2 MiB", "buffer in pages of 4 KiB"}, false},
	{{"buffer partly in pages of 2 MiB: 2048 of 4096 KiB", NULL}, false},
	{{"buffer partly in pages of 2 MiB: 4096 of 4098 KiB", NULL}, true},
	{{NULL, NULL}, false},
};

TEST_OF(pages_are_those_that_the_buffer_lay_in, NR_ELEMENTS(pages))
{
	autograph struct measurement_result *result = measurement_result_new();

	for (size_t i = 0; i < 2; i++) {
		struct measurement_run_output *run = measurement_run_output_new();

		if (pages[_i].facts[i])
			measurement_run_output_facts_add(run, pages[_i].facts[i]);
		measurement_result_outputs_add(result, run);
	}
	fake_result = result;
	per_cycle = ten_per_cycle;
	ck_assert_int_eq(find(HEAD MEMORY TAIL, (struct peaks_options){.strategy = SEARCH_QUICK,
								       .words = (const char *const[]){"memory"},
								       .nr_words = 1}),
			 0);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_int_eq(list.peaks[0].has_huge_pages, pages[_i].has_huge_pages);
	fake_result = NULL;
}

TEST(what_cannot_be_measured_is_left_out)
{
	fake_failing_call = 1;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_str_eq(list.peaks[0].name, "SSE MUL");
}

/* In the third search: what was measured of the second on several threads was not its turn yet. */
TEST_OF(interruption_keeps_what_is_finished, has_several_cores())
{
	fake_is_interrupt = true;
	fake_failing_call = 6; /* each has one of the search and one of the report */
	ck_assert_int_eq(find(HEAD LATENCY MEMORY MEMORY_OF("another") TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 -1);
	ck_assert_str_eq(find_error.text, "interrupted");
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[0].name, "L1 latency");
	ck_assert_int_eq(list.peaks[1].nr_threads, 1);
}

TEST(more_threads_than_cpus_are_refused)
{
	const int too_many = peaks_max_threads() + 1;

	ck_assert_int_eq(find(HEAD MEMORY TAIL, (struct peaks_options){.threads = &too_many, .nr_threads = 1}), -1);
	ck_assert_has(find_error.text, "this process may run on");
}

UNIT_TESTS(.set_up = find_fixture_open, .tear_down = find_fixture_close);
