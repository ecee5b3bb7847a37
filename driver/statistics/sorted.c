/* SPDX-License-Identifier: MIT */
#include "statistics/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

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
