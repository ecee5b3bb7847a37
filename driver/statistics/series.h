/* SPDX-License-Identifier: MIT */
/*
 * The runs of one point say more than their summary: two modes, a drift, a first run unlike the others, outliers. The
 * thesis' figures of accuracy are here, too. Pure. Values are in the order of the runs. Nothing is concluded from few
 * values, nor from differences below SERIES_LEAST_DIFFERENCE, which nobody would act on. Each of the four tests is
 * wrong for at most 1 in 50 series of independent values of one mode. Tested: normal, uniform, exponential, lognormal,
 * a die.
 */
#pragma once

#include <stddef.h>

/* Relative to the median. */
#define SERIES_LEAST_DIFFERENCE 0.01

enum series_finding {
	SERIES_UNKNOWN, /* too few values to tell */
	SERIES_NO,
	SERIES_YES,
};

/*
 * Two modes (n >= 10): the widest gap between neighbours, with at least a fifth of the values on either side, is many
 * times the mean distance of the values from the median of their own side. Two modes are two numbers: neither their
 * median nor their mean is what any run took.
 */
struct series_modes {
	enum series_finding finding;
	double low, high;       /* medians of the sides; NaN unless found */
	size_t nr_low, nr_high; /* values on them */
};
struct series_modes series_modes(const double *values, size_t n);

/*
 * Drift (n >= 8): Mann and Kendall's test with correction for ties and continuity, at 1 %. change is Theil and Sen's
 * slope times n - 1, relative to the median: from the first run to the last. Of more than 1000 values, 1000 at even
 * distances are looked at.
 */
struct series_drift {
	enum series_finding finding;
	double change; /* -0.03: falls by 3 %; NaN if unknown */
	double p;      /* probability of such an order, or a clearer one, without a drift; NaN if unknown */
};
struct series_drift series_drift(const double *values, size_t n);

/*
 * First run (n >= 10): it lies outside the range of the others and further from their median than eight times their
 * scale (1.4826 times the median distance from their median).
 */
struct series_first {
	enum series_finding finding;
	double difference; /* from the median of the others, relative to it; NaN if unknown */
};
struct series_first series_first(const double *values, size_t n);

/*
 * Outliers (n >= 10): fewer than a fifth of the values, which lie on one side of the others, further from them than
 * three times the range of the others. (A fifth and more are a mode.)
 */
struct series_outliers {
	enum series_finding finding;
	size_t nr;
	double difference; /* of the one that is nearest to the others, from their median, relative to it; NaN unless
			      found */
};
struct series_outliers series_outliers(const double *values, size_t n);

/* The thesis' minimum of K: the minimum of each k values in turn ("groups of ten"), into minima[n / k]; what is left
 * over is not used. Returns n / k. k >= 1. */
size_t series_minima(const double *values, size_t n, size_t k, double *minima);

/*
 * The thesis' err(x) of x = value / expected, as a fraction: x - 1 above 1, 1/x - 1 below; so half and double are both
 * 1. Both 0: 0. One of them 0, or of different signs: infinite. NaN where one is NaN.
 */
double series_error(double value, double expected);
