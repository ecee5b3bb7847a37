/* SPDX-License-Identifier: MIT */
/* By what factor one series of values lies above another, whatever their distribution. Pure. */
#pragma once

#include "statistics/summary.h"

/*
 * ratio: the median of the ratios of every value above to every value below (Hodges and Lehmann 1963, of logarithms),
 * estimator "hodgesLehmann", with the interval that Mann and Whitney's test gives: the factors by which that test would
 * not tell the two apart. minimum to quartile75 are of these ratios, n is the smaller number of values.
 * p: of Mann and Whitney's test, two-sided, exact up to 30 values, ties included: the probability of such ranks, or
 * more extreme ones, where nothing differs but chance. Of fewer than 6 values on a side there is neither (NaN).
 *
 * That takes runs for independent, and neighbours are not where something changes slowly: the clock, what else runs. So
 * from 8 values on each side on, the means of the ranks of four stretches of each side are looked at as well (batch
 * means, with Student's t). If these say that the interval has to be wider, it is, and p is larger. What lasts longer
 * than a whole side nobody can tell from a difference.
 */
struct shift {
	struct summary ratio;
	double p;
};

/*
 * Values are in the order of the runs. Where there are groups, which count up in that order, and 6 of them, on that
 * side the medians of groups are the values. Of more than 1000 values, 1000 at even distances are looked at. 0 / 0
 * is 1.
 */
struct shift statistics_shift(const struct grouped *above, const struct grouped *below);

/*
 * Holm's correction (1979): makes of n probabilities those with which a difference may be called one if at most one in
 * 20 of such sets of comparisons shall hold any false one, however they depend on each other. NaN stay, and do not
 * count.
 */
void statistics_holm(double *p, size_t n);
