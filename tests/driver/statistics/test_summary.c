/* SPDX-License-Identifier: MIT */
/* Statistics: known small samples. */
#include "draw.h"
#include "statistics/summary.h"
#include "testing.h"

/* Order statistics that make an interval of at least 95 % of the median, or another share: ranks from 1, exact
 * binomial coverage. */
static const struct {
	double share;
	size_t n, low, high;
	double confidence;
} intervals[] = {
	{0.5, 6, 1, 6, 0.96875},     {0.5, 8, 1, 8, 0.9921875},   {0.5, 10, 2, 9, 0.978515625},
	{0.5, 15, 4, 12, 0.9648},    {0.5, 20, 6, 15, 0.9586},    {0.5, 30, 10, 21, 0.9572},
	{0.5, 50, 18, 33, 0.9672},   {0.5, 100, 40, 61, 0.9648},  {0.5, 200, 86, 115, 0.9600},
	{0.75, 11, 5, 11, 0.95020},  {0.75, 12, 6, 12, 0.95407},  {0.75, 16, 9, 16, 0.96285},
	{0.75, 20, 11, 19, 0.96182}, {0.75, 40, 25, 36, 0.95771}, {0.75, 100, 67, 84, 0.95129},
};

TEST_OF(test_interval_ranks, NR_ELEMENTS(intervals))
{
	const size_t n = intervals[_i].n;
	const bool is_median = intervals[_i].share == 0.5;
	double values[200];
	struct summary s;

	for (size_t i = 0; i < n; i++)
		values[i] = (double)((i * 7) % n) + 1;
	s = is_median ? summary_median(values, n) : summary_quantile(values, n, intervals[_i].share);
	ck_assert(s.low == (double)intervals[_i].low && s.high == (double)intervals[_i].high);
	ck_assert_double_eq_tol(s.confidence, intervals[_i].confidence, 1e-4);
	ck_assert_double_eq_tol(s.value, intervals[_i].share * ((double)n + 1), 1e-9);
	ck_assert_str_eq(s.estimator, is_median ? "median" : "quantile");
}

TEST(test_intervals_need_values)
{
	const double values[] = {3, 1, 2, 5, 4, 6, 7, 8, 9, 10};

	for (size_t n = 0; n <= 10; n++) {
		const struct summary quantile = summary_quantile(values, n, 0.75), median = summary_median(values, n);

		ck_assert(isnan(quantile.low) && isnan(quantile.high) && quantile.confidence == 0);
		ck_assert(isnan(quantile.value) == (n == 0));
		ck_assert(n >= 6 || (isnan(median.low) && isnan(median.high) && median.confidence == 0));
		ck_assert_uint_eq(median.n, n);
	}
	ck_assert_summary(summary_median(NULL, 0), "median nan [nan, nan] 0; nan nan nan nan; n 0");
	ck_assert_summary(summary_ratio(EACH(NULL, 0), EACH(NULL, 0), 1, false, 1),
			  "ratioOfMedians nan [nan, nan] 0; nan nan nan nan; n 0");
	ck_assert(isnan(statistics_percentile(NULL, 0, 50)));
}

TEST(test_exact_when_all_agree)
{
	ck_assert_summary(summary_median(VALUES(20000, 20000, 20000, 20000, 20000, 20000)),
			  "exact 20000 [20000, 20000] 0.96875; 20000 20000 20000 20000; n 6");
	ck_assert_summary(summary_median(VALUES(20000, 20000, 20001)),
			  "median 20000 [nan, nan] 0; 20000 20000 20001 20001; n 3");
	ck_assert_summary(summary_median(VALUES(1, 2, 2)), "median 2 [nan, nan] 0; 1 1 2 2; n 3");
	ck_assert_summary(summary_median(VALUES(2, 2)), "exact 2 [nan, nan] 0; 2 2 2 2; n 2");
	ck_assert_summary(summary_median(VALUES(2)), "median 2 [nan, nan] 0; 2 2 2 2; n 1");
}

