/* SPDX-License-Identifier: MIT */
/* Rounds of peaks that have modes, over ceilings of their own and on a machine whose rates are computed. */
#include "find_fixture.h"
#include "roof/modes.h"
#include "testing.h"

/* ---- how many rounds there will be ---- */

static const struct {
	int number;
	double spent_s, left_s;
	int nr;
} expected_rounds[] = {
	{1, 0, 30, 2},        {1, 0, -1, 2},  {2, 10, 30, 4},  {3, 10, 30, 8},       {2, 10, -5, 2},
	{2, 0.001, 3000, 12}, {3, 10, -1, 3}, {5, 40, 0.1, 5}, {1, 0, INFINITY, 12}, {4, 60, INFINITY, 12},
};

TEST_OF(rounds_fit_into_the_time, NR_ELEMENTS(expected_rounds))
{
	const struct mode_rounds rounds = {.least = 2, .most = 6, .processes = 12, .runs = 7};

	ck_assert_int_eq(mode_rounds_expected(&rounds, expected_rounds[_i].number, expected_rounds[_i].spent_s,
					      expected_rounds[_i].left_s),
			 expected_rounds[_i].nr);
}

/* ---- rates ---- */

static double
ten_or_twenty_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run / 3 % 2 ? 20 : 10;
}

/* Processes have 7 runs, after 16 runs of the search: most have 25, each sixth 31. */
static double
rarely_better_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run >= 16 && (run - 16) / 7 % 6 == 4 ? 31 : 25;
}

static double
always_shared_per_cycle(const struct measurement *measurement, size_t run)
{
	return arithmetic_per_cycle(measurement, run) / (measurement_nr_workloads(measurement) > 1 ? 2 : 1);
}

static double
first_shared_per_cycle(const struct measurement *measurement, size_t run)
{
	return run < 20 ? always_shared_per_cycle(measurement, run) : arithmetic_per_cycle(measurement, run);
}

/* One process, that of the search and its report, was disturbed. */
static double
first_disturbed_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run < 14 ? 3 : 3.99;
}

static double
always_disturbed_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement, (void)run;
	return 3;
}

/* ---- several threads ---- */

TEST_OF(threads_have_cpus_of_their_own_and_begin_together, has_several_cores())
{
	find_peaks_of_two(HEAD PERFORMANCES LATENCY TAIL, SEARCH_QUICK);
	ck_assert_uint_eq(list.nr, 5); /* the latency is of one thread */
	ck_assert_int_eq(list.peaks[0].nr_threads, 1);
	ck_assert_int_eq(list.peaks[1].nr_threads, 2);
	ck_assert_double_eq(list.peaks[1].per_cycle.value, list.peaks[0].per_cycle.value);
	ck_assert_double_eq(list.peaks[1].per_second.value, 2 * list.peaks[0].per_second.value);
	ck_assert_double_eq(list.peaks[1].per_tsc_cycle.value, list.peaks[0].per_tsc_cycle.value);
	ck_assert_double_eq(list.peaks[1].clock_hz, 4e9);
	ck_assert_uint_eq(list.peaks[1].landscape.nr_points, 0);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_str_eq(list.peaks[1].remark, "");
	ck_assert_uint_eq(nr_calls_on_two, 4); /* two processes of each, which have enough runs together */
	ck_assert_uint_eq(nr_together, 4);
}

/* Half of what one thread does while both are on one core: in all runs, or in the first 20; and slow ones on cores of
 * their own, as the slowdown says. */
static const struct {
	double (*per_cycle)(const struct measurement *measurement, size_t run);
	double value;
	const char *mode, *remark;
	int nr_runs; /* processes have 7 */
	size_t nr_samples;
} sharings[] = {
	{always_shared_per_cycle, 0.48, "shared", "about half of what one thread reaches", 8 * 7, 8 * 7 - 1},
	{first_shared_per_cycle, 0.96, "", "without runs that reached about half", 5 * 7, 5 * 7 - 20 - 1},
	{always_shared_per_cycle, 0.48, "", "", 2 * 7, 2 * 7 - 1},
};

TEST_OF(threads_that_share_a_core_are_told, has_several_cores() * NR_ELEMENTS(sharings))
{
	per_cycle = sharings[_i].per_cycle;
	tells_placement = _i == 2;
	find_peaks_of_two(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_uint_eq(list.nr, 4);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, sharings[_i].value);
	ck_assert_double_eq(list.peaks[1].per_cycle.low, sharings[_i].value);
	ck_assert_str_eq(list.peaks[1].mode, sharings[_i].mode);
	ck_assert_has(list.peaks[1].remark, sharings[_i].remark);
	ck_assert_uint_eq(list.peaks[1].nr_samples, sharings[_i].nr_samples);
	ck_assert_int_eq(fake_nr_runs, sharings[_i].nr_runs);
}

