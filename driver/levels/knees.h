/* SPDX-License-Identifier: MIT */
/*
 * The levels of a memory from the latencies of growing footprints: plateaus, and the knees between them. Pure.
 *
 * A footprint that is larger is never faster, so of each footprint and all larger ones the shortest latency counts: a
 * level that was not yet warm, a neighbour that used the cache or lost time slices make single points too slow, never
 * too fast.
 */
#ifndef LEVELS_KNEES_H
#define LEVELS_KNEES_H

#include <stddef.h>
#include <stdint.h>

struct knee_point {
	int64_t bytes;
	double latency; /* any unit; the shortest of several */
};

struct knee_level {
	double latency; /* of the plateau */

	/*
	 * The largest footprint of which at most half the accesses miss, taken from where the latency lies between this
	 * plateau and the next: the size of the cache, as good as it can be known (random footprints of just its size
	 * miss partly); and the largest of which at most a tenth do. Both are footprints that were measured. 0: of the
	 * last level, the memory.
	 */
	int64_t bytes, fitting_bytes;
};

#define KNEES_MAX 6

/* Points in rising order of bytes. Returns how many levels there are; the last is what holds all footprints. */
size_t knees_find(const struct knee_point *points, size_t nr, struct knee_level levels[KNEES_MAX]);

#endif
