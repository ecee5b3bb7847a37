/* SPDX-License-Identifier: MIT */
/*
 * Uses of lines on their way to the modelled caches. One thread finds the lines of what was recorded (stream.c),
 * another one goes through the caches with them (modeller), so that both have a processor.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/step_counts.h"

struct cache_model;
struct cache_cause;
struct data;
struct misses;
struct process_curve;

/*
 * Lines that crossed borders for each site of recording.h; CAUSES_OTHER: for what is of no site. Sites that never
 * missed anything take no memory.
 */
#define CAUSES_CHUNK 4096
#define CAUSES_OTHER (UINT32_C(1) << 20)
struct causes {
	struct cache_cause *chunks[CAUSES_OTHER / CAUSES_CHUNK + 1];
};

struct causes *causes_new(void);

/* NULL is allowed. */
void causes_delete(struct causes *causes);

/* NULL: there was nothing. */
const struct cache_cause *causes_find(const struct causes *causes, uint32_t site);

/*
 * Uses in their order. A word is a CACHE_USE; or USES_ACCESS with the bytes and flags of an access of another kind,
 * whose address is the next word; or USES_COUNTS: what lines did since the last of these is added to the struct
 * uses_counts whose address is the next word; or USES_PUT: there is another object from here on (struct put_object,
 * which is freed).
 * nr_accesses: uses of two words among them
 * what_ifs: models that uses go through as well, up to a NULL; none if lines are sampled
 * curve: likewise; NULL: none is asked for
 * burst: residues of the lines that are sampled, though all are among uses, for curves alone; 0: there is no burst
 * time: that passes for the curve with them
 * residues: lines are sampled from here on (cache_model_sample); 0: as before
 * done: called when they have been used, or NULL; context: its own
 * misses: that are told apart by code, object and thread; NULL: they are not asked for
 * causes: NULL: sites are not told apart; else origins, in the order of the uses, say of which site they are
 * origins, sites: from the use at this address on (its low 32 bits) uses are of that site
 * origin, curve_origin: the one that was found last, for the model and for the curve
 * at: the use that the curve looks at
 */
#define USES_ROOM 524288
#define USES_ORIGINS_AT_ONCE 16
#define USES_ORIGINS_ROOM (USES_ROOM + 2 * USES_ORIGINS_AT_ONCE)
#define USES_ACCESS (UINT64_C(1) << 63)
enum {
	USES_STORE = 1,
	USES_STREAMING = 2,
	USES_EVICT = 4,
	USES_CLEAN = 8,
	USES_COUNTS = 16,
	USES_PUT = 32,
	USES_FLAG_BITS = 6
};

/* The arguments of data_put. */
struct put_object {
	struct data *data;
	uint64_t start, end;
	uint32_t object;
};

/* Lines of modelled caches, and where curves are told apart uses as of reuse_move; else NULL. */
struct uses_counts {
	uint64_t counts[STEP_NR_COUNTS];
	double *by_capacity;
};

struct uses {
	struct cache_model *model, *const *what_ifs;
	struct misses *misses;
	uint32_t thread, site; /* of misses; site: of the use that missed last */
	struct process_curve *curve;
	uint64_t burst, residues, time;
	void (*done)(void *context);
	void *context;
	struct causes *causes;
	size_t nr_origins, origin, curve_origin;
	const uint64_t *at;
	size_t nr, nr_accesses;
	uint64_t words[USES_ROOM];
	uint32_t origins[USES_ORIGINS_ROOM], sites[USES_ORIGINS_ROOM];
};

static inline uint32_t
uses_address(const uint64_t *use)
{
	return (uint32_t)(uintptr_t)use;
}

/* Where the next origin goes: of those that are kept, each has a use, so that there is room. */
static inline uint32_t *
uses_next_origin(struct uses *uses)
{
	const uint32_t at = uses_address(uses->words + uses->nr);

	uses->nr_origins -= uses->nr_origins > 0 && uses->origins[uses->nr_origins - 1] == at;
	return &uses->origins[uses->nr_origins];
}

/* At such a place; what is added next is of that site. */
static inline uint32_t *
uses_put_origin(uint32_t *origin, const uint64_t *next_use, uint32_t site)
{
	origin[0] = uses_address(next_use);
	origin[USES_ORIGINS_ROOM] = site;
	return origin + 1;
}

static inline void
uses_set_origin(struct uses *uses, uint32_t site)
{
	uses->nr_origins =
		(size_t)(uses_put_origin(uses_next_origin(uses), uses->words + uses->nr, site) - uses->origins);
}

static inline void
uses_add_access(struct uses *uses, uint64_t address, uint64_t bytes, unsigned flags)
{
	uses->words[uses->nr++] = USES_ACCESS | bytes << USES_FLAG_BITS | flags;
	uses->words[uses->nr++] = address;
	uses->nr_accesses++;
}

static inline void
uses_add_counts(struct uses *uses, struct uses_counts *counts)
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
