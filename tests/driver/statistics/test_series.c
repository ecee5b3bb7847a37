/* SPDX-License-Identifier: MIT */
/* Modes, drift, first runs: found where they are, and by simulation with a fixed seed seldom found where they are not.
 */
#include "draw.h"
#include "statistics/series.h"
#include "testing.h"

#define MAX_N 50

static double
draw_normal(void)
{
	return 100 + 5 * draw_standard_normal();
}

static double
draw_delayed(void)
{
	return 100 - 50 * log(draw_uniform());
}

static double
draw_even(void)
{
	return 100 + 50 * draw_uniform();
}

static const struct {
	const char *name;
	double (*draw)(void);
} distributions[] = {
	{"normal", draw_normal}, {"lognormal", draw_lognormal}, {"delayed", draw_delayed}, {"uniform", draw_even},
	{"die", draw_die},
};

static enum series_finding
find_modes(const double *values, size_t n)
{
	return series_modes(values, n).finding;
}

static enum series_finding
find_drift(const double *values, size_t n)
{
	return series_drift(values, n).finding;
}

static enum series_finding
find_first(const double *values, size_t n)
{
	return series_first(values, n).finding;
}

static enum series_finding
find_outliers(const double *values, size_t n)
{
	return series_outliers(values, n).finding;
}

static const struct {
	const char *name;
	enum series_finding (*find)(const double *values, size_t n);
	size_t least; /* values that it takes */
} detectors[] = {
	{"modes", find_modes, 10},
	{"drift", find_drift, 8},
	{"first run", find_first, 10},
	{"outliers", find_outliers, 10},
};

/* One in 50 is promised; 2.5 % leaves room for the simulation's own error (0.25 % of 3000). */
TEST_OF(test_false_findings, NR_ELEMENTS(distributions))
{
	static const size_t sizes[] = {10, 12, 20, MAX_N};
	const int nr_trials = 3000;

	draw_state = 1;
	for (size_t k = 0; k < NR_ELEMENTS(sizes); k++) {
		int found[NR_ELEMENTS(detectors)] = {0};

		for (int trial = 0; trial < nr_trials; trial++) {
			double values[MAX_N];

			for (size_t i = 0; i < sizes[k]; i++)
				values[i] = distributions[_i].draw();
			for (size_t t = 0; t < NR_ELEMENTS(detectors); t++)
				found[t] += detectors[t].find(values, sizes[k]) == SERIES_YES;
		}
		for (size_t t = 0; t < NR_ELEMENTS(detectors); t++)
			ck_assert_msg(found[t] <= 0.025 * nr_trials, "%s, %s, n=%zu: %d of %d", detectors[t].name,
				      distributions[_i].name, sizes[k], found[t], nr_trials);
	}
}

TEST_OF(test_too_few_to_tell, NR_ELEMENTS(detectors))
{
	const double values[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 3};
	const size_t least = detectors[_i].least;

	ck_assert_int_eq(detectors[_i].find(values, least - 1), SERIES_UNKNOWN);
	ck_assert_int_ne(detectors[_i].find(values, least), SERIES_UNKNOWN);
	ck_assert_int_eq(detectors[_i].find(NULL, 0), SERIES_UNKNOWN);
	ck_assert(isnan(series_drift(values, 7).p) && isnan(series_drift(values, 7).change));
	ck_assert(isnan(series_first(values, 9).difference) && isnan(series_outliers(values, 9).difference));
	ck_assert(isnan(series_modes(values, 9).low) && isnan(series_modes(values, 9).high));
}

TEST_OF(test_equal_values_are_sound, NR_ELEMENTS(detectors))
{
	double same[12], zeros[12] = {0};

	for (size_t i = 0; i < 12; i++)
		same[i] = 20000;
	ck_assert_int_eq(detectors[_i].find(same, 12), SERIES_NO);
	ck_assert_int_eq(detectors[_i].find(zeros, 12), SERIES_NO);
	ck_assert_double_eq(series_first(zeros, 12).difference, 0);
	ck_assert_double_eq(series_first(same, 12).difference, 0);
}

