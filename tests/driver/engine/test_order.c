/* SPDX-License-Identifier: MIT */
/* The order in which many points are measured. */
#include "engine/order.h"
#include "testing.h"

#define NR_POINTS 20
#define NR_BLOCKS 3

struct visits {
	size_t points[NR_BLOCKS * NR_POINTS];
	int blocks[NR_BLOCKS * NR_POINTS];
	size_t nr, failing; /* failing: the visit that does, from 1; 0: none */
};

static int
visit(void *context, size_t point, int block, struct rot_error *err)
{
	struct visits *visits = context;

	if (visits->nr + 1 == visits->failing)
		return rot_error_set(err, 0, "it fails");
	visits->points[visits->nr] = point;
	visits->blocks[visits->nr++] = block;
	return 0;
}

TEST(each_block_has_each_point_in_another_order)
{
	struct visits visits = {.nr = 0};
	bool is_same = true;

	ck_assert_int_eq(order_blocks(NR_POINTS, NR_BLOCKS, visit, &visits, &why), 0);
	ck_assert_uint_eq(visits.nr, NR_BLOCKS * NR_POINTS);
	for (size_t block = 0; block < NR_BLOCKS; block++) {
		bool is_seen[NR_POINTS] = {false};

		for (size_t i = 0; i < NR_POINTS; i++) {
			const size_t at = block * NR_POINTS + i;

			ck_assert_int_eq(visits.blocks[at], (int)block + 1);
			ck_assert(!is_seen[visits.points[at]]);
			is_seen[visits.points[at]] = true;
			is_same = is_same && visits.points[at] == visits.points[i];
		}
	}
	ck_assert(!is_same);
}

TEST(the_first_failure_ends_it)
{
	struct visits visits = {.failing = NR_POINTS + 3};

	ck_assert_int_eq(order_blocks(NR_POINTS, NR_BLOCKS, visit, &visits, &why), -1);
	ck_assert_uint_eq(visits.nr, NR_POINTS + 2);
	ck_assert_str_eq(why.text, "it fails");
}

TEST(runs_are_spread_over_blocks)
{
	for (int nr_runs = 1; nr_runs < 30; nr_runs++)
		for (int nr_blocks = 1; nr_blocks <= nr_runs; nr_blocks++) {
			int before = 0;

			for (int block = 1; block <= nr_blocks; block++) {
				int now = order_runs_after(nr_runs, block, nr_blocks);

				ck_assert_int_ge(now - before, nr_runs / nr_blocks);
				ck_assert_int_le(now - before, nr_runs / nr_blocks + 1);
				before = now;
			}
			ck_assert_int_eq(before, nr_runs);
		}
	ck_assert_int_eq(order_runs_after(1000000, 5000, 10000), 500000);
}
