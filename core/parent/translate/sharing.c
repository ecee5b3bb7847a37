/* SPDX-License-Identifier: MIT */
#include "parent/translate/sharing.h"

#include <stdlib.h>

#include "memory.h"

/* The accesses of a thread to a line in its last batch that has some. number: of the batch */
struct part {
	uint64_t number, begin_ns, end_ns, loaded, stored;
	uint32_t thread, nr;
};

/*
 * The thread that used a line last, by a hash of the line. A line that another thread uses next is watched, if one of
 * them writes. A line with the same hash takes the place of another one.
 * A line that is used often gets it back.
 */
#define NR_LAST (1U << 18)
struct last_use {
	uint64_t line;
	struct part part;
};

/* A line that several threads use. If there are more parts or pairs, only the first ones are kept. */
#define NR_PARTS 8
#define NR_PAIRS 8
struct watched_line {
	uint64_t line;
	struct part parts[NR_PARTS];
	struct shared_line pairs[NR_PAIRS];
	unsigned nr_parts, nr_pairs;
};

/* watched: an open hash table. nr_all: accesses, by thread */
#define NR_WATCHED (1U << 16)
struct sharing {
	unsigned line_shift;
	struct last_use *last;
	struct watched_line **watched;
	uint32_t nr_watched;
	uint64_t number, begin_ns, end_ns;
	uint32_t thread;
	uint64_t *nr_all;
	uint32_t nr_threads;
};

struct sharing *
sharing_new(unsigned line_shift)
{
	struct sharing *sharing = rot_calloc(1, sizeof(*sharing));

	sharing->line_shift = line_shift;
	sharing->last = rot_calloc(NR_LAST, sizeof(*sharing->last));
	sharing->watched = rot_calloc(NR_WATCHED, sizeof(struct watched_line *));
	return sharing;
}

void
sharing_delete(struct sharing *sharing)
{
	if (!sharing)
		return;
	for (uint32_t i = 0; i < NR_WATCHED; i++)
		free(sharing->watched[i]);
	free(sharing->watched);
	free(sharing->last);
	free(sharing->nr_all);
	free(sharing);
}

void
sharing_begin(struct sharing *sharing, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	sharing->number++;
	sharing->thread = thread;
	sharing->begin_ns = begin_ns;
	sharing->end_ns = end_ns;
	if (thread < sharing->nr_threads)
		return;
	sharing->nr_all = rot_realloc(sharing->nr_all, thread + 1, sizeof(*sharing->nr_all));
	while (sharing->nr_threads <= thread)
		sharing->nr_all[sharing->nr_threads++] = 0;
}

/* ---- pairs ---- */

static struct shared_line *
find_pair(struct watched_line *line, uint32_t one, uint32_t other)
{
	struct shared_line *pair;
	const uint32_t low = one < other ? one : other, high = one < other ? other : one;

	for (unsigned i = 0; i < line->nr_pairs; i++)
		if (line->pairs[i].threads[0] == low && line->pairs[i].threads[1] == high)
			return &line->pairs[i];
	if (line->nr_pairs == NR_PAIRS)
		return NULL;
	pair = &line->pairs[line->nr_pairs++];
	*pair = (struct shared_line){.line = line->line, .threads = {low, high}};
	return pair;
}

/* Adds to a pair what its threads did at the same time. */
static void
compare(struct watched_line *line, const struct part *one, const struct part *other)
{
	const bool is_true = (one->stored & (other->loaded | other->stored)) || (one->loaded & other->stored);
	const struct part *low = one->thread < other->thread ? one : other, *high = low == one ? other : one;
	const uint64_t nr = one->nr < other->nr ? one->nr : other->nr;
	struct shared_line *pair;

	if (one->thread == other->thread || one->begin_ns >= other->end_ns || other->begin_ns >= one->end_ns ||
	    !(one->stored | other->stored) || !(pair = find_pair(line, one->thread, other->thread)))
		return;
	if (is_true) {
		pair->nr_true += nr;
		return;
	}
	pair->nr += nr;
	pair->bytes[0] |= low->loaded | low->stored;
	pair->bytes[1] |= high->loaded | high->stored;
}

/* ---- accesses ---- */

/* Is the part one of this batch? */
static bool
is_current(const struct sharing *sharing, const struct part *part)
{
	return part->thread == sharing->thread && part->number == sharing->number;
}