/* By position, p * (n + 1) / 100. Infinite values are values: they say nothing of those beside them. */
static const struct {
	double values[7];
	size_t n;
	double percent, percentile;
} percentiles[] = {
	{{40, 10, 30, 20}, 4, 25, 12.5},
	{{40, 10, 30, 20}, 4, 50, 25},
	{{40, 10, 30, 20}, 4, 75, 37.5},
	{{40, 10, 30, 20}, 4, 0, 10},
	{{40, 10, 30, 20}, 4, 100, 40},
	{{40, 10, 30, 20}, 4, 20, 10}, /* the first: what lies before is the same */
	{{40, 10, 30, 20}, 4, 21, 10.5},
	{{40, 10, 30, 20}, 4, 79, 39.5},
	{{40, 10, 30, 20}, 4, 80, 40},
	{{INFINITY, 1, 2, INFINITY, 3, 4, INFINITY}, 7, 50, 4},
	{{INFINITY, 1, 2, INFINITY, 3, 4, INFINITY}, 7, 75, INFINITY},
	{{INFINITY, 1, 2, INFINITY, 3, 4, INFINITY}, 7, 60, INFINITY},
	{{INFINITY, 1, 2, INFINITY, 3, 4, INFINITY}, 7, 80, INFINITY},
	{{-INFINITY, 1, 2, -INFINITY, 3, 4, -INFINITY}, 7, 50, 1},
	{{-INFINITY, 1, 2, -INFINITY, 3, 4, -INFINITY}, 7, 25, -INFINITY},
	{{-INFINITY, 1, 2, -INFINITY, 3, 4, -INFINITY}, 7, 20, -INFINITY},
};

TEST_OF(test_percentiles, NR_ELEMENTS(percentiles))
{
	const double wanted = percentiles[_i].percentile;
	const double got = statistics_percentile(percentiles[_i].values, percentiles[_i].n, percentiles[_i].percent);

	ck_assert_msg(got == wanted || fabs(got - wanted) < 1e-12, "%g", got);
}

TEST(test_summaries_tell_all)
{
	const double top[] = {2, 4, 6, 8, 10, 12}, bottom[] = {1, 2, 3, 4, 5, 6};

	ck_assert_summary(summary_median(VALUES(70, 10, 30, 20, 60, 50, 40)),
			  "median 40 [10, 70] 0.984375; 10 20 60 70; n 7");
	ck_assert_summary(summary_quantile(VALUES(70, 10, 30, 20, 60, 50, 40), 0.75),
			  "quantile 60 [nan, nan] 0; 10 20 60 70; n 7");
	ck_assert_summary(summary_minimum(VALUES(70, 10, 30, 20, 60, 50, 40)),
			  "minimum 10 [nan, nan] 0; 10 20 60 70; n 7");
	ck_assert_summary(summary_single(7, "given"), "given 7 [nan, nan] 0; 7 7 7 7; n 1");
	ck_assert_summary(summary_median(VALUES(INFINITY, 1, 2, INFINITY, 3, 4, INFINITY)),
			  "median 4 [1, inf] 0.984375; 1 2 inf inf; n 7");
	ck_assert_summary(summary_median(VALUES(INFINITY, 0, 0, INFINITY, 0, INFINITY)),
			  "median inf [0, inf] 0.96875; 0 0 inf inf; n 6");
	ck_assert_summary(summary_median(VALUES(INFINITY, 0, INFINITY, INFINITY)),
			  "median inf [nan, nan] 0; 0 inf inf inf; n 4");
	ck_assert_summary(summary_ratio(EACH(top, 6), EACH(bottom, 6), 10, true, 42),
			  "ratioOfMedians 20 [20, 20] 0.95; 20 20 20 20; n 6");
	/* Each to the other's median: 40/7 80/7 70/6 70/5 120/7 70/4 160/7 70/3 200/7 240/7 35 70; places 3.25 and 9.75
	 */
	ck_assert_summary(summary_ratio(EACH(top, 6), EACH(bottom, 6), 10, false, 42),
			  "ratioOfMedians 20 [4.951654263, 80] 0.95; 5.714285714 12.25 32.85714286 70; n 6");
}

