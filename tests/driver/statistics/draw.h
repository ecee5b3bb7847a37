/* SPDX-License-Identifier: MIT */
/* Random numbers for simulations, of a fixed seed; and values for summaries. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "statistics/summary.h"
#include "testing.h"

/* Values that each stand for themselves. */
#define EACH(values, n) (&(const struct grouped){values, NULL, n})

static uint64_t draw_state;

/*
 * How many trials a simulation makes: half of those that prove it, all with ROT_SLOW_TESTS, or ROT_TEST_TRIALS (2, or
 * more) halves.
 */
static inline int
trials(int nr)
{
	const char *halves = getenv("ROT_TEST_TRIALS");

	return (halves ? atoi(halves) : all_are_tested() ? 2 : 1) * nr / 2;
}

/* SplitMix64; uniform in (0, 1). */
static inline double
draw_uniform(void)
{
	uint64_t z = (draw_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static inline double
draw_standard_normal(void)
{
	const double radius = sqrt(-2 * log(draw_uniform()));

	return radius * cos(2 * M_PI * draw_uniform());
}

static inline double
draw_lognormal(void)
{
	return 100 * exp(0.5 * draw_standard_normal());
}

/* A die: values with ties, whose median is any from 3 to 4. */
static inline double
draw_die(void)
{
	return floor(6 * draw_uniform()) + 1;
}
