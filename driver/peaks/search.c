/* SPDX-License-Identifier: MIT */
#include "peaks/search.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Points are known by their rank: their place when all are counted, the first axis slowest. */
#define NOT_ASKED SIZE_MAX

/* Neighbours differ by at most one step on every axis while there are few axes, so that ridges across can be walked. */
#define MAX_AXES_OF_DIAGONALS 2

/* So many climbers at one height are on a plateau. */
#define PLATEAU 3

struct climber {
	size_t at; /* index of its point */
	bool has_arrived;
};

struct search {
	struct search_axis *axes;
	size_t nr_axes;
	bool (*is_valid)(void *context, const int *coordinates);
	void *context;
	struct search_options options;
	size_t nr_all;    /* points of the space */
	size_t *index_of; /* [nr_all]: of a rank, or NOT_ASKED */
	size_t *ranks;    /* [nr_found] */
	struct search_found *found;
	size_t nr_found;
	size_t nr_handed; /* of the found ones, how many were in a batch; the others wait for the next */
	size_t *batch;
	struct climber *climbers;
	size_t nr_climbers;
	bool has_begun;
	size_t next_rank; /* of SEARCH_GRID */
};

/* ---- the space ---- */

static bool
copy_space(struct search *search, const struct search_space *space)
{
	search->nr_all = 1;
	search->nr_axes = space->nr_axes;
	search->is_valid = space->is_valid;
	search->context = space->context;
	search->axes = rot_calloc(space->nr_axes + 1, sizeof(*search->axes));
	for (size_t i = 0; i < space->nr_axes; i++) {
		const size_t nr = space->axes[i].nr;
		int *values = rot_calloc(nr + 1, sizeof(*values));

		for (size_t k = 0; k < nr; k++)
			values[k] = space->axes[i].values[k];
		search->axes[i] = (struct search_axis){values, nr};
		if (nr > 0 && search->nr_all > SEARCH_MAX_SPACE / nr)
			return false;
		search->nr_all *= nr;
	}
	return true;
}

static size_t
place_on_axis(const struct search *search, size_t rank, size_t axis)
{
	for (size_t i = search->nr_axes - 1; i > axis; i--)
		rank /= search->axes[i].nr;
	return rank % search->axes[axis].nr;
}

/* NOT_ASKED: the coordinates are not in the space. */
static size_t
rank_of(const struct search *search, const int *coordinates)
{
	size_t rank = 0;

	for (size_t i = 0; i < search->nr_axes; i++) {
		size_t place = 0;

		while (place < search->axes[i].nr && search->axes[i].values[place] != coordinates[i])
			place++;
		if (place == search->axes[i].nr)
			return NOT_ASKED;
		rank = rank * search->axes[i].nr + place;
	}
	return rank;
}

/* ---- asking ---- */

/* Lets the next batches have it. Gives its index, or NOT_ASKED if it is not valid, or there is no room for more. */
static size_t
ask(struct search *search, size_t rank)
{
	int *coordinates;

	if (search->index_of[rank] != NOT_ASKED)
		return search->index_of[rank];
	if (search->options.max_points && search->nr_found >= search->options.max_points)
		return NOT_ASKED;
	coordinates = rot_calloc(search->nr_axes + 1, sizeof(*coordinates));
	for (size_t i = 0; i < search->nr_axes; i++)
		coordinates[i] = search->axes[i].values[place_on_axis(search, rank, i)];
	if (search->is_valid && !search->is_valid(search->context, coordinates)) {
		free(coordinates);
		return NOT_ASKED;
	}
	search->found = rot_realloc(search->found, search->nr_found + 1, sizeof(*search->found));
	search->ranks = rot_realloc(search->ranks, search->nr_found + 1, sizeof(*search->ranks));
	search->found[search->nr_found] = (struct search_found){coordinates, NAN};
	search->ranks[search->nr_found] = rank;
	search->index_of[rank] = search->nr_found;
	return search->nr_found++;
}

static void
start_climber(struct search *search, size_t index)
{
	search->climbers = rot_realloc(search->climbers, search->nr_climbers + 1, sizeof(*search->climbers));
	search->climbers[search->nr_climbers++] = (struct climber){.at = index};
}

static void
ask_seeds(struct search *search)
{
	for (size_t i = 0; i < search->options.nr_seeds; i++) {
		size_t rank = rank_of(search, search->options.seeds[i]);
		size_t index = rank == NOT_ASKED ? NOT_ASKED : ask(search, rank);

		if (index != NOT_ASKED)
			start_climber(search, index);
	}
}

/* The permuted congruential generator of O'Neill (2014), XSH-RR with 32 bits; the modulus matters little here. */
static size_t
draw_below(uint64_t *state, size_t n)
{
	uint64_t old = *state;
	uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27), turns = (uint32_t)(old >> 59);

	*state = old * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((shifted >> turns) | (shifted << (-turns & 31))) % n;
}

