/* SPDX-License-Identifier: MIT */
/* See rate_modes.h. */
#include "peaks/rate_modes.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "statistics/summary.h"

/* Rates of one mode differ by less than this, those of two by more than that. */
#define AGREEING 0.02
#define APART 0.05

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The first that the next one agrees with; nr: none. */
static size_t
find_agreeing(const double *sorted, size_t nr)
{
	for (size_t i = 0; i + 1 < nr; i++)
		if (sorted[i + 1] >= sorted[i] * (1 - AGREEING))
			return i;
	return nr;
}

struct rate_modes
rate_modes_find(const double *rates, size_t nr)
{
	double *sorted = rot_calloc(nr + 1, sizeof(*sorted));
	struct rate_modes modes = {.nr = 0};
	size_t best, behind;

	for (size_t i = 0; i < nr; i++)
		if (isfinite(rates[i]))
			sorted[modes.nr++] = rates[i];
	qsort(sorted, modes.nr, sizeof(*sorted), descending);
	best = find_agreeing(sorted, modes.nr);
	if (best < modes.nr && sorted[best] > (1 + APART) * statistics_percentile(sorted, modes.nr, 50)) {
		modes.are_two = true;
		modes.high = sorted[best];
		modes.low = sorted[best] * (1 - AGREEING);
		for (behind = best; behind < modes.nr && sorted[behind] >= modes.low; behind++)
			;
		modes.nr_usual = modes.nr - behind;
		modes.usual = statistics_percentile(sorted + behind, modes.nr_usual, 50);
	}
	free(sorted);
	return modes;
}
