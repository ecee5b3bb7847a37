/* SPDX-License-Identifier: MIT */
/* Shifts between two sets of values: by hand, and by simulation with a fixed seed. */
#include <check.h>
#include <math.h>

#include "draw.h"
#include "statistics/shift.h"
#include "testing.h"

#define LEAST_COVERAGE 0.94
#define MAX_N 60
#define NR_TRIALS 2000

/* ---- by hand ---- */

START_TEST(of_few_values_there_is_no_interval)
{
	const double few[] = {1, 2, 3, 4, 5}, more[] = {2, 4, 6, 8, 10, 12};
	struct shift shift = statistics_shift(EACH(more, 6), EACH(few, 5));

	ck_assert(isnan(shift.p) && isnan(shift.ratio.low) && isnan(shift.ratio.high));
	ck_assert_uint_eq(shift.ratio.n, 5);
	ck_assert(isfinite(shift.ratio.value));
	ck_assert(isnan(statistics_shift(EACH(more, 6), EACH(NULL, 0)).ratio.value));
}
END_TEST

/* All above: 2 of the 924 ways to choose 6 of 12. The interval leaves out 5 pairs on either side (Wilcoxon's table). */
START_TEST(apart)
{
	const double below[] = {10, 11, 12, 13, 14, 15}, above[] = {20, 22, 24, 26, 28, 30};
	struct shift shift = statistics_shift(EACH(above, 6), EACH(below, 6)),
		     back = statistics_shift(EACH(below, 6), EACH(above, 6));

	ck_assert_double_eq_tol(shift.p, 2.0 / 924, 1e-12);
	ck_assert_double_eq_tol(back.p, shift.p, 1e-12);
	ck_assert_double_eq_tol(shift.ratio.value, 2, 1e-12);
	ck_assert_double_eq_tol(back.ratio.value, 0.5, 1e-12);
	/* The ratios in order: 20/15, 20/14, 22/15, 20/13, 22/14, 24/15, ... */
	ck_assert_double_eq_tol(shift.ratio.low, 24.0 / 15, 1e-12);
	ck_assert_double_eq_tol(back.ratio.high, 15.0 / 24, 1e-12);
	ck_assert_double_eq_tol(shift.ratio.minimum, 20.0 / 15, 1e-12);
	ck_assert_double_eq(shift.ratio.confidence, 0.95);
}
END_TEST

/* Without any difference, and with ranks that are shared. */
START_TEST(equal_values)
{
	const double zeros[7] = {0}, same[] = {3, 3, 3, 3, 3, 3}, one[] = {1, 1, 1, 1, 1, 2},
		     two[] = {1, 2, 2, 2, 2, 2};
	struct shift shift = statistics_shift(EACH(same, 6), EACH(same, 6));

	ck_assert_double_eq(shift.p, 1);
	ck_assert_double_eq(shift.ratio.low, 1);
	ck_assert_double_eq(shift.ratio.high, 1);
	ck_assert_double_eq(statistics_shift(EACH(zeros, 7), EACH(zeros, 7)).ratio.value, 1);
	ck_assert(isinf(statistics_shift(EACH(same, 6), EACH(zeros, 7)).ratio.value));
	/* Six ones and six twos: at most one of the other kind on a side in 2 * (1 + 36) of 924 ways. */
	ck_assert_double_eq_tol(statistics_shift(EACH(two, 6), EACH(one, 6)).p, 74.0 / 924, 1e-12);
}
END_TEST

START_TEST(holm)
{
	double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.9};
	const double corrected[] = {0.04, NAN, 0.09, 0.09, 0.025, 0.9};

	statistics_holm(p, 6);
	for (int i = 0; i < 6; i++)
		ck_assert(i == 1 ? isnan(p[i]) : fabs(p[i] - corrected[i]) < 1e-12);
	statistics_holm(NULL, 0);
	p[0] = p[1] = 0.7;
	statistics_holm(p, 2);
	ck_assert_double_eq(p[0], 1);
	ck_assert_double_eq(p[1], 1);
}
END_TEST

/* ---- by simulation ---- */

static double
draw_normal(void)
{
	return 100 + 2 * draw_standard_normal();
}

static double
draw_delayed(void)
{
	return 100 - 5 * log(draw_uniform());
}

static double
draw_bimodal(void)
{
	return (draw_uniform() < 0.7 ? 100 : 130) + draw_standard_normal();
}

static const struct {
	const char *name;
	double (*draw)(void);
} distributions[] = {
	{"normal", draw_normal}, {"lognormal", draw_lognormal}, {"delayed", draw_delayed}, {"bimodal", draw_bimodal},
	{"die", draw_die},
};

/* Up to 30 values together they are exact. */
static const size_t sizes[][2] = {{6, 6}, {6, 20}, {10, 10}, {20, 20}, {MAX_N, MAX_N}};

static void
draw_all(double (*draw)(void), double factor, double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = factor * draw();
}

