/* SPDX-License-Identifier: MIT */
#include "parent/stepping/reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

/* Times of a block: their bits are counted one by one, so that the tree is small. */
#define WORD_TIMES 64
#define BLOCK_WORDS 4
#define BLOCK_TIMES (BLOCK_WORDS * WORD_TIMES)

#define LEAST_ROOM 4096

/* What is called for each use is a part of it, so that it uses the same instructions. */
#define INLINE inline __attribute__((always_inline))

/* Uses ahead of which the table is fetched, if it has so much room. */
#define AHEAD 8
#define LARGE_ROOM 32768

/* The line is not modified at any capacity. */
#define CLEAN UINT8_MAX

/*
 * A line that is followed. time: when it was used last; modified: the first capacity at which it is modified.
 * recent: 1 more than its place among recent lines, which have no time; 0: it has none
 */
struct followed {
	uint64_t line; /* plus 1; 0: none */
	uint32_t time;
	uint8_t modified, recent;
	bool is_other; /* its residue is not 0, when lines are sampled */
};

/*
 * Lines that were used last, nr of them, no more than the least capacity holds: nothing is missing where one of these
 * is used again. They get times when others follow them. It is these that programs use nearly always. uses: how many
 * there were before the last one of an item items: stored: CACHE_IS_MODIFIED if it has been by_line: an item that a
 * line of these low bits may have marks: of all of them, packed as in the tree
 */
#define RECENT_MAX 64
#define RECENT_LINES 1024
struct recent {
	struct recent_line {
		uint64_t line; /* plus 1 */
		uint64_t stored;
		size_t place;
	} items[RECENT_MAX + 1];
	uint32_t uses[RECENT_MAX + 1];
	uint8_t by_line[RECENT_LINES];
	size_t nr;
	uint64_t marks;
};

/*
 * table, room: by hash, 2^n entries, of which nr_lines are used
 * places: in the table, by time; room for TIMES_OF(room). now: the next time
 * near: so many lines are in the least capacity at once, whatever they stand for
 * nr_used: uses since recent lines had none
 * bits: of times that a line has: [0] of residue 0, or if all are followed; [1] of others
 * tree: of blocks that are behind, but for the last one: how many lines, those of others times OTHER; nr: of all times
 * capacities: in lines
 * by_distance: uses by the first capacity that does not miss, but for the least; written: by capacity, more than one
 *   before
 * moved: by_distance as it was then (reuse_move)
 * given_up: lines with such bits of their hash are
 * weights: for how many lines one stands
 */
