/* SPDX-License-Identifier: MIT */
/*
 * The optimiser: finds the point of highest value in a space of integers. It asks for points in batches, so that what
 * must be built for them can be built in parallel, and is told their values. Pure: it measures nothing, and the same
 * values lead to the same points. Source: thesis, "Finding Performance and Bandwidth Ceilings"; the original tool's
 * optimiser. Unlike that one, it climbs until nothing is better, and the ends of an axis are no neighbours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum search_strategy {
	SEARCH_QUICK, /* the seeds alone; without a valid one, the starting points of SEARCH_FAST */
	SEARCH_FAST,  /* from the seeds and from points drawn by lot, to the best neighbour, as long as it is better;
			 first from where it is highest; until one is at the top, and two others as high, or it is enough
		       */
	SEARCH_GRID,  /* every point, as SEARCH_FAST does where there are few */
};

/* Values of an axis, each once; those beside each other are neighbours. */
struct optimiser_axis {
	const int *values;
	size_t nr;
};

struct optimiser_space {
	const struct optimiser_axis *axes;
	size_t nr_axes; /* 0: one point, without coordinates */
	/* coordinates: a value of each axis. NULL: all points are valid; others are never asked for. */
	bool (*is_valid)(void *context, const int *coordinates);
	void *context;
};

/* A larger space is an error of whoever described it. */
#define OPTIMISER_MAX_SPACE 1000000

struct optimiser_options {
	enum search_strategy strategy;
	const int *const *seeds; /* recommended points; one that is not in the space, or not valid, is passed over */
	size_t nr_seeds;
	size_t nr_starts;  /* of SEARCH_FAST, beside the seeds: 5 in the original tool */
	size_t max_batch;  /* points at a time, 0: any number */
	size_t max_points; /* all together, 0: any number; seeds and starting points come first */
	double enough;     /* > 0: nothing is better than this; who has it at the top needs no others beside him */
	double gain;       /* a step must better a value by this share of it: above noise, else plateaus are walked */
};

struct optimiser_point {
	int *coordinates;
	double value; /* NaN: not told yet, or the point could not be measured */
};

struct optimiser;

/* Space and options are copied, but not what context points to. NULL: the space is larger than OPTIMISER_MAX_SPACE. */
struct optimiser *optimiser_new(const struct optimiser_space *space, const struct optimiser_options *options);
void optimiser_delete(struct optimiser *optimiser);

/*
 * The indices of the points to be valued next, *batch (owned by the optimiser, until its next call); each point is
 * asked for once. 0: the search is finished. All points of a batch must have been told before the next one.
 */
size_t optimiser_next(struct optimiser *optimiser, const size_t **batch);

/* NaN: could not be measured. */
void optimiser_tell(struct optimiser *optimiser, size_t index, double value);

/* Points asked for so far, in the order of asking. */
size_t optimiser_nr_points(const struct optimiser *optimiser);
const struct optimiser_point *optimiser_at(const struct optimiser *optimiser, size_t index);

/*
 * The indices of the up to nr best points, best first; of equal ones that which was asked for first. Points without a
 * value are not among them. Gives their number.
 */
size_t optimiser_best(const struct optimiser *optimiser, size_t *indices, size_t nr);
