/* SPDX-License-Identifier: MIT */
#include "parent/stepping/reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/* Lines that are linked: at most as many as the least capacity holds. */
#define MAX_RECENT 64
#define CHAINS 256

/* Times of a block: their bits are counted one by one, so that the tree is small. */
#define WORD_TIMES 64
#define BLOCK_WORDS 4
#define BLOCK_TIMES (BLOCK_WORDS * WORD_TIMES)

#define LEAST_ROOM 4096

/* The line is not modified at any capacity. */
#define CLEAN UINT8_MAX

/* A line that is followed. time: when it left the recent ones; modified: the first capacity at which it is modified. */
struct followed {
	uint64_t line; /* plus 1; 0: none */
	uint32_t time;
	uint8_t modified;
	bool is_other; /* its residue is not 0, when lines are sampled */
};

/*
 * Lines used last, as of the tlb_model: entries have the numbers 1 ...; 0 is none, and the head of the ring.
 * places: in the table
 */
struct recent {
	uint64_t lines[MAX_RECENT + 1];
	uint32_t places[MAX_RECENT + 1];
	uint8_t modified[MAX_RECENT + 1];
	uint8_t older[MAX_RECENT + 1], newer[MAX_RECENT + 1], next[MAX_RECENT + 1];
	uint8_t chains[CHAINS];
	unsigned nr, max;
};

/*
 * table, room: by hash, 2^n entries, of which nr_lines are used
 * places: of the line that has a time, by time; as many as room. now: the next time
 * bits: of times that a line has: [0] of residue 0, or if all are followed; [1] of others
 * tree: of blocks that are behind: how many lines, those of others times OTHER; nr: of all times
 * capacities: in lines
 * by_distance: uses by the first capacity that does not miss; written: by capacity, more than one before
 * kept: lines with such bits of their hash are given up
 * weights: for how many lines one stands
 */
#define OTHER (UINT64_C(1) << 32)
struct reuse {
	struct recent recent;
	uint64_t nr_recent, nr; /* packed as in the tree */
	struct followed *table;
	uint32_t *places;
	uint64_t *bits[2], *tree;
	size_t room, nr_lines, now, max_lines;
	uint64_t capacities[REUSE_NR];
	double by_distance[REUSE_NR + 1], written[REUSE_NR + 1];
	double uses, lines, streamed_bytes, weights[2];
	uint64_t residues, given_up;
	unsigned shrinks;
	bool is_filtered;
};

uint64_t
reuse_lines(int i, unsigned line_shift)
{
	return (uint64_t)lround(exp2((double)i / REUSE_STEPS_OF_TWO) * (REUSE_LEAST_BYTES >> line_shift));
}

static uint64_t
mark_of(const struct followed *line)
{
	return line->is_other ? OTHER : 1;
}

/* For how many lines these stand. */
static double
weigh(const struct reuse *reuse, uint64_t nr)
{
	return (double)(nr % OTHER) * reuse->weights[0] + (double)(nr / OTHER) * reuse->weights[1];
}

/* ---- times ---- */

static void
add_to_tree(struct reuse *reuse, size_t block, uint64_t marks)
{
	for (size_t i = block + 1; i <= reuse->room / BLOCK_TIMES; i += i & -i)
		reuse->tree[i] += marks;
}

/* Lines of a block from that time on. */
static uint64_t
count_rest(const struct reuse *reuse, size_t time)
{
	const size_t end = (time / BLOCK_TIMES + 1) * BLOCK_WORDS;
	uint64_t mask = UINT64_MAX << time % WORD_TIMES, sum = 0;

	for (size_t word = time / WORD_TIMES; word < end; word++, mask = UINT64_MAX) {
		sum += (unsigned)__builtin_popcountll(reuse->bits[0][word] & mask);
		if (reuse->is_filtered)
			sum += OTHER * (unsigned)__builtin_popcountll(reuse->bits[1][word] & mask);
	}
	return sum;
}

