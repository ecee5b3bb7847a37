/* SPDX-License-Identifier: MIT */
/* The optimiser on landscapes that are known. */
#include "roof/optimiser.h"
#include "testing.h"

#define NR 19

static int one_to_19[NR];
static const struct optimiser_axis square[] = {{one_to_19, NR}, {one_to_19, NR}};

typedef double landscape(const int *at);

static double
hill(const int *at)
{
	return 100 - (at[0] - 12) * (at[0] - 12) - (at[1] - 4) * (at[1] - 4);
}

/* Chains hide a latency so: it rises, then stays; noise of 0.05 %. */
static double
plateau(const int *at)
{
	return fmin(at[0], 8) / 8.0 * fmin(at[1], 3) / 3.0 * (1 + 0.0005 * ((at[0] * 7 + at[1] * 13) % 11) / 11);
}

/* Registers are spilled so: the product counts, and behind 40 all falls. */
static double
ridge(const int *at)
{
	int product = at[0] * at[1];

	return product <= 40 ? product : 20;
}

/* Rises along the diagonal only: no single axis leads up. */
static double
diagonal_ridge(const int *at)
{
	return at[0] + at[1] - 5 * abs(at[0] - at[1]);
}

static double
unmeasurable_below_10(const int *at)
{
	return at[0] < 10 ? NAN : hill(at);
}

static bool
is_even(void *context, const int *at)
{
	(void)context;
	return at[0] % 2 == 0;
}

static bool
never(void *context, const int *at)
{
	(void)context, (void)at;
	return false;
}

static struct optimiser_space space; /* of the test */

/* Follows a search to its end. The number of batches; all points asked for are distinct and within the limits. */
static size_t
follow(struct optimiser *optimiser, landscape *value, size_t max_batch)
{
	const size_t *batch;
	size_t nr, nr_batches = 0, nr_told = 0;

	while ((nr = optimiser_next(optimiser, &batch)) > 0) {
		ck_assert(max_batch == 0 || nr <= max_batch);
		for (size_t i = 0; i < nr; i++) {
			const struct optimiser_point *found = optimiser_at(optimiser, batch[i]);

			ck_assert_uint_eq(batch[i], nr_told++);
			ck_assert(isnan(found->value));
			for (size_t k = 0; k < batch[i]; k++)
				ck_assert_int_ne(memcmp(optimiser_at(optimiser, k)->coordinates, found->coordinates,
							space.nr_axes * sizeof(int)),
						 0);
			optimiser_tell(optimiser, batch[i], value(found->coordinates));
		}
		ck_assert_uint_lt(nr_batches++, 1000);
	}
	ck_assert_uint_eq(optimiser_nr_points(optimiser), nr_told);
	return nr_batches;
}

static struct optimiser *optimiser; /* of the test */

static void
set_up(void)
{
	for (int i = 0; i < NR; i++)
		one_to_19[i] = i + 1;
	space = (struct optimiser_space){.axes = square, .nr_axes = 2};
}

static void
tear_down(void)
{
	optimiser_delete(optimiser);
	optimiser = NULL;
}

static void
begin(const struct optimiser_options *options)
{
	optimiser_delete(optimiser);
	optimiser = optimiser_new(&space, options);
}

/* A whole search; the number of batches. */
static size_t
search(landscape *value, const struct optimiser_options *options)
{
	begin(options);
	return follow(optimiser, value, options->max_batch);
}

static const struct optimiser_point *
best(void)
{
	size_t index;

	ck_assert_uint_eq(optimiser_best(optimiser, &index, 1), 1);
	return optimiser_at(optimiser, index);
}

TEST(grid_visits_every_point)
{
	const struct optimiser_options options = {.strategy = SEARCH_GRID, .max_batch = 50};

	ck_assert_uint_eq(search(hill, &options), 8); /* 361 in fifties */
	ck_assert_uint_eq(optimiser_nr_points(optimiser), NR * NR);
	ck_assert_int_eq(best()->coordinates[0], 12);
	ck_assert_int_eq(best()->coordinates[1], 4);
}

static const struct {
	const char *name;
	landscape *value;
	double enough;
	size_t at_most;
} hills[] = {
	{"hill", hill, 100, 200},
	{"plateau", plateau, 1, 200},
	{"ridge", ridge, 40, 200},
	{"diagonal ridge", diagonal_ridge, 38, 300},
	{"unmeasurable", unmeasurable_below_10, 100, 200},
};

