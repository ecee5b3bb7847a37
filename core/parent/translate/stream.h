/* SPDX-License-Identifier: MIT */
/*
 * The stream of addresses that threads access (recording.h), on its way to modelled caches. Each thread has two buffers
 * in its area: while it fills one, a thread of this process goes through the other.
 *
 * First and second level are those of each thread, the last is shared by all: what one thread reads another finds
 * there. Accesses of different threads meet it buffer by buffer, not in the order of time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/step_counts.h"
#include "parent/stepping/reuse.h"
#include "parent/stepping/work.h"
#include "parent/translate/code_cache.h"
#include "parent/translate/recording.h"

struct stream;
struct process_curves;
struct cache_kinds;
struct data;
struct misses;
struct sharing;
struct what_ifs;

/* One thread's accesses. */
struct stream_thread;

/*
 * has_pages: translations of addresses are modelled, too
 * sampling: after the first STREAM_ALL uses of lines one line of so many is modelled: 2, 4, 8, 16 or 32. Other numbers,
 *   pages, kinds, curves of regions, other caches, or caches that cannot be sampled mean all lines
 * has_causes: lines are counted by code, too
 * has_curve: misses are counted at every capacity, too; the caches may then have no level
 * has_kinds: kinds of misses are told apart
 * has_regions: curves are told apart by bank
 * what_ifs: other caches that the same accesses go through, nr_what_ifs of them, of which sums alone are told
 * data: borrowed; with kinds and causes: misses are told apart by code, object and thread, and lines that threads share
 *   are looked for. NULL: they are not
 */
struct stream_options {
	struct data *data;
	unsigned sampling;
	bool has_pages, has_causes, has_curve, has_kinds, has_regions;
	const struct step_caches *what_ifs;
	size_t nr_what_ifs;
};

struct stream *stream_new(const struct step_caches *caches, const struct stream_options *options);
void stream_delete(struct stream *stream);

#define STREAM_ALL (UINT64_C(1) << 22)
#define STREAM_ALL_WITHOUT_LEVELS (UINT64_C(1) << 20) /* bursts tell more of curves */

/*
 * How lines were sampled, and how far that may be off, as a sentence; NULL: it was not asked for, or curves
 * tell it, as no level is modelled. Fresh memory. Threads have ended.
 */
char *stream_sample_text(const struct stream *stream);

/* All threads have ended. NULL: these were not asked for. */
const struct process_curves *stream_curves(const struct stream *stream);
const struct cache_kinds *stream_kinds(const struct stream *stream);
const struct misses *stream_misses(const struct stream *stream);
struct sharing *stream_sharing(const struct stream *stream);
const struct what_ifs *stream_what_ifs(const struct stream *stream);

/* All threads have ended: what crossed borders for which code. Not where the latter is not known, and no pages. */
void stream_each_code(const struct stream *stream,
		      void (*visit)(void *context, const struct counted_at *at, const uint64_t counts[STEP_NR_COUNTS]),
		      void *context);

/* Other caches for those that begin from now on; all others have ended. */
void stream_set_caches(struct stream *stream, const struct step_caches *caches);
struct sites *stream_sites(struct stream *stream);

/*
 * Begins for a thread with empty caches, and that area. space: a number of its address space, so that lines of others
 * are not taken for its own. NULL: its memory cannot be mapped (err).
 */
struct stream_thread *
stream_begin(struct stream *stream, struct code_cache *cache, int64_t area, uint32_t space, struct rot_error *err);

/* The thread has stopped at the int3 of a full buffer: it gets the other one. */
void stream_turn(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base);

/* True if its buffer is full. */
bool stream_is_full(const struct code_cache *cache, int64_t area);

/* Adds what an instruction did in another way, while the thread is stopped: after all that it has recorded. */
void stream_add(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base,
		const struct work_done *done, bool is_repeated);

/* Puts an object (data.h) from start to end for all that the thread, which is stopped, and others do from now on. */
void stream_put(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, uint64_t start,
		uint64_t end, uint32_t object);

/* The number of a thread, from 1 on in the order in which they began. */
unsigned stream_number(const struct stream_thread *thread);

/* Adds what has crossed the borders of its caches so far; waits until all that it has recorded is looked at. */
void stream_counts(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base,
		   int64_t counts[STEP_NR_COUNTS]);

/*
 * Banks: what crosses borders is also counted for the bank that the thread counts in. add: there is another one, of
 * that number. switch: the stopped thread goes on in it; translated code tells by itself (SITE_BANK). bank_counts: as
 * stream_counts, of that bank; by_capacity: likewise uses as of reuse_move, where curves are told apart.
 */
void stream_add_bank(struct stream_thread *thread, int64_t bank);
void stream_switch(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, int64_t bank);
void stream_bank_counts(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base, int64_t bank,
			int64_t counts[STEP_NR_COUNTS], int64_t by_capacity[REUSE_NR + 1]);

/* Waits likewise. NULL is allowed. */
void stream_end(struct stream_thread *thread, const struct code_cache *cache, uint64_t fs_base);
