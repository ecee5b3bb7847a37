/* SPDX-License-Identifier: MIT */
/* Statistics of repeated measurements. Pure: no I/O, no state. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interval from smallest to largest of fewer values does not reach 95 % for a median. */
#define SUMMARY_LEAST 6

/*
 * The summary of n values; all NaN if n is 0. The estimate has low..high as an interval of at least `confidence` (0.95
 * asked for). Both are NaN, with confidence 0, where there is none (n < 6 for a median).
 */
struct summary {
	const char *estimator; /* "median", "exact" (all values agree), "quantile", "minimum", "ratioOfMedians",
				  "share", "expected", "given" */
	double value;
	double low, high, confidence;
	double minimum, maximum;
	double quartile25, quartile75; /* position p(n+1)/100, interpolated, as the thesis' tool */
	size_t n;
	size_t tainted; /* samples left out for a recorded cause; not in n */
};

/*
 * n values. groups (NULL: each value stands for itself) tells which of them something made alike, as the start of the
 * measuring core that they are of: values i and k are in one group if groups[i] == groups[k]. An interval then tells
 * where the estimate would be with other groups, and not only with other values of these groups. Fewer than 6 groups
 * cannot tell that: then each value stands for itself, as without groups.
 */
struct grouped {
	const double *values;
	const size_t *groups;
	size_t n;
};

/* All NaN: there are no values. */
struct summary summary_empty(void);

/* Median with its distribution-free interval (order statistics); "exact" when all n values are the same. values are not
 * changed. */
struct summary summary_median(const double *values, size_t n);

/*
 * The same of values in groups. If some group has several, the interval is the hull of two: of the order statistics of
 * the values, and of those of the medians of groups.
 */
struct summary summary_grouped_median(const struct grouped *of);

/*
 * The value that a share p of all runs stays below (0 < p < 1), with its distribution-free interval: what the best runs
 * reach, where some of the others were slowed by something else. Needs n >= 11 for the interval of p = 0.75.
 */
struct summary summary_quantile(const double *values, size_t n, double p);

/* Minimum (the thesis' minimum of K), with range and quartiles but no interval. */
struct summary summary_minimum(const double *values, size_t n);

/*
 * scale * median(numerator) / median(denominator), with a seeded bootstrap interval whose percentiles are widened for
 * few values (Hesterberg's expanded percentile interval: the plain one covers 86 % to 95 %, not 95 %). Groups are
 * resampled as a whole. jointly: numerator and denominator i come from the same run, and have the same groups; they are
 * resampled together, and minimum, maximum and quartiles are those of the ratios per run; else they are resampled
 * apart, and minimum.. are over the ratios of every run's value to the other's median. A side with one value counts as
 * known, and the interval is that of the other side's median. n is the smaller number of values of the other sides.
 * Without 6 values on a side that is not known: no interval. A denominator of 0 gives an infinity.
 */
struct summary summary_ratio(const struct grouped *numerator, const struct grouped *denominator, double scale,
			     bool jointly, uint64_t seed);

/*
 * nr of n that were so (nr <= n, n >= 1), as a share with its exact interval of 95 % (Clopper and Pearson 1934): both
 * ends are the probabilities with which so few, or so many, happen in 2.5 %.
 */
struct summary summary_share(size_t nr, size_t n);

/* The same by Wilson's interval (1927), in a moment however large n is, which may be 0 (no share). */
struct summary summary_large_share(size_t nr, size_t n);

/*
 * The quotient of two estimates that err independently of each other: value and interval, of errors that are taken for
 * lognormal. No interval where one of them has none, or is not positive.
 */
struct summary summary_quotient(const struct summary *numerator, const struct summary *denominator);

/*
 * How probable it is that the true value of a is below that of b, which err independently: by their intervals, each
 * error taken for lognormal and as large as the side of the interval that faces the other. NaN: one of them has no
 * interval, or is not positive.
 */
double summary_probability_below(const struct summary *a, const struct summary *b);

/* One known value. */
struct summary summary_single(double value, const char *estimator);

/* p in 0..100; position p(n+1)/100, interpolated, clamped to the range. values need not be sorted. NaN for n = 0. */
double statistics_percentile(const double *values, size_t n, double p);

/* Intervals hold their estimate with this confidence, at least. */
#define CONFIDENCE 0.95

/* For qsort: ascending. */
int double_compare(const void *a, const void *b);

/* The middle of two values; also right for two equal infinities. */
double double_middle(double a, double b);

/* The n values in order; fresh memory, also for n = 0. */
double *sorted_copy(const double *values, size_t n);

/* P(Binomial(n, p) = k), by logarithms, so that large n do not underflow. 0 < p < 1 */
double binomial(size_t n, double p, size_t k);

/* Sets n, minimum, maximum and quartiles; of no values n alone. */
void sorted_set_range(struct summary *summary, const double *sorted, size_t n);
