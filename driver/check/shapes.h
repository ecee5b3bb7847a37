/* SPDX-License-Identifier: MIT */
/*
 * Which groups of events really count here. A group that is too large for the counters, or that mixes events which
 * cannot be mixed, may open, say that it ran all the time, and yet count wrong: only known work tells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct pool;
struct rot;
struct architecture;

enum shape_verdict {
	SHAPE_SOUND,   /* every count of every run is what the event counts alone */
	SHAPE_WRONG,   /* it counted, and counted wrong                           */
	SHAPE_REFUSED, /* the system does not open it, or multiplexes it          */
};

/* A group of so many events that count by more than one a cycle, and so many plain ones; beside those riders that have
 * counters of their own, where the architecture's file allows that. */
struct shape {
	unsigned large, plain;
	enum shape_verdict verdict;
	bool is_legal;    /* the architecture's file allows it */
	double deviation; /* the worst one, relative; NaN if refused */
};

struct shapes {
	struct shape *items;
	size_t nr;
	unsigned usable_counters; /* plain events that count right together */
	bool has_large;           /* the architecture knows such events */

	/* A group of large events spoils the counts of the next group, if nothing scrubs between them. */
	bool is_scrub_tried, is_scrub_needed;
};

/*
 * Tries them on a kernel in registers. Which events stand for the classes: instructions (where they have a counter of
 * their own the first plain event that counts enough of it), and the first large event that counts anything. Error: the
 * architecture has no event for instructions, or it does not count alone.
 */
int shapes_find(struct rot *rot, struct pool *pool, struct shapes *shapes, struct rot_error *err);

/* A group that is legal by the architecture's file, but not sound. NULL: there is none. */
const struct shape *shapes_first_wrong(const struct shapes *shapes);

/* The shape of so many events, or NULL if it was not tried. */
const struct shape *shapes_find_one(const struct shapes *shapes, unsigned large, unsigned plain);

/* "2 large + 1 plain", fresh memory. */
char *shape_text(const struct shape *shape);

/*
 * The groups of the file are candidates: takes from them what makes them larger than sound ones, so that the planner
 * opens only what was proved. What was not tried stays as it is.
 */
void shapes_prove(const struct shapes *shapes, struct architecture *architecture);