/* The first valid ones of all points, shuffled (always in the same way). */
static void
ask_starts(struct search *search)
{
	size_t *order = rot_calloc(search->nr_all + 1, sizeof(*order)), nr = 0;
	uint64_t state = 0;

	for (size_t i = 0; i < search->nr_all; i++)
		order[i] = i;
	draw_below(&state, 1); /* of the state 0 the first number is always 0 */
	for (size_t i = search->nr_all; i > 1; i--) {
		size_t k = draw_below(&state, i), rank = order[k];

		order[k] = order[i - 1];
		order[i - 1] = rank;
	}
	for (size_t i = 0; i < search->nr_all && nr < search->options.nr_starts; i++) {
		size_t index = search->index_of[order[i]] == NOT_ASKED ? ask(search, order[i]) : NOT_ASKED;

		if (index == NOT_ASKED)
			continue;
		start_climber(search, index);
		nr++;
	}
	free(order);
}

/* ---- climbing ---- */

/* The rank of the neighbour that is steps[i] further on each axis i; NOT_ASKED beyond the ends. */
static size_t
neighbour(const struct search *search, size_t rank, const int *steps)
{
	size_t result = 0;

	for (size_t i = 0; i < search->nr_axes; i++) {
		size_t place = place_on_axis(search, rank, i);

		if ((steps[i] < 0 && place == 0) || (steps[i] > 0 && place + 1 == search->axes[i].nr))
			return NOT_ASKED;
		result = result * search->axes[i].nr + (size_t)((ptrdiff_t)place + steps[i]);
	}
	return result;
}

/* The next of all combinations of -1, 0 and 1, but not all 0; begins with all -1. False behind the last one. */
static bool
next_steps(int *steps, size_t nr)
{
	size_t nr_moved;

	do {
		size_t i = 0;

		while (i < nr && steps[i] == 1)
			steps[i++] = -1;
		if (i == nr)
			return false;
		steps[i]++;
		nr_moved = 0;
		for (size_t k = 0; k < nr; k++)
			nr_moved += steps[k] != 0;
	} while (nr_moved == 0 || (nr > MAX_AXES_OF_DIAGONALS && nr_moved > 1));
	return true;
}

typedef void of_neighbour(struct search *search, size_t rank, size_t *best);

static void
visit_neighbours(struct search *search, size_t rank, of_neighbour *visit, size_t *best)
{
	int *steps = rot_calloc(search->nr_axes + 1, sizeof(*steps));
	bool is_one = search->nr_axes <= MAX_AXES_OF_DIAGONALS; /* the first combination is all -1 */

	for (size_t i = 0; i < search->nr_axes; i++)
		steps[i] = -1;
	is_one = search->nr_axes > 0 && (is_one || next_steps(steps, search->nr_axes));
	for (; is_one; is_one = next_steps(steps, search->nr_axes)) {
		size_t other = neighbour(search, rank, steps);

		if (other != NOT_ASKED)
			visit(search, other, best);
	}
	free(steps);
}

static void
ask_neighbour(struct search *search, size_t rank, size_t *best)
{
	(void)best;
	ask(search, rank);
}

/* Is a better than b? Everything is better than what could not be measured. */
static bool
is_better(double a, double b)
{
	return !isnan(a) && (isnan(b) || a > b);
}

static void
prefer_neighbour(struct search *search, size_t rank, size_t *best)
{
	size_t index = search->index_of[rank];

	if (index != NOT_ASKED && is_better(search->found[index].value, search->found[*best].value))
		*best = index;
}

/* To its best neighbour, or arrived. */
static void
climb(struct search *search, struct climber *climber)
{
	size_t best = climber->at;
	double here = search->found[climber->at].value, there;

	visit_neighbours(search, search->ranks[climber->at], prefer_neighbour, &best);
	there = search->found[best].value;
	climber->has_arrived =
		best == climber->at || !(isnan(here) || there > here + fabs(here) * search->options.gain);
	if (!climber->has_arrived)
		climber->at = best;
}

/* Of those that have not arrived, the one that is highest so far; NULL: none. */
static struct climber *
highest_climber(const struct search *search)
{
	struct climber *highest = NULL;

	for (struct climber *climber = search->climbers; climber < search->climbers + search->nr_climbers; climber++)
		if (!climber->has_arrived &&
		    (!highest || is_better(search->found[climber->at].value, search->found[highest->at].value)))
			highest = climber;
	return highest;
}

/*
 * Has one arrived at the top of all, with two more as high as that? They began at different places, so what they met is
 * the machine's bound and not a variant's: nothing is higher, and those that are still below would only come to the
 * same.
 */
