/* SPDX-License-Identifier: MIT */
/* Medians, quantiles and shares, with intervals that hold whatever the distribution is. */
#include "statistics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

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

/* P(Binomial(n, p) <= k) */
static double
binomial_up_to(size_t n, double p, size_t k)
{
	double sum = 0;

	for (size_t i = 0; i <= k; i++)
		sum += binomial(n, p, i);
	return sum;
}

/* The p at which at most k of n happen with that probability, which falls with p. */
static double
share_where(size_t n, size_t k, double probability)
{
	double low = 0, high = 1;

	while (high - low > 1e-9) {
		double p = (low + high) / 2;

		if (binomial_up_to(n, p, k) > probability)
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

double
sorted_median(const double *sorted, size_t n)
{
	return double_middle(sorted[(n - 1) / 2], sorted[n / 2]);
}

double
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

void
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