TEST(test_ratio_is_reproducible)
{
	const double top[] = {1, 5, 2, 8, 3, 9, 4}, bottom[] = {2, 3, 5, 7, 11, 13, 17};
	struct summary a = summary_ratio(EACH(top, 7), EACH(bottom, 7), 1, false, 7),
		       b = summary_ratio(EACH(top, 7), EACH(bottom, 7), 1, false, 7);
	struct summary c = summary_ratio(EACH(top, 7), EACH(bottom, 7), 1, false, 8);

	ck_assert(a.low == b.low && a.high == b.high);
	ck_assert(a.value == c.value);
}

/*
 * Where a bootstrap ends of six runs and nine. The lowest ratio, 0.25, is in a resample when at least four of six draws
 * are the 0.5 (0.870 %) and at least five of nine a 2 (36.6 %): in 0.318 %, so in 6.4 of 2000. The percentile of six,
 * 0.243 % (t = 2.571, widened by sqrt(6 / 5)), is the fifth of 2000, which is among them with 76 % of the seeds; that
 * of t alone would be the eleventh (6 %), that of nine the fifteenth, and 2.5 % the fiftieth.
 */
TEST(test_percentiles_of_six_are_widened)
{
	static const double top[6] = {0.5, 1, 1, 1, 1, 1}, bottom[9] = {1, 1, 1, 1, 1, 2, 2, 2, 2};
	const int nr_seeds = 400;
	int nr_low = 0, nr_high = 0;

	for (int seed = 1; seed <= nr_seeds; seed++) {
		const struct summary s = summary_ratio(EACH(top, 6), EACH(bottom, 9), 1, false, (uint64_t)seed);
		const struct summary inverse = summary_ratio(EACH(bottom, 9), EACH(top, 6), 1, false, (uint64_t)seed);

		nr_low += s.low == 0.25;
		nr_high += inverse.high == 4;
	}
	ck_assert_msg(nr_low > 0.66 * nr_seeds && nr_low < 0.86 * nr_seeds, "%d of %d", nr_low, nr_seeds);
	ck_assert_msg(nr_high > 0.66 * nr_seeds && nr_high < 0.86 * nr_seeds, "%d of %d", nr_high, nr_seeds);
}

TEST(test_ratio_with_a_known_side)
{
	const double known[] = {100}, times[] = {10, 11, 12, 13, 14, 15, 16};

	ck_assert_summary(summary_ratio(EACH(known, 1), EACH(times, 7), 1, false, 1),
			  "ratioOfMedians 7.692307692 [6.25, 10] 0.984375; 6.25 6.785714286 8.901515152 10; n 7");
	ck_assert_summary(summary_ratio(EACH(known, 1), EACH(times, 6), 1, false, 1),
			  "ratioOfMedians 8 [6.666666667, 10] 0.96875; 6.666666667 7.142857143 9.090909091 10; n 6");
	ck_assert_summary(summary_ratio(EACH(known, 1), EACH(times, 5), 1, false, 1),
			  "ratioOfMedians 8.333333333 [nan, nan] 0; 7.142857143 7.554945055 9.318181818 10; n 5");
	ck_assert_summary(summary_ratio(EACH(times, 7), EACH(known, 1), 2, false, 1),
			  "ratioOfMedians 0.26 [0.2, 0.32] 0.984375; 0.2 0.225 0.295 0.32; n 7");
}

/*
 * The numbers of a seed stay, or nobody could compute again what was told. The intervals of a second implementation, in
 * Python, from the same papers.
 */
enum alike { EACH_ALONE, PAIRS, SEVENTHS };