TEST(test_small_differences_do_not_matter)
{
	const double modes[] = {1000, 1001, 1000, 1001, 1000, 1001, 1000, 1001, 1000, 1001};
	const double rising[] = {1000, 1000.1, 1000.2, 1000.3, 1000.4, 1000.5, 1000.6, 1000.7, 1000.8, 1000.9};
	const double first[] = {1005, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};

	ck_assert_int_eq(series_modes(modes, 10).finding, SERIES_NO);
	ck_assert_int_eq(series_drift(rising, 10).finding, SERIES_NO);
	ck_assert_double_lt(series_drift(rising, 10).p, 0.001);
	ck_assert_int_eq(series_first(first, 10).finding, SERIES_NO);
	ck_assert_double_eq_tol(series_first(first, 10).difference, 0.005, 1e-12);
}

TEST(test_outliers)
{
	double values[20];
	struct series_outliers outliers;

	for (size_t i = 0; i < 20; i++)
		values[i] = 100 + 0.5 * (double)(i % 3);
	ck_assert_int_eq(series_outliers(values, 20).finding, SERIES_NO);
	values[7] = 130.5;
	values[11] = 150;
	outliers = series_outliers(values, 20);
	ck_assert_int_eq(outliers.finding, SERIES_YES);
	ck_assert_uint_eq(outliers.nr, 2);
	ck_assert_double_eq_tol(outliers.difference, 0.3, 1e-2);
	values[7] = 80;
	values[11] = 100;
	outliers = series_outliers(values, 20);
	ck_assert_uint_eq(outliers.nr, 1);
	ck_assert_double_eq_tol(outliers.difference, -0.2, 1e-2);
	values[7] = 103.9; /* three times the range away from the nearest, and no more */
	ck_assert_int_eq(series_outliers(values, 20).finding, SERIES_NO);
	values[7] = 104.1;
	ck_assert_int_eq(series_outliers(values, 20).finding, SERIES_YES);
	for (size_t i = 0; i < 4; i++) /* a fifth is a mode */
		values[i] = 150;
	values[7] = 100;
	ck_assert_int_eq(series_outliers(values, 20).finding, SERIES_NO);
	ck_assert_int_eq(series_modes(values, 20).finding, SERIES_YES);
}

TEST(test_two_modes)
{
	const double values[] = {3.11, 4.2, 3.1, 3.09, 4.21, 3.1, 4.19, 3.12, 3.08, 4.2};
	struct series_modes modes = series_modes(values, 10);

	ck_assert_int_eq(modes.finding, SERIES_YES);
	ck_assert_double_eq_tol(modes.low, 3.1, 1e-12);
	ck_assert_double_eq_tol(modes.high, 4.2, 1e-12);
	ck_assert_uint_eq(modes.nr_low, 6);
	ck_assert_uint_eq(modes.nr_high, 4);
}

/* The gap of 50 is ten times the mean distance, 5, and no less, for all that another value lies as far away. */
TEST(test_two_modes_and_another_value)
{
	const double values[] = {50, 100, 100, 100, 100, 100, 150, 150, 150, 150};
	struct series_modes modes = series_modes(values, 10);

	ck_assert_int_eq(modes.finding, SERIES_YES);
	ck_assert_uint_eq(modes.nr_low, 6);
}

/* A tenth of the runs that took longer is an accident, not a mode. */
TEST(test_rare_runs_are_no_mode)
{
	const double values[] = {3.11, 9.2, 3.1, 3.09, 3.1, 3.1, 3.1, 3.12, 3.08, 3.1};

	ck_assert_int_eq(series_modes(values, 10).finding, SERIES_NO);
}

