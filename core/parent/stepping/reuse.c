/* SPDX-License-Identifier: MIT */
#include "parent/stepping/reuse.h"

#include <emmintrin.h>
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

/* Functions that are called for each use are a part of it, so that they use the same instructions. */
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
};

/*
 * Lines that were used last, nr of them. They get times when others follow them. It is these that programs use nearly
 * always: as many as the least capacity holds, of which none is missing, or FEW_RECENT if that has fewer sampled lines.
 *
 * stored: CACHE_IS_MODIFIED if it has been
 * uses: how many there were before the last one of an item
 * later: of the first FEW_RECENT items, a bit for each that was used after that one, if lines are sampled
 * by_line: an item that a line of these low bits may have
 */
#define RECENT_MAX 64
#define FEW_RECENT 16
#define RECENT_LINES 1024
struct recent {
	struct recent_line {
		uint64_t line; /* plus 1 */
		uint64_t stored;
		size_t place;
	} items[RECENT_MAX + 1];
	uint32_t uses[RECENT_MAX + 1];
	union {
		uint16_t items[FEW_RECENT];
		__m128i vectors[2];
	} later;
	uint8_t by_line[RECENT_LINES];
	size_t nr;
};

/*
 * table, room: by hash, 2^n entries, of which nr_lines are used
 * places: in the table, by time; room for TIMES_OF(room). now: the next time
 * near: so many lines are in the least capacity at once, whatever they stand for
 * most_recent: so many lines may be recent
 * nr_used: uses since recent lines had none
 * bits: of times that a line has
 * tree: of blocks that are behind, but for the last one: how many lines
 * capacities: in lines
 * by_distance: uses by the first capacity that does not miss, but for the least; written: by capacity, more than one
 *   before
 * moved: by_distance as it was then (reuse_move)
 * given_up: lines with such bits of their hash are
 * weight: for how many lines one stands
 */
#define TIMES_OF(room) (2 * (room))
struct reuse {
	struct followed *table;
	struct recent recent;
	uint32_t nr_used;
	uint32_t *places;
	uint64_t *bits, *tree;
	size_t room, nr_lines, now, near, most_recent, max_lines;
	uint64_t capacities[REUSE_NR];
	double by_distance[REUSE_NR + 1], moved[REUSE_NR + 1], written[REUSE_NR + 1];
	double uses, lines, streamed_bytes, weight;
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

static bool
is_sampled(const struct reuse *reuse)
{
	return reuse->residues != UINT64_MAX;
}

/* ---- times ---- */

static void
add_to_tree(struct reuse *reuse, size_t block, uint64_t lines)
{
	for (size_t i = block + 1; i <= TIMES_OF(reuse->room) / BLOCK_TIMES; i += i & -i)
		reuse->tree[i] += lines;
}

/* Lines from that time on, before the end of a word. */
static INLINE uint64_t
count_until(const struct reuse *reuse, size_t time, size_t end)
{
	uint64_t mask = UINT64_MAX << time % WORD_TIMES, sum = 0;

	for (size_t word = time / WORD_TIMES; word < end; word++, mask = UINT64_MAX)
		sum += (unsigned)__builtin_popcountll(reuse->bits[word] & mask);
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
	reuse->bits[time / WORD_TIMES] |= UINT64_C(1) << time % WORD_TIMES;
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

	reuse->bits[time / WORD_TIMES] &= ~(UINT64_C(1) << time % WORD_TIMES);
	if (block + 1 >= reuse->now / BLOCK_TIMES)
		return count_until(reuse, time, reuse->now / WORD_TIMES + 1) + reuse->recent.nr;
	add_to_tree(reuse, block, UINT64_MAX);
	later = count_until(reuse, time, (block + 1) * BLOCK_WORDS) + reuse->nr_lines - 1;
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
		uint64_t left = reuse->bits[word];

		reuse->bits[word] = 0;
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
	recent->nr = 0;
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

	reuse->table[place] = (struct followed){.line = line + 1, .modified = modified};
	reuse->nr_lines++;
	return place;
}

static void
allocate(struct reuse *reuse, size_t room)
{
	reuse->room = room;
	reuse->now = reuse->nr_lines = 0;
	reuse->table = rot_calloc(room, sizeof(*reuse->table));
	reuse->places = rot_calloc(TIMES_OF(room), sizeof(*reuse->places));
	reuse->tree = rot_calloc(TIMES_OF(room) / BLOCK_TIMES + 1, sizeof(*reuse->tree));
	reuse->bits = rot_calloc(TIMES_OF(room) / WORD_TIMES + 1, sizeof(*reuse->bits));
}

static void
release(struct reuse *reuse)
{
	free(reuse->table);
	free(reuse->places);
	free(reuse->tree);
	free(reuse->bits);
}

/* ---- other room, other lines ---- */

static void
set_weight(struct reuse *reuse, double weight)
{
	reuse->weight = weight;
	reuse->near = (size_t)fmin(RECENT_MAX, ceil((double)reuse->capacities[0] / weight));
	reuse->most_recent = is_sampled(reuse) && reuse->near < FEW_RECENT ? FEW_RECENT : reuse->near;
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
		for (uint64_t left = before.bits[word]; left; left &= left - 1) {
			const size_t time = word * WORD_TIMES + (unsigned)__builtin_ctzll(left);
			const struct followed *line = &before.table[before.places[time]];

			if (is_followed(reuse, line->line - 1))
				set_time(reuse, put(reuse, line->line - 1, line->modified));
		}
	}
	release(&before);
}

