/* SPDX-License-Identifier: MIT */
/* How often intervals of nominally 95 % hold the true value: by simulation with a fixed seed, at least 94 %. */
#include "draw.h"
#include "experiments/stored_diff.h"
#include "statistics/summary.h"
#include "testing.h"

#define LEAST_COVERAGE 0.94
#define MAX_N 40

#define NR_DISTRIBUTIONS NR_ELEMENTS(drawn)

/* The median, and a share of the runs below: "what the best runs reach". */
TEST_OF(test_median_and_quartile, 2 * NR_DISTRIBUTIONS)
{
	static const size_t sizes[2][5] = {{6, 7, 10, 20, MAX_N}, {11, 15, 20, MAX_N}};
	const struct drawn *from = &drawn[_i / 2];
	const bool is_quartile = _i % 2;
	const int nr_trials = trials(2000);

	draw_state = is_quartile ? 4 : 1;
	for (size_t k = 0; k < 5 && sizes[is_quartile][k]; k++) {
		const size_t n = sizes[is_quartile][k];
		int covered = 0;

		for (int trial = 0; trial < nr_trials; trial++) {
			double values[MAX_N];
			struct summary s;

			draw_all(from->draw, 1, values, n);
			s = is_quartile ? summary_quantile(values, n, 0.75) : summary_median(values, n);
			covered += is_quartile ? summary_holds(&s, from->quartile75, from->quartile75)
					       : summary_holds(&s, from->low, from->high);
		}
		ck_assert_msg(covered >= LEAST_COVERAGE * nr_trials, "%s, n=%zu: %d of %d", from->name, n, covered,
			      nr_trials);
	}
}

/* No interval is better than one that holds too little. */
TEST_OF(test_too_few, NR_DISTRIBUTIONS)
{
	double values[MAX_N], others[MAX_N];

	draw_state = 5;
	draw_all(drawn[_i].draw, 1, values, MAX_N);
	draw_all(drawn[_i].draw, 1, others, MAX_N);
	for (size_t n = 1; n <= 10; n++) {
		ck_assert_int_eq(isnan(summary_median(values, n).low), n < 6);
		ck_assert_int_eq(isnan(summary_ratio(EACH(values, n), EACH(others, n), 1, false, 1).low), n < 6);
		ck_assert_int_eq(isnan(summary_ratio(EACH(values, n), EACH(others, n), 1, true, 1).low), n < 6);
		ck_assert(isnan(summary_quantile(values, n, 0.75).low));
	}
}

/* "rot diff" of two that are the same: at most 6 of 100 are called different, and none of too few runs. */
TEST_OF(test_verdict, NR_DISTRIBUTIONS)
{
	static const size_t sizes[] = {5, 6, 15};
	const int nr_trials = trials(1000);

	draw_state = 6;
	for (size_t k = 0; k < NR_ELEMENTS(sizes); k++) {
		const size_t n = sizes[k];
		int nr_different = 0, nr_unknown = 0;

		for (int trial = 0; trial < nr_trials; trial++) {
			double first[MAX_N], second[MAX_N];
			enum diff_verdict verdict;
			struct summary ratio;
			autofree char *text = NULL;

			draw_all(drawn[_i].draw, 1, first, n);
			draw_all(drawn[_i].draw, 1, second, n);
			ratio = statistics_shift(EACH(second, n), EACH(first, n)).ratio;
			verdict = diff_verdict_of("time", &ratio, n, &text);
			nr_different += verdict == DIFF_BETTER || verdict == DIFF_WORSE;
			nr_unknown += verdict == DIFF_UNKNOWN;
		}
		ck_assert_msg(nr_different <= (1 - LEAST_COVERAGE) * nr_trials, "%s, n=%zu: %d of %d differ",
			      drawn[_i].name, n, nr_different, nr_trials);
		ck_assert_msg(n >= 6 ? nr_unknown == 0 : nr_unknown > 0, "%s, n=%zu: of %d nothing is said",
			      drawn[_i].name, n, nr_unknown);
	}
}

/* The numerator and the denominator of a ratio. The true median of the denominator is always 50. */
enum design { NARROW_APART, WIDE_APART, WIDE_JOINTLY, CORRELATED_JOINTLY, KNOWN, NR_DESIGNS };

static const char *const design_names[] = {"narrow, apart", "wide, apart", "wide, jointly", "correlated", "known"};

