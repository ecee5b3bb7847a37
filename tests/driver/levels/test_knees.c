/* SPDX-License-Identifier: MIT */
/* Plateaus and knees in latencies, also where single points were disturbed. */
#include "levels/knees.h"
#include "testing.h"

#define KIB INT64_C(1024)
#define MIB INT64_C(1048576)
#define MAX_POINTS 64

static struct knee_point points[MAX_POINTS];
static size_t nr_points;

/* Share of random accesses to a footprint that a cache of this size misses. */
static double
miss_share(int64_t bytes, int64_t cache)
{
	return bytes <= cache ? 0 : 1 - (double)cache / (double)bytes * (double)cache / (double)bytes;
}

/* A machine with these caches (ended by 0), each with the latency before that of the memory. */
static void
make_points(const int64_t *caches, const double *latencies, int64_t largest)
{
	nr_points = 0;
	for (int64_t octave = 8 * KIB; octave <= largest; octave *= 2)
		for (int64_t quarter = 4; quarter < 8; quarter++) {
			int64_t bytes = octave / 4 * quarter;
			double latency = latencies[0];

			for (size_t i = 0; caches[i]; i++)
				latency += miss_share(bytes, caches[i]) * (latencies[i + 1] - latencies[i]);
			points[nr_points++] = (struct knee_point){bytes, latency};
		}
}

static const struct {
	int64_t caches[5];
	double latencies[5];
	size_t nr;
} machines[] = {
	{{48 * KIB, 1 * MIB, 32 * MIB}, {1, 3.9, 12.3, 170}, 4},
	{{32 * KIB, 256 * KIB, 28 * MIB}, {1.3, 4, 18, 90}, 4},
	{{64 * KIB, 512 * KIB}, {1, 5, 70}, 3},
	{{32 * KIB, 2 * MIB, 12 * MIB, 64 * MIB}, {1, 4, 15, 40, 120}, 5},
};

TEST_OF(levels_are_found, NR_ELEMENTS(machines))
{
	struct knee_level levels[KNEES_MAX];

	make_points(machines[_i].caches, machines[_i].latencies, 256 * MIB);
	ck_assert_uint_eq(knees_find(points, nr_points, levels), machines[_i].nr);
	for (size_t i = 0; i < machines[_i].nr; i++) {
		ck_assert_double_eq_tol(levels[i].latency, machines[_i].latencies[i], 0.15 * machines[_i].latencies[i]);
		if (i + 1 == machines[_i].nr) {
			ck_assert_int_eq(levels[i].bytes, 0);
			ck_assert_int_eq(levels[i].fitting_bytes, 0);
			continue;
		}
		ck_assert_int_ge(levels[i].bytes, machines[_i].caches[i]);
		ck_assert_int_le(levels[i].bytes, machines[_i].caches[i] * 3 / 2);
		ck_assert_int_eq(levels[i].fitting_bytes, machines[_i].caches[i]);
	}
}

/* Every third point waits for memory, as an L3 that is not warm: the larger ones say better. */
TEST(slow_points_do_not_matter)
{
	struct knee_level quiet[KNEES_MAX], disturbed[KNEES_MAX];
	size_t nr;

	make_points(machines[0].caches, machines[0].latencies, 256 * MIB);
	nr = knees_find(points, nr_points, quiet);
	for (size_t i = 0; i < nr_points; i++)
		if (i % 3 == 2 && points[i].bytes != 32 * MIB)
			points[i].latency *= 10;
	ck_assert_uint_eq(knees_find(points, nr_points, disturbed), nr);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_int_le(disturbed[i].bytes, quiet[i].bytes);
		ck_assert_int_ge(disturbed[i].bytes, quiet[i].bytes * 2 / 3);
	}
}

/* Address translation makes a plateau rise, and is no level. */
TEST(a_slope_is_no_level)
{
	static const int64_t caches[] = {48 * KIB, 1 * MIB, 0};
	static const double latencies[] = {1, 4, 100};
	struct knee_level levels[KNEES_MAX];

	make_points(caches, latencies, 256 * MIB);
	for (size_t i = 0; i < nr_points; i++)
		if (points[i].bytes > 16 * MIB)
			points[i].latency *= 1.3;
	ck_assert_uint_eq(knees_find(points, nr_points, levels), 3);
}

TEST(nothing_is_found_in_nothing)
{
	static const struct knee_point one[] = {{1024, 1}};
	struct knee_level levels[KNEES_MAX];

	ck_assert_uint_eq(knees_find(NULL, 0, levels), 0);
	ck_assert_uint_eq(knees_find(one, 1, levels), 0);
}