TEST_OF(fast_finds_the_top_with_fewer_points, NR_ELEMENTS(hills))
{
	const struct optimiser_options options = {.strategy = SEARCH_FAST, .nr_starts = 5, .gain = 0.001};

	search(hills[_i].value, &options);
	ck_assert_msg(best()->value >= hills[_i].enough, "%s: %g", hills[_i].name, best()->value);
	ck_assert_msg(optimiser_nr_points(optimiser) <= hills[_i].at_most, "%s: %zu points", hills[_i].name,
		      optimiser_nr_points(optimiser));
}

TEST(climbs_out_of_what_cannot_be_measured)
{
	const int below[] = {9, 9};
	const int *const seeds[] = {below};
	const struct optimiser_options options = {.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1};

	search(unmeasurable_below_10, &options);
	ck_assert_double_eq(best()->value, 100);
}

/* The seed is nearer to the top than any point drawn: its neighbours come before those of others. */
TEST(highest_climbs_first)
{
	const int near[] = {11, 5}, top[] = {12, 4};
	const int *const seeds[] = {near};
	const struct optimiser_options options = {
		.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1, .nr_starts = 5, .max_points = 6 + 8};

	search(hill, &options);
	ck_assert_mem_eq(best()->coordinates, top, sizeof(top));
}

/* The seed is the top: its neighbours are looked at, and nobody else climbs where the top is known to be enough. */
TEST_OF(enough_ends_the_search, 3)
{
	const int top[] = {12, 4};
	const int *const seeds[] = {top};
	const double enough[] = {0, 99.9, 100.1};
	struct optimiser_options options = {
		.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1, .nr_starts = 5, .gain = 0.001};

	options.enough = enough[_i];
	search(hill, &options);
	ck_assert_double_eq(best()->value, 100);
	if (_i == 1)
		ck_assert_uint_le(optimiser_nr_points(optimiser), 1 + 5 + 8);
	else
		ck_assert_uint_gt(optimiser_nr_points(optimiser), 1 + 5 + 8);
}

TEST(gain_keeps_climbers_off_noise)
{
	const int top[] = {15, 15};
	const int *const seeds[] = {top};
	struct optimiser_options options = {.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1, .gain = 0.001};

	ck_assert_uint_eq(search(plateau, &options), 2);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 9); /* the seed and its neighbours */
	options.gain = 0;
	search(plateau, &options);
	ck_assert_uint_gt(optimiser_nr_points(optimiser), 9);
}

/* All seeds as high as each other: the neighbours of one of them are enough. Two are not: the starts climb as well. */
TEST(plateau_ends_a_search)
{
	const int places[][2] = {{15, 15}, {11, 17}, {18, 12}};
	const int *const seeds[] = {places[0], places[1], places[2]};
	struct optimiser_options options = {.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 3, .gain = 0.001};

	ck_assert_uint_eq(search(plateau, &options), 2);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 3 + 8);
	options.nr_seeds = 2;
	search(plateau, &options);
	ck_assert_uint_gt(optimiser_nr_points(optimiser), 2 + 8);
}

TEST(same_values_same_points)
{
	struct optimiser_options options = {.strategy = SEARCH_FAST, .nr_starts = 5};
	struct optimiser *other = at_end(optimiser_delete, optimiser_new(&space, &options));

	follow(other, ridge, 0);
	options.max_batch = 3;
	search(ridge, &options);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), optimiser_nr_points(other));
	for (size_t i = 0; i < optimiser_nr_points(other); i++)
		ck_assert_mem_eq(optimiser_at(optimiser, i)->coordinates, optimiser_at(other, i)->coordinates,
				 2 * sizeof(int));
}

static double
first_alone(const int *at)
{
	return -at[0];
}

/* Among 17 these are the seed, which is the best, and its only neighbour. */
TEST_OF(few_points_are_all_visited, 2)
{
	const size_t nr = _i == 0 ? 16 : 17;
	const struct optimiser_axis axes[] = {{one_to_19, nr}, {one_to_19, 1}};
	const int first[] = {1, 1};
	const int *const seeds[] = {first};

	space.axes = axes;
	search(first_alone, &(struct optimiser_options){.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1});
	ck_assert_uint_eq(optimiser_nr_points(optimiser), _i == 0 ? 16 : 2);
}

TEST(quick_asks_for_the_valid_seeds_only)
{
	const int good[] = {12, 3}, odd[] = {13, 3}, outside[] = {20, 3}, better[] = {12, 4};
	const int *const seeds[] = {good, odd, outside, better, good};
	const struct optimiser_options options = {
		.strategy = SEARCH_QUICK, .seeds = seeds, .nr_seeds = 5, .nr_starts = 5};

	space.is_valid = is_even;
	ck_assert_uint_eq(search(hill, &options), 1);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 2);
	ck_assert_mem_eq(best()->coordinates, better, sizeof(better));
}