static double
draw_denominator(enum design design, double numerator, double numerator_median)
{
	switch (design) {
	case WIDE_APART:
	case WIDE_JOINTLY:
		return 50 * exp(0.5 * draw_standard_normal());
	case CORRELATED_JOINTLY:
		return 50 * numerator / numerator_median;
	default:
		return 50 + draw_standard_normal();
	}
}

static bool
ratio_covers(enum design design, const struct drawn *from, size_t n, uint64_t seed)
{
	const bool jointly = design == WIDE_JOINTLY || design == CORRELATED_JOINTLY;
	const double known = 50;
	double top[MAX_N], bottom[MAX_N];
	struct summary s;

	for (size_t i = 0; i < n; i++) {
		top[i] = from->draw();
		bottom[i] = draw_denominator(design, top[i], (from->low + from->high) / 2);
	}
	s = summary_ratio(EACH(top, n), design == KNOWN ? EACH(&known, 1) : EACH(bottom, n), 1, jointly, seed);
	return summary_holds(&s, from->low / 50, from->high / 50);
}

/* Over all sizes together, so that the simulation is wrong by 0.6 % only; each size alone is known half as well. */
TEST_OF(test_ratio, NR_DISTRIBUTIONS *NR_DESIGNS)
{
	static const size_t sizes[] = {6, 10, 20};
	const struct drawn *from = &drawn[_i / NR_DESIGNS];
	const int nr_trials = trials(500);
	const enum design design = _i % NR_DESIGNS;
	int all = 0;

	draw_state = 2;
	for (int k = 0; k < NR_ELEMENTS(sizes); k++) {
		int covered = 0;

		for (int trial = 0; trial < nr_trials; trial++)
			covered += ratio_covers(design, from, sizes[k], (uint64_t)trial);
		ck_assert_msg(covered >= (LEAST_COVERAGE - 0.02) * nr_trials, "%s, %s, n=%zu: %d of %d", from->name,
			      design_names[design], sizes[k], covered, nr_trials);
		all += covered;
	}
	ck_assert_msg(all >= LEAST_COVERAGE * nr_trials * NR_ELEMENTS(sizes), "%s, %s: %d of %d", from->name,
		      design_names[design], all, nr_trials * NR_ELEMENTS(sizes));
}

/* Plain percentiles of six runs hold 92 %. */
TEST(test_ratio_of_few)
{
	enum { FEW = 6 };
	const int nr_trials = trials(2000);
	int covered = 0;

	draw_state = 9;
	for (int trial = 0; trial < nr_trials; trial++) {
		double top[FEW], bottom[FEW];
		struct summary s;

		draw_all(draw_delayed, 1, top, FEW);
		draw_all(draw_delayed, 1, bottom, FEW);
		s = summary_ratio(EACH(top, FEW), EACH(bottom, FEW), 1, true, (uint64_t)trial);
		covered += summary_holds(&s, 1, 1);
	}
	ck_assert_int_ge(covered, LEAST_COVERAGE * nr_trials);
}

/* ---- groups: runs of one start of the core, which are more alike than starts are ---- */

#define MAX_RUNS 100

/* Relative standard deviations; what a start has in common may also be one of two modes. */
static const struct starts {
	size_t nr, size;
	double between, within;
	bool has_modes;
} starts[] = {
	{6, 2, 0.02, 0.02, false}, {6, 10, 0.1, 0.02, false}, {10, 1, 0.05, 0.02, false},
	{10, 2, 0, 0.05, false},   {10, 10, 0, 0.05, false},  {10, 10, 0.3, 0.3, false},
	{20, 4, 0.02, 0.1, false}, {10, 4, 0, 0.01, true},    {20, 2, 0.005, 0.01, true},
};

/* The median is 100, but of two modes 1.005659488 times that, as above, for a spread of 0.01. */
static void
draw_starts(const struct starts *of, double *values, size_t *groups)
{
	for (size_t g = 0; g < of->nr; g++) {
		const double mode = of->has_modes && draw_uniform() > 0.7 ? 1.3 : 1;
		const double start = 100 * mode * exp(of->between * draw_standard_normal());

		for (size_t i = 0; i < of->size; i++) {
			values[g * of->size + i] = start * exp(of->within * draw_standard_normal());
			groups[g * of->size + i] = 7 * g;
		}
	}
}

static double
median_of_starts(const struct starts *of)
{
	const double spread = hypot(of->between, of->within);

	return of->has_modes ? 100 * exp(0.5659488 * spread) : 100;
}

