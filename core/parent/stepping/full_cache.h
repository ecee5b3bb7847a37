/* SPDX-License-Identifier: MIT */
/*
 * A fully associative cache of which the least recently used line goes. Each use costs the same, however many lines
 * there are. Entries are those of cache_model.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct full_cache;

/* nr_lines: at least 1; of more than 2^31 - 1, which nothing fills, so many. Takes up to 28 bytes a line, as zeroed
 * memory. */
struct full_cache *full_cache_new(uint64_t nr_lines);

/* NULL is allowed. */
void full_cache_delete(struct full_cache *cache);

/* True: the line is there, and modified if it was or the entry is. Else it is put there, and *victim is the entry that
 * had no room any more, or 0. */
bool full_cache_use(struct full_cache *cache, uint64_t entry, uint64_t *victim);

/* The line is not modified any more, and leaves unless is_kept. Returns whether it was. */
bool full_cache_clean(struct full_cache *cache, uint64_t line, bool is_kept);

/* Lines that were ever added, at 16 to 32 bytes each. */
struct line_set;
struct line_set *line_set_new(void);
void line_set_delete(struct line_set *set);

/* Returns whether it is new. */
bool line_set_add(struct line_set *set, uint64_t line);