TEST(quick_without_seeds_asks_for_starting_points)
{
	const struct optimiser_options options = {.strategy = SEARCH_QUICK, .nr_starts = 5};

	space.is_valid = is_even;
	search(hill, &options);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(optimiser_at(optimiser, i)->coordinates[0] % 2, 0);
}

TEST_OF(nothing_valid_finds_nothing, SEARCH_GRID + 1)
{
	size_t index;

	space.is_valid = never;
	ck_assert_uint_eq(search(hill, &(struct optimiser_options){.strategy = _i, .nr_starts = 5}), 0);
	ck_assert_uint_eq(optimiser_best(optimiser, &index, 1), 0);
}

TEST(max_points_ends_a_search)
{
	const struct optimiser_options options = {.strategy = SEARCH_FAST, .nr_starts = 5, .max_points = 23};

	search(hill, &options);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 23);
}

TEST(many_axes_and_uneven_values)
{
	static const int unroll[] = {1, 2, 4, 8, 16}, distances[] = {0, 512, 1024, 4096}, streams[] = {1, 2, 4};
	const struct optimiser_axis axes[] = {{unroll, 5}, {distances, 4}, {streams, 3}};
	const int seed[] = {2, 512, 1};
	const int *const seeds[] = {seed};
	const size_t *batch;

	space = (struct optimiser_space){.axes = axes, .nr_axes = 3};
	begin(&(struct optimiser_options){.strategy = SEARCH_FAST, .seeds = seeds, .nr_seeds = 1});
	ck_assert_uint_eq(optimiser_next(optimiser, &batch), 1);
	ck_assert_mem_eq(optimiser_at(optimiser, 0)->coordinates, seed, sizeof(seed));
	optimiser_tell(optimiser, 0, 1);
	/* Its neighbours on each axis, and no diagonal ones: 1 and 4, 0 and 1024, 2. */
	ck_assert_uint_eq(optimiser_next(optimiser, &batch), 5);
	for (size_t i = 0; i < 5; i++)
		optimiser_tell(optimiser, batch[i], 0.5);
	ck_assert_uint_eq(optimiser_next(optimiser, &batch), 0);
}

TEST_OF(without_axes_there_is_one_point, SEARCH_GRID + 1)
{
	const size_t *batch;

	space.nr_axes = 0;
	begin(&(struct optimiser_options){.strategy = _i, .nr_starts = 5});
	ck_assert_uint_eq(optimiser_next(optimiser, &batch), 1);
	optimiser_tell(optimiser, batch[0], 7);
	ck_assert_uint_eq(optimiser_next(optimiser, &batch), 0);
	ck_assert_double_eq(best()->value, 7);
}

TEST(too_large_a_space_is_refused)
{
	const struct optimiser_axis axes[] = {
		{one_to_19, NR}, {one_to_19, NR}, {one_to_19, NR}, {one_to_19, NR}, {one_to_19, NR}};

	space = (struct optimiser_space){.axes = axes, .nr_axes = 5};
	begin(&(struct optimiser_options){.strategy = SEARCH_GRID});
	ck_assert_ptr_null(optimiser);
}

static double
first_axis_mod_3(const int *at)
{
	return at[0] % 3 == 0 ? NAN : at[0] % 3;
}

TEST(best_are_sorted_and_stable)
{
	const struct optimiser_axis axis[] = {{one_to_19, 7}};
	size_t ranked[10];

	space = (struct optimiser_space){.axes = axis, .nr_axes = 1};
	ck_assert_uint_eq(search(first_axis_mod_3, &(struct optimiser_options){.strategy = SEARCH_GRID}), 1);
	ck_assert_uint_eq(optimiser_nr_points(optimiser), 7);
	ck_assert_uint_eq(optimiser_best(optimiser, ranked, 10), 5); /* 2 5, 1 4 7; 3 and 6 have no value */
	ck_assert_int_eq(optimiser_at(optimiser, ranked[0])->coordinates[0], 2);
	ck_assert_int_eq(optimiser_at(optimiser, ranked[1])->coordinates[0], 5);
	ck_assert_int_eq(optimiser_at(optimiser, ranked[2])->coordinates[0], 1);
	ck_assert_int_eq(optimiser_at(optimiser, ranked[4])->coordinates[0], 7);
	ck_assert_uint_eq(optimiser_best(optimiser, ranked, 3), 3);
	ck_assert_int_eq(optimiser_at(optimiser, ranked[1])->coordinates[0], 5);
	ck_assert_uint_eq(optimiser_best(optimiser, ranked, 0), 0);
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
