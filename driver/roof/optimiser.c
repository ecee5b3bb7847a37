/* SPDX-License-Identifier: MIT */
#include "roof/optimiser.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "memory.h"

/* Points are known by their rank: their place when all are counted, the first axis slowest. */
#define NOT_ASKED SIZE_MAX

/* Neighbours differ by at most one step on every axis while there are few axes, so that ridges across can be walked. */
#define MAX_AXES_OF_DIAGONALS 2

/* A space of so few points is visited as a whole: climbing would come to most of them, and leave gaps in the picture.
 */
#define SMALL_SPACE 16

/* So many climbers at one height are on a plateau. */
#define PLATEAU 3

struct climber {
	size_t at; /* index of its point */
	bool has_arrived;
};

struct optimiser {
	struct pool pool; /* of all below */
	struct optimiser_axis *axes;
	size_t nr_axes;
	bool (*is_valid)(void *context, const int *coordinates);
	void *context;
	struct optimiser_options options;
	size_t nr_all;    /* points of the space */
	size_t *index_of; /* [nr_all]: of a rank, or NOT_ASKED */
	size_t *ranks;    /* [nr_found] */
	struct optimiser_point *found;
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
copy_space(struct optimiser *optimiser, const struct optimiser_space *space)
{
	optimiser->nr_all = 1;
	optimiser->nr_axes = space->nr_axes;
	optimiser->is_valid = space->is_valid;
	optimiser->context = space->context;
	optimiser->axes = pool_calloc(&optimiser->pool, space->nr_axes, sizeof(*optimiser->axes));
	for (size_t i = 0; i < space->nr_axes; i++) {
		const size_t nr = space->axes[i].nr;
		const int *values = pool_copy(&optimiser->pool, space->axes[i].values, nr, sizeof(*values));

		optimiser->axes[i] = (struct optimiser_axis){values, nr};
		if (nr > 0 && optimiser->nr_all > OPTIMISER_MAX_SPACE / nr)
			return false;
		optimiser->nr_all *= nr;
	}
	return true;
}

static size_t
place_on_axis(const struct optimiser *optimiser, size_t rank, size_t axis)
{
	for (size_t i = optimiser->nr_axes - 1; i > axis; i--)
		rank /= optimiser->axes[i].nr;
	return rank % optimiser->axes[axis].nr;
}

/* NOT_ASKED: the coordinates are not in the space. */
static size_t
rank_of(const struct optimiser *optimiser, const int *coordinates)
{
	size_t rank = 0;

	for (size_t i = 0; i < optimiser->nr_axes; i++) {
		size_t place = 0;

		while (place < optimiser->axes[i].nr && optimiser->axes[i].values[place] != coordinates[i])
			place++;
		if (place == optimiser->axes[i].nr)
			return NOT_ASKED;
		rank = rank * optimiser->axes[i].nr + place;
	}
	return rank;
}

/* ---- asking ---- */

/* Lets the next batches have it. Gives its index, or NOT_ASKED if it is not valid, or there is no room for more. */
static size_t
ask(struct optimiser *optimiser, size_t rank)
{
	int *coordinates;

	if (optimiser->index_of[rank] != NOT_ASKED)
		return optimiser->index_of[rank];
	if (optimiser->options.max_points && optimiser->nr_found >= optimiser->options.max_points)
		return NOT_ASKED;
	coordinates = pool_calloc(&optimiser->pool, optimiser->nr_axes, sizeof(*coordinates));
	for (size_t i = 0; i < optimiser->nr_axes; i++)
		coordinates[i] = optimiser->axes[i].values[place_on_axis(optimiser, rank, i)];
	if (optimiser->is_valid && !optimiser->is_valid(optimiser->context, coordinates))
		return NOT_ASKED;
	optimiser->found =
		pool_grow(&optimiser->pool, optimiser->found, optimiser->nr_found, sizeof(*optimiser->found));
	optimiser->ranks =
		pool_grow(&optimiser->pool, optimiser->ranks, optimiser->nr_found, sizeof(*optimiser->ranks));
	optimiser->found[optimiser->nr_found] = (struct optimiser_point){coordinates, NAN};
	optimiser->ranks[optimiser->nr_found] = rank;
	optimiser->index_of[rank] = optimiser->nr_found;
	return optimiser->nr_found++;
}

static void
start_climber(struct optimiser *optimiser, size_t index)
{
	optimiser->climbers =
		pool_grow(&optimiser->pool, optimiser->climbers, optimiser->nr_climbers, sizeof(*optimiser->climbers));
	optimiser->climbers[optimiser->nr_climbers++] = (struct climber){.at = index};
}

static void
ask_seeds(struct optimiser *optimiser)
{
	for (size_t i = 0; i < optimiser->options.nr_seeds; i++) {
		size_t rank = rank_of(optimiser, optimiser->options.seeds[i]);
		size_t index = rank == NOT_ASKED ? NOT_ASKED : ask(optimiser, rank);

		if (index != NOT_ASKED)
			start_climber(optimiser, index);
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
ask_starts(struct optimiser *optimiser)
{
	autofree size_t *order = rot_calloc(optimiser->nr_all + 1, sizeof(*order));
	size_t nr = 0;
	uint64_t state = 0;

	for (size_t i = 0; i < optimiser->nr_all; i++)
		order[i] = i;
	draw_below(&state, 1); /* of the state 0 the first number is always 0 */
	for (size_t i = optimiser->nr_all; i > 1; i--) {
		size_t k = draw_below(&state, i), rank = order[k];

		order[k] = order[i - 1];
		order[i - 1] = rank;
	}
	for (size_t i = 0; i < optimiser->nr_all && nr < optimiser->options.nr_starts; i++) {
		size_t index = optimiser->index_of[order[i]] == NOT_ASKED ? ask(optimiser, order[i]) : NOT_ASKED;

		if (index == NOT_ASKED)
			continue;
		start_climber(optimiser, index);
		nr++;
	}
}

/* ---- climbing ---- */

/*
 * The ranks of all neighbours, which are one step off on some axes; with many axes on one of them alone. Combinations
 * of steps are counted with digits of base 3. Fresh memory.
 */
static size_t *
neighbours_of(const struct optimiser *optimiser, size_t rank, size_t *nr)
{
	size_t nr_combinations = 1, *ranks;

	for (size_t i = 0; i < optimiser->nr_axes; i++)
		nr_combinations *= 3;
	ranks = rot_calloc(nr_combinations, sizeof(*ranks));
	*nr = 0;
	for (size_t combination = 0; combination < nr_combinations; combination++) {
		size_t digits = combination, other = 0, nr_moved = 0;
		bool is_inside = true;

		for (size_t i = 0; i < optimiser->nr_axes; i++, digits /= 3) {
			const ptrdiff_t step = (ptrdiff_t)(digits % 3) - 1,
					nr_places = (ptrdiff_t)optimiser->axes[i].nr;
			const ptrdiff_t place = (ptrdiff_t)place_on_axis(optimiser, rank, i) + step;

			nr_moved += step != 0;
			is_inside = is_inside && place >= 0 && place < nr_places;
			other = other * (size_t)nr_places + (size_t)place;
		}
		if (is_inside && nr_moved > 0 && (nr_moved == 1 || optimiser->nr_axes <= MAX_AXES_OF_DIAGONALS))
			ranks[(*nr)++] = other;
	}
	return ranks;
}

/* Is a better than b? Everything is better than what could not be measured. */
static bool
is_better(double a, double b)
{
	return !isnan(a) && (isnan(b) || a > b);
}

/* Lets the next batches have all neighbours. If they have values already, goes to the best, or has arrived. */
static void
climb(struct optimiser *optimiser, struct climber *climber)
{
	size_t best = climber->at, nr;
	autofree size_t *ranks = neighbours_of(optimiser, optimiser->ranks[climber->at], &nr);
	const double here = optimiser->found[climber->at].value;

	for (size_t i = 0; i < nr; i++)
		ask(optimiser, ranks[i]);
	if (optimiser->nr_handed < optimiser->nr_found)
		return;
	for (size_t i = 0; i < nr; i++) {
		const size_t index = optimiser->index_of[ranks[i]];

		if (index != NOT_ASKED && is_better(optimiser->found[index].value, optimiser->found[best].value))
			best = index;
	}
	climber->has_arrived =
		best == climber->at ||
		!(isnan(here) || optimiser->found[best].value > here + fabs(here) * optimiser->options.gain);
	if (!climber->has_arrived)
		climber->at = best;
}

/* The highest climber that has not arrived; NULL: all have. */
static struct climber *
highest_climber(const struct optimiser *optimiser)
{
	struct climber *highest = NULL;

	for (struct climber *climber = optimiser->climbers; climber < optimiser->climbers + optimiser->nr_climbers;
	     climber++)
		if (!climber->has_arrived &&
		    (!highest || is_better(optimiser->found[climber->at].value, optimiser->found[highest->at].value)))
			highest = climber;
	return highest;
}

/*
 * Has one arrived at the top of all, with two more as high as that? They began at different places, so what they met is
 * the machine's bound and not a variant's: nothing is higher, and those that are still below would only come to the
 * same. No others are needed where the bound is known.
 */
static bool
has_plateau(const struct optimiser *optimiser)
{
	const struct climber *const end = optimiser->climbers + optimiser->nr_climbers;
	double top = NAN;
	size_t nr_at_top = 0;

	for (const struct climber *climber = optimiser->climbers; climber < end; climber++)
		if (climber->has_arrived && is_better(optimiser->found[climber->at].value, top))
			top = optimiser->found[climber->at].value;
	for (size_t i = 0; i < optimiser->nr_found; i++)
		if (optimiser->found[i].value > top + fabs(top) * optimiser->options.gain)
			return false;
	for (const struct climber *climber = optimiser->climbers; climber < end; climber++)
		nr_at_top += optimiser->found[climber->at].value >= top - fabs(top) * optimiser->options.gain;
	return nr_at_top >= PLATEAU || (optimiser->options.enough > 0 && top >= optimiser->options.enough);
}

/* ---- batches ---- */

static void
ask_more(struct optimiser *optimiser)
{
	const size_t max = optimiser->options.max_batch ? optimiser->options.max_batch : optimiser->nr_all;
	const size_t enough = optimiser->nr_found + max;

	if (optimiser->options.strategy == SEARCH_GRID) {
		if (!optimiser->has_begun)
			ask_seeds(optimiser);
		while (optimiser->next_rank < optimiser->nr_all && optimiser->nr_found < enough)
			ask(optimiser, optimiser->next_rank++);
	} else if (!optimiser->has_begun) {
		ask_seeds(optimiser);
		if (optimiser->options.strategy == SEARCH_FAST || optimiser->nr_found == 0)
			ask_starts(optimiser);
	} else if (optimiser->options.strategy == SEARCH_FAST) {
		/* Until there are points to be valued, or all have arrived. The highest first: if time ends the
		 * optimiser, little is lost.
		 */
		struct climber *climber;

		while (optimiser->nr_handed == optimiser->nr_found && !has_plateau(optimiser) &&
		       (climber = highest_climber(optimiser)))
			climb(optimiser, climber);
	}
	optimiser->has_begun = true;
}

size_t
optimiser_next(struct optimiser *optimiser, const size_t **batch)
{
	size_t nr;

	if (optimiser->nr_handed == optimiser->nr_found)
		ask_more(optimiser);
	nr = optimiser->nr_found - optimiser->nr_handed;
	if (optimiser->options.max_batch && nr > optimiser->options.max_batch)
		nr = optimiser->options.max_batch;
	optimiser->batch = pool_calloc(&optimiser->pool, nr, sizeof(*optimiser->batch));
	for (size_t i = 0; i < nr; i++)
		optimiser->batch[i] = optimiser->nr_handed++;
	*batch = optimiser->batch;
	return nr;
}

void
optimiser_tell(struct optimiser *optimiser, size_t index, double value)
{
	optimiser->found[index].value = value;
}

/* ---- results ---- */

size_t
optimiser_nr_points(const struct optimiser *optimiser)
{
	return optimiser->nr_found;
}

const struct optimiser_point *
optimiser_at(const struct optimiser *optimiser, size_t index)
{
	return &optimiser->found[index];
}

size_t
optimiser_best(const struct optimiser *optimiser, size_t *indices, size_t nr)
{
	size_t nr_best = 0;

	for (size_t i = 0; i < optimiser->nr_found; i++) {
		double value = optimiser->found[i].value;
		size_t k = nr_best;

		if (isnan(value))
			continue;
		while (k > 0 && value > optimiser->found[indices[k - 1]].value)
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

struct optimiser *
optimiser_new(const struct optimiser_space *space, const struct optimiser_options *options)
{
	struct optimiser *optimiser = rot_calloc(1, sizeof(*optimiser));
	const int **seeds;

	optimiser->options = *options;
	optimiser->options.seeds = NULL;
	optimiser->options.nr_seeds = 0;
	if (!copy_space(optimiser, space)) {
		optimiser_delete(optimiser);
		return NULL;
	}
	if (options->strategy == SEARCH_FAST && optimiser->nr_all <= SMALL_SPACE)
		optimiser->options.strategy = SEARCH_GRID;
	seeds = pool_calloc(&optimiser->pool, options->nr_seeds, sizeof(*seeds));
	for (size_t i = 0; i < options->nr_seeds; i++)
		seeds[i] = pool_copy(&optimiser->pool, options->seeds[i], space->nr_axes, sizeof(**seeds));
	optimiser->options.seeds = seeds;
	optimiser->options.nr_seeds = options->nr_seeds;
	optimiser->index_of = pool_calloc(&optimiser->pool, optimiser->nr_all, sizeof(*optimiser->index_of));
	for (size_t i = 0; i < optimiser->nr_all; i++)
		optimiser->index_of[i] = NOT_ASKED;
	return optimiser;
}

void
optimiser_delete(struct optimiser *optimiser)
{
	if (optimiser)
		pool_clear(&optimiser->pool);
	free(optimiser);
}
