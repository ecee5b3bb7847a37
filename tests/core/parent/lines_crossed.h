/* SPDX-License-Identifier: MIT */
/* The counts of a modelled hierarchy, as the tests of it compare them, and random numbers for its accesses. */
#pragma once

#include <stdint.h>

#include "parent/stepping/cache_model.h"

#define LINE 64
#define LINES(nr) ((uint64_t)(nr)*LINE)

/* Lines towards the core and away from it at each border, the one next to the core first; as in enum step_count. */
struct crossed {
	uint64_t lines[2 * STEP_NR_LEVELS];
};
#define MEMORY_READS (2 * STEP_NR_LEVELS - 2)
#define MEMORY_WRITES (2 * STEP_NR_LEVELS - 1)

/* So far. The test fails if other counts were added to. */
struct crossed crossed_of(const struct cache_model *model);

/* The test fails, with this text, unless those of the model are as expected. May be called millions of times. */
void expect_crossed(const struct cache_model *model, const struct crossed *expected, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same numbers for the same seed. */
uint64_t next_random(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t limit);
