/* SPDX-License-Identifier: MIT */
/*
 * Misses of modelled caches, told apart by kind, by the code that was missing a line (sites of recording.h), the object
 * that the line is of, and the thread; and in which steps code goes through lines that meet in few sets.
 */
#pragma once

#include "parent/profile/data.h"
#include "parent/stepping/cache_model.h"

struct misses;

/* data is borrowed. */
struct misses *misses_new(struct data *data, unsigned line_shift);
void misses_delete(struct misses *misses);

/* Adds a miss of a thread (its number) at a site, which may be CAUSES_OTHER. */
void misses_add(struct misses *misses, uint32_t site, uint32_t thread, const struct cache_miss *miss);

/* Adds uses of lines, nr of them, at an address that caches below a capacity (reuse.h) miss. */
void
misses_use(struct misses *misses, uint32_t site, uint32_t thread, uint64_t address, unsigned capacity, uint64_t nr);

/*
 * How misses of one level follow each other. stride and other are found by majority votes: a value that most have is
 * left.
 *
 * last: the line before; stride: from one line to the next; nr_strides: how often it was that; nr_others: how often
 * not; run, longest: how often without a break, now and at most; other: the object whose lines were replaced where a
 * set was full; votes, other_votes: what stride and other have left
 */
struct miss_steps {
	uint64_t last, nr_strides, nr_others, run, longest;
	int64_t stride;
	uint32_t votes, other, other_votes;
};

/*
 * written: lines of the object that were written back because of misses of this code
 * by_capacity: [REUSE_NR + 1], as reuse_tell tells; NULL: there was nothing
 */
struct miss_record {
	uint32_t site, object, thread, next;
	uint64_t lines[STEP_NR_LEVELS][CACHE_NR_KINDS], written[STEP_NR_LEVELS];
	struct miss_steps steps[STEP_NR_LEVELS];
	uint64_t *by_capacity;
};

/* The i-th record; NULL: there are no more. */
const struct miss_record *misses_at(const struct misses *misses, uint32_t i);

/* The sets of a level that lines at a stride are in, of all that it has, and the lines that these have room for.
 * stride: a multiple of line_bytes */
struct miss_sets {
	uint64_t nr, all, lines;
};
struct miss_sets miss_sets_of(const struct step_level *level, uint64_t line_bytes, uint64_t stride);

/* The next longer stride, by whole lines, with which so many lines (rows), used again and again, all have room in the
 * level, so that it reads each of them once; 0: there is none that is up to 16 lines longer. */
uint64_t miss_padding_find(const struct step_level *level, uint64_t line_bytes, uint64_t stride, uint64_t rows);