static const struct {
	const char *name;
	size_t nr_top, nr_bottom;
	enum alike top, bottom;
	double scale;
	bool jointly;
	uint64_t seed;
	double low, high;
} bootstraps[] = {
	{"apart", 16, 16, EACH_ALONE, EACH_ALONE, 1, false, 42, 1.817614995449, 3.307528510374},
	{"fewer above", 9, 16, EACH_ALONE, EACH_ALONE, 10, false, 7, 16.0625, 23.336229365769},
	{"jointly", 16, 16, EACH_ALONE, EACH_ALONE, 1, true, 42, 1.795608108108, 3.370437956204},
	{"groups", 16, 16, PAIRS, PAIRS, 1, true, 1, 1.821457821458, 3.514337785623},
	{"groups of two sizes", 16, 16, SEVENTHS, EACH_ALONE, 1, false, 1, 2.067505807306, 2.669124423963},
	{"six", 6, 6, EACH_ALONE, EACH_ALONE, 1, true, 3, 1.502923976608, 2.061403508772},
};

TEST_OF(test_bootstraps_stay, NR_ELEMENTS(bootstraps))
{
	size_t groups[3][16];
	double top[16], bottom[16];
	struct summary s;

	for (size_t i = 0; i < 16; i++) {
		top[i] = 100 + 0.7 * (double)(i * i);
		bottom[i] = 50 + 1.3 * (double)(i * 7 % 15) + 0.1 * (double)i;
		groups[EACH_ALONE][i] = i;
		groups[PAIRS][i] = (i * 5 % 16) / 2;
		groups[SEVENTHS][i] = i % 7;
	}
	s = summary_ratio(&(struct grouped){top, groups[bootstraps[_i].top], bootstraps[_i].nr_top},
			  &(struct grouped){bottom, groups[bootstraps[_i].bottom], bootstraps[_i].nr_bottom},
			  bootstraps[_i].scale, bootstraps[_i].jointly, bootstraps[_i].seed);
	ck_assert_msg(fabs(s.low / bootstraps[_i].low - 1) < 1e-11 && fabs(s.high / bootstraps[_i].high - 1) < 1e-11,
		      "%s: %.12f to %.12f", bootstraps[_i].name, s.low, s.high);
	ck_assert_double_eq(s.confidence, 0.95);
}

/* Ratios of two medians; n is that of the side that has fewer and is not known. */
static const struct {
	size_t nr_top, nr_bottom, n;
	bool jointly;
} ratio_sizes[] = {
	{6, 6, 6, false}, {6, 6, 6, true},  {6, 9, 6, false}, {9, 6, 6, false}, {1, 7, 7, false},
	{7, 1, 7, false}, {1, 1, 1, false}, {1, 1, 1, true},  {5, 2, 2, false}, {2, 5, 2, false},
	{0, 3, 0, false}, {3, 0, 0, false}, {3, 4, 0, true},  {1, 2, 2, false}, {2, 1, 2, false},
};

TEST_OF(test_ratios_of_any_sizes, NR_ELEMENTS(ratio_sizes))
{
	const double top[] = {4, 4, 4, 4, 4, 4, 4, 4, 4}, bottom[] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
	const size_t n = ratio_sizes[_i].n;
	const struct summary s = summary_ratio(EACH(top, ratio_sizes[_i].nr_top),
					       EACH(bottom, ratio_sizes[_i].nr_bottom), 3, ratio_sizes[_i].jointly, 1);

	ck_assert_str_eq(s.estimator, "ratioOfMedians");
	ck_assert_uint_eq(s.n, n);
	if (n == 0) {
		ck_assert(isnan(s.value) && isnan(s.minimum) && isnan(s.maximum));
	} else {
		ck_assert(s.value == 6 && s.minimum == 6 && s.maximum == 6);
	}
	if (n < 6)
		ck_assert(isnan(s.low) && isnan(s.high) && s.confidence == 0);
	else
		ck_assert(s.low == 6 && s.high == 6 && s.confidence >= 0.95);
}

