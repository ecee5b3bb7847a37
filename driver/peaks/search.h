/* SPDX-License-Identifier: MIT */
/*
 * The optimiser: finds the point of highest value in a space of integers. It asks for points in batches, so that what
 * must be built for them can be built in parallel, and is told their values. Pure: it measures nothing, and the same
 * values lead to the same points. Source: thesis, "Finding Performance and Bandwidth Ceilings"; the original tool's
 * optimiser. Unlike that one, it climbs until nothing is better, and the ends of an axis are no neighbours.
 */
#ifndef PEAKS_SEARCH_H
#define PEAKS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

enum search_strategy {
	SEARCH_QUICK, /* the seeds alone; without a valid one, the starting points of SEARCH_FAST */
	SEARCH_FAST,  /* from the seeds and from points drawn by lot, to the best neighbour, as long as it is better;
			 first from where it is highest; until one is at the top and two others as high */
	SEARCH_GRID,  /* every point */
};

/* Values of an axis, each once; those beside each other are neighbours. */
struct search_axis {
	const int *values;
	size_t nr;
};

struct search_space {
	const struct search_axis *axes;
	size_t nr_axes; /* 0: one point, without coordinates */
	/* coordinates: a value of each axis. NULL: all points are valid; others are never asked for. */
	bool (*is_valid)(void *context, const int *coordinates);
	void *context;
};

/* A larger space is an error of whoever described it. */
#define SEARCH_MAX_SPACE 1000000

struct search_options {
	enum search_strategy strategy;
	const int *const *seeds; /* recommended points; one that is not in the space, or not valid, is passed over */
	size_t nr_seeds;
	size_t nr_starts;  /* of SEARCH_FAST, beside the seeds: 5 in the original tool */
	size_t max_batch;  /* points at a time, 0: any number */
	size_t max_points; /* all together, 0: any number; seeds and starting points come first */
	double gain;       /* a step must better a value by this share of it: above noise, else plateaus are walked */
};

struct search_found {
	int *coordinates;
	double value; /* NaN: not told yet, or the point could not be measured */
};

struct search;

/* Space and options are copied, but not what context points to. NULL: the space is larger than SEARCH_MAX_SPACE. */
struct search *search_new(const struct search_space *space, const struct search_options *options);
void search_delete(struct search *search);

/*
 * The indices of the points to be valued next, *batch (owned by the search, until its next call); each point is asked
 * for once. 0: the search is finished. All points of a batch must have been told before the next one.
 */
size_t search_next(struct search *search, const size_t **batch);

/* NaN: could not be measured. */
void search_tell(struct search *search, size_t index, double value);

/* Points asked for so far, in the order of asking. */
size_t search_nr_points(const struct search *search);
const struct search_found *search_at(const struct search *search, size_t index);

/*
 * The indices of the up to nr best points, best first; of equal ones that which was asked for first. Points without a
 * value are not among them. Gives their number.
 */
size_t search_best(const struct search *search, size_t *indices, size_t nr);

#endif