static bool
has_plateau(const struct search *search)
{
	const struct climber *const end = search->climbers + search->nr_climbers;
	double top = NAN;
	size_t nr_at_top = 0;

	for (const struct climber *climber = search->climbers; climber < end; climber++)
		if (climber->has_arrived && is_better(search->found[climber->at].value, top))
			top = search->found[climber->at].value;
	for (size_t i = 0; i < search->nr_found; i++)
		if (search->found[i].value > top + fabs(top) * search->options.gain)
			return false;
	for (const struct climber *climber = search->climbers; climber < end; climber++)
		nr_at_top += search->found[climber->at].value >= top - fabs(top) * search->options.gain;
	return nr_at_top >= PLATEAU;
}

/* Until there are points to be valued, or all have arrived. The highest first: if time ends the search, little is lost.
 */
static void
climb_all(struct search *search)
{
	struct climber *climber;

	while (search->nr_handed == search->nr_found && !has_plateau(search) && (climber = highest_climber(search))) {
		visit_neighbours(search, search->ranks[climber->at], ask_neighbour, NULL);
		if (search->nr_handed == search->nr_found)
			climb(search, climber);
	}
}

/* ---- batches ---- */

static void
ask_more(struct search *search)
{
	const size_t max = search->options.max_batch ? search->options.max_batch : search->nr_all;
	const size_t enough = search->nr_found + max;

	if (search->options.strategy == SEARCH_GRID) {
		if (!search->has_begun)
			ask_seeds(search);
		while (search->next_rank < search->nr_all && search->nr_found < enough)
			ask(search, search->next_rank++);
	} else if (!search->has_begun) {
		ask_seeds(search);
		if (search->options.strategy == SEARCH_FAST || search->nr_found == 0)
			ask_starts(search);
	} else if (search->options.strategy == SEARCH_FAST) {
		climb_all(search);
	}
	search->has_begun = true;
}

size_t
search_next(struct search *search, const size_t **batch)
{
	size_t nr;

	if (search->nr_handed == search->nr_found)
		ask_more(search);
	nr = search->nr_found - search->nr_handed;
	if (search->options.max_batch && nr > search->options.max_batch)
		nr = search->options.max_batch;
	search->batch = rot_realloc(search->batch, nr + 1, sizeof(*search->batch));
	for (size_t i = 0; i < nr; i++)
		search->batch[i] = search->nr_handed++;
	*batch = search->batch;
	return nr;
}

void
search_tell(struct search *search, size_t index, double value)
{
	search->found[index].value = value;
}

/* ---- results ---- */

size_t
search_nr_points(const struct search *search)
{
	return search->nr_found;
}

const struct search_found *
search_at(const struct search *search, size_t index)
{
	return &search->found[index];
}

size_t
search_best(const struct search *search, size_t *indices, size_t nr)
{
	size_t nr_best = 0;

	for (size_t i = 0; i < search->nr_found; i++) {
		double value = search->found[i].value;
		size_t k = nr_best;

		if (isnan(value))
			continue;
		while (k > 0 && value > search->found[indices[k - 1]].value)
			k--;
		if (k == nr)
			continue;
		nr_best += nr_best < nr;
		memmove(indices + k + 1, indices + k, (nr_best - k - 1) * sizeof(*indices));
		indices[k] = i;
	}
	return nr_best;
}

/* ---- life ---- */

struct search *
search_new(const struct search_space *space, const struct search_options *options)
{
	struct search *search = rot_calloc(1, sizeof(*search));
	int **seeds;

	search->options = *options;
	search->options.seeds = NULL;
	search->options.nr_seeds = 0;
	if (!copy_space(search, space)) {
		search_delete(search);
		return NULL;
	}
	seeds = rot_calloc(options->nr_seeds + 1, sizeof(*seeds));
	for (size_t i = 0; i < options->nr_seeds; i++) {
		seeds[i] = rot_calloc(space->nr_axes + 1, sizeof(**seeds));
		if (space->nr_axes)
			memcpy(seeds[i], options->seeds[i], space->nr_axes * sizeof(**seeds));
	}
	search->options.seeds = (const int *const *)seeds;
	search->options.nr_seeds = options->nr_seeds;
	search->index_of = rot_calloc(search->nr_all + 1, sizeof(*search->index_of));
	for (size_t i = 0; i < search->nr_all; i++)
		search->index_of[i] = NOT_ASKED;
	return search;
}

void
search_delete(struct search *search)
{
	if (!search)
		return;
	for (size_t i = 0; i < search->nr_axes; i++)
		free((int *)search->axes[i].values);
	for (size_t i = 0; i < search->nr_found; i++)
		free(search->found[i].coordinates);
	for (size_t i = 0; i < search->options.nr_seeds; i++)
		free((int *)search->options.seeds[i]);
	free((int **)search->options.seeds);
	free(search->axes);
	free(search->index_of);
	free(search->ranks);
	free(search->found);
	free(search->batch);
	free(search->climbers);
	free(search);
}