/* The line is the latest. The block that ends with it goes into the tree. */
static void
set_time(struct reuse *reuse, uint32_t place)
{
	struct followed *line = &reuse->table[place];
	const size_t time = reuse->now++;

	line->time = (uint32_t)time;
	reuse->places[time] = place;
	reuse->bits[line->is_other][time / WORD_TIMES] |= UINT64_C(1) << time % WORD_TIMES;
	reuse->nr += mark_of(line);
	if (reuse->now % BLOCK_TIMES == 0)
		add_to_tree(reuse, time / BLOCK_TIMES, count_rest(reuse, time / BLOCK_TIMES * BLOCK_TIMES));
}

/* It has none any more. Returns the lines of later ones. */
static uint64_t
take_time(struct reuse *reuse, const struct followed *line)
{
	const size_t time = line->time, block = time / BLOCK_TIMES;
	uint64_t later;

	reuse->bits[line->is_other][time / WORD_TIMES] &= ~(UINT64_C(1) << time % WORD_TIMES);
	reuse->nr -= mark_of(line);
	later = count_rest(reuse, time);
	if (block == reuse->now / BLOCK_TIMES)
		return later;
	add_to_tree(reuse, block, 0 - mark_of(line));
	later += reuse->nr;
	for (size_t i = block + 1; i > 0; i &= i - 1)
		later -= reuse->tree[i];
	return later;
}

/* ---- the table ---- */

