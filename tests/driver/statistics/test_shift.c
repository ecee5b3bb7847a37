/* SPDX-License-Identifier: MIT */
/* Shifts between two sets of values: by hand, and by simulation with a fixed seed. */
#include "draw.h"
#include "statistics/shift.h"
#include "testing.h"

#define LEAST_COVERAGE 0.94
#define MAX_N 60
#define NR_TRIALS trials(2000)

/* ---- by hand ---- */

TEST(of_few_values_there_is_no_interval)
{
	const double few[] = {1, 2, 3, 4, 5}, more[] = {2, 4, 6, 8, 10, 12};
	struct shift shift = statistics_shift(EACH(more, 6), EACH(few, 5));

	ck_assert(isnan(shift.p) && isnan(shift.ratio.low) && isnan(shift.ratio.high));
	ck_assert_uint_eq(shift.ratio.n, 5);
	ck_assert(isfinite(shift.ratio.value));
	ck_assert(isnan(statistics_shift(EACH(more, 6), EACH(NULL, 0)).ratio.value));
}

/* All above: 2 of the 924 ways to choose 6 of 12. The interval leaves out 5 pairs on either side (Wilcoxon's table). */
TEST(apart)
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

/* Without any difference, and with ranks that are shared. */
TEST(equal_values)
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

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Into an order in which the four stretches that are looked at differ little: there is no drift. */
static const double *
steady(double *values, size_t n)
{
	double sorted[MAX_N];
	size_t nr[4] = {0}, turn = 0;

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (size_t i = 0; i < n; turn++) {
		const size_t k = turn / 4 % 2 ? 3 - turn % 4 : turn % 4, begin = k * n / 4, end = (k + 1) * n / 4;

		if (begin + nr[k] < end)
			values[begin + nr[k]++] = sorted[i++];
	}
	return values;
}

/* Values whose ratios are all different powers of two: above 2^i, below 2^(-k / nr_below). */
static void
set_powers(double *above, size_t nr_above, double *below, size_t nr_below)
{
	for (size_t i = 0; i < nr_above; i++)
		above[i] = exp2((double)((i * 7) % nr_above));
	for (size_t k = 0; k < nr_below; k++)
		below[k] = exp2(-(double)((k * 7) % nr_below) / (double)nr_below);
}

/*
 * How many pairs lie beyond each end of the interval and on it: up to 30 values one more than the critical values in
 * Mann and Whitney's table for 5 %, two-sided; beyond m n / 2 - 1.96 sqrt(m n (m + n + 1) / 12).
 */
static const struct {
	size_t nr_above, nr_below, outside;
} tabled[] = {
	{6, 6, 6},   {6, 8, 9},    {8, 6, 9},    {9, 9, 18},   {10, 10, 24},  {6, 20, 28},
	{20, 6, 28}, {15, 15, 65}, {20, 10, 56}, {15, 16, 70}, {20, 20, 127}, {6, 25, 35},
};

TEST_OF(intervals, NR_ELEMENTS(tabled))
{
	const size_t m = tabled[_i].nr_above, n = tabled[_i].nr_below, outside = tabled[_i].outside;
	double above[MAX_N], below[MAX_N];
	struct summary ratio;

	set_powers(above, m, below, n);
	ratio = statistics_shift(EACH(steady(above, m), m), EACH(steady(below, n), n)).ratio;
	ck_assert_double_eq_tol(log2(ratio.low) * (double)n, (double)(outside - 1), 1e-9);
	ck_assert_double_eq_tol(log2(ratio.high) * (double)n, (double)(m * n - outside), 1e-9);
	ck_assert_double_eq_tol(log2(ratio.value) * (double)n, ((double)(m * n) - 1) / 2, 1e-9);
	ck_assert_double_eq_tol(log2(ratio.maximum) * (double)n, (double)(m * n - 1), 1e-9);
	ck_assert_uint_eq(ratio.n, m < n ? m : n);
	ck_assert_double_eq(ratio.confidence, 0.95);
	ck_assert_str_eq(ratio.estimator, "hodgesLehmann");
}

/*
 * By hand. Of 30 values one of the C(30, 15) choices is as extreme, on either side. Of 31 the sum of ranks is 120 from
 * the expected one, less one half for continuity, and its variance 15 * 16 * 32 / 12.
 */