static void
add_to_part(const struct sharing *sharing, struct part *part, uint64_t mask, bool is_store)
{
	if (!is_current(sharing, part))
		*part = (struct part){.number = sharing->number,
				      .begin_ns = sharing->begin_ns,
				      .end_ns = sharing->end_ns,
				      .thread = sharing->thread};
	part->nr++;
	if (is_store)
		part->stored |= mask;
	else
		part->loaded |= mask;
}

static void
add(struct sharing *sharing, struct watched_line *line, uint64_t mask, bool is_store)
{
	struct part *part = line->parts, *end = line->parts + line->nr_parts;

	while (part < end && part->thread != sharing->thread)
		part++;
	if (part == end && line->nr_parts == NR_PARTS)
		return;
	if (part < end && !is_current(sharing, part))
		for (unsigned i = 0; i < line->nr_parts; i++)
			compare(line, part, &line->parts[i]);
	line->nr_parts += part == end;
	add_to_part(sharing, part, mask, is_store);
}

static uint64_t
hash_of(uint64_t line)
{
	return line * UINT64_C(0x9e3779b97f4a7c15);
}

static struct watched_line **
find_watched(struct sharing *sharing, uint64_t line)
{
	uint32_t i = (uint32_t)(hash_of(line) >> 48);

	while (sharing->watched[i] && sharing->watched[i]->line != line)
		i = (i + 1) % NR_WATCHED;
	return &sharing->watched[i];
}

static void
use(struct sharing *sharing, uint64_t line, uint64_t mask, bool is_store)
{
	struct last_use *last = &sharing->last[hash_of(line) >> 46];
	struct watched_line **watched = sharing->nr_watched > 0 ? find_watched(sharing, line) : NULL;
	const bool is_other = last->line == line && last->part.thread != sharing->thread;

	sharing->nr_all[sharing->thread]++;
	if (is_other && (!watched || !*watched) && (is_store || last->part.stored) &&
	    sharing->nr_watched < NR_WATCHED / 2) {
		watched = find_watched(sharing, line);
		*watched = rot_calloc(1, sizeof(**watched));
		(*watched)->line = line;
		(*watched)->parts[0] = last->part;
		(*watched)->nr_parts = 1;
		sharing->nr_watched++;
	}
	if (watched && *watched)
		add(sharing, *watched, mask, is_store);
	if (last->line != line)
		*last = (struct last_use){.line = line};
	add_to_part(sharing, &last->part, mask, is_store);
}

void
sharing_access(struct sharing *sharing, uint64_t address, uint64_t bytes, bool is_store)
{
	const uint64_t line_bytes = UINT64_C(1) << sharing->line_shift;

	for (uint64_t left = bytes, within; left > 0; left -= within, address += within) {
		const uint64_t offset = address & (line_bytes - 1);

		within = left < line_bytes - offset ? left : line_bytes - offset;
		use(sharing, address >> sharing->line_shift, (UINT64_MAX >> (64 - within)) << offset, is_store);
	}
}

/* ---- the end ---- */

/* Fewer accesses are of no interest, nor is a line of which most of the uses are true sharing. */
#define LEAST_ACCESSES 1000

static int
by_accesses(const void *a, const void *b)
{
	const struct shared_line *one = a, *other = b;
	const int order = (one->nr < other->nr) - (one->nr > other->nr);

	return order ? order : (one->line > other->line) - (one->line < other->line);
}

struct shared_line *
sharing_find(struct sharing *sharing, size_t *nr)
{
	struct shared_line *found = rot_calloc((size_t)sharing->nr_watched * NR_PAIRS + 1, sizeof(*found));

	*nr = 0;
	for (uint32_t i = 0; i < NR_WATCHED; i++) {
		struct watched_line *line = sharing->watched[i];

		for (unsigned k = 0; line && k < line->nr_parts; k++)
			for (unsigned other = k + 1; other < line->nr_parts; other++)
				compare(line, &line->parts[k], &line->parts[other]);
		for (unsigned k = 0; line && k < line->nr_pairs; k++) {
			struct shared_line *pair = &line->pairs[k];
			const uint64_t one = sharing->nr_all[pair->threads[0]],
				       other = sharing->nr_all[pair->threads[1]];

			pair->nr_all = one < other ? one : other;
			/* A batch may overlap with several batches of the other thread. */
			pair->nr = pair->nr < pair->nr_all ? pair->nr : pair->nr_all;
			if (pair->nr >= LEAST_ACCESSES && pair->nr > pair->nr_true)
				found[(*nr)++] = *pair;
		}
	}
	if (*nr > 0)
		qsort(found, *nr, sizeof(*found), by_accesses);
	return found;
}