TEST(test_power_of_modes)
{
	int found = 0;

	draw_state = 2;
	for (int trial = 0; trial < 500; trial++) {
		double values[20];

		for (int i = 0; i < 20; i++)
			values[i] = (i % 10 < 7 ? 100 : 115) + draw_standard_normal();
		found += series_modes(values, 20).finding == SERIES_YES;
	}
	ck_assert_int_ge(found, 475);
}

TEST(test_drift)
{
	const double rising[] = {100, 101, 102, 103, 104, 105, 106, 107, 108};
	double falling[1500];
	struct series_drift drift = series_drift(rising, 9);

	ck_assert_int_eq(drift.finding, SERIES_YES);
	ck_assert_double_eq_tol(drift.change, 8.0 / 104, 1e-12);
	/* score 36 of 36, variance 92 */
	ck_assert_double_eq_tol(drift.p, erfc(35 / sqrt(2 * 92.0)), 1e-12);
	for (int i = 0; i < 1500; i++)
		falling[i] = 200 - i * 0.1;
	drift = series_drift(falling, 1500);
	ck_assert_int_eq(drift.finding, SERIES_YES);
	ck_assert_double_eq_tol(drift.change, -150 / 125.0, 0.01);
}

/* With ties 1 1 2 2 3 3 4 4: score 24; variance (8*7*21 - 4 * 2*1*9) / 18. */
TEST(test_drift_with_ties)
{
	const double values[] = {1, 1, 2, 2, 3, 3, 4, 4};
	struct series_drift drift = series_drift(values, 8);

	ck_assert_double_eq_tol(drift.p, erfc(23 / sqrt(2 * (1176 - 72) / 18.0)), 1e-12);
	ck_assert_int_eq(drift.finding, SERIES_YES);
}

TEST(test_first_run)
{
	const double slow[] = {130, 100, 101, 99, 100, 102, 98, 100, 101, 99};
	double fast[10];
	struct series_first first = series_first(slow, 10);

	ck_assert_int_eq(first.finding, SERIES_YES);
	ck_assert_double_eq_tol(first.difference, 0.3, 1e-12);
	memcpy(fast, slow, sizeof(fast));
	fast[0] = 80;
	first = series_first(fast, 10);
	ck_assert_int_eq(first.finding, SERIES_YES);
	ck_assert_double_eq_tol(first.difference, -0.2, 1e-12);
	memmove(fast, slow + 1, 9 * sizeof(*fast));
	fast[9] = 130;
	ck_assert_int_eq(series_first(fast, 10).finding, SERIES_NO);
}

TEST(test_minima_of_groups)
{
	const double threes[] = {3, 1, 2, 6, 5, 4, 0};
	double values[25], minima[2];

	for (int i = 0; i < 25; i++)
		values[i] = 100 + (i * 7) % 10 + i / 10;
	values[24] = 1;
	ck_assert_uint_eq(series_minima(values, 25, 10, minima), 2);
	ck_assert_double_eq(minima[0], 100);
	ck_assert_double_eq(minima[1], 101);
	ck_assert_uint_eq(series_minima(threes, 7, 3, minima), 2);
	ck_assert(minima[0] == 1 && minima[1] == 4);
	ck_assert_uint_eq(series_minima(values, 9, 10, minima), 0);
	ck_assert_uint_eq(series_minima(values, 1, 1, minima), 1);
	ck_assert_double_eq(minima[0], 100);
}

/* ---- limits, by hand ---- */

/* How far the upper of two modes lies above the lower: {100 - 1, 100, ..., 100 + 1}, and the same further up. */
static const struct {
	size_t nr_low, nr_high;
	double apart;
	enum series_finding finding;
} mode_limits[] = {
	/* The mean distance is 4 / n, and the gap 2 less than they are apart: 3 + 70 / n times it is as far as here. */
	{5, 5, 6.02, SERIES_YES},
	{5, 5, 5.98, SERIES_NO},
	{10, 10, 3.31, SERIES_YES},
	{10, 10, 3.29, SERIES_NO},
	/* A fifth is a mode, and less is none. */
	{2, 8, 50, SERIES_YES},
	{8, 2, 50, SERIES_YES},
	{3, 8, 50, SERIES_YES},
	{2, 9, 50, SERIES_NO},
	{9, 2, 50, SERIES_NO},
	{5, 21, 50, SERIES_NO},
	{5, 20, 50, SERIES_YES},
};