TEST(probabilities)
{
	double above[MAX_N], below[MAX_N];

	for (size_t i = 0; i < MAX_N; i++) {
		above[i] = (double)i + 101;
		below[i] = (double)i + 1;
	}
	ck_assert_double_eq_tol(statistics_shift(EACH(steady(above, 15), 15), EACH(steady(below, 15), 15)).p,
				2 / 155117520.0, 1e-18);
	ck_assert_double_eq_tol(statistics_shift(EACH(steady(above, 15), 15), EACH(steady(below, 16), 16)).p,
				erfc(119.5 / sqrt(2 * 640.0)), 1e-12);
	ck_assert_double_eq_tol(statistics_shift(EACH(steady(below, 16), 16), EACH(steady(above, 15), 15)).p,
				erfc(119.5 / sqrt(2 * 640.0)), 1e-12);
	ck_assert_double_eq(statistics_shift(EACH(steady(above, 20), 20), EACH(steady(above, 20), 20)).p, 1);
	/* Four times ten equal values, of which 2, 3, 7 and 8 are above. */
	for (size_t i = 0; i < 20; i++) {
		above[i] = i < 2 ? 1 : i < 5 ? 2 : i < 12 ? 3 : 4;
		below[i] = i < 8 ? 1 : i < 15 ? 2 : i < 18 ? 3 : 4;
	}
	/* Ranks 5.5, 15.5, 25.5, 35.5: a sum of 520 where 410 is expected; squares of 20 (15^2 + 5^2) from their
	 * middle. */
	ck_assert_double_eq_tol(statistics_shift(EACH(steady(above, 20), 20), EACH(steady(below, 20), 20)).p,
				erfc(109.5 / sqrt(2 * 20 * 250 * 20 * 20 / (39.0 * 40.0))), 1e-12);
	for (size_t i = 0; i < 20; i++)
		above[i] = 7;
	ck_assert_double_eq(statistics_shift(EACH(steady(above, 20), 20), EACH(steady(above, 20), 20)).p, 1);
}

/* Half a rank makes no difference of two that are as alike as can be. */
TEST(alike)
{
	const double one[] = {1, 4, 5, 8, 9, 12, 13}, two[] = {2, 3, 6, 7, 10, 11, 14};
	double above[MAX_N], below[MAX_N];

	ck_assert_double_eq(statistics_shift(EACH(one, 6), EACH(two, 6)).p, 1);
	ck_assert_double_le(statistics_shift(EACH(one, 7), EACH(two, 7)).p, 1);
	for (size_t i = 0; i < 16; i++) {
		above[i] = (double)(2 * i + (i % 2));
		below[i] = (double)(2 * i + 1 - (i % 2));
	}
	ck_assert_double_eq(statistics_shift(EACH(steady(above, 16), 16), EACH(steady(below, 16), 16)).p, 1);
}

/* Some of what is above is nothing: the middle of two ratios of which one is 0 is no geometric one. */
TEST(ratios_of_nothing)
{
	const double above[] = {0, 0, 0, 2, 2, 2}, below[] = {1, 1, 1, 1, 1, 1}, signs[] = {-2, -2, -2, 4, 4, 4};
	const double parts[] = {0.125, 0.125, 0.125, 0.5, 0.5, 0.5};

	ck_assert_double_eq_tol(statistics_shift(EACH(parts, 6), EACH(below, 6)).ratio.value, 0.25, 1e-12);
	ck_assert_double_eq(statistics_shift(EACH(above, 6), EACH(below, 6)).ratio.value, 1);
	ck_assert_double_eq(statistics_shift(EACH(below, 6), EACH(above, 6)).ratio.value, INFINITY);
	ck_assert_double_eq(statistics_shift(EACH(signs, 6), EACH(below, 6)).ratio.value, 1);
	ck_assert_double_eq(statistics_shift(EACH(below, 6), EACH(below, 6)).ratio.value, 1);
	ck_assert(isnan(statistics_shift(EACH(NULL, 0), EACH(below, 6)).ratio.value));
}

/* Groups of how many values each count by their medians, if there are six and some have several. */
static const struct {
	size_t nr, each, n;
} groupings[] = {{6, 2, 6}, {5, 2, 10}, {12, 1, 12}, {8, 5, 8}, {6, 1, 6}, {1, 20, 20}};

TEST_OF(groups_count_by_their_medians, NR_ELEMENTS(groupings))
{
	const size_t nr = groupings[_i].nr, n = nr * groupings[_i].each;
	double values[MAX_N], ones[MAX_N];
	size_t which[MAX_N];
	struct summary ratio;

	for (size_t i = 0; i < n; i++) {
		which[i] = 100 - i % nr;
		values[i] = 10 * (double)(i % nr + 1) + (double)(i / nr);
		ones[i] = 1;
	}
	ratio = statistics_shift(&(const struct grouped){values, which, n}, EACH(ones, n)).ratio;
	ck_assert_uint_eq(ratio.n, groupings[_i].n);
	ck_assert_double_eq(ratio.minimum, groupings[_i].n == nr ? 10 + (double)(groupings[_i].each - 1) / 2 : 10);
	ck_assert_double_eq(ratio.maximum,
			    10 * (double)nr + (double)(groupings[_i].each - 1) / (groupings[_i].n == nr ? 2 : 1));
}

