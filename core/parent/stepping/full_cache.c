/* SPDX-License-Identifier: MIT */
#include "parent/stepping/full_cache.h"

#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/*
 * Places have the numbers 1 ...; 0 is none, and the head of the ring of older and newer ones. Places of lines that have
 * left are the oldest, with an entry of 0, and in no chain.
 * chains, next: places by the hash of their lines; mask: one less than there are chains
 */
struct full_cache {
	uint64_t *entries;
	uint32_t *older, *newer, *next, *chains;
	uint32_t nr, max, mask;
};

struct full_cache *
full_cache_new(uint64_t nr_lines)
{
	struct full_cache *cache = rot_calloc(1, sizeof(*cache));

	nr_lines = nr_lines < INT32_MAX ? nr_lines : INT32_MAX;
	cache->max = (uint32_t)nr_lines;
	while (cache->mask < cache->max)
		cache->mask = 2 * cache->mask + 1;
	cache->entries = rot_calloc(nr_lines + 1, sizeof(*cache->entries));
	cache->older = rot_calloc(nr_lines + 1, sizeof(*cache->older));
	cache->newer = rot_calloc(nr_lines + 1, sizeof(*cache->newer));
	cache->next = rot_calloc(nr_lines + 1, sizeof(*cache->next));
	cache->chains = rot_calloc((uint64_t)cache->mask + 1, sizeof(*cache->chains));
	return cache;
}

void
full_cache_delete(struct full_cache *cache)
{
	if (!cache)
		return;
	free(cache->entries);
	free(cache->older);
	free(cache->newer);
	free(cache->next);
	free(cache->chains);
	free(cache);
}

static uint32_t *
chain_of(struct full_cache *cache, uint64_t line)
{
	return &cache->chains[(line * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & cache->mask];
}

/* The link to the place of the line, or to none. */
static uint32_t *
find_link(struct full_cache *cache, uint64_t line)
{
	uint32_t *link = chain_of(cache, line);

	while (*link && cache->entries[*link] >> CACHE_NR_ENTRY_BITS != line)
		link = &cache->next[*link];
	return link;
}

static void
take_out(struct full_cache *cache, uint32_t place)
{
	cache->newer[cache->older[place]] = cache->newer[place];
	cache->older[cache->newer[place]] = cache->older[place];
}

/* Behind that place, which may be the head: then it is the oldest. */
static void
put_behind(struct full_cache *cache, uint32_t place, uint32_t older)
{
	cache->older[place] = older;
	cache->newer[place] = cache->newer[older];
	cache->older[cache->newer[older]] = place;
	cache->newer[older] = place;
}

/* A place that is in no chain, and not in the ring. */
static uint32_t
make_place(struct full_cache *cache, uint64_t *victim)
{
	const uint32_t oldest = cache->newer[0];
	uint32_t *link;

	*victim = cache->entries[oldest];
	if (cache->nr < cache->max && (oldest == 0 || *victim)) {
		*victim = 0;
		return ++cache->nr;
	}
	if (*victim) {
		link = find_link(cache, *victim >> CACHE_NR_ENTRY_BITS);
		*link = cache->next[oldest];
	}
	take_out(cache, oldest);
	return oldest;
}

bool
full_cache_use(struct full_cache *cache, uint64_t entry, uint64_t *victim)
{
	uint32_t place = *find_link(cache, entry >> CACHE_NR_ENTRY_BITS), *chain;
	const bool is_there = place != 0;

	if (is_there) {
		take_out(cache, place);
		cache->entries[place] |= entry;
	} else {
		place = make_place(cache, victim);
		chain = chain_of(cache, entry >> CACHE_NR_ENTRY_BITS);
		cache->entries[place] = entry;
		cache->next[place] = *chain;
		*chain = place;
	}
	put_behind(cache, place, cache->older[0]);
	return is_there;
}

bool
full_cache_clean(struct full_cache *cache, uint64_t line, bool is_kept)
{
	uint32_t *link = find_link(cache, line);
	const uint32_t place = *link;
	bool was_modified;

	if (!place)
		return false;
	was_modified = cache->entries[place] & CACHE_IS_MODIFIED;
	cache->entries[place] &= ~(uint64_t)CACHE_IS_MODIFIED;
	if (is_kept)
		return was_modified;
	*link = cache->next[place];
	cache->entries[place] = 0;
	take_out(cache, place);
	put_behind(cache, place, 0);
	return was_modified;
}

/* ---- lines that were ever used ---- */

#define LEAST_ROOM 1024

/* lines: plus 1, by hash; 0: none. room: a power of two, at least twice nr */
struct line_set {
	uint64_t *lines;
	size_t nr, room;
};

struct line_set *
line_set_new(void)
{
	struct line_set *set = rot_calloc(1, sizeof(*set));

	set->room = LEAST_ROOM;
	set->lines = rot_calloc(set->room, sizeof(*set->lines));
	return set;
}

void
line_set_delete(struct line_set *set)
{
	if (!set)
		return;
	free(set->lines);
	free(set);
}

static void
grow(struct line_set *set)
{
	struct line_set larger = {.room = 2 * set->room};

	larger.lines = rot_calloc(larger.room, sizeof(*larger.lines));
	for (size_t i = 0; i < set->room; i++)
		if (set->lines[i])
			line_set_add(&larger, set->lines[i] - 1);
	free(set->lines);
	*set = larger;
}

bool
line_set_add(struct line_set *set, uint64_t line)
{
	size_t i;

	if (2 * set->nr >= set->room)
		grow(set);
	i = (line * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (set->room - 1);
	while (set->lines[i] && set->lines[i] != line + 1)
		i = (i + 1) & (set->room - 1);
	if (set->lines[i])
		return false;
	set->lines[i] = line + 1;
	set->nr++;
	return true;
}