static uint64_t
hash_of(uint64_t line)
{
	const uint64_t mixed = line * UINT64_C(0x9e3779b97f4a7c15);

	return (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static bool
is_followed(const struct reuse *reuse, uint64_t line)
{
	return (reuse->residues >> line % CACHE_RESIDUES & 1) && !(hash_of(line) >> 8 & reuse->given_up);
}

/* The place of the line, or where it can be. */
static uint32_t
find_place(const struct reuse *reuse, uint64_t line)
{
	size_t i = hash_of(line) >> 32 & (reuse->room - 1);

	while (reuse->table[i].line && reuse->table[i].line != line + 1)
		i = (i + 1) & (reuse->room - 1);
	return (uint32_t)i;
}

static uint32_t
put(struct reuse *reuse, uint64_t line, uint8_t modified)
{
	const uint32_t place = find_place(reuse, line);

	reuse->nr_lines += !reuse->table[place].line;
	reuse->table[place] =
		(struct followed){.line = line + 1,
				  .modified = modified,
				  .is_other = reuse->residues != UINT64_MAX && line % CACHE_RESIDUES != 0};
	return place;
}

static void
allocate(struct reuse *reuse, size_t room)
{
	reuse->room = room;
	reuse->now = reuse->nr_lines = reuse->nr = 0;
	reuse->table = rot_calloc(room, sizeof(*reuse->table));
	reuse->places = rot_calloc(room, sizeof(*reuse->places));
	reuse->tree = rot_calloc(room / BLOCK_TIMES + 1, sizeof(*reuse->tree));
	for (int i = 0; i < 2; i++)
		reuse->bits[i] = rot_calloc(room / WORD_TIMES + 1, sizeof(*reuse->bits[i]));
}

static void
release(struct reuse *reuse)
{
	free(reuse->table);
	free(reuse->places);
	free(reuse->tree);
	free(reuse->bits[0]);
	free(reuse->bits[1]);
}

/* ---- lines used last ---- */

static uint8_t *
chain_of(struct recent *recent, uint64_t line)
{
	return &recent->chains[(line ^ line >> 8) % CHAINS];
}

static void
take_out(struct recent *recent, uint8_t entry)
{
	recent->newer[recent->older[entry]] = recent->newer[entry];
	recent->older[recent->newer[entry]] = recent->older[entry];
}

static void
put_first(struct recent *recent, uint8_t entry)
{
	recent->newer[entry] = 0;
	recent->older[entry] = recent->older[0];
	recent->newer[recent->older[0]] = entry;
	recent->older[0] = entry;
}

/* The oldest one gets a time. Returns its entry, which is in no chain and not in the ring. */
static uint8_t
let_oldest_go(struct reuse *reuse)
{
	struct recent *recent = &reuse->recent;
	const uint8_t oldest = recent->newer[0];
	uint8_t *link = chain_of(recent, recent->lines[oldest]);

	while (*link != oldest)
		link = &recent->next[*link];
	*link = recent->next[oldest];
	take_out(recent, oldest);
	reuse->table[recent->places[oldest]].modified = recent->modified[oldest];
	reuse->nr_recent -= mark_of(&reuse->table[recent->places[oldest]]);
	set_time(reuse, recent->places[oldest]);
	return oldest;
}

/* The line of that place in the table, which has no time, is the one that was used last. */
static uint8_t
add_recent(struct reuse *reuse, uint32_t place)
{
	struct recent *recent = &reuse->recent;
	const struct followed *line = &reuse->table[place];
	uint8_t *chain = chain_of(recent, line->line - 1), entry;

	entry = recent->nr < recent->max ? (uint8_t)++recent->nr : let_oldest_go(reuse);
	recent->lines[entry] = line->line - 1;
	recent->places[entry] = place;
	recent->modified[entry] = line->modified;
	recent->next[entry] = *chain;
	*chain = entry;
	reuse->nr_recent += mark_of(line);
	put_first(recent, entry);
	return entry;
}

/* ---- other room, other lines ---- */

/* No more than the least capacity holds. */
static void
empty_recent(struct reuse *reuse)
{
	const double least = fmin((double)reuse->capacities[0], MAX_RECENT);

	reuse->recent = (struct recent){.max = (unsigned)fmax(least / fmax(reuse->weights[0], reuse->weights[1]), 1)};
	reuse->nr_recent = 0;
}

/* Times are dealt anew, to those that are still followed. */
static void
rebuild(struct reuse *reuse, size_t room)
{
	struct reuse before = *reuse;

	allocate(reuse, room);
	for (size_t word = 0; word <= before.now / WORD_TIMES && word < before.room / WORD_TIMES; word++) {
		for (uint64_t left = before.bits[0][word] | before.bits[1][word]; left; left &= left - 1) {
			const size_t time = word * WORD_TIMES + (unsigned)__builtin_ctzll(left);
			const struct followed *line = &before.table[before.places[time]];

			if (is_followed(reuse, line->line - 1))
				set_time(reuse, put(reuse, line->line - 1, line->modified));
		}
	}
	empty_recent(reuse);
	for (uint8_t entry = before.recent.newer[0]; entry; entry = before.recent.newer[entry])
		if (is_followed(reuse, before.recent.lines[entry]))
			add_recent(reuse, put(reuse, before.recent.lines[entry], before.recent.modified[entry]));
	release(&before);
}

static void
shrink(struct reuse *reuse)
{
	reuse->given_up = reuse->given_up << 1 | 1;
	reuse->weights[0] *= 2;
	reuse->weights[1] *= 2;
	reuse->shrinks++;
	reuse->is_filtered = true;
	rebuild(reuse, reuse->room);
}

void
reuse_sample(struct reuse *reuse, uint64_t residues)
{
	const unsigned nr_others = (unsigned)__builtin_popcountll(residues & ~UINT64_C(1));

	reuse->residues = residues;
	reuse->weights[1] *= (double)(CACHE_RESIDUES - 1) / nr_others;
	reuse->is_filtered = true;
	rebuild(reuse, reuse->room);
}

/* ---- uses ---- */

/* The first capacity that holds a line after so many others; REUSE_NR: none does. */
static uint8_t
find_capacity(const struct reuse *reuse, double distance)
{
	const uint64_t lines = (uint64_t)distance;
	int i = 0;

	if (lines >= reuse->capacities[0])
		i = REUSE_STEPS_OF_TWO * (__builtin_clzll(reuse->capacities[0]) - __builtin_clzll(lines));
	while (i < REUSE_NR && reuse->capacities[i] <= lines)
		i++;
	return (uint8_t)(i < REUSE_NR ? i : REUSE_NR);
}

/* Lines go from the capacities before that one; it is written back from those where it was modified. */
static void
count_gone(double written[REUSE_NR + 1], unsigned modified, unsigned capacity, double weight)
{
	if (modified < capacity) {
		written[modified] += weight;
		written[capacity] -= weight;
	}
}

/* The line, which is no recent one, becomes one. */
static uint8_t
bring_in(struct reuse *reuse, uint64_t number)
{
	struct followed *line;
	uint32_t place;
	uint8_t capacity = REUSE_NR;
	double weight;

	/* For one more line, and a time. */
	if (reuse->nr_lines >= reuse->max_lines)
		shrink(reuse);
	else if (reuse->nr_lines >= reuse->room / 2)
		rebuild(reuse, 2 * reuse->room);
	else if (reuse->now == reuse->room)
		rebuild(reuse, reuse->room);
	place = find_place(reuse, number);
	line = &reuse->table[place];
	if (!line->line) {
		put(reuse, number, CLEAN);
		weight = reuse->weights[line->is_other];
		reuse->lines += weight;
	} else {
		weight = reuse->weights[line->is_other];
		capacity = find_capacity(reuse, weigh(reuse, reuse->nr_recent + take_time(reuse, line)));
		count_gone(reuse->written, line->modified, capacity, weight);
		if (line->modified < capacity)
			line->modified = capacity;
	}
	reuse->by_distance[capacity] += weight;
	return add_recent(reuse, place);
}

static void
use_line(struct reuse *reuse, uint64_t line, bool is_store)
{
	struct recent *recent = &reuse->recent;
	uint8_t entry = recent->older[0];

	if (recent->lines[entry] != line) {
		entry = *chain_of(recent, line);
		while (entry && recent->lines[entry] != line)
			entry = recent->next[entry];
	}
	if (!entry) {
		if (reuse->is_filtered && !is_followed(reuse, line))
			return;
		entry = bring_in(reuse, line);
	} else if (entry != recent->older[0]) {
		take_out(recent, entry);
		put_first(recent, entry);
	}
	if (is_store)
		recent->modified[entry] = 0;
}

void
reuse_use_lines(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	reuse->uses += (double)nr;
	for (size_t i = 0; i < nr; i++)
		use_line(reuse, uses[i] >> CACHE_NR_ENTRY_BITS, uses[i] & CACHE_IS_MODIFIED);
}

void
reuse_stream(struct reuse *reuse, uint64_t line, uint64_t bytes)
{
	const bool is_sampled = reuse->residues != UINT64_MAX;

	if (!(reuse->residues >> line % CACHE_RESIDUES & 1))
		return;
	reuse->streamed_bytes +=
		(double)bytes * ldexp(reuse->weights[is_sampled && line % CACHE_RESIDUES != 0], -(int)reuse->shrinks);
}

/* ---- the reuse ---- */

/* Lines that have not come again are gone from where they have no room. */
static void
add_last_gone(const struct reuse *reuse, double written[REUSE_NR + 1])
{
	uint64_t later = reuse->nr_recent;

	for (size_t time = reuse->now; time-- > 0;) {
		const uint64_t bit = UINT64_C(1) << time % WORD_TIMES;
		const struct followed *line = &reuse->table[reuse->places[time]];

		if (!((reuse->bits[0][time / WORD_TIMES] | reuse->bits[1][time / WORD_TIMES]) & bit))
			continue;
		count_gone(written, line->modified, find_capacity(reuse, weigh(reuse, later)),
			   reuse->weights[line->is_other]);
		later += mark_of(line);
	}
}

void
reuse_add(const struct reuse *reuse, struct reuse_counts *sum)
{
	double written[REUSE_NR + 1], misses = 0, write_backs = 0;

	memcpy(written, reuse->written, sizeof(written));
	add_last_gone(reuse, written);
	for (int i = 0; i < REUSE_NR; i++) {
		misses += reuse->by_distance[REUSE_NR - i];
		sum->misses[REUSE_NR - 1 - i] += misses;
		write_backs += written[i];
		sum->write_backs[i] += write_backs;
	}
	sum->uses += reuse->uses;
	sum->lines += reuse->lines;
	sum->streamed_bytes += reuse->streamed_bytes;
	if (reuse->shrinks > sum->shrinks)
		sum->shrinks = reuse->shrinks;
}

struct reuse *
reuse_new(unsigned line_shift, size_t max_lines)
{
	struct reuse *reuse = rot_calloc(1, sizeof(*reuse));

	reuse->residues = UINT64_MAX;
	reuse->max_lines = max_lines;
	reuse->weights[0] = reuse->weights[1] = 1;
	for (int i = 0; i < REUSE_NR; i++)
		reuse->capacities[i] = reuse_lines(i, line_shift);
	allocate(reuse, LEAST_ROOM);
	empty_recent(reuse);
	return reuse;
}

void
reuse_delete(struct reuse *reuse)
{
	if (!reuse)
		return;
	release(reuse);
	free(reuse);
}
