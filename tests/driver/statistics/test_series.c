/* SPDX-License-Identifier: MIT */
/* Modes, drift, first runs: found where they are, and by simulation with a fixed seed seldom found where they are not.
 */
#include "draw.h"
#include "statistics/series.h"
#include "testing.h"

#define MAX_N 50

static double
draw_wide_normal(void)
{
	return 100 + 5 * draw_standard_normal();
}

static double
draw_long_delayed(void)
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
	{"normal", draw_wide_normal},
	{"lognormal", draw_lognormal},
	{"delayed", draw_long_delayed},
	{"uniform", draw_even},
	{"die", draw_die},
};

/* ---- all that a detector says ---- */

static const char *const findings[] = {"unknown", "no", "yes"};
static char told[128];

static const char *
tell_modes(const double *values, size_t n)
{
	const struct series_modes m = series_modes(values, n);

	snprintf(told, sizeof(told), "%s: %zu of %.10g, %zu of %.10g", findings[m.finding], m.nr_low, m.low, m.nr_high,
		 m.high);
	return told;
}

static const char *
tell_drift(const double *values, size_t n)
{
	const struct series_drift d = series_drift(values, n);

	snprintf(told, sizeof(told), "%s: %.10g, p %.10g", findings[d.finding], d.change, d.p);
	return told;
}

static const char *
tell_first(const double *values, size_t n)
{
	const struct series_first f = series_first(values, n);

	snprintf(told, sizeof(told), "%s: %.10g", findings[f.finding], f.difference);
	return told;
}

static const char *
tell_outliers(const double *values, size_t n)
{
	const struct series_outliers o = series_outliers(values, n);

	snprintf(told, sizeof(told), "%s: %zu, %.10g", findings[o.finding], o.nr, o.difference);
	return told;
}

static const struct {
	const char *name;
	const char *(*tell)(const double *values, size_t n);
	size_t least; /* values that it takes */
	const char *of_too_few;
} detectors[] = {
	{"modes", tell_modes, 10, "unknown: 0 of nan, 0 of nan"},
	{"drift", tell_drift, 8, "unknown: nan, p nan"},
	{"first run", tell_first, 10, "unknown: nan"},
	{"outliers", tell_outliers, 10, "unknown: 0, nan"},
};

static bool
finds(size_t detector, const double *values, size_t n)
{
	return strncmp(detectors[detector].tell(values, n), "yes", 3) == 0;
}

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
				found[t] += finds(t, values, sizes[k]);
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

	ck_assert_str_eq(detectors[_i].tell(values, least - 1), detectors[_i].of_too_few);
	ck_assert_str_ne(detectors[_i].tell(values, least), detectors[_i].of_too_few);
	ck_assert_str_eq(detectors[_i].tell(NULL, 0), detectors[_i].of_too_few);
}

#define MAX_SERIES 12