/* A mode has nr values around the middle, or both ends if there are two. */
static void
set_mode(double *values, size_t nr, double middle)
{
	for (size_t i = 0; i < nr; i++)
		values[i] = middle;
	values[0]--;
	values[nr - 1]++;
}

TEST_OF(test_limits_of_modes, NR_ELEMENTS(mode_limits))
{
	const size_t nr_low = mode_limits[_i].nr_low, nr_high = mode_limits[_i].nr_high;
	struct series_modes modes;
	double values[26];

	set_mode(values, nr_high, 100 + mode_limits[_i].apart);
	set_mode(values + nr_high, nr_low, 100);
	modes = series_modes(values, nr_low + nr_high);
	ck_assert_int_eq(modes.finding, mode_limits[_i].finding);
	if (modes.finding != SERIES_YES) {
		ck_assert(isnan(modes.low) && isnan(modes.high) && modes.nr_low == 0 && modes.nr_high == 0);
		return;
	}
	ck_assert_uint_eq(modes.nr_low, nr_low);
	ck_assert_uint_eq(modes.nr_high, nr_high);
	ck_assert_double_eq_tol(modes.low, 100, 1e-9);
	ck_assert_double_eq_tol(modes.high, 100 + mode_limits[_i].apart, 1e-9);
}

/* One in a hundred is where differences begin to matter. */
static const struct {
	enum series_finding (*find)(const double *values, size_t n);
	enum series_finding finding;
	double values[10];
} matters[] = {
	{find_modes, SERIES_YES, {100, 100, 100, 100, 100, 101, 101, 101, 101, 101}},
	{find_modes, SERIES_NO, {101, 101, 101, 101, 101, 102, 102, 102, 102, 102}},
	{find_modes, SERIES_YES, {-100, -100, -100, -100, -100, -99, -99, -99, -99, -99}},
	{find_drift, SERIES_YES, {896, 897, 898, 899, 900, 900, 901, 902, 903, 905}},
	{find_drift, SERIES_NO, {898, 899, 900, 901, 902, 902, 903, 904, 905, 907}},
	{find_first, SERIES_YES, {101, 100, 100, 100, 100, 100, 100, 100, 100, 100}},
	{find_first, SERIES_NO, {102, 101, 101, 101, 101, 101, 101, 101, 101, 101}},
	{find_outliers, SERIES_YES, {100, 100, 100, 101, 100, 100, 100, 100, 100, 100}},
	{find_outliers, SERIES_NO, {101, 101, 101, 102, 101, 101, 101, 101, 101, 101}},
};

TEST_OF(test_one_in_a_hundred_matters, NR_ELEMENTS(matters))
{
	ck_assert_int_eq(matters[_i].find(matters[_i].values, 10), matters[_i].finding);
}

/* n values from 100 on, so that n (n - 1) / 2 pairs are in order but for so many. */
static void
set_order(double *values, size_t n, size_t nr_falling)
{
	for (size_t i = 0; i < n; i++)
		values[i] = 100 + (double)i;
	for (size_t last = n - 1; last > 0 && nr_falling > 0; last--)
		for (size_t i = 0; i < last && nr_falling > 0; i++, nr_falling--) {
			const double value = values[i];

			values[i] = values[i + 1];
			values[i + 1] = value;
		}
}

/* The pairs of n values that rise less those that fall make a p just below and just above the level. */
static const struct {
	size_t n, nr_falling;
	double p;
	enum series_finding finding;
} orders[] = {
	{27, 113, 0.009737, SERIES_YES},
	{29, 134, 0.010174, SERIES_NO},
	{8, 14, 1, SERIES_NO},
};