/* There are two peaks, so that the places of the list move. */
TEST_OF(placements_are_peaks_of_their_own, has_several_cores())
{
	static const struct {
		const char *mode;
		int nr_threads;
		double per_cycle;
	} expected[] = {{"", 1, 20}, {"near", 2, 10}, {"far", 2, 20}, {"", 1, 20}, {"near", 2, 10}, {"far", 2, 20}};

	per_cycle = ten_or_twenty_per_cycle;
	tells_placement = true;
	find_peaks_of_two(HEAD MEMORY MEMORY_OF("another") TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, NR_ELEMENTS(expected));
	for (size_t i = 0; i < list.nr; i++) {
		ck_assert_str_eq(list.peaks[i].mode, expected[i].mode);
		ck_assert_int_eq(list.peaks[i].nr_threads, expected[i].nr_threads);
		ck_assert_double_eq(list.peaks[i].per_cycle.value, expected[i].per_cycle);
		ck_assert_str_eq(list.peaks[i].access, "load");
	}
	/* Rounds of 7 runs until there are 11 of each: 35, of which in each sixth the CPUs moved and the last was
	 * disturbed. */
	ck_assert_uint_eq(list.peaks[1].nr_samples, 18);
	ck_assert_uint_eq(list.peaks[2].nr_samples, 11);
	ck_assert_uint_eq(list.peaks[2].nr_tainted, 1);
}

/* The first 14 runs of 35 were on one core, or all. */
TEST_OF(memory_of_a_shared_core_is_told, has_several_cores() * 2)
{
	per_cycle = ten_or_twenty_per_cycle;
	tells_placement = true;
	nr_on_one_core = _i == 0 ? 14 : 1000;
	find_peaks_of_two(HEAD MEMORY TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, _i == 0 ? 3 : 2);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_str_eq(list.peaks[1].mode, _i == 0 ? "near" : "shared");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, _i == 0 ? 10 : 20);
	if (_i == 0)
		ck_assert_str_eq(list.peaks[2].mode, "far");
	else
		ck_assert_uint_eq(list.peaks[1].nr_samples, 16 * 7 - 1); /* all rounds, and no others were met */
}

/* Neither of two placements has an undisturbed run. */
TEST_OF(disturbed_placements_have_a_value, has_several_cores())
{
	fake_measure = measure_disturbed;
	per_cycle = ten_per_cycle;
	tells_placement = true;
	find_peaks_of_two(HEAD MEMORY TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, 10);
	ck_assert_has(list.peaks[1].remark, "every run was disturbed");
}

TEST_OF(one_placement_is_no_mode, has_several_cores())
{
	per_cycle = ten_per_cycle;
	find_peaks_of_two(HEAD MEMORY TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, 10);
}

/* ---- rates of processes ---- */

/* 24 processes, four of which reach more; the last run of all was disturbed. */
TEST(plateau_of_a_rate_is_the_peak)
{
	per_cycle = rarely_better_per_cycle;
	find_peaks(HEAD L3 TAIL, SEARCH_FAST);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 31);
	ck_assert_double_eq(list.peaks[0].per_cycle.low, 31);
	ck_assert_double_eq(list.peaks[0].usual_per_cycle, 25);
	ck_assert_uint_eq(list.peaks[0].nr_samples, 24 * 7 - 1);
	ck_assert_has(list.peaks[0].remark, "half of the runs and more were notably slower");
	ck_assert_int_eq(fake_nr_runs, 16 + 24 * 7);
}

/* Until the limit is reached. */
static const struct {
	double (*per_cycle)(const struct measurement *measurement, size_t run);
	double value;
	int nr_rounds;
} below[] = {{first_disturbed_per_cycle, 3.99, 2}, {always_disturbed_per_cycle, 3, 8}};

TEST_OF(below_its_limit_is_measured_in_rounds, NR_ELEMENTS(below))
{
	per_cycle = below[_i].per_cycle;
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 3); /* is all that is known here */
	peak_list_clear(&list);
	be_zen5();
	find_peaks(HEAD PERFORMANCES TAIL, SEARCH_QUICK);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, below[_i].value);
	ck_assert_double_eq(list.peaks[1].per_cycle.value, below[_i].value);
	ck_assert_int_eq(fake_nr_runs, 12 + below[_i].nr_rounds * 7);
}

/* L2 and L3, whatever is known of limits. */
static const char *const caches[] = {HEAD L2 TAIL, HEAD L3 TAIL};

TEST_OF(one_mode_of_a_rate_is_not_noted, NR_ELEMENTS(caches))
{
	per_cycle = ten_per_cycle;
	find_peaks(caches[_i], SEARCH_QUICK);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 10);
	ck_assert_str_eq(list.peaks[0].remark, "");
	ck_assert_uint_eq(list.peaks[0].nr_samples, 8 * 7 - 1);
}

UNIT_TESTS(.set_up = find_fixture_open, .tear_down = find_fixture_close);