/* 1000 of many values, or medians of groups, are looked at, from all over them. */
TEST(many_values_are_thinned)
{
	enum { NR = 3000 };
	static double values[NR], ones[6] = {1, 1, 1, 1, 1, 1};
	static size_t which[NR];
	struct summary ratio;

	for (size_t i = 0; i < NR; i++) {
		values[i] = (double)(i + 1);
		which[i] = i / 2;
	}
	ratio = statistics_shift(EACH(values, NR), EACH(ones, 6)).ratio;
	ck_assert_double_eq(ratio.minimum, 1);
	ck_assert_double_eq(ratio.maximum, 2998);      /* every third */
	ck_assert_double_eq(ratio.quartile25, 748.75); /* between the 250th, 748, and the next */
	ratio = statistics_shift(&(const struct grouped){values, which, NR}, EACH(ones, 6)).ratio;
	ck_assert_double_eq(ratio.minimum, 1.5);
	ck_assert_double_eq(ratio.maximum, 2997.5); /* of 1500 two of three */
	ratio = statistics_shift(EACH(values, 1000), EACH(ones, 6)).ratio;
	ck_assert_double_eq(ratio.maximum, 1000);
	ratio = statistics_shift(EACH(values, 1001), EACH(values, NR)).ratio;
	ck_assert_double_eq(ratio.maximum, 1000);
	ck_assert_uint_eq(ratio.n, 1000);
}

TEST(holm)
{
	double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.9};
	const double corrected[] = {0.04, NAN, 0.09, 0.09, 0.025, 0.9};

	statistics_holm(p, 6);
	for (int i = 0; i < 6; i++)
		ck_assert(i == 1 ? isnan(p[i]) : fabs(p[i] - corrected[i]) < 1e-12);
	statistics_holm(NULL, 0);
	p[0] = p[1] = 0.01; /* of two that are equal both have the larger one */
	p[2] = 0.03;
	statistics_holm(p, 3);
	ck_assert_double_eq_tol(p[0], 0.03, 1e-12);
	ck_assert_double_eq_tol(p[1], 0.03, 1e-12);
	ck_assert_double_eq_tol(p[2], 0.03, 1e-12);
	p[0] = p[1] = NAN;
	statistics_holm(p, 2);
	ck_assert(isnan(p[0]) && isnan(p[1]));
	p[0] = p[1] = 0.7;
	statistics_holm(p, 2);
	ck_assert_double_eq(p[0], 1);
	ck_assert_double_eq(p[1], 1);
}

/* ---- by simulation ---- */

/* Up to 30 values together they are exact. */
static const size_t sizes[][2] = {{6, 6}, {6, 20}, {10, 10}, {20, 20}, {MAX_N, MAX_N}};

/* The true factor is in the interval; and where there is none, one in 20 is called different. */
TEST_OF(coverage, NR_ELEMENTS(drawn))
{
	draw_state = 1;
	for (size_t k = 0; k < NR_ELEMENTS(sizes); k++) {
		int covered = 0, false_alarms = 0;

		for (int trial = 0; trial < NR_TRIALS; trial++) {
			double below[MAX_N], above[MAX_N], same[MAX_N];
			struct shift shift;

			draw_all(drawn[_i].draw, 1, below, sizes[k][0]);
			draw_all(drawn[_i].draw, 1.1, above, sizes[k][1]);
			draw_all(drawn[_i].draw, 1, same, sizes[k][1]);
			shift = statistics_shift(EACH(above, sizes[k][1]), EACH(below, sizes[k][0]));
			covered += summary_holds(&shift.ratio, 1.1, 1.1);
			false_alarms += statistics_shift(EACH(same, sizes[k][1]), EACH(below, sizes[k][0])).p <= 0.05;
		}
		ck_assert_msg(covered >= LEAST_COVERAGE * NR_TRIALS, "%s, n=%zu and %zu: %d of %d", drawn[_i].name,
			      sizes[k][0], sizes[k][1], covered, NR_TRIALS);
		ck_assert_msg(false_alarms <= (1 - LEAST_COVERAGE) * NR_TRIALS, "%s, n=%zu and %zu: %d of %d",
			      drawn[_i].name, sizes[k][0], sizes[k][1], false_alarms, NR_TRIALS);
	}
}