#define OTHER (UINT64_C(1) << 32)
#define TIMES_OF(room) (2 * (room))
struct reuse {
	struct followed *table;
	struct recent recent;
	uint32_t nr_used;
	uint32_t *places;
	uint64_t *bits[2], *tree;
	size_t room, nr_lines, now, near, max_lines;
	uint64_t nr; /* packed as in the tree */
	uint64_t capacities[REUSE_NR];
	double by_distance[REUSE_NR + 1], moved[REUSE_NR + 1], written[REUSE_NR + 1];
	double uses, lines, streamed_bytes, weights[2];
	uint64_t residues, given_up;
	unsigned shrinks;
	bool is_filtered;
	reuse_told told; /* NULL: nobody */
	void *context;
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

/* ---- times ---- */

static void
add_to_tree(struct reuse *reuse, size_t block, uint64_t marks)
{
	for (size_t i = block + 1; i <= TIMES_OF(reuse->room) / BLOCK_TIMES; i += i & -i)
		reuse->tree[i] += marks;
}

/* Lines from that time on, before the end of a word. */
static INLINE uint64_t
count_until(const struct reuse *reuse, size_t time, size_t end)
{
	uint64_t mask = UINT64_MAX << time % WORD_TIMES, sum = 0;

	for (size_t word = time / WORD_TIMES; word < end; word++, mask = UINT64_MAX) {
		sum += (unsigned)__builtin_popcountll(reuse->bits[0][word] & mask);
		if (reuse->is_filtered)
			sum += OTHER * (unsigned)__builtin_popcountll(reuse->bits[1][word] & mask);
	}
	return sum;
}

/* The line has the next time. The block before the one that ends with it goes into the tree. */
static INLINE void
set_time(struct reuse *reuse, size_t place)
{
	struct followed *line = &reuse->table[place];
	const size_t time = reuse->now++;

	line->time = (uint32_t)time;
	reuse->places[time] = (uint32_t)place;
	reuse->bits[line->is_other][time / WORD_TIMES] |= UINT64_C(1) << time % WORD_TIMES;
	if (reuse->now % BLOCK_TIMES == 0 && reuse->now > BLOCK_TIMES) {
		const size_t block = time / BLOCK_TIMES - 1;

		add_to_tree(reuse, block, count_until(reuse, block * BLOCK_TIMES, (block + 1) * BLOCK_WORDS));
	}
}

/* It has none any more. Returns the lines of later ones. */
static INLINE uint64_t
take_time(struct reuse *reuse, const struct followed *line)
{
	const size_t time = line->time, block = time / BLOCK_TIMES;
	uint64_t later;

	reuse->bits[line->is_other][time / WORD_TIMES] &= ~(UINT64_C(1) << time % WORD_TIMES);
	if (block + 1 >= reuse->now / BLOCK_TIMES)
		return count_until(reuse, time, reuse->now / WORD_TIMES + 1) + reuse->recent.marks;
	add_to_tree(reuse, block, 0 - mark_of(line));
	later = count_until(reuse, time, (block + 1) * BLOCK_WORDS) + reuse->nr - mark_of(line);
	for (size_t i = block + 1; i > 0; i &= i - 1)
		later -= reuse->tree[i];
	return later;
}

/* Times are dealt anew. */
static void
renumber(struct reuse *reuse)
{
	const size_t end = reuse->now;

	reuse->now = 0;
	memset(reuse->tree, 0, (TIMES_OF(reuse->room) / BLOCK_TIMES + 1) * sizeof(*reuse->tree));
	for (size_t word = 0; word < end / WORD_TIMES; word++) {
		uint64_t left = reuse->bits[0][word] | reuse->bits[1][word];

		reuse->bits[0][word] = reuse->bits[1][word] = 0;
		for (; left; left &= left - 1)
			set_time(reuse, reuse->places[word * WORD_TIMES + (unsigned)__builtin_ctzll(left)]);
	}
}

/* Recent lines get times, in the order of their last uses. */
static INLINE void
settle(struct reuse *reuse)
{
	struct recent *recent = &reuse->recent;
	uint64_t order[RECENT_MAX];

	/* Nearly always they are in order. */
	for (size_t i = 0; i < recent->nr; i++) {
		const uint64_t key = (uint64_t)recent->uses[i] * RECENT_MAX + i;
		size_t k = i;

		for (; k > 0 && order[k - 1] > key; k--)
			order[k] = order[k - 1];
		order[k] = key;
	}
	for (size_t i = 0; i < recent->nr; i++) {
		struct recent_line *item = &recent->items[order[i] % RECENT_MAX];

		if (reuse->now == TIMES_OF(reuse->room))
			renumber(reuse);
		reuse->table[item->place].recent = 0;
		if (item->stored & CACHE_IS_MODIFIED)
			reuse->table[item->place].modified = 0;
		set_time(reuse, item->place);
		item->line = 0;
	}
	recent->nr = recent->marks = 0;
}

/* ---- the table ---- */

static uint64_t
mix(uint64_t line)
{
	return line * UINT64_C(0x9e3779b97f4a7c15);
}

static bool
is_followed(const struct reuse *reuse, uint64_t line)
{
	const uint64_t mixed = mix(line);

	return (reuse->residues >> line % CACHE_RESIDUES & 1) &&
	       !((mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 8 & reuse->given_up);
}

static size_t
first_place(const struct reuse *reuse, uint64_t line)
{
	return mix(line) >> 32 & (reuse->room - 1);
}

/* The place of the line, or where it can be. */
static INLINE size_t
find_place(const struct reuse *reuse, uint64_t line)
{
	size_t i = first_place(reuse, line);

	while (reuse->table[i].line && reuse->table[i].line != line + 1)
		i = (i + 1) & (reuse->room - 1);
	return i;
}

static size_t
put(struct reuse *reuse, uint64_t line, uint8_t modified)
{
	const size_t place = find_place(reuse, line);

	reuse->table[place] =
		(struct followed){.line = line + 1,
				  .modified = modified,
				  .is_other = reuse->residues != UINT64_MAX && line % CACHE_RESIDUES != 0};
	reuse->nr_lines++;
	reuse->nr += mark_of(&reuse->table[place]);
	return place;
}

static void
allocate(struct reuse *reuse, size_t room)
{
	reuse->room = room;
	reuse->now = reuse->nr_lines = reuse->nr = 0;
	reuse->table = rot_calloc(room, sizeof(*reuse->table));
	reuse->places = rot_calloc(TIMES_OF(room), sizeof(*reuse->places));
	reuse->tree = rot_calloc(TIMES_OF(room) / BLOCK_TIMES + 1, sizeof(*reuse->tree));
	for (int i = 0; i < 2; i++)
		reuse->bits[i] = rot_calloc(TIMES_OF(room) / WORD_TIMES + 1, sizeof(*reuse->bits[i]));
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

/* ---- other room, other lines ---- */

static void
set_weights(struct reuse *reuse, double first, double others)
{
	reuse->weights[0] = first;
	reuse->weights[1] = others;
	reuse->near = (size_t)fmin(RECENT_MAX, ceil((double)reuse->capacities[0] / fmax(first, others)));
}

/* For those that are still followed. */
static void
rebuild(struct reuse *reuse, size_t room)
{
	struct reuse before;

	settle(reuse);
	before = *reuse;
	allocate(reuse, room);
	for (size_t word = 0; word <= before.now / WORD_TIMES; word++) {
		for (uint64_t left = before.bits[0][word] | before.bits[1][word]; left; left &= left - 1) {
			const size_t time = word * WORD_TIMES + (unsigned)__builtin_ctzll(left);
			const struct followed *line = &before.table[before.places[time]];

			if (is_followed(reuse, line->line - 1))
				set_time(reuse, put(reuse, line->line - 1, line->modified));
		}
	}
	release(&before);
}

void
reuse_sample(struct reuse *reuse, uint64_t residues)
{
	const unsigned nr_others = (unsigned)__builtin_popcountll(residues & ~UINT64_C(1));
	size_t room = reuse->room;

	reuse->residues = residues;
	set_weights(reuse, reuse->weights[0], reuse->weights[1] * (CACHE_RESIDUES - 1) / nr_others);
	reuse->is_filtered = true;
	rebuild(reuse, reuse->room);
	while (room > LEAST_ROOM && room > 8 * reuse->nr_lines)
		room /= 2;
	rebuild(reuse, room);
}

/* ---- uses ---- */

/* The first capacity that holds a line after so many others; REUSE_NR: none does. */
static INLINE uint8_t
find_capacity(const struct reuse *reuse, uint64_t others)
{
	/* For how many lines these stand. */
	const uint64_t lines = reuse->is_filtered ? (uint64_t)((double)(others % OTHER) * reuse->weights[0] +
							       (double)(others / OTHER) * reuse->weights[1])
						  : others;
	int i;

	if (lines < reuse->capacities[0])
		return 0;
	if (lines >= reuse->capacities[REUSE_NR - 1])
		return REUSE_NR;
	/* The last one that is a power of two of the least. Which of the next ones it is cannot be foreseen. */
	i = REUSE_STEPS_OF_TWO * (__builtin_clzll(reuse->capacities[0]) - __builtin_clzll(lines));
	for (int k = 1, first = i++; k < REUSE_STEPS_OF_TWO; k++)
		i += reuse->capacities[first + k] <= lines;
	return (uint8_t)i;
}

/* Lines go from the capacities before that one; it is written back from those where it was modified. */
static INLINE void
count_gone(double written[REUSE_NR + 1], unsigned modified, unsigned capacity, double weight)
{
	if (modified < capacity) {
		written[modified] += weight;
		written[capacity] -= weight;
	}
}

/* A line that is used for the first time has a place then. False: it is not followed any more. */
static bool
bring_in(struct reuse *reuse, uint64_t number, size_t *place)
{
	double weight;

	if (reuse->nr_lines >= reuse->max_lines) {
		/* Half of the lines are given up, so that half of the room is enough for now. */
		reuse->given_up = reuse->given_up << 1 | 1;
		set_weights(reuse, 2 * reuse->weights[0], 2 * reuse->weights[1]);
		reuse->shrinks++;
		reuse->is_filtered = true;
		rebuild(reuse, reuse->room > LEAST_ROOM ? reuse->room / 2 : LEAST_ROOM);
	} else if (reuse->nr_lines >= reuse->room / 2)
		rebuild(reuse, 2 * reuse->room);
	if (!is_followed(reuse, number))
		return false;
	*place = put(reuse, number, CLEAN);
	weight = reuse->weights[reuse->table[*place].is_other];
	reuse->lines += weight;
	reuse->by_distance[REUSE_NR] += weight;
	if (reuse->told)
		reuse->told(reuse->context, number, REUSE_NR, weight);
	return true;
}

static INLINE void
use_again(struct reuse *reuse, struct followed *line)
{
	const uint64_t others = take_time(reuse, line);
	const uint8_t capacity = others ? find_capacity(reuse, others) : 0;

	if (capacity > 0) {
		const double weight = reuse->weights[line->is_other];

		count_gone(reuse->written, line->modified, capacity, weight);
		if (line->modified < capacity)
			line->modified = capacity;
		reuse->by_distance[capacity] += weight;
		if (reuse->told)
			reuse->told(reuse->context, line->line - 1, capacity, weight);
	}
}

/* The line is a recent one from now on. Returns its item, or RECENT_MAX if it is not followed. */
static INLINE size_t
find_recent(struct reuse *reuse, uint64_t line)
{
	struct recent *recent = &reuse->recent;
	size_t place;

	if (reuse->is_filtered && !is_followed(reuse, line))
		return RECENT_MAX;
	place = find_place(reuse, line);
	if (!reuse->table[place].recent) {
		if (recent->nr >= reuse->near)
			settle(reuse);
		if (reuse->table[place].line)
			use_again(reuse, &reuse->table[place]);
		else if (!bring_in(reuse, line, &place))
			return RECENT_MAX;
		recent->marks += mark_of(&reuse->table[place]);
		recent->items[recent->nr] = (struct recent_line){.line = line + 1, .place = place};
		reuse->table[place].recent = (uint8_t)++recent->nr;
	}
	recent->by_line[line % RECENT_LINES] = reuse->table[place].recent - 1;
	return reuse->table[place].recent - 1U;
}

static INLINE void
use_lines(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	struct recent *recent = &reuse->recent;
	const size_t nr_fetched = reuse->room >= LARGE_ROOM && nr > AHEAD ? nr - AHEAD : 0;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t line = uses[i] >> CACHE_NR_ENTRY_BITS;
		size_t item = recent->by_line[line % RECENT_LINES];

		if (i < nr_fetched)
			__builtin_prefetch(&reuse->table[first_place(reuse, uses[i + AHEAD] >> CACHE_NR_ENTRY_BITS)]);
		if (recent->items[item].line != line + 1)
			item = find_recent(reuse, line);
		recent->items[item].stored |= uses[i];
		recent->uses[item] = reuse->nr_used + (uint32_t)i;
	}
	reuse->nr_used += (uint32_t)nr;
}

/* Bits are counted by an instruction that not every processor has. */
static __attribute__((target("popcnt"))) void
use_lines_quickly(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	use_lines(reuse, uses, nr);
}

void
reuse_use_lines(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	reuse->uses += (double)nr;
	if (nr >= UINT32_MAX - reuse->nr_used) {
		settle(reuse);
		reuse->nr_used = 0;
	}
	if (__builtin_cpu_supports("popcnt"))
		use_lines_quickly(reuse, uses, nr);
	else
		use_lines(reuse, uses, nr);
}

void
reuse_tell(struct reuse *reuse, reuse_told told, void *context)
{
	reuse->told = told;
	reuse->context = context;
}

void
reuse_move(struct reuse *reuse, double by_capacity[REUSE_NR + 1])
{
	for (int i = 0; i <= REUSE_NR; i++)
		by_capacity[i] += reuse->by_distance[i] - reuse->moved[i];
	memcpy(reuse->moved, reuse->by_distance, sizeof(reuse->moved));
}

void
reuse_add_up(const uint64_t by_capacity[REUSE_NR + 1], uint64_t misses[REUSE_NR])
{
	uint64_t sum = 0;

	for (int i = REUSE_NR; i > 0; i--)
		misses[i - 1] = sum += by_capacity[i];
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
	uint64_t later = 0;

	for (size_t time = reuse->now; time-- > 0;) {
		const uint64_t bit = UINT64_C(1) << time % WORD_TIMES;
		const struct followed *line = &reuse->table[reuse->places[time]];

		if (!((reuse->bits[0][time / WORD_TIMES] | reuse->bits[1][time / WORD_TIMES]) & bit))
			continue;
		count_gone(written, line->modified, find_capacity(reuse, later), reuse->weights[line->is_other]);
		later += mark_of(line);
	}
}

void
reuse_add(struct reuse *reuse, struct reuse_counts *sum)
{
	double written[REUSE_NR + 1], misses = 0, write_backs = 0;

	settle(reuse);
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
	for (int i = 0; i < REUSE_NR; i++)
		reuse->capacities[i] = reuse_lines(i, line_shift);
	set_weights(reuse, 1, 1);
	allocate(reuse, LEAST_ROOM);
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