TEST_OF(test_level_of_drift, NR_ELEMENTS(orders))
{
	struct series_drift drift;
	double values[MAX_N];

	set_order(values, orders[_i].n, orders[_i].nr_falling);
	drift = series_drift(values, orders[_i].n);
	ck_assert_double_eq_tol(drift.p, orders[_i].p, 1e-6);
	ck_assert_int_eq(drift.finding, orders[_i].finding);
	for (size_t i = 0; i < orders[_i].n; i++)
		values[i] = -values[i];
	ck_assert_double_eq_tol(series_drift(values, orders[_i].n).change, -drift.change, 1e-12);
	ck_assert_double_eq(series_drift(values, orders[_i].n).p, drift.p);
}

/* Most pairs are alike, so that the slope is zero; and so is what it is relative to. */
TEST(test_no_slope_is_no_drift)
{
	const double rising[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}, same[8] = {0};
	struct series_drift drift = series_drift(rising, 12);

	ck_assert_double_eq_tol(drift.p, erfc(29 / sqrt(2 * (12 * 11 * 29 - 9 * 8 * 23) / 18.0)), 1e-12);
	ck_assert_double_lt(drift.p, 0.01);
	ck_assert_int_eq(drift.finding, SERIES_NO);
	ck_assert_double_eq(drift.change, 0);
	drift = series_drift(same, 8);
	ck_assert_double_eq(drift.p, 1);
	ck_assert_double_eq(drift.change, 0);
}

/* Some of many values are looked at, from all over the series: here those at the places 0, 1, 3, 4, 6, ... */
TEST(test_many_values_are_thinned)
{
	double values[1500];

	for (int i = 0; i < 1500; i++)
		values[i] = i % 3 == 2 ? -1e9 : 100 + i;
	ck_assert_double_eq(series_drift(values, 1500).p, 0); /* less than the least number */
	ck_assert_double_gt(series_drift(values, 1000).p, 0); /* of these all are looked at */
}

/* Nine runs behind the first, of which half are a distance of 1 from 0 or 100: the first may be 11.8608 away. */
static const struct {
	enum series_finding finding;
	double first, others[9];
} first_limits[] = {
	{SERIES_YES, 111.9, {99, 99, 99, 99, 100, 101, 101, 101, 101}},
	{SERIES_NO, 111.8, {99, 99, 99, 99, 100, 101, 101, 101, 101}},
	{SERIES_YES, 88.1, {99, 99, 99, 99, 100, 101, 101, 101, 101}},
	{SERIES_NO, 88.2, {99, 99, 99, 99, 100, 101, 101, 101, 101}},
	{SERIES_NO, 105, {99, 100, 100, 100, 100, 101, 101, 101, 101}},
	{SERIES_YES, -80, {-99, -99, -99, -99, -100, -101, -101, -101, -101}},
	{SERIES_NO, 8 * (1.4826 * 1), {-1, -1, -1, -1, 0, 1, 1, 1, 1}},
	/* Within the others' range. */
	{SERIES_NO, 150, {99, 99, 99, 0, 100, 101, 200, 101, 101}},
	{SERIES_NO, 200, {99, 99, 99, 0, 100, 101, 200, 101, 101}},
	{SERIES_YES, 201, {99, 99, 99, 0, 100, 101, 200, 101, 101}},
	{SERIES_NO, 0, {99, 99, 99, 0, 100, 101, 200, 101, 101}},
	{SERIES_YES, -1, {99, 99, 99, 0, 100, 101, 200, 101, 101}},
};

TEST_OF(test_limits_of_first_runs, NR_ELEMENTS(first_limits))
{
	const double middle = first_limits[_i].others[4];
	struct series_first first;
	double values[10];

	values[0] = first_limits[_i].first;
	memcpy(values + 1, first_limits[_i].others, sizeof(first_limits[_i].others));
	first = series_first(values, 10);
	ck_assert_int_eq(first.finding, first_limits[_i].finding);
	if (middle != 0)
		ck_assert_double_eq_tol(first.difference, (values[0] - middle) / fabs(middle), 1e-12);
	else
		ck_assert(isinf(first.difference));
}