/* Half of the lines are given up, so that half of the room is enough for now. */
static void
shrink(struct reuse *reuse)
{
	reuse->given_up = reuse->given_up << 1 | 1;
	set_weight(reuse, 2 * reuse->weight);
	reuse->shrinks++;
	reuse->is_filtered = true;
	rebuild(reuse, reuse->room > LEAST_ROOM ? reuse->room / 2 : LEAST_ROOM);
}

void
reuse_sample(struct reuse *reuse, uint64_t residues)
{
	size_t room = reuse->room;

	reuse->residues = residues;
	set_weight(reuse, reuse->weight * CACHE_RESIDUES / (unsigned)__builtin_popcountll(residues));
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
	const uint64_t lines = reuse->is_filtered ? (uint64_t)((double)others * reuse->weight) : others;
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
	if (reuse->nr_lines >= reuse->max_lines)
		shrink(reuse);
	else if (reuse->nr_lines >= reuse->room / 2)
		rebuild(reuse, 2 * reuse->room);
	if (!is_followed(reuse, number))
		return false;
	*place = put(reuse, number, CLEAN);
	reuse->lines += reuse->weight;
	reuse->by_distance[REUSE_NR] += reuse->weight;
	if (reuse->told)
		reuse->told(reuse->context, number, REUSE_NR, reuse->weight);
	return true;
}

/* others: lines that were used since its last use */
static INLINE void
use_again(struct reuse *reuse, struct followed *line, uint64_t others)
{
	const uint8_t capacity = others ? find_capacity(reuse, others) : 0;

	if (capacity > 0) {
		count_gone(reuse->written, line->modified, capacity, reuse->weight);
		if (line->modified < capacity)
			line->modified = capacity;
		reuse->by_distance[capacity] += reuse->weight;
		if (reuse->told)
			reuse->told(reuse->context, line->line - 1, capacity, reuse->weight);
	}
}

/* The item is the last one: after all others, and none after it. */
static INLINE void
put_last(struct recent *recent, size_t item)
{
	const __m128i bit = _mm_set1_epi16((short)(1U << item)), number = _mm_set1_epi16((short)item);
	__m128i *later = recent->later.vectors;

	later[0] = _mm_andnot_si128(_mm_cmpeq_epi16(number, _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7)),
				    _mm_or_si128(later[0], bit));
	later[1] = _mm_andnot_si128(_mm_cmpeq_epi16(number, _mm_setr_epi16(8, 9, 10, 11, 12, 13, 14, 15)),
				    _mm_or_si128(later[1], bit));
}

/* A recent line is used again: others may have been since that are more than the least capacity holds. */
static INLINE void
use_recent(struct reuse *reuse, size_t item)
{
	struct recent *recent = &reuse->recent;
	const unsigned later = (unsigned)__builtin_popcount(recent->later.items[item]);
	struct followed *line = &reuse->table[recent->items[item].place];

	put_last(recent, item);
	if (later < reuse->near)
		return;
	if (recent->items[item].stored & CACHE_IS_MODIFIED)
		line->modified = 0;
	recent->items[item].stored = 0;
	use_again(reuse, line, later);
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
		if (recent->nr >= reuse->most_recent)
			settle(reuse);
		if (reuse->table[place].line)
			use_again(reuse, &reuse->table[place], take_time(reuse, &reuse->table[place]));
		else if (!bring_in(reuse, line, &place))
			return RECENT_MAX;
		recent->items[recent->nr] = (struct recent_line){.line = line + 1, .place = place};
		if (recent->nr < FEW_RECENT)
			put_last(recent, recent->nr);
		reuse->table[place].recent = (uint8_t)++recent->nr;
	}
	recent->by_line[line % RECENT_LINES] = reuse->table[place].recent - 1;
	return reuse->table[place].recent - 1U;
}

static INLINE void
use_all(struct reuse *reuse, const uint64_t *uses, size_t nr)
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
}

static INLINE void
use_sampled(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	struct recent *recent = &reuse->recent;
	uint64_t before = UINT64_MAX;
	size_t item = RECENT_MAX;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t line = uses[i] >> CACHE_NR_ENTRY_BITS;

		if (!(reuse->residues >> line % CACHE_RESIDUES & 1))
			continue;
		if (line != before) {
			before = line;
			item = recent->by_line[line % RECENT_LINES];
			if (recent->items[item].line != line + 1)
				item = find_recent(reuse, line);
			if (item != RECENT_MAX && reuse->near < FEW_RECENT)
				use_recent(reuse, item);
			recent->uses[item] = reuse->nr_used + (uint32_t)i;
		}
		recent->items[item].stored |= uses[i];
	}
}

static INLINE void
use_lines(struct reuse *reuse, const uint64_t *uses, size_t nr)
{
	if (is_sampled(reuse))
		use_sampled(reuse, uses, nr);
	else
		use_all(reuse, uses, nr);
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
	if (!(reuse->residues >> line % CACHE_RESIDUES & 1))
		return;
	reuse->streamed_bytes += (double)bytes * ldexp(reuse->weight, -(int)reuse->shrinks);
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

		if (!(reuse->bits[time / WORD_TIMES] & bit))
			continue;
		count_gone(written, line->modified, find_capacity(reuse, later), reuse->weight);
		later++;
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
	set_weight(reuse, 1);
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