/* A ratio that may be nothing by nothing has no interval; single runs of it are left out. */
TEST(test_nothing_by_nothing)
{
	const double top[] = {0, 0, 0, 2, 2, 2, 2}, bottom[] = {0, 0, 0, 1, 1, 1, 1}, ones[] = {1, 1, 1, 1, 1, 1};

	ck_assert_summary(summary_ratio(EACH(top, 7), EACH(bottom, 7), 1, true, 1),
			  "ratioOfMedians 2 [nan, nan] 0; 2 2 2 2; n 7");
	ck_assert_summary(summary_ratio(EACH(top, 1), EACH(bottom, 7), 1, false, 1),
			  "ratioOfMedians 0 [nan, nan] 0; 0 0 0 0; n 7");
	ck_assert_summary(summary_ratio(EACH(top, 7), EACH(bottom, 1), 1, false, 1),
			  "ratioOfMedians inf [nan, nan] 0; inf inf inf inf; n 7");
	ck_assert_summary(summary_ratio(EACH(ones, 3), EACH(bottom, 3), 1, true, 1),
			  "ratioOfMedians inf [nan, nan] 0; inf inf inf inf; n 3");
	ck_assert_summary(summary_ratio(EACH(top, 3), EACH(bottom, 3), 1, true, 1),
			  "ratioOfMedians nan [nan, nan] 0; nan nan nan nan; n 3");
}

/* Groups of two sizes, in any order: the medians of groups are 10, 20, 30, 40, 50 and 60. */
TEST(test_interval_of_groups)
{
	static const size_t groups[] = {7, 5, 9, 3, 8, 1, 1, 3, 5, 7, 8, 9, 5};
	static const double values[] = {41, 29, 61, 20, 51, 11, 9, 20, 31, 39, 49, 59, 30};

	ck_assert_summary(summary_grouped_median(&(struct grouped){values, groups, 13}),
			  "median 31 [10, 60] 0.96875; 9 20 50 61; n 13");
	ck_assert_summary(summary_grouped_median(&(struct grouped){values, groups, 5}),
			  "median 41 [nan, nan] 0; 20 24.5 56 61; n 5");
	ck_assert_summary(summary_grouped_median(&(struct grouped){values, groups, 0}),
			  "median nan [nan, nan] 0; nan nan nan nan; n 0");
}

/* The value of a group is its number: so ten groups say no more than ten values, and fewer than six nothing. */
TEST(test_groups)
{
	double values[30];
	size_t groups[30], few[30], alone[30];
	struct summary each, of_groups, of_few, of_alone;

	for (size_t i = 0; i < 30; i++) {
		values[i] = (double)(i / 3);
		groups[i] = i / 3;
		few[i] = i / 6;
		alone[i] = 100 - i;
	}
	each = summary_median(values, 30);
	of_groups = summary_grouped_median(&(struct grouped){values, groups, 30});
	of_few = summary_grouped_median(&(struct grouped){values, few, 30});
	of_alone = summary_grouped_median(&(struct grouped){values, alone, 30});
	ck_assert_double_eq(of_groups.value, each.value);
	ck_assert_uint_eq(of_groups.n, 30);
	ck_assert(of_groups.low < each.low && of_groups.high > each.high);
	ck_assert(of_groups.low >= 1 && of_groups.high <= 8);
	ck_assert(of_few.low == each.low && of_few.high == each.high);
	ck_assert(of_few.confidence == each.confidence && of_groups.confidence > each.confidence);
	ck_assert(of_alone.low == each.low && of_alone.confidence == each.confidence);
}

/* Clopper and Pearson, and for large numbers Wilson, from tables. */
static const struct {
	struct summary (*share)(size_t k, size_t n);
	size_t k, n;
	double low, high;
} shares[] = {
	{summary_share, 5, 100, 0.0164, 0.1128},
	{summary_share, 0, 10, 0, 0.3085},
	{summary_share, 10, 10, 0.6915, 1},
	{summary_share, 1, 2, 0.0126, 0.9874},
	{summary_large_share, 5, 100, 0.0215, 0.1118},
	{summary_large_share, 0, 10, 0, 0.2775},
	{summary_large_share, 10, 10, 0.7225, 1},
};

