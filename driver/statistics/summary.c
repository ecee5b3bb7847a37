/* SPDX-License-Identifier: MIT */
/* Medians, quantiles and shares, with intervals that hold whatever the distribution is. */
#include "statistics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "memory.h"

/* ---- sorted values ---- */

int
double_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double *
sorted_copy(const double *values, size_t n)
{
	double *copy = rot_calloc(n, sizeof(*copy));

	if (n)
		memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), double_compare);
	return copy;
}

double
double_middle(double a, double b)
{
	return a == b ? a : a + (b - a) / 2;
}

/* The median of n > 0 values in order. */
static double
sorted_median(const double *sorted, size_t n)
{
	return double_middle(sorted[(n - 1) / 2], sorted[n / 2]);
}

/* The same as statistics_percentile, of values in order. */
static double
sorted_percentile(const double *sorted, size_t n, double p)
{
	double position = p * ((double)n + 1) / 100;
	size_t below;

	if (n == 0)
		return NAN;
	if (position < 1)
		return sorted[0];
	if (position >= (double)n)
		return sorted[n - 1];
	below = (size_t)position;
	if (position == (double)below || sorted[below - 1] == sorted[below]) /* they may be infinite */
		return sorted[below - 1];
	return sorted[below - 1] + (position - (double)below) * (sorted[below] - sorted[below - 1]);
}

double
binomial(size_t n, double p, size_t k)
{
	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) + (double)k * log(p) +
		   (double)(n - k) * log1p(-p));
}

void
sorted_set_range(struct summary *summary, const double *sorted, size_t n)
{
	summary->n = n;
	if (n == 0)
		return;
	summary->minimum = sorted[0];
	summary->maximum = sorted[n - 1];
	summary->quartile25 = sorted_percentile(sorted, n, 25);
	summary->quartile75 = sorted_percentile(sorted, n, 75);
}

/*
 * Sets the narrowest symmetric interval [x_k, x_(n+1-k)] that holds the median with at least 95 %: its coverage is
 * 1 - 2 P(Binomial(n, 1/2) < k). Of fewer than SUMMARY_LEAST values there is none.
 */
static void
sorted_set_median_interval(struct summary *summary, const double *sorted, size_t n)
{
	double tail = 0, next;
	size_t k = 0;

	if (n < SUMMARY_LEAST)
		return;
	while (1 - 2 * (next = tail + binomial(n, 0.5, k)) >= CONFIDENCE) {
		tail = next;
		k++;
	}
	summary->low = sorted[k - 1];
	summary->high = sorted[n - k];
	summary->confidence = 1 - 2 * tail;
}

/* ---- summaries ---- */

double
statistics_percentile(const double *values, size_t n, double p)
{
	autofree double *sorted = sorted_copy(values, n);

	return sorted_percentile(sorted, n, p);
}

struct summary
summary_empty(void)
{
	return (struct summary){.estimator = "median",
				.value = NAN,
				.low = NAN,
				.high = NAN,
				.minimum = NAN,
				.maximum = NAN,
				.quartile25 = NAN,
				.quartile75 = NAN};
}

struct summary
summary_median(const double *values, size_t n)
{
	struct summary summary = summary_empty();
	autofree double *sorted = sorted_copy(values, n);

	sorted_set_range(&summary, sorted, n);
	if (n) {
		summary.value = sorted_median(sorted, n);
		sorted_set_median_interval(&summary, sorted, n);
		if (n > 1 && sorted[0] == sorted[n - 1])
			summary.estimator = "exact";
	}
	return summary;
}

/*
 * [x_k, x_m] misses the quantile with P(Binomial(n, p) < k) + P(Binomial(n, p) >= m). The end that has fewer values
 * beyond it is set first, so that the other gets what it leaves of the 5 %.
 */
static void
set_quantile_interval(struct summary *summary, const double *sorted, size_t n, double p)
{
	double above = binomial(n, p, n), below = 0, next;
	size_t m = n, k = 0;

	while ((next = above + binomial(n, p, m - 1)) <= (1 - CONFIDENCE) / 2) {
		above = next;
		m--;
	}
	while ((next = below + binomial(n, p, k)) <= 1 - CONFIDENCE - above) {
		below = next;
		k++;
	}
	if (k == 0)
		return;
	summary->low = sorted[k - 1];
	summary->high = sorted[m - 1];
	summary->confidence = 1 - above - below;
}