/*
 * Starts differ by three times as much as their runs: without groups half of equal work would be called different.
 * (They take turns here, so that the order of runs does not tell.)
 */
TEST(groups)
{
	enum { NR_GROUPS = 10, NR_EACH = 4, NR = NR_GROUPS * NR_EACH };
	int false_alarms = 0, without = 0;
	size_t which[NR];

	draw_state = 1;
	for (size_t i = 0; i < NR; i++)
		which[i] = i % NR_GROUPS;
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		double values[2][NR];

		for (int side = 0; side < 2; side++)
			for (size_t g = 0; g < NR_GROUPS; g++) {
				const double start = 100 + 3 * draw_standard_normal();

				for (size_t i = 0; i < NR_EACH; i++)
					values[side][i * NR_GROUPS + g] = start + draw_standard_normal();
			}
		const struct grouped above = {values[1], which, NR}, below = {values[0], which, NR};
		const struct shift shift = statistics_shift(&above, &below);

		ck_assert_uint_eq(shift.ratio.n, NR_GROUPS);
		ck_assert((shift.p <= 0.05) == !summary_holds(&shift.ratio, 1, 1));
		false_alarms += shift.p <= 0.05;
		without += statistics_shift(EACH(values[1], NR), EACH(values[0], NR)).p <= 0.05;
	}
	ck_assert_msg(false_alarms <= (1 - LEAST_COVERAGE) * NR_TRIALS, "%d of %d", false_alarms, NR_TRIALS);
	ck_assert_msg(without > 0.25 * NR_TRIALS, "%d of %d", without, NR_TRIALS);
}

/*
 * Runs that share a drift: on top of what is their own, something that changes slowly, and goes on from one side to the
 * other. Its spread is half of theirs, and what it is one run later has such a correlation with it. Taken for
 * independent, 10 to 14 % of equal work would be called different, as it was on machines whose load came and went.
 */
static const double correlations[] = {0.7, 0.85, 0.95};

struct drift {
	double now, correlation;
};

static void
draw_drifting(struct drift *drift, double factor, double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		values[i] = factor * exp(0.02 * (draw_standard_normal() + drift->now));
		drift->now *= drift->correlation;
		drift->now += 0.5 * sqrt(1 - pow(drift->correlation, 2)) * draw_standard_normal();
	}
}

TEST_OF(drifts, NR_ELEMENTS(correlations))
{
	enum { N = 10 };
	int false_alarms = 0, covered = 0;

	draw_state = 1;
	for (int trial = 0; trial < 2 * NR_TRIALS; trial++) {
		struct drift drift = {0.5 * draw_standard_normal(), correlations[_i]};
		double below[N], above[N], shifted[N];
		struct shift shift;

		draw_drifting(&drift, 1, below, N);
		draw_drifting(&drift, 1, above, N);
		for (size_t i = 0; i < N; i++)
			shifted[i] = 1.1 * above[i];
		shift = statistics_shift(EACH(above, N), EACH(below, N));
		ck_assert((shift.p <= 0.05) == !summary_holds(&shift.ratio, 1, 1));
		false_alarms += shift.p <= 0.05;
		shift = statistics_shift(EACH(shifted, N), EACH(below, N));
		covered += summary_holds(&shift.ratio, 1.1, 1.1);
	}
	ck_assert_msg(false_alarms <= 0.055 * 2 * NR_TRIALS, "%d of %d", false_alarms, 2 * NR_TRIALS);
	ck_assert_msg(covered >= 0.945 * 2 * NR_TRIALS, "%d of %d", covered, 2 * NR_TRIALS);
}

/* A steady difference must not become uncertain for it: a difference of three times the spread of runs is found. */
TEST(power)
{
	enum { N = 10 };
	int found = 0;

	draw_state = 1;
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		double below[N], above[N];

		draw_all(draw_normal, 1, below, N);
		draw_all(draw_normal, 1.03, above, N);
		found += statistics_shift(EACH(above, N), EACH(below, N)).p <= 0.05;
	}
	ck_assert_msg(found >= 0.95 * NR_TRIALS, "%d of %d", found, NR_TRIALS);
}

/* A difference of ten times the spread is found; of twenty comparisons of equal work seldom any is called different. */
TEST(many_comparisons)
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
			draw_all(draw_normal, i == 0 ? 1.1 : 1, above, N);
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
	ck_assert_msg(nr_uncorrected > 0.2 * NR_SETS, "%d of %d", nr_uncorrected, NR_SETS);
}

UNIT_TESTS(.is_in_one_process = true);
