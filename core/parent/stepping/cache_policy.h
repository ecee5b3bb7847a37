/* SPDX-License-Identifier: MIT */
/* Sets of caches from which another line goes than the least recently used one. Entries are those of cache_model.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * In the order of STEP_POLICIES. FIFO: the line that came first. RANDOM: any, by numbers that are the same each time,
 * also while places are free: caches are full of what ran before, which goes as likely as the own lines.
 * PLRU: halves of the set, halves of these, ... have a bit each that tells which was not used last; the line goes to
 * which these lead. It needs 2 to 64 ways, a power of two.
 */
enum cache_policy { CACHE_LRU, CACHE_FIFO, CACHE_RANDOM, CACHE_PLRU, CACHE_NR_POLICIES };

/* For a set: the way that is the next to go, or the bits, zeroed at first; of RANDOM what follows from its number. */
struct cache_policy_state {
	uint64_t bits;
};

/* For RANDOM. */
void cache_policy_open(struct cache_policy_state *states, size_t nr);

/*
 * A set has nr_ways places, in which lines stay where they are; 0: free. True: the line is there, and modified if it
 * was or the entry is. Else it is put there, and *victim is the entry that was there, or 0.
 */
bool cache_policy_use(enum cache_policy policy, uint64_t *set, uint64_t nr_ways, struct cache_policy_state *state,
		      uint64_t entry, uint64_t *victim);