struct summary
summary_quantile(const double *values, size_t n, double p)
{
	struct summary summary = summary_empty();
	autofree double *sorted = sorted_copy(values, n);

	summary.estimator = "quantile";
	sorted_set_range(&summary, sorted, n);
	summary.value = sorted_percentile(sorted, n, 100 * p);
	if (n)
		set_quantile_interval(&summary, sorted, n, p);
	return summary;
}

/* The p at which at most k of n happen with that probability, which falls with p. */
static double
share_where(size_t n, size_t k, double probability)
{
	double low = 0, high = 1;

	while (high - low > 1e-9) {
		double p = (low + high) / 2, up_to_k = 0; /* P(Binomial(n, p) <= k) */

		for (size_t i = 0; i <= k; i++)
			up_to_k += binomial(n, p, i);
		if (up_to_k > probability)
			low = p;
		else
			high = p;
	}
	return (low + high) / 2;
}

struct summary
summary_share(size_t nr, size_t n)
{
	struct summary summary = summary_single((double)nr / (double)n, "share");

	summary.n = n;
	summary.low = nr == 0 ? 0 : share_where(n, nr - 1, (1 + CONFIDENCE) / 2);
	summary.high = nr == n ? 1 : share_where(n, nr, (1 - CONFIDENCE) / 2);
	summary.confidence = CONFIDENCE;
	return summary;
}

#define NORMAL_QUANTILE 1.959963984540054 /* of (1 + CONFIDENCE) / 2 */

struct summary
summary_large_share(size_t nr, size_t n)
{
	const double share = (double)nr / (double)n, z2 = NORMAL_QUANTILE * NORMAL_QUANTILE / (double)n;
	const double middle = (share + z2 / 2) / (1 + z2);
	const double half = sqrt(share * (1 - share) * z2 + z2 * z2 / 4) / (1 + z2);
	struct summary summary = summary_single(share, "share");

	if (n == 0)
		return summary_empty();
	summary.n = n;
	summary.low = nr == 0 ? 0 : middle - half;
	summary.high = nr == n ? 1 : middle + half;
	summary.confidence = CONFIDENCE;
	return summary;
}

struct summary
summary_minimum(const double *values, size_t n)
{
	struct summary summary = summary_empty();
	autofree double *sorted = sorted_copy(values, n);

	summary.estimator = "minimum";
	sorted_set_range(&summary, sorted, n);
	summary.value = summary.minimum;
	return summary;
}

struct summary
summary_single(double value, const char *estimator)
{
	struct summary summary = summary_empty();

	summary.estimator = estimator;
	summary.value = summary.minimum = summary.maximum = summary.quartile25 = summary.quartile75 = value;
	summary.n = 1;
	return summary;
}

/* ---- values between others ---- */

/* An interval of CONFIDENCE reaches so many standard deviations of a normal distribution to each side. */
#define REACH 1.959963984540054

static bool
has_interval(const struct summary *s)
{
	return s->low > 0 && s->low <= s->value && s->value <= s->high && isfinite(s->high);
}

static double
reach_below(const struct summary *s)
{
	return log(s->value / s->low);
}

static double
reach_above(const struct summary *s)
{
	return log(s->high / s->value);
}

struct summary
summary_quotient(const struct summary *numerator, const struct summary *denominator)
{
	struct summary quotient = summary_single(numerator->value / denominator->value, "quotient");

	if (!has_interval(numerator) || !has_interval(denominator))
		return quotient;
	quotient.low = quotient.value / exp(hypot(reach_below(numerator), reach_above(denominator)));
	quotient.high = quotient.value * exp(hypot(reach_above(numerator), reach_below(denominator)));
	quotient.confidence = CONFIDENCE;
	return quotient;
}

