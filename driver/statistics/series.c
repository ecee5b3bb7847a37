/* SPDX-License-Identifier: MIT */
/* Modes, drift and first runs of a series of runs; minimum of K, and err(x). */
#include "statistics/series.h"

#include <math.h>
#include <stdbool.h>

#include "memory.h"
#include "statistics/summary.h"

#define MIN_FOR_MODES 10
#define LEAST_SHARE 0.2 /* of the values on either side of a gap */
#define MIN_FOR_DRIFT 8
#define MAX_FOR_DRIFT 1000
#define DRIFT_LEVEL 0.01
#define MIN_FOR_FIRST 10
#define FIRST_DEVIATIONS 8
#define MIN_FOR_OUTLIERS 10
#define OUTLIER_RANGES 3
#define NORMAL_SCALE 1.4826 /* standard deviation per median distance, of normal values */

static double
median(const double *values, size_t n)
{
	return statistics_percentile(values, n, 50);
}

static double
total_distance(const double *values, size_t n, double from)
{
	double total = 0;

	for (size_t i = 0; i < n; i++)
		total += fabs(values[i] - from);
	return total;
}

static bool
matters(double difference, double relative_to)
{
	return fabs(difference) >= SERIES_LEAST_DIFFERENCE * fabs(relative_to);
}

/* ---- modes ---- */

struct series_modes
series_modes(const double *values, size_t n)
{
	const size_t least = (size_t)ceil(LEAST_SHARE * (double)n);
	struct series_modes modes = {.low = NAN, .high = NAN};
	autofree double *sorted = NULL;
	double gap, distance, low, high;
	size_t split = least; /* the first value above the widest gap */

	if (n < MIN_FOR_MODES)
		return modes;
	sorted = sorted_copy(values, n);
	for (size_t i = least + 1; i <= n - least; i++)
		if (sorted[i] - sorted[i - 1] > sorted[split] - sorted[split - 1])
			split = i;
	gap = sorted[split] - sorted[split - 1];
	low = median(sorted, split);
	high = median(sorted + split, n - split);
	distance = total_distance(sorted, split, low) + total_distance(sorted + split, n - split, high);
	modes.finding = SERIES_NO;
	/* How many times the mean distance a gap is at least, so that at most one in 100 series of one mode has it. */
	if (gap > 0 && gap >= (3 + 70 / (double)n) * distance / (double)n && matters(high - low, low))
		modes = (struct series_modes){SERIES_YES, low, high, split, n - split};
	return modes;
}

/* ---- drift ---- */

/* Variance of Kendall's score without a drift: equal values carry no order. */
static double
score_variance(const double *values, size_t n)
{
	autofree double *sorted = sorted_copy(values, n);
	double variance = (double)n * ((double)n - 1) * (2 * (double)n + 5);

	for (size_t i = 0, next; i < n; i = next) {
		double ties;

		for (next = i + 1; next < n && sorted[next] == sorted[i];)
			next++;
		ties = (double)(next - i);
		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	return variance / 18;
}

struct series_drift
series_drift(const double *values, size_t n)
{
	const size_t all = n;
	struct series_drift drift = {.change = NAN, .p = NAN};
	autofree double *thin = NULL, *slopes = NULL;
	double score = 0, variance, middle;
	size_t nr = 0;

	if (n < MIN_FOR_DRIFT)
		return drift;
	n = all < MAX_FOR_DRIFT ? all : MAX_FOR_DRIFT;
	thin = rot_calloc(n, sizeof(*thin));
	for (size_t i = 0; i < n; i++)
		thin[i] = values[i * all / n]; /* at even distances */
	slopes = rot_calloc(n * (n - 1) / 2, sizeof(*slopes));
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			score += (thin[j] > thin[i]) - (thin[j] < thin[i]);
			slopes[nr++] = (thin[j] - thin[i]) / (double)(j - i);
		}
	variance = score_variance(thin, n);
	middle = median(thin, n);
	drift.p = variance > 0 ? erfc(fmax(fabs(score) - 1, 0) / sqrt(2 * variance)) : 1;
	drift.change = median(slopes, nr) * (double)(n - 1);
	drift.finding =
		drift.p < DRIFT_LEVEL && drift.change != 0 && matters(drift.change, middle) ? SERIES_YES : SERIES_NO;
	drift.change = drift.change == 0 ? 0 : drift.change / fabs(middle);
	return drift;
}

/* ---- the first run ---- */

struct series_first
series_first(const double *values, size_t n)
{
	struct series_first first = {.difference = NAN};
	autofree double *distances = NULL;
	double middle, scale, difference;
	const double *others;
	bool is_outside;

	if (n < MIN_FOR_FIRST)
		return first;
	others = values + 1;
	n--;
	middle = median(others, n);
	difference = values[0] - middle;
	distances = rot_calloc(n, sizeof(*distances));
	for (size_t i = 0; i < n; i++)
		distances[i] = fabs(others[i] - middle);
	scale = NORMAL_SCALE * median(distances, n);
	is_outside =
		values[0] < statistics_percentile(others, n, 0) || values[0] > statistics_percentile(others, n, 100);
	first.finding = is_outside && fabs(difference) > FIRST_DEVIATIONS * scale && matters(difference, middle)
				? SERIES_YES
				: SERIES_NO;
	first.difference = difference == 0 ? 0 : difference / fabs(middle);
	return first;
}

/* ---- outliers ---- */

/* If the first nr of values in order are outliers: how far the last of them is from the median of the others; else 0.
 */
static double
distance_below(const double *sorted, size_t n, size_t nr)
{
	const double *others = sorted + nr;
	const double range = sorted[n - 1] - others[0], gap = others[0] - sorted[nr - 1];
	const double middle = median(others, n - nr);

	return gap > OUTLIER_RANGES * range && matters(gap, middle) ? (sorted[nr - 1] - middle) / fabs(middle) : 0;
}

struct series_outliers
series_outliers(const double *values, size_t n)
{
	const size_t most = (size_t)ceil(LEAST_SHARE * (double)n) - 1;
	struct series_outliers outliers = {.difference = NAN};
	autofree double *sorted = NULL;

	if (n < MIN_FOR_OUTLIERS)
		return outliers;
	sorted = sorted_copy(values, n);
	outliers.finding = SERIES_NO;
	for (int sign = 1; sign >= -1; sign -= 2) {
		for (size_t nr = 1; nr <= most; nr++) {
			const double difference = sign * distance_below(sorted, n, nr);

			if (difference != 0)
				outliers = (struct series_outliers){SERIES_YES, nr, difference};
		}
		for (size_t i = 0; i < n; i++)
			sorted[i] = -sorted[i];
		for (size_t i = 0; i < n / 2; i++) {
			const double value = sorted[i];

			sorted[i] = sorted[n - 1 - i];
			sorted[n - 1 - i] = value;
		}
	}
	return outliers;
}

/* ---- the thesis' figures ---- */

size_t
series_minima(const double *values, size_t n, size_t k, double *minima)
{
	for (size_t group = 0; group < n / k; group++) {
		minima[group] = values[group * k];
		for (size_t i = 1; i < k; i++)
			minima[group] = fmin(minima[group], values[group * k + i]);
	}
	return n / k;
}

double
series_error(double value, double expected)
{
	const double x = value / expected;

	if (isnan(value) || isnan(expected))
		return NAN;
	if (value == expected)
		return 0;
	if (!(x > 0))
		return INFINITY;
	return x > 1 ? x - 1 : 1 / x - 1;
}
