/* SPDX-License-Identifier: MIT */
/* See plateau.h. */
#include "peaks/plateau.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "statistics/summary.h"

static int
descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* How many from `first` on agree with it. */
static size_t
nr_agreeing(const double *sorted, size_t nr, size_t first)
{
	size_t behind = first;

	while (behind < nr && sorted[behind] >= sorted[first] * (1 - PLATEAU_AGREEING))
		behind++;
	return behind - first;
}

struct plateau
plateau_find(const double *rates, size_t nr)
{
	const double least = fmax(PLATEAU_LEAST, PLATEAU_SHARE * (double)nr);
	struct plateau plateau = {NAN, NAN, NAN, 0};
	autofree double *sorted = rot_calloc(nr + 1, sizeof(*sorted));

	memcpy(sorted, rates, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), descending);
	for (size_t first = 0; first < nr && plateau.nr == 0; first++) {
		const size_t nr_here = nr_agreeing(sorted, nr, first);

		if ((double)nr_here >= least)
			plateau = (struct plateau){
				.low = sorted[first + nr_here - 1],
				.high = sorted[first],
				.median = statistics_percentile(sorted + first, nr_here, 50),
				.nr = nr_here,
			};
	}
	return plateau;
}