double
summary_probability_below(const struct summary *a, const struct summary *b)
{
	double distance, spread;

	if (!has_interval(a) || !has_interval(b))
		return NAN;
	distance = log(b->value / a->value);
	spread = (distance > 0 ? hypot(reach_above(a), reach_below(b)) : hypot(reach_below(a), reach_above(b))) / REACH;
	if (spread == 0)
		return distance > 0 ? 1 : distance < 0 ? 0 : 0.5;
	return erfc(-distance / spread / sqrt(2)) / 2;
}

/* Resamples of a bootstrap: the 2.5 % ends of many values rest on 50 of them each, those of six values on five. */
#define NR_RESAMPLES 2000
#define NORMAL_QUANTILE 1.959963984540054 /* at (1 + CONFIDENCE) / 2 */

/* PCG32 (O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms"). */
struct random {
	uint64_t state;
};

static uint32_t
random_next(struct random *random)
{
	uint64_t old = random->state;
	uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
	unsigned rotation = (unsigned)(old >> 59);

	random->state = old * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (shifted >> rotation) | (shifted << (-rotation & 31));
}

static size_t
random_below(struct random *random, size_t n)
{
	return (size_t)(((uint64_t)random_next(random) * n) >> 32);
}

/* One side of a ratio: its values in order, and which of them are drawn together. */
struct side {
	size_t n;
	const double *values;
	double *sorted;
	unsigned *drawn; /* times the value of each rank is in the resample */
	size_t nr_drawn; /* their sum                                       */
	size_t *members; /* ranks of the values, group by group             */
	size_t *begin;   /* of each group in members, and the end: [nr_groups + 1] */
	size_t nr_groups;
};

struct ranked {
	double value; /* first: sorted by double_compare */
	size_t run;
};

struct member {
	size_t group, run;
};

static int
compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->group > y->group) - (x->group < y->group);
}

/* The runs, those of a group together; without groups each is one. */
static struct member *
members_of(struct pool *pool, const struct grouped *of, bool use_groups, size_t *nr_groups)
{
	struct member *members = pool_calloc(pool, of->n, sizeof(*members));

	for (size_t i = 0; i < of->n; i++)
		members[i] = (struct member){.group = use_groups ? of->groups[i] : i, .run = i};
	qsort(members, of->n, sizeof(*members), compare_members);
	*nr_groups = 0;
	for (size_t i = 0; i < of->n; i++)
		*nr_groups += i == 0 || members[i].group != members[i - 1].group;
	return members;
}

static void
side_set_groups(struct pool *pool, struct side *side, const struct grouped *of, const size_t *rank)
{
	struct member *members = members_of(pool, of, of->groups != NULL, &side->nr_groups);
	size_t group = 0;

	if (of->groups && side->nr_groups < SUMMARY_LEAST)
		members = members_of(pool, of, false, &side->nr_groups);
	side->members = pool_calloc(pool, of->n, sizeof(*side->members));
	side->begin = pool_calloc(pool, side->nr_groups + 1, sizeof(*side->begin));
	for (size_t i = 0; i < of->n; i++) {
		if (i == 0 || members[i].group != members[i - 1].group)
			side->begin[group++] = i;
		side->members[i] = rank[members[i].run];
	}
	side->begin[group] = of->n;
}

static struct side
side_new(struct pool *pool, const struct grouped *of)
{
	struct side side = {.n = of->n,
			    .values = of->values,
			    .sorted = pool_calloc(pool, of->n, sizeof(double)),
			    .drawn = pool_calloc(pool, of->n, sizeof(unsigned))};
	struct ranked *order = pool_calloc(pool, of->n, sizeof(*order));
	size_t *rank = pool_calloc(pool, of->n, sizeof(*rank));

	for (size_t i = 0; i < of->n; i++)
		order[i] = (struct ranked){.value = of->values[i], .run = i};
	qsort(order, of->n, sizeof(*order), double_compare);
	for (size_t i = 0; i < of->n; i++) {
		side.sorted[i] = order[i].value;
		rank[order[i].run] = i;
	}
	side_set_groups(pool, &side, of, rank);
	return side;
}

