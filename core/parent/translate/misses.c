/* SPDX-License-Identifier: MIT */
#include "parent/translate/misses.h"

#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/reuse.h"

/* heads: a hash table with chains of numbers + 1. */
#define NR_HEADS 65536
struct misses {
	struct data *data;
	unsigned line_shift;
	struct miss_record *records;
	uint32_t nr, room;
	uint64_t line; /* that was missing last; of object */
	uint32_t object;
	uint32_t heads[NR_HEADS];
};

struct misses *
misses_new(struct data *data, unsigned line_shift)
{
	struct misses *misses = rot_calloc(1, sizeof(*misses));

	misses->data = data;
	misses->line_shift = line_shift;
	return misses;
}

void
misses_delete(struct misses *misses)
{
	if (!misses)
		return;
	for (uint32_t i = 0; i < misses->nr; i++)
		free(misses->records[i].by_capacity);
	free(misses->records);
	free(misses);
}

const struct miss_record *
misses_at(const struct misses *misses, uint32_t i)
{
	return i < misses->nr ? &misses->records[i] : NULL;
}

static struct miss_record *
find(struct misses *misses, uint32_t site, uint32_t object, uint32_t thread)
{
	const uint64_t key = (uint64_t)site << 32 ^ (uint64_t)object << 12 ^ thread;
	uint32_t *head = &misses->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> 48];
	struct miss_record *record;

	for (uint32_t number = *head; number; number = record->next) {
		record = &misses->records[number - 1];
		if (record->site == site && record->object == object && record->thread == thread)
			return record;
	}
	if (misses->nr == misses->room) {
		misses->room = 2 * misses->room + 1024;
		misses->records = rot_realloc(misses->records, misses->room, sizeof(*misses->records));
	}
	record = &misses->records[misses->nr++];
	*record = (struct miss_record){.site = site, .object = object, .thread = thread, .next = *head};
	*head = misses->nr;
	return record;
}

static void
follow(struct misses *misses, struct miss_steps *steps, const struct cache_miss *miss)
{
	const int64_t stride = (int64_t)(miss->line - steps->last);
	uint64_t start;

	if (steps->votes > 0 && stride == steps->stride) {
		steps->votes++;
		steps->nr_strides++;
		steps->run++;
		steps->longest = steps->run > steps->longest ? steps->run : steps->longest;
	} else if (steps->last != 0) {
		steps->nr_others++;
		steps->run = 0;
		if (steps->votes-- == 0) {
			steps->stride = stride;
			steps->votes = 1;
			steps->nr_strides = steps->run = steps->longest = 1;
		}
	}
	steps->last = miss->line;
	if (miss->is_victim && miss->kind == CACHE_CONFLICT) {
		const uint32_t other = data_at(misses->data, miss->victim << misses->line_shift, &start);

		if (other == steps->other)
			steps->other_votes++;
		else if (steps->other_votes > 0)
			steps->other_votes--;
		else
			steps->other = other;
	}
}

void
misses_add(struct misses *misses, uint32_t site, uint32_t thread, const struct cache_miss *miss)
{
	struct miss_record *record;
	uint64_t start;

	if (miss->is_read) {
		/* A line that is missing in a level mostly was missing in the one above just before. */
		if (miss->level == 0 || miss->line != misses->line)
			misses->object = data_at(misses->data, miss->line << misses->line_shift, &start);
		misses->line = miss->line;
		record = find(misses, site, misses->object, thread);
		record->lines[miss->level][miss->kind]++;
		follow(misses, &record->steps[miss->level], miss);
	}
	if (miss->is_written) {
		record = find(misses, site, data_at(misses->data, miss->victim << misses->line_shift, &start), thread);
		record->written[miss->level]++;
	}
}

void
misses_use(struct misses *misses, uint32_t site, uint32_t thread, uint64_t address, unsigned capacity, uint64_t nr)
{
	uint64_t start;
	struct miss_record *record = find(misses, site, data_at(misses->data, address, &start), thread);

	if (!record->by_capacity)
		record->by_capacity = rot_calloc(REUSE_NR + 1, sizeof(*record->by_capacity));
	record->by_capacity[capacity] += nr;
}

/* ---- padding ---- */

/* Longer paddings waste more than they help. */
#define MOST_LINES 16

static uint64_t
common_divisor(uint64_t one, uint64_t other)
{
	while (other > 0) {
		const uint64_t rest = one % other;

		one = other;
		other = rest;
	}
	return one;
}

struct miss_sets
miss_sets_of(const struct step_level *level, uint64_t line_bytes, uint64_t stride)
{
	const uint64_t nr_lines = level->bytes / line_bytes, ways = level->ways ? level->ways : CACHE_MODEL_WAYS;
	const uint64_t all = nr_lines > ways ? nr_lines / ways : 1, nr = all / common_divisor(all, stride / line_bytes);

	return (struct miss_sets){.nr = nr, .all = all, .lines = nr * (nr_lines < ways ? nr_lines : ways)};
}

/* Rows go through their sets in turn, so each set has as many as the others, or one more. */
uint64_t
miss_padding_find(const struct step_level *level, uint64_t line_bytes, uint64_t stride, uint64_t rows)
{
	for (uint64_t padded = stride + line_bytes; padded <= stride + MOST_LINES * line_bytes; padded += line_bytes)
		if (miss_sets_of(level, line_bytes, padded).lines >= rows)
			return padded;
	return 0;
}
