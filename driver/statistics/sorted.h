/* SPDX-License-Identifier: MIT */
/* Values in ascending order, and what their places tell. For the folder statistics only. */
#pragma once

#include <stddef.h>

#include "statistics/summary.h"

/* What intervals hold their estimate with, at least. */
#define CONFIDENCE 0.95

/* For qsort: ascending. */
int double_compare(const void *a, const void *b);

/* The middle of two values; also right for two equal infinities. */
double double_middle(double a, double b);

/* The n values in order; fresh memory, also for n = 0. */
double *sorted_copy(const double *values, size_t n);

/* Of n > 0 values in order. */
double sorted_median(const double *sorted, size_t n);

/* As statistics_percentile, of values in order. */
double sorted_percentile(const double *sorted, size_t n, double p);

/* P(Binomial(n, p) = k), by logarithms, so that large n do not underflow. 0 < p < 1 */
double binomial(size_t n, double p, size_t k);

/* Sets n, minimum, maximum and quartiles; of no values n alone. */
void sorted_set_range(struct summary *summary, const double *sorted, size_t n);

/*
 * Sets the narrowest symmetric interval [x_k, x_(n+1-k)] that holds the median with at least 95 %: its coverage is
 * 1 - 2 P(Binomial(n, 1/2) < k). Of fewer than SUMMARY_LEAST values there is none.
 */
void sorted_set_median_interval(struct summary *summary, const double *sorted, size_t n);