static void
side_draw(struct side *side, size_t group)
{
	for (size_t i = side->begin[group]; i < side->begin[group + 1]; i++)
		side->drawn[side->members[i]]++;
	side->nr_drawn += side->begin[group + 1] - side->begin[group];
}

/* The median of the drawn values; forgets them. Linear: the values are in order already. */
static double
side_drawn_median(struct side *side)
{
	const size_t lower = (side->nr_drawn - 1) / 2, upper = side->nr_drawn / 2;
	double low = NAN, high = NAN;
	size_t seen = 0;

	for (size_t i = 0; i < side->n; i++) {
		if (seen <= lower && lower < seen + side->drawn[i])
			low = side->sorted[i];
		if (seen <= upper && upper < seen + side->drawn[i])
			high = side->sorted[i];
		seen += side->drawn[i];
	}
	memset(side->drawn, 0, side->n * sizeof(*side->drawn));
	side->nr_drawn = 0;
	return double_middle(low, high);
}

/* A bootstrap is of this ratio. */
struct ratio {
	struct side *top, *bottom;
	double scale;
	bool jointly;
};

static double
resampled(const struct ratio *of, struct random *random)
{
	for (size_t i = 0; i < of->top->nr_groups; i++) {
		size_t group = random_below(random, of->top->nr_groups);

		side_draw(of->top, group);
		if (of->jointly)
			side_draw(of->bottom, group);
	}
	for (size_t i = 0; !of->jointly && i < of->bottom->nr_groups; i++)
		side_draw(of->bottom, random_below(random, of->bottom->nr_groups));
	return of->scale * side_drawn_median(of->top) / side_drawn_median(of->bottom);
}

/*
 * The percentile at which a bootstrap interval of n groups ends. A bootstrap spreads less than the values it stands
 * for: the expanded percentile interval makes up for it with the quantile of Student's t, widened by sqrt(n / (n - 1))
 * (Hesterberg 2015, "What Teachers Should Know About the Bootstrap"). The quantile is from its expansion in powers of
 * 1 / (n - 1) (Abramowitz and Stegun 26.7.5), to 0.2 % for n = 6.
 */
static double
bootstrap_tail_percentile(size_t n)
{
	const double z = NORMAL_QUANTILE, freedom = (double)n - 1;
	const double t = z + (pow(z, 3) + z) / (4 * freedom) +
			 (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * freedom * freedom) +
			 (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * pow(freedom, 3));

	return 50 * erfc(sqrt((double)n / freedom) * t / sqrt(2));
}

static void
set_bootstrap_interval(struct summary *summary, const struct ratio *of, uint64_t seed)
{
	const double tail = bootstrap_tail_percentile(of->bottom->nr_groups < of->top->nr_groups ? of->bottom->nr_groups
												 : of->top->nr_groups);
	struct random random = {.state = seed};
	autofree double *values = rot_calloc(NR_RESAMPLES, sizeof(*values));
	size_t nr = 0;

	random_next(&random);
	for (size_t i = 0; i < NR_RESAMPLES; i++) {
		double value = resampled(of, &random);

		if (!isnan(value))
			values[nr++] = value;
	}
	if (nr == NR_RESAMPLES) {
		qsort(values, nr, sizeof(*values), double_compare);
		summary->low = sorted_percentile(values, nr, tail);
		summary->high = sorted_percentile(values, nr, 100 - tail);
		summary->confidence = CONFIDENCE;
	}
}

/* The median of the values of each group, in order; fresh memory. */
static double *
group_medians(const struct side *side)
{
	double *medians = rot_calloc(side->nr_groups, sizeof(*medians));
	autofree double *values = rot_calloc(side->n, sizeof(*values));

	for (size_t i = 0; i < side->n; i++)
		values[i] = side->sorted[side->members[i]];
	for (size_t g = 0; g < side->nr_groups; g++)
		medians[g] = statistics_percentile(&values[side->begin[g]], side->begin[g + 1] - side->begin[g], 50);
	qsort(medians, side->nr_groups, sizeof(*medians), double_compare);
	return medians;
}

