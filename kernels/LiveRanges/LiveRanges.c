/* SPDX-License-Identifier: MIT */
/* Loops in C, each with its number of variables: what they cost is what the compiler makes of them. */
#include <stdint.h>
#include <string.h>

#include "LiveRangesData.h"
#include "kernel.h"
#include "repeat.h"

#define FEWEST 3
#define MOST 24
#define ROUNDS 8 /* of all variables in a turn, so that the counter of the loop costs little */

struct live_ranges {
	struct live_ranges_data data;
	void (*loop)(int64_t turns, void *values);
	int64_t integers[MOST];
	double doubles[MOST];
};

/* Half of the additions wait for none of the others. Indices are constants, so each element is a variable. */
#define ADD(i, nr)                                                                                                     \
	if ((i) < (nr))                                                                                                \
		v[i] += v[((i) + (nr) - (nr) / 2) % (nr)];
#define LOAD(i, nr)                                                                                                    \
	if ((i) < (nr))                                                                                                \
		v[i] = ((__typeof__(v[0]) *)values)[i];
#define STORE(i, nr)                                                                                                   \
	if ((i) < (nr))                                                                                                \
		((__typeof__(v[0]) *)values)[i] = v[i];
#define ROUND(round, nr) REPEAT(MOST, ADD, nr)

#define LOOP(nr, type, name)                                                                                           \
	static __attribute__((noinline)) void name##nr(int64_t turns, void *values)                                    \
	{                                                                                                              \
		type v[MOST];                                                                                          \
                                                                                                                       \
		REPEAT(MOST, LOAD, nr)                                                                                 \
		do {                                                                                                   \
			REPEAT_OUTER(ROUNDS, ROUND, nr)                                                                \
		} while (--turns > 0);                                                                                 \
		REPEAT(MOST, STORE, nr)                                                                                \
	}

/* clang-format off */
#define LOOPS(X, ...) \
	X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) X(8, __VA_ARGS__) \
	X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__) X(12, __VA_ARGS__) X(13, __VA_ARGS__) \
	X(14, __VA_ARGS__) X(15, __VA_ARGS__) X(16, __VA_ARGS__) X(17, __VA_ARGS__) X(18, __VA_ARGS__) \
	X(19, __VA_ARGS__) X(20, __VA_ARGS__) X(21, __VA_ARGS__) X(22, __VA_ARGS__) X(23, __VA_ARGS__) X(24, __VA_ARGS__)

LOOPS(LOOP, int64_t, integers_)
LOOPS(LOOP, double, doubles_)

#define NAME(nr, name) name##nr,
static void (*const integer_loops[])(int64_t turns, void *values) = {LOOPS(NAME, integers_)};
static void (*const double_loops[])(int64_t turns, void *values) = {LOOPS(NAME, doubles_)};
/* clang-format on */

static int
initialize(void *kernel)
{
	struct live_ranges *ranges = kernel;

	memset(ranges->integers, 0, sizeof(ranges->integers));
	memset(ranges->doubles, 0, sizeof(ranges->doubles));
	return 0;
}

static void
add(struct live_ranges *ranges, int64_t turns)
{
	const int place = ranges->data.variables - FEWEST;

	if (strcmp(ranges->data.precision, "DOUBLE") == 0)
		double_loops[place](turns, ranges->doubles);
	else
		integer_loops[place](turns, ranges->integers);
}

static void
run(void *kernel)
{
	struct live_ranges *ranges = kernel;

	add(ranges, ranges->data.turns);
}

static void
warm_code(void *kernel)
{
	add(kernel, 1);
}

KERNEL(live_ranges, "LiveRanges", .initialize = initialize, .run = run, .warm_code = warm_code);
