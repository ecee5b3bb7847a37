/* SPDX-License-Identifier: MIT */
/* See knees.h. */
#include "levels/knees.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Over an octave a plateau rises by less than this: address translation makes it rise a little. */
#define PLATEAU_RISE 1.25

/* Levels differ by at least this; less is one level that address translation has split. */
#define LEVEL_STEP 1.7

#define SIZE_SHARE 0.5
#define FITTING_SHARE 0.1

/* Shortest latency of each footprint and the larger ones. */
static double *
envelope_of(const struct knee_point *points, size_t nr)
{
	double *envelope = rot_calloc(nr, sizeof(*envelope)), least = INFINITY;

	for (size_t i = nr; i-- > 0;) {
		least = fmin(least, points[i].latency);
		envelope[i] = least;
	}
	return envelope;
}

/* From point i on, a whole octave rises little. */
static bool
is_flat(const struct knee_point *points, const double *envelope, size_t nr, size_t i)
{
	size_t j = i;

	while (j < nr && points[j].bytes < 2 * points[i].bytes)
		j++;
	return j < nr && envelope[j] < PLATEAU_RISE * envelope[i];
}

/* Plateaus in order, each with the latency in its middle: at its ends it is mixed with those beside it. */
static size_t
find_plateaus(const struct knee_point *points, const double *envelope, size_t nr, struct knee_level levels[KNEES_MAX])
{
	size_t nr_levels = 0, end;

	for (size_t i = 0; i < nr && nr_levels < KNEES_MAX; i = end + 1) {
		double latency;

		for (end = i; end < nr && is_flat(points, envelope, nr, end);)
			end++;
		latency = envelope[i + (end - i) / 2];
		if (end > i && (nr_levels == 0 || latency > LEVEL_STEP * levels[nr_levels - 1].latency))
			levels[nr_levels++] = (struct knee_level){.latency = latency};
	}
	return nr_levels;
}

/* The largest footprint below this share of misses. */
static int64_t
largest_below(const struct knee_point *points, const double *envelope, size_t nr, const struct knee_level *level,
	      double share)
{
	double limit = level->latency + share * (level[1].latency - level->latency);
	int64_t bytes = 0;

	for (size_t i = 0; i < nr && envelope[i] <= limit; i++)
		bytes = points[i].bytes;
	return bytes;
}

size_t
knees_find(const struct knee_point *points, size_t nr, struct knee_level levels[KNEES_MAX])
{
	autofree double *envelope = envelope_of(points, nr);
	size_t nr_levels = find_plateaus(points, envelope, nr, levels);

	for (size_t i = 0; i + 1 < nr_levels; i++) {
		levels[i].bytes = largest_below(points, envelope, nr, &levels[i], SIZE_SHARE);
		levels[i].fitting_bytes = largest_below(points, envelope, nr, &levels[i], FITTING_SHARE);
	}
	return nr_levels;
}