/* Also of many others it is the outermost that counts. */
TEST(test_range_of_many_runs)
{
	double values[300];

	for (int i = 0; i < 300; i++)
		values[i] = i % 2 ? 99 : 101;
	values[100] = 0;
	values[200] = 200;
	values[0] = 150;
	ck_assert_int_eq(series_first(values, 300).finding, SERIES_NO);
	values[0] = 50;
	ck_assert_int_eq(series_first(values, 300).finding, SERIES_NO);
	values[0] = 201;
	ck_assert_int_eq(series_first(values, 300).finding, SERIES_YES);
}

/* Fewer than a fifth; three times the range of the others away. */
static const struct {
	size_t n, nr; /* all values, and how many of them are found to be outliers */
	double values[3], difference;
} outlier_limits[] = {
	{10, 1, {200}, 1},
	{10, 0, {200, 200}, 0},
	{11, 2, {200, 200}, 1},
	{11, 0, {200, 200, 200}, 0},
	{15, 2, {200, 180}, 0.8},
	{15, 0, {200, 180, 200}, 0},
	{16, 3, {150, 160, 140}, 0.4},
	{10, 1, {50}, -0.5},
	{11, 2, {60, 50}, -0.4},
	{11, 0, {60, 160}, 0},
	{10, 0, {103.5}, 0},
	{10, 1, {103.6}, 0.036},
	{10, 0, {96.5}, 0},
	{10, 1, {96.4}, -0.036},
};

TEST_OF(test_limits_of_outliers, NR_ELEMENTS(outlier_limits))
{
	const size_t nr = outlier_limits[_i].nr;
	struct series_outliers outliers;
	size_t nr_apart = 0;
	double values[20];

	for (size_t i = 0; i < outlier_limits[_i].n; i++)
		if (i < 3 && outlier_limits[_i].values[i] != 0)
			values[nr_apart++] = outlier_limits[_i].values[i];
	for (size_t i = nr_apart; i < outlier_limits[_i].n; i++) /* the others: from 99.5 to 100.5 */
		values[i] = 99.5 + (double)(i - nr_apart) / (double)(outlier_limits[_i].n - nr_apart - 1);
	outliers = series_outliers(values, outlier_limits[_i].n);
	ck_assert_int_eq(outliers.finding, nr > 0 ? SERIES_YES : SERIES_NO);
	ck_assert_uint_eq(outliers.nr, nr);
	if (nr > 0)
		ck_assert_double_eq_tol(outliers.difference, outlier_limits[_i].difference, 1e-12);
	else
		ck_assert(isnan(outliers.difference));
}

/* A median of finite values is finite, whatever lies beyond. */
TEST(test_infinite_values)
{
	const double values[] = {1, 2, 3, 4, 5, INFINITY, INFINITY, INFINITY, INFINITY};

	ck_assert_double_eq(
		series_first((const double[]){100, 1, 2, 3, 4, 5, INFINITY, INFINITY, INFINITY, INFINITY}, 10)
			.difference,
		19);
	ck_assert_double_eq(statistics_percentile(values, 9, 50), 5);
}

static const struct {
	double value, expected, error;
} errors[] = {
	{100, 100, 0}, {110, 100, 0.1}, {200, 100, 1}, {100, 200, 1}, {100, 110, 0.1}, {0, 0, 0},
};

TEST_OF(test_error, NR_ELEMENTS(errors))
{
	ck_assert_double_eq_tol(series_error(errors[_i].value, errors[_i].expected), errors[_i].error, 1e-12);
}

TEST(test_error_without_bound)
{
	ck_assert(isinf(series_error(1, 0)) && isinf(series_error(0, 1)) && isinf(series_error(-1, 1)));
	ck_assert(isnan(series_error(NAN, 1)) && isnan(series_error(1, NAN)));
}

UNIT_TESTS(.is_in_one_process = true);