static bool
covers(const struct summary *ratio, double truth)
{
	return ratio->low <= truth * (1 + 1e-9) && ratio->high >= truth * (1 - 1e-9);
}

/* The true factor is in the interval; and where there is none, one in 20 is called different. */
START_TEST(coverage)
{
	draw_state = 1;
	for (size_t k = 0; k < NR_ELEMENTS(sizes); k++) {
		int covered = 0, false_alarms = 0;

		for (int trial = 0; trial < NR_TRIALS; trial++) {
			double below[MAX_N], above[MAX_N], same[MAX_N];
			struct shift shift;

			draw_all(distributions[_i].draw, 1, below, sizes[k][0]);
			draw_all(distributions[_i].draw, 1.1, above, sizes[k][1]);
			draw_all(distributions[_i].draw, 1, same, sizes[k][1]);
			shift = statistics_shift(EACH(above, sizes[k][1]), EACH(below, sizes[k][0]));
			covered += covers(&shift.ratio, 1.1);
			false_alarms += statistics_shift(EACH(same, sizes[k][1]), EACH(below, sizes[k][0])).p <= 0.05;
		}
		ck_assert_msg(covered >= LEAST_COVERAGE * NR_TRIALS, "%s, n=%zu and %zu: %d of %d",
			      distributions[_i].name, sizes[k][0], sizes[k][1], covered, NR_TRIALS);
		ck_assert_msg(false_alarms <= (1 - LEAST_COVERAGE) * NR_TRIALS, "%s, n=%zu and %zu: %d of %d",
			      distributions[_i].name, sizes[k][0], sizes[k][1], false_alarms, NR_TRIALS);
	}
}
END_TEST

/* Starts differ by three times as much as their runs: without groups half of equal work would be called different. */
START_TEST(groups)
{
	enum { NR_GROUPS = 10, NR_EACH = 4, NR = NR_GROUPS * NR_EACH };
	int false_alarms = 0, without = 0;
	size_t which[NR];

	draw_state = 1;
	for (size_t i = 0; i < NR; i++)
		which[i] = i / NR_EACH;
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		double values[2][NR];

		for (int side = 0; side < 2; side++)
			for (size_t g = 0; g < NR_GROUPS; g++) {
				const double start = 100 + 3 * draw_standard_normal();

				for (size_t i = 0; i < NR_EACH; i++)
					values[side][g * NR_EACH + i] = start + draw_standard_normal();
			}
		const struct grouped above = {values[1], which, NR}, below = {values[0], which, NR};
		const struct shift shift = statistics_shift(&above, &below);

		ck_assert_uint_eq(shift.ratio.n, NR_GROUPS);
		ck_assert((shift.p <= 0.05) == !covers(&shift.ratio, 1));
		false_alarms += shift.p <= 0.05;
		without += statistics_shift(EACH(values[1], NR), EACH(values[0], NR)).p <= 0.05;
	}
	ck_assert_msg(false_alarms <= (1 - LEAST_COVERAGE) * NR_TRIALS, "%d of %d", false_alarms, NR_TRIALS);
	ck_assert_msg(without > 0.25 * NR_TRIALS, "%d of %d", without, NR_TRIALS);
}
END_TEST

/* A difference of ten times the spread is found; of twenty comparisons of equal work seldom any is called different. */
START_TEST(many_comparisons)
{
	enum { NR_COMPARED = 20, N = 10, NR_SETS = 1000 };
	int nr_found = 0, nr_false = 0, nr_uncorrected = 0;

	draw_state = 1;
	for (int set = 0; set < NR_SETS; set++) {
		bool is_false = false, is_uncorrected = false;
		double p[NR_COMPARED];

		for (int i = 0; i < NR_COMPARED; i++) {
			double below[N], above[N];

			draw_all(draw_normal, 1, below, N);
			draw_all(draw_normal, i == 0 ? 1.2 : 1, above, N);
			p[i] = statistics_shift(EACH(above, N), EACH(below, N)).p;
			is_uncorrected = is_uncorrected || (i > 0 && p[i] <= 0.05);
		}
		statistics_holm(p, NR_COMPARED);
		nr_found += p[0] <= 0.05;
		for (int i = 1; i < NR_COMPARED; i++)
			is_false = is_false || p[i] <= 0.05;
		nr_false += is_false;
		nr_uncorrected += is_uncorrected;
	}
	ck_assert_int_eq(nr_found, NR_SETS);
	ck_assert_msg(nr_false <= 0.06 * NR_SETS, "%d of %d", nr_false, NR_SETS);
	ck_assert_msg(nr_uncorrected > 0.4 * NR_SETS, "%d of %d", nr_uncorrected, NR_SETS);
}
END_TEST

static const struct listed_test tests[] = {
	{&of_few_values_there_is_no_interval, 1}, {&apart, 1},  {&equal_values, 1},     {&holm, 1},
	{&coverage, NR_ELEMENTS(distributions)},  {&groups, 1}, {&many_comparisons, 1},
};

const struct suite test_suite = SUITE("shift", tests);