static const struct {
	const char *(*tell)(const double *values, size_t n);
	size_t n;
	double values[MAX_SERIES];
	const char *told;
} series[] = {
	{tell_modes, 10, {3.11, 4.2, 3.1, 3.09, 4.21, 3.1, 4.19, 3.12, 3.08, 4.2}, "yes: 6 of 3.1, 4 of 4.2"},
	/* The gap of 50 is ten times the mean distance, 5, and no less, for all that another value lies as far away. */
	{tell_modes, 10, {50, 100, 100, 100, 100, 100, 150, 150, 150, 150}, "yes: 6 of 100, 4 of 150"},
	/* A tenth of the runs that took longer is an accident, not a mode. */
	{tell_modes, 10, {3.11, 9.2, 3.1, 3.09, 3.1, 3.1, 3.1, 3.12, 3.08, 3.1}, "no: 0 of nan, 0 of nan"},
	/* One in a hundred is where differences begin to matter. */
	{tell_modes, 10, {1000, 1001, 1000, 1001, 1000, 1001, 1000, 1001, 1000, 1001}, "no: 0 of nan, 0 of nan"},
	{tell_modes, 10, {100, 100, 100, 100, 100, 101, 101, 101, 101, 101}, "yes: 5 of 100, 5 of 101"},
	{tell_modes, 10, {101, 101, 101, 101, 101, 102, 102, 102, 102, 102}, "no: 0 of nan, 0 of nan"},
	{tell_modes, 10, {-100, -100, -100, -100, -100, -99, -99, -99, -99, -99}, "yes: 5 of -100, 5 of -99"},
	{tell_modes,
	 12,
	 {20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000},
	 "no: 0 of nan, 0 of nan"},
	{tell_modes, 12, {0}, "no: 0 of nan, 0 of nan"},
	/* A score of 36 of 36, and a variance of 92: erfc(35 / sqrt(2 * 92)). */
	{tell_drift, 9, {100, 101, 102, 103, 104, 105, 106, 107, 108}, "yes: 0.07692307692, p 0.0002632608027"},
	/* A score of 24; the variance (8*7*21 - 4 * 2*1*9) / 18. */
	{tell_drift, 8, {1, 1, 2, 2, 3, 3, 4, 4}, "yes: 1.4, p 0.003315804402"},
	/* Most pairs are alike, so that the slope is zero; the variance (12*11*29 - 9*8*23) / 18. */
	{tell_drift, 12, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}, "no: 0, p 0.008290541288"},
	{tell_drift,
	 10,
	 {1000, 1000.1, 1000.2, 1000.3, 1000.4, 1000.5, 1000.6, 1000.7, 1000.8, 1000.9},
	 "no: 0.0008995951822, p 8.303070333e-05"},
	{tell_drift, 10, {896, 897, 898, 899, 900, 900, 901, 902, 903, 905}, "yes: 0.01, p 0.0001126865567"},
	{tell_drift, 10, {898, 899, 900, 901, 902, 902, 903, 904, 905, 907}, "no: 0.009977827051, p 0.0001126865567"},
	{tell_drift, 8, {7, 7, 7, 7, 7, 7, 7, 7}, "no: 0, p 1"},
	{tell_drift, 8, {0}, "no: 0, p 1"},
	{tell_first, 10, {130, 100, 101, 99, 100, 102, 98, 100, 101, 99}, "yes: 0.3"},
	{tell_first, 10, {80, 100, 101, 99, 100, 102, 98, 100, 101, 99}, "yes: -0.2"},
	{tell_first, 10, {100, 101, 99, 100, 102, 98, 100, 101, 99, 130}, "no: 0"},
	{tell_first, 10, {1005, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, "no: 0.005"},
	{tell_first, 10, {101, 100, 100, 100, 100, 100, 100, 100, 100, 100}, "yes: 0.01"},
	{tell_first, 10, {102, 101, 101, 101, 101, 101, 101, 101, 101, 101}, "no: 0.009900990099"},
	{tell_first, 10, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, "no: 0"},
	{tell_first, 12, {0}, "no: 0"},
	/* Half of the others are a distance of 1 from 0 or 100: the first may be 8 * 1.4826 away. */
	{tell_first, 10, {111.9, 99, 99, 99, 99, 100, 101, 101, 101, 101}, "yes: 0.119"},
	{tell_first, 10, {111.8, 99, 99, 99, 99, 100, 101, 101, 101, 101}, "no: 0.118"},
	{tell_first, 10, {88.1, 99, 99, 99, 99, 100, 101, 101, 101, 101}, "yes: -0.119"},
	{tell_first, 10, {88.2, 99, 99, 99, 99, 100, 101, 101, 101, 101}, "no: -0.118"},
	{tell_first, 10, {105, 99, 100, 100, 100, 100, 101, 101, 101, 101}, "no: 0.05"},
	{tell_first, 10, {-80, -99, -99, -99, -99, -100, -101, -101, -101, -101}, "yes: 0.2"},
	{tell_first, 10, {8 * (1.4826 * 1), -1, -1, -1, -1, 0, 1, 1, 1, 1}, "no: inf"},
	/* Within the others' range, and beyond. */
	{tell_first, 10, {150, 99, 99, 99, 0, 100, 101, 200, 101, 101}, "no: 0.5"},
	{tell_first, 10, {200, 99, 99, 99, 0, 100, 101, 200, 101, 101}, "no: 1"},
	{tell_first, 10, {201, 99, 99, 99, 0, 100, 101, 200, 101, 101}, "yes: 1.01"},
	{tell_first, 10, {0, 99, 99, 99, 0, 100, 101, 200, 101, 101}, "no: -1"},
	{tell_first, 10, {-1, 99, 99, 99, 0, 100, 101, 200, 101, 101}, "yes: -1.01"},
	/* A median of finite values is finite, whatever lies beyond. */
	{tell_first, 10, {100, 1, 2, 3, 4, 5, INFINITY, INFINITY, INFINITY, INFINITY}, "no: 19"},
	{tell_outliers, 10, {100, 100, 100, 101, 100, 100, 100, 100, 100, 100}, "yes: 1, 0.01"},
	{tell_outliers, 10, {101, 101, 101, 102, 101, 101, 101, 101, 101, 101}, "no: 0, nan"},
	{tell_outliers, 10, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, "no: 0, nan"},
	{tell_outliers, 12, {0}, "no: 0, nan"},
};

TEST_OF(test_series, NR_ELEMENTS(series))
{
	ck_assert_str_eq(series[_i].tell(series[_i].values, series[_i].n), series[_i].told);
}

TEST(test_power_of_modes)
{
	int found = 0;

	draw_state = 2;
	for (int trial = 0; trial < 500; trial++) {
		double values[20];

		for (int i = 0; i < 20; i++)
			values[i] = (i % 10 < 7 ? 100 : 115) + draw_standard_normal();
		found += finds(0, values, 20);
	}
	ck_assert_int_ge(found, 475);
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

/* Some of many values are looked at, from all over the series: here those at the places 0, 1, 3, 4, 6, ... */
TEST(test_many_values_are_thinned)
{
	double values[1500];
	struct series_drift drift;

	for (int i = 0; i < 1500; i++)
		values[i] = i % 3 == 2 ? -1e9 : 100 + i;
	ck_assert_double_eq(series_drift(values, 1500).p, 0); /* less than the least number */
	ck_assert_double_gt(series_drift(values, 1000).p, 0); /* of these all are looked at */
	for (int i = 0; i < 1500; i++)
		values[i] = 200 - i * 0.1;
	drift = series_drift(values, 1500);
	ck_assert_int_eq(drift.finding, SERIES_YES);
	ck_assert_double_eq_tol(drift.change, -150 / 125.0, 0.01);
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

static const struct {
	double value, expected, error;
} errors[] = {
	{100, 100, 0},    {110, 100, 0.1},  {200, 100, 1},     {100, 200, 1}, {100, 110, 0.1}, {0, 0, 0},
	{1, 0, INFINITY}, {0, 1, INFINITY}, {-1, 1, INFINITY}, {NAN, 1, NAN}, {1, NAN, NAN},
};

TEST_OF(test_error, NR_ELEMENTS(errors))
{
	const double error = series_error(errors[_i].value, errors[_i].expected), wanted = errors[_i].error;

	ck_assert_msg(error == wanted || fabs(error - wanted) < 1e-12 || (isnan(error) && isnan(wanted)), "%g", error);
}

UNIT_TESTS(.is_in_one_process = true);
