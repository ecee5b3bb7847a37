/* SPDX-License-Identifier: MIT */
#include "parent/stepping/cache_policy.h"

#include "parent/stepping/cache_model.h"

static uint64_t
next_to_go(enum cache_policy policy, struct cache_policy_state *state, uint64_t nr_ways)
{
	uint64_t way;

	if (policy == CACHE_PLRU) {
		uint64_t node = 1;

		while (node < nr_ways)
			node = 2 * node + (state->bits >> node & 1);
		return node - nr_ways;
	}
	if (policy == CACHE_RANDOM) {
		uint64_t x = state->bits;

		/* By xorshift (Marsaglia, 2003). */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		state->bits = x;
		return (x >> 32) % nr_ways;
	}
	way = state->bits;
	state->bits = (way + 1) % nr_ways;
	return way;
}

void
cache_policy_open(struct cache_policy_state *states, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		states[i].bits = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

bool
cache_policy_use(enum cache_policy policy, uint64_t *set, uint64_t nr_ways, struct cache_policy_state *state,
		 uint64_t entry, uint64_t *victim)
{
	const uint64_t line = entry >> CACHE_NR_ENTRY_BITS;
	uint64_t way = 0, free_way = nr_ways;
	bool is_there;

	for (; way < nr_ways && !(set[way] && set[way] >> CACHE_NR_ENTRY_BITS == line); way++)
		if (!set[way] && free_way == nr_ways)
			free_way = way;
	is_there = way < nr_ways;
	if (!is_there) {
		way = free_way < nr_ways && policy != CACHE_RANDOM ? free_way : next_to_go(policy, state, nr_ways);
		*victim = set[way];
		set[way] = 0;
	}
	set[way] |= entry;
	if (policy == CACHE_PLRU) {
		/* Bit i is that of node i of a tree with its root at 1; ways are the nodes from nr_ways on. Set: the
		 * upper half goes.
		 */
		for (uint64_t node = nr_ways + way; node > 1; node /= 2) {
			const uint64_t bit = UINT64_C(1) << node / 2;

			state->bits = node & 1 ? state->bits & ~bit : state->bits | bit;
		}
	}
	return is_there;
}