TEST_OF(test_starts, NR_ELEMENTS(starts))
{
	const struct starts *of = &starts[_i];
	const size_t n = of->nr * of->size;
	const double truth = median_of_starts(of);
	const int nr_trials = trials(1000);
	int of_median = 0, of_joint_ratio = 0, of_ratio = 0;

	draw_state = 7;
	for (int trial = 0; trial < nr_trials; trial++) {
		double top[MAX_RUNS], bottom[MAX_RUNS];
		size_t groups[MAX_RUNS];
		const struct grouped above = {top, groups, n}, below = {bottom, groups, n};
		struct summary s;

		draw_starts(of, top, groups);
		draw_starts(of, bottom, groups);
		s = summary_grouped_median(&above);
		of_median += summary_holds(&s, truth, truth);
		s = summary_ratio(&above, &below, 1, true, (uint64_t)trial);
		of_joint_ratio += summary_holds(&s, 1, 1);
		s = summary_ratio(&above, &below, 1, false, (uint64_t)trial);
		of_ratio += summary_holds(&s, 1, 1);
	}
	ck_assert_msg(of_median >= LEAST_COVERAGE * nr_trials && of_joint_ratio >= LEAST_COVERAGE * nr_trials &&
			      of_ratio >= LEAST_COVERAGE * nr_trials,
		      "%zu starts of %zu runs, case %d: %d, %d and %d of %d", of->nr, of->size, _i, of_median,
		      of_joint_ratio, of_ratio, nr_trials);
}

/* Why groups matter: intervals of runs that are taken as independent do not hold what they promise. */
TEST(test_runs_are_not_starts)
{
	static const struct starts of = {10, 10, 0.1, 0.02, false};
	const int nr_trials = trials(500);
	int covered = 0;

	draw_state = 8;
	for (int trial = 0; trial < nr_trials; trial++) {
		double values[MAX_RUNS];
		size_t groups[MAX_RUNS];
		struct summary s;

		draw_starts(&of, values, groups);
		s = summary_median(values, MAX_RUNS);
		covered += summary_holds(&s, 100, 100);
	}
	ck_assert_int_lt(covered, 0.7 * nr_trials);
}

/*
 * Runs that a start does not make alike, but skewed: the median of pairs is not that of the runs (of the mean of two
 * exponential delays it is 0.839 of their mean, and not ln 2), so the interval of the medians of starts misses it, to
 * one side, and that of the runs counts.
 */
TEST_OF(test_starts_are_not_runs, 2)
{
	enum { NR_STARTS = MAX_RUNS / 2 };
	const double sign = _i == 0 ? 1 : -1, truth = 100 + sign * 5 * log(2);
	const int nr_trials = trials(1000);
	int covered = 0, covered_by_starts = 0;

	draw_state = 9;
	for (int trial = 0; trial < nr_trials; trial++) {
		double values[MAX_RUNS], medians[NR_STARTS];
		size_t groups[MAX_RUNS];
		struct summary s;

		for (size_t i = 0; i < MAX_RUNS; i++) {
			values[i] = 100 - sign * 5 * log(draw_uniform());
			groups[i] = i / 2;
		}
		for (size_t g = 0; g < NR_STARTS; g++)
			medians[g] = (values[2 * g] + values[2 * g + 1]) / 2;
		s = summary_grouped_median(&(const struct grouped){values, groups, MAX_RUNS});
		covered += summary_holds(&s, truth, truth);
		s = summary_median(medians, NR_STARTS);
		covered_by_starts += summary_holds(&s, truth, truth);
	}
	ck_assert_int_ge(covered, LEAST_COVERAGE * nr_trials);
	ck_assert_int_lt(covered_by_starts, 0.85 * nr_trials);
}

/* The intervals are worth having: they become narrower with more values, about as the square root of their number. */
TEST(test_ratio_narrows)
{
	double width[2] = {0, 0};

	draw_state = 3;
	for (int trial = 0; trial < 100; trial++)
		for (int k = 0; k < 2; k++) {
			const size_t n = k ? MAX_N : MAX_N / 4;
			double top[MAX_N], bottom[MAX_N];
			struct summary s;

			for (size_t i = 0; i < n; i++) {
				top[i] = draw_normal();
				bottom[i] = 50 + draw_standard_normal();
			}
			s = summary_ratio(EACH(top, n), EACH(bottom, n), 1, true, (uint64_t)trial);
			width[k] += s.high - s.low;
		}
	ck_assert_double_gt(width[0], 1.7 * width[1]);
	ck_assert_double_lt(width[0], 3 * width[1]);
}

UNIT_TESTS(.is_in_one_process = true);
