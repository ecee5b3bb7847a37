/* SPDX-License-Identifier: MIT */
/*
 * The levels of the memory, measured: latencies of random pointer chases over growing footprints, on huge pages where
 * there are some, and the knees between their plateaus. For sizes that nobody tells, and to verify those that
 * are told: guests of a virtual machine may be told anything, and share caches with others.
 *
 *	levels_ensure(rot, err)      at the beginning of what uses sizes; costs nothing where they are known
 *
 * rot_open has taken over what was measured before, so descriptions are the same in each start of rot. It takes some
 * seconds, once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"
#include "machine/measured.h"
#include "statistics/curve.h"

struct rot;

/* Are the sizes of L1, L2 and last level known, told or measured? */
bool levels_are_known(const struct machine *machine);

/*
 * If a size of this machine is not known: measures, keeps, and sets it. That none was found is only warned of. With
 * rot->is_cached_only, which may measure nothing, and where it was measured before, does nothing. -1: interrupted, or
 * the kernel Chase cannot be measured.
 */
int levels_ensure(struct rot *rot, struct rot_error *err);

/*
 * Measures (or takes runs from the result cache) and keeps the levels, also where sizes are known. Fills the curves,
 * unless they are NULL: core cycles over the bytes of the footprint; and what stays of growing buffers, nr 0: nobody
 * looked, as there is no level behind L2.
 */
int levels_measure(struct rot *rot, struct measured_levels *levels, struct measured_curve *curve,
		   struct measured_curve *staying, struct rot_error *err);

/* The verdict of the measured size on the one that was told (0: none was); found may be NULL. */
const char *levels_verdict(int64_t told, const struct measured_level *found);

/* Table: what was told and by whom, what was measured, and the verdict. */
void levels_print(const struct measured_levels *levels, const struct machine *machine, FILE *out);

/* ---- knees ---- */

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

/* Knees of the shorter of two latencies of each footprint. They are sure if both tell the same levels, each of
 * a sharp step. */
size_t knees_find_of_two(const struct knee_point *first, const struct knee_point *second, size_t nr,
			 struct knee_level levels[KNEES_MAX], bool *is_sure);