/*
 * The interval of the median. Of values that stand for themselves that of order statistics is exact; where groups are
 * far apart that of the medians of groups is. The wider one of each end holds in both cases, and in between. (A
 * bootstrap of one median does not: it covers 91 % to 92 % for six groups of two.)
 */
static void
set_side_interval(struct summary *summary, const struct side *side)
{
	struct summary of_groups = summary_empty();
	autofree double *medians = NULL;

	sorted_set_median_interval(summary, side->sorted, side->n);
	medians = group_medians(side);
	sorted_set_median_interval(&of_groups, medians, side->nr_groups);
	summary->low = fmin(summary->low, of_groups.low);
	summary->high = fmax(summary->high, of_groups.high);
	summary->confidence = of_groups.confidence;
}

struct summary
summary_grouped_median(const struct grouped *of)
{
	struct summary summary = summary_median(of->values, of->n);
	autopool pool = {0};

	struct side side;

	if (!of->groups)
		return summary;
	side = side_new(&pool, of);
	set_side_interval(&summary, &side);
	return summary;
}

/* One side is known: the interval is that of the other one's median. */
static void
set_interval_with_known(struct summary *summary, const struct side *numerator, const struct side *denominator,
			double scale)
{
	const bool is_top_known = numerator->n == 1;
	struct summary median = summary_empty();
	double a, b;

	set_side_interval(&median, is_top_known ? denominator : numerator);
	a = is_top_known ? scale * numerator->values[0] / median.low : scale * median.low / denominator->values[0];
	b = is_top_known ? scale * numerator->values[0] / median.high : scale * median.high / denominator->values[0];
	if (isnan(a) || isnan(b))
		return;
	summary->low = fmin(a, b);
	summary->high = fmax(a, b);
	summary->confidence = median.confidence;
}

/* Ratios per run; apart: each run's value against the other side's median. NaN (0/0) are left out. Fresh memory. */
static double *
single_ratios(const struct side *numerator, const struct side *denominator, double scale, bool jointly, size_t *nr)
{
	double *ratios = rot_calloc(numerator->n + denominator->n, sizeof(*ratios));
	const double top = sorted_median(numerator->sorted, numerator->n);
	const double bottom = sorted_median(denominator->sorted, denominator->n);
	size_t kept = 0, all = 0;

	for (size_t i = 0; i < numerator->n; i++)
		ratios[all++] = scale * numerator->values[i] / (jointly ? denominator->values[i] : bottom);
	for (size_t i = 0; !jointly && i < denominator->n; i++)
		ratios[all++] = scale * top / denominator->values[i];
	for (size_t i = 0; i < all; i++)
		if (!isnan(ratios[i]))
			ratios[kept++] = ratios[i];
	*nr = kept;
	return ratios;
}

struct summary
summary_ratio(const struct grouped *numerator, const struct grouped *denominator, double scale, bool jointly,
	      uint64_t seed)
{
	struct summary summary = summary_empty();
	autopool pool = {0};
	struct side top, bottom;
	autofree double *singles = NULL;
	size_t nr_singles;

	summary.estimator = "ratioOfMedians";
	if (numerator->n == 0 || denominator->n == 0 || (jointly && numerator->n != denominator->n))
		return summary;
	top = side_new(&pool, numerator);
	bottom = side_new(&pool, denominator);
	summary.value = scale * sorted_median(top.sorted, top.n) / sorted_median(bottom.sorted, bottom.n);
	singles = single_ratios(&top, &bottom, scale, jointly, &nr_singles);
	qsort(singles, nr_singles, sizeof(*singles), double_compare);
	sorted_set_range(&summary, singles, nr_singles);
	/* The side counts that has fewer and is measured. */
	summary.n = top.n == 1 || (bottom.n > 1 && bottom.n < top.n) ? bottom.n : top.n;
	if (summary.n >= SUMMARY_LEAST && (top.n == 1 || bottom.n == 1))
		set_interval_with_known(&summary, &top, &bottom, scale);
	else if (summary.n >= SUMMARY_LEAST)
		set_bootstrap_interval(&summary, &(struct ratio){&top, &bottom, scale, jointly}, seed);
	return summary;
}
