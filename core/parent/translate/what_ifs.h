/* SPDX-License-Identifier: MIT */
/*
 * Other caches than those that are asked for first, which the same uses of lines go through: of each what crossed its
 * borders in all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/step_counts.h"

struct cache_model;

/*
 * models: of each the levels that threads share, nr of them
 * line_bytes: uses are of lines so long, the shortest of all
 * sums: of the threads that have ended, in such lines: [0] of the caches that were asked for first, then of each model
 */
struct what_ifs {
	struct cache_model **models;
	size_t nr;
	uint64_t line_bytes;
	uint64_t (*sums)[STEP_NR_COUNTS];
};

/* line_bytes: of the lines of the caches that are asked for first; has_pages: translations are modelled, too. */
struct what_ifs *what_ifs_new(const struct step_caches *caches, size_t nr, uint64_t line_bytes, bool has_pages);
void what_ifs_delete(struct what_ifs *what_ifs);

/* The least of what cache_model_least_ways says of each, and most. */
uint64_t what_ifs_least_ways(const struct what_ifs *what_ifs, uint64_t most);

/* The models of a thread, up to a NULL. End adds what they, and first, have counted, and deletes them. */
struct cache_model **what_ifs_begin(const struct what_ifs *what_ifs);
void what_ifs_end(struct what_ifs *what_ifs, struct cache_model **models, const struct cache_model *first);
