/* SPDX-License-Identifier: MIT */
/*
 * Uses of lines on their way to the modelled caches. One thread finds the lines of what was recorded (stream.c),
 * another one goes through the caches with them (modeller), so that both have a processor.
 */
#ifndef CORE_PARENT_TRANSLATE_USES_H
#define CORE_PARENT_TRANSLATE_USES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/step_counts.h"

struct cache_model;

/*
 * Uses in their order. A word is a CACHE_USE; or USES_ACCESS with the bytes and flags of an access of another kind,
 * whose address is the next word; or USES_COUNTS: what lines did since the last of these is added to the counts whose
 * address is the next word. nr_accesses: uses of two words among them
 * residues: lines are sampled from here on (cache_model_sample); 0: as before
 * done: called when they have been used, or NULL; context: its own
 */
#define USES_ROOM 524288
#define USES_ACCESS (UINT64_C(1) << 63)
enum { USES_STORE = 1, USES_STREAMING = 2, USES_EVICT = 4, USES_CLEAN = 8, USES_COUNTS = 16, USES_FLAG_BITS = 5 };
struct uses {
	struct cache_model *model;
	uint64_t residues;
	void (*done)(void *context);
	void *context;
	size_t nr, nr_accesses;
	uint64_t words[USES_ROOM];
};

static inline void
uses_add_access(struct uses *uses, uint64_t address, uint64_t bytes, unsigned flags)
{
	uses->words[uses->nr++] = USES_ACCESS | bytes << USES_FLAG_BITS | flags;
	uses->words[uses->nr++] = address;
	uses->nr_accesses++;
}

static inline void
uses_add_counts(struct uses *uses, uint64_t counts[STEP_NR_COUNTS])
{
	uses_add_access(uses, (uint64_t)(uintptr_t)counts, 0, USES_COUNTS);
}

/* Uses all of these lines, and empties the list. */
void uses_do(struct uses *uses);

/* Starts a thread of rot-core's own, which gets no signals. False: the system permits none. */
bool uses_start_thread(pthread_t *thread, void *(*function)(void *context), void *context);

/* The thread that does it. NULL: the system permits none. */
struct modeller;
struct modeller *modeller_new(void);
void modeller_delete(struct modeller *modeller);

/* take waits for an empty list; put hands that one over. One thread calls both, in turns. Lists are used in order. */
struct uses *modeller_take(struct modeller *modeller);
void modeller_put(struct modeller *modeller);

#endif