TEST_OF(test_shares, NR_ELEMENTS(shares))
{
	const struct summary s = shares[_i].share(shares[_i].k, shares[_i].n);

	ck_assert_str_eq(s.estimator, "share");
	ck_assert(s.confidence == 0.95 && s.n == shares[_i].n);
	ck_assert_double_eq_tol(s.value, (double)shares[_i].k / (double)shares[_i].n, 1e-12);
	ck_assert(s.low == shares[_i].low || (s.low > 0 && fabs(s.low - shares[_i].low) < 0.00005));
	ck_assert(s.high == shares[_i].high || (s.high < 1 && fabs(s.high - shares[_i].high) < 0.00005));
}

/* The exact interval would take long. */
TEST(test_share_of_very_many)
{
	const struct summary s = summary_large_share(500000000, 1000000000);

	ck_assert_double_eq_tol(s.high - s.low, 6.198e-5, 1e-8);
	ck_assert(isnan(summary_large_share(0, 0).value));
}

static struct summary
estimate(double value, double low, double high)
{
	return (struct summary){.value = value, .low = low, .high = high};
}

/* Errors in quadrature: of 3 and 4 % they are 5 %, each on the side that it makes the quotient wrong by. */
TEST(test_quotient)
{
	const struct summary top = estimate(100, 100 / exp(0.03), 100 * exp(0.3)), wide = estimate(10, 1, 100),
			     bottom = estimate(4, 4 / exp(0.4), 4 * exp(0.04)), none = estimate(3, NAN, NAN);
	struct summary s = summary_quotient(&top, &bottom);

	ck_assert_double_eq(s.value, 25);
	ck_assert_double_eq_tol(s.low, 25 / exp(0.05), 1e-12);
	ck_assert_double_eq_tol(s.high, 25 * exp(0.5), 1e-12);
	ck_assert_double_eq(s.confidence, 0.95);
	s = summary_quotient(&wide, &none);
	ck_assert(isnan(s.low) && isnan(s.high) && s.confidence == 0);
}

static const struct {
	struct summary a, b;
	double probability; /* NaN: cannot be told */
} compared[] = {
	{{.value = 1, .low = 0.9, .high = 1.1}, {.value = 1, .low = 0.8, .high = 1.2}, 0.5},
	{{.value = 1, .low = 0.01, .high = 1.1}, {.value = 1.1, .low = 1.1, .high = 99}, 0.975},
	{{.value = 1.1, .low = 1, .high = 99}, {.value = 1, .low = 0.01, .high = 1}, 0.025},
	{{.value = 10, .low = 5, .high = 20}, {.value = 1000, .low = 500, .high = 2000}, 1},
	{{.value = 2, .low = 2, .high = 2}, {.value = 3, .low = 3, .high = 3}, 1},
	{{.value = 3, .low = 3, .high = 3}, {.value = 2, .low = 2, .high = 2}, 0},
	{{.value = 2, .low = 2, .high = 2}, {.value = 2, .low = 2, .high = 2}, 0.5},
	{{.value = 2, .low = NAN, .high = NAN}, {.value = 3, .low = 3, .high = 3}, NAN},
	{{.value = 2, .low = 0, .high = 3}, {.value = 3, .low = 3, .high = 3}, NAN},
	{{.value = 2, .low = 1, .high = INFINITY}, {.value = 3, .low = 3, .high = 3}, NAN},
};

TEST_OF(test_probability_below, NR_ELEMENTS(compared))
{
	const double probability = summary_probability_below(&compared[_i].a, &compared[_i].b);

	if (isnan(compared[_i].probability))
		ck_assert(isnan(probability));
	else
		ck_assert_double_eq_tol(probability, compared[_i].probability, 1e-9);
}

UNIT_TESTS(.is_in_one_process = true);
