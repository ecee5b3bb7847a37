/* SPDX-License-Identifier: MIT */
/*
 * Plateaus and knees in latencies, also where points were disturbed. Made-up machines have known answers; a wrong one
 * must not be sure.
 */
#include "../statistics/draw.h"
#include "roof/levels.h"

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
		const double tolerance =
			i + 1 == machines[_i].nr ? 0.07 : 0.15; /* memory's is not mixed with another */

		ck_assert_double_eq_tol(levels[i].latency, machines[_i].latencies[i],
					tolerance * machines[_i].latencies[i]);
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

/* ---- made-up machines ---- */

/* The most that draws change. Sizes are of any kind; each is at least 2.6 times the one before. */
static const struct shape {
	const char *name;
	size_t nr_caches;
	double translation; /* latency that is added to each octave beyond 2 MiB, as a share: no huge pages */
	double lost;        /* of the last level others have up to this share */
	double hashed;      /* misses of a footprint before it fills the last level */
	bool is_victim;     /* the last level holds what the one before has not */
} shapes[] = {
	{"two levels", 1, 0, 0, 0, false},
	{"no L3", 2, 0, 0, 0, false},
	{"three levels", 3, 0, 0, 0, false},
	{"no huge pages", 3, 0.06, 0, 0, false},
	{"no L3, no huge pages", 2, 0.06, 0, 0, false},
	{"shared last level", 3, 0, 0.5, 0, false},
	{"hashed last level", 3, 0, 0, 0.1, false},
	{"victim cache", 3, 0, 0, 0, true},
	{"four levels", 4, 0, 0, 0, false},
};

static const struct {
	const char *name;
	double jitter, slow_rate, slow; /* points that are slower by up to a factor */
	double burst;                   /* the probability that one half of the runs has a slow octave */
} noises[] = {
	{"none", 0, 0, 0, 0},
	{"small", 0.01, 0, 0, 0},
	{"some", 0.05, 0, 0, 0},
	{"much", 0.3, 0, 0, 0},
	{"few slow", 0.01, 0.05, 3, 0},
	{"many slow", 0.02, 0.3, 5, 0},
	{"nearly all slow", 0.02, 0.8, 3, 0},
	{"a slow octave", 0.02, 0, 2, 1},
};

/* The caches of a made-up machine: sizes as they are seen. */
struct truth {
	int64_t caches[5];
	double latencies[5];
	size_t nr_caches;
};

static struct truth
draw_machine(const struct shape *shape)
{
	static const int64_t smallest[] = {16 * KIB, 256 * KIB, 4 * MIB, 32 * MIB};
	struct truth truth = {.nr_caches = shape->nr_caches, .latencies = {1 + draw_uniform()}};

	for (size_t i = 0; i < shape->nr_caches; i++) {
		truth.caches[i] = smallest[i] * (64 + (int64_t)(128 * draw_uniform())) / 64;
		truth.latencies[i + 1] = truth.latencies[i] * (2.5 + 2.5 * draw_uniform());
	}
	truth.latencies[shape->nr_caches] = truth.latencies[shape->nr_caches - 1] * (3 + 5 * draw_uniform());
	if (shape->lost > 0)
		truth.caches[shape->nr_caches - 1] =
			(int64_t)((double)truth.caches[shape->nr_caches - 1] * (1 - shape->lost * draw_uniform()));
	if (shape->is_victim)
		truth.caches[shape->nr_caches - 1] += truth.caches[shape->nr_caches - 2];
	return truth;
}

static void
draw_points(const struct shape *shape, const struct truth *truth, int noise, struct knee_point halves[2][MAX_POINTS])
{
	const int burst_half = draw_uniform() < noises[noise].burst ? (int)(2 * draw_uniform()) : 2;
	const int64_t burst_bytes = 16 * KIB << (int)(12 * draw_uniform());

	make_points(truth->caches, truth->latencies, 256 * MIB);
	for (size_t i = 0; i < nr_points; i++) {
		const double octaves = log2((double)points[i].bytes / (double)(2 * MIB)),
			     filled = (double)points[i].bytes / (double)truth->caches[truth->nr_caches - 1];

		if (filled <= 1 && filled > 0.5)
			points[i].latency += shape->hashed * (filled - 0.5) * 2 * truth->latencies[truth->nr_caches];
		points[i].latency *= 1 + fmax(0, octaves) * shape->translation;
		for (int half = 0; half < 2; half++) {
			double factor = 1 + noises[noise].jitter * draw_uniform();

			if (draw_uniform() < noises[noise].slow_rate)
				factor *= 1 + (noises[noise].slow - 1) * draw_uniform();
			if (half == burst_half && points[i].bytes >= burst_bytes && points[i].bytes < 2 * burst_bytes)
				factor *= noises[noise].slow;
			halves[half][i] = (struct knee_point){points[i].bytes, points[i].latency * factor};
		}
	}
}

/* The size is where half the accesses miss, up to a step of the grid. That of a last level behind others is not told
 * by knees (test_residence.c). */
static bool
is_right(const struct truth *truth, const struct knee_level *levels, size_t nr)
{
	bool right = nr == truth->nr_caches + 1;

	for (size_t i = 0; right && i < truth->nr_caches - (truth->nr_caches >= 3); i++) {
		const double half = M_SQRT2 * (double)truth->caches[i], own = (double)levels[i].bytes;

		right = own > half / 1.6 && own < half * 1.3;
	}
	return right;
}

#define DRAWS 6

/* Half of all answers are sure, also with all that noise. In 17,280 cases 7 are wrong and sure. */
TEST(levels_are_right_or_not_sure)
{
	static struct knee_point halves[2][MAX_POINTS];
	size_t nr_cases = 0, nr_sure = 0, nr_wrong = 0;

	draw_state = 1;
	for (int s = 0; s < NR_ELEMENTS(shapes); s++)
		for (int n = 0; n < NR_ELEMENTS(noises); n++)
			for (int k = 0; k < trials(2 * DRAWS); k++, nr_cases++) {
				const struct truth truth = draw_machine(&shapes[s]);
				struct knee_level levels[KNEES_MAX];
				bool is_sure;
				size_t nr;

				draw_points(&shapes[s], &truth, n, halves);
				nr = knees_find_of_two(halves[0], halves[1], nr_points, levels, &is_sure);
				if (!is_sure)
					continue;
				nr_sure++;
				if (is_right(&truth, levels, nr))
					continue;
				nr_wrong++;
				printf("wrong and sure: %s, noise %s, draw %d: %zu levels\n", shapes[s].name,
				       noises[n].name, k, nr);
			}
	printf("levels: %zu cases, %zu sure, %zu of them wrong\n", nr_cases, nr_sure, nr_wrong);
	ck_assert_uint_ge(2 * nr_sure, nr_cases);
	ck_assert_uint_le(nr_wrong, nr_cases / 1000);
}
