/* SPDX-License-Identifier: MIT */
#include "parent/translate/uses.h"

#include <signal.h>
#include <stdlib.h>

#include "memory.h"
#include "parent/profile/data.h"
#include "parent/stepping/cache_model.h"
#include "parent/translate/misses.h"
#include "parent/translate/process_curves.h"

struct causes *
causes_new(void)
{
	return rot_calloc(1, sizeof(struct causes));
}

void
causes_delete(struct causes *causes)
{
	for (size_t i = 0; causes && i < sizeof(causes->chunks) / sizeof(*causes->chunks); i++)
		free(causes->chunks[i]);
	free(causes);
}

const struct cache_cause *
causes_find(const struct causes *causes, uint32_t site)
{
	const struct cache_cause *chunk = causes->chunks[site / CAUSES_CHUNK];

	return chunk ? &chunk[site % CAUSES_CHUNK] : NULL;
}

/*
 * The last origin that is not behind the use. Misses come one after the other, so it is near the one before; how near
 * cannot be foreseen, so there are no branches that follow from it.
 */
static size_t
find_origin(const struct uses *uses, const uint64_t *use, size_t origin)
{
	const uint32_t at = uses_address(use);
	int nr;

	do {
		nr = 0;
		for (int i = 1; i <= USES_ORIGINS_AT_ONCE; i++)
			nr += (int32_t)(uses->origins[origin + i] - at) <= 0;
		origin += (size_t)nr;
	} while (nr == USES_ORIGINS_AT_ONCE);
	return origin;
}

static struct cache_cause *
find_cause(void *context, const uint64_t *use)
{
	struct uses *uses = context;
	struct cache_cause **chunk;
	uint32_t site;

	uses->origin = find_origin(uses, use, uses->origin);
	site = uses->site = uses->sites[uses->origin];
	chunk = &uses->causes->chunks[site / CAUSES_CHUNK];
	if (!*chunk)
		*chunk = rot_calloc(CAUSES_CHUNK, sizeof(**chunk));
	return &(*chunk)[site % CAUSES_CHUNK];
}

static void
tell_miss(void *context, const struct cache_miss *miss)
{
	const struct uses *uses = context;

	misses_add(uses->misses, uses->site, uses->thread, miss);
}

static void
tell_use(void *context, uint64_t line, unsigned capacity, double weight)
{
	struct uses *uses = context;

	uses->curve_origin = find_origin(uses, uses->at, uses->curve_origin);
	misses_use(uses->misses, uses->sites[uses->curve_origin], uses->thread,
		   line << process_curve_line_shift(uses->curve), capacity, (uint64_t)weight);
}

static void
put_object(uint64_t address)
{
	struct put_object *put = (struct put_object *)(uintptr_t)address;

	data_put(put->data, put->start, put->end, put->object);
	free(put);
}

static void
do_in_model(struct cache_model *model, uint64_t word, uint64_t address)
{
	const uint64_t bytes = (word & ~USES_ACCESS) >> USES_FLAG_BITS;

	if (word & (USES_EVICT | USES_CLEAN))
		cache_model_flush(model, address, word & USES_CLEAN);
	else
		cache_model_access(model, address, (uint32_t)bytes, word & USES_STORE, word & USES_STREAMING);
}

static void
do_access(const struct uses *uses, uint64_t word, uint64_t address)
{
	if (word & USES_COUNTS) {
		struct uses_counts *counts = (struct uses_counts *)(uintptr_t)address;

		cache_model_move_counts(uses->model, counts->counts);
		if (counts->by_capacity)
			process_curve_move(uses->curve, counts->by_capacity);
		return;
	}
	if (word & USES_PUT) {
		put_object(address);
		return;
	}
	if (uses->curve && !(word & (USES_EVICT | USES_CLEAN)))
		process_curve_access(uses->curve, address, (word & ~USES_ACCESS) >> USES_FLAG_BITS, word & USES_STORE,
				     word & USES_STREAMING);
	do_in_model(uses->model, word, address);
	for (struct cache_model *const *model = uses->what_ifs; *model; model++)
		do_in_model(*model, word, address);
}

/* Without accesses of another kind. */
static void
use_lines(struct uses *uses, size_t first, size_t nr)
{
	for (size_t i = first; uses->burst && i < first + nr; i++) {
		if (uses->burst >> (uses->words[i] >> CACHE_NR_ENTRY_BITS) % CACHE_RESIDUES & 1)
			cache_model_use_lines(uses->model, uses->words + i, 1);
	}
	if (!uses->burst)
		cache_model_use_lines(uses->model, uses->words + first, nr);
	for (struct cache_model *const *model = uses->what_ifs; *model; model++)
		cache_model_use_lines(*model, uses->words + first, nr);
	if (uses->curve && !uses->misses)
		process_curve_use(uses->curve, uses->words + first, nr, uses->burst);
	for (size_t i = first; uses->curve && uses->misses && i < first + nr; i++) {
		uses->at = uses->words + i;
		process_curve_use(uses->curve, uses->at, 1, uses->burst);
	}
}

void
uses_do(struct uses *uses)
{
	size_t first = 0;

	if (uses->residues)
		cache_model_sample(uses->model, uses->residues);
	if (uses->residues && uses->curve)
		process_curve_sample(uses->curve);
	if (uses->causes) {
		cache_model_set_causes(uses->model, find_cause, uses);
		if (uses->misses)
			cache_model_tell_misses(uses->model, tell_miss);
		if (uses->misses && uses->curve)
			process_curve_tell(uses->curve, tell_use, uses);
		/* Behind the last one there are some that are behind all uses. */
		for (size_t i = 0; i < USES_ORIGINS_AT_ONCE; i++)
			uses->origins[uses->nr_origins + i] = uses_address(uses->words + USES_ROOM + 1);
		uses->origin = uses->curve_origin = 0;
	}
	for (size_t i = 0; uses->nr_accesses > 0; uses->nr_accesses--) {
		while (!(uses->words[i] & USES_ACCESS))
			i++;
		use_lines(uses, first, i - first);
		cache_model_begin(uses->model, uses->words + i);
		uses->at = uses->words + i;
		do_access(uses, uses->words[i], uses->words[i + 1]);
		first = i += 2;
	}
	use_lines(uses, first, uses->nr - first);
	if (uses->curve && uses->time > 0)
		process_curve_pass(uses->curve, (double)uses->time);
	uses->nr = uses->nr_origins = 0;
	if (uses->done)
		uses->done(uses->context);
}

/* ---- the thread ---- */

#define NR_USES 4

/* ring: those that are handed over, from first on; the others are free, but for one that was taken. */
struct modeller {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t is_new, is_done;
	struct uses ring[NR_USES];
	size_t first, nr;
	bool ends;
};

static void *
work(void *context)
{
	struct modeller *modeller = context;

	pthread_mutex_lock(&modeller->mutex);
	for (;;) {
		struct uses *uses = &modeller->ring[modeller->first];

		while (modeller->nr == 0 && !modeller->ends)
			pthread_cond_wait(&modeller->is_new, &modeller->mutex);
		if (modeller->nr == 0)
			break;
		pthread_mutex_unlock(&modeller->mutex);
		uses_do(uses);
		pthread_mutex_lock(&modeller->mutex);
		modeller->first = (modeller->first + 1) % NR_USES;
		modeller->nr--;
		pthread_cond_signal(&modeller->is_done);
	}
	pthread_mutex_unlock(&modeller->mutex);
	return NULL;
}

bool
uses_start_thread(pthread_t *thread, void *(*function)(void *context), void *context)
{
	sigset_t all, before;
	bool is_there;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_there = pthread_create(thread, NULL, function, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_there;
}

struct modeller *
modeller_new(void)
{
	struct modeller *modeller = rot_calloc(1, sizeof(*modeller));

	pthread_mutex_init(&modeller->mutex, NULL);
	pthread_cond_init(&modeller->is_new, NULL);
	pthread_cond_init(&modeller->is_done, NULL);
	if (uses_start_thread(&modeller->thread, work, modeller))
		return modeller;
	free(modeller);
	return NULL;
}

void
modeller_delete(struct modeller *modeller)
{
	if (!modeller)
		return;
	pthread_mutex_lock(&modeller->mutex);
	modeller->ends = true;
	pthread_cond_signal(&modeller->is_new);
	pthread_mutex_unlock(&modeller->mutex);
	pthread_join(modeller->thread, NULL);
	pthread_mutex_destroy(&modeller->mutex);
	pthread_cond_destroy(&modeller->is_new);
	pthread_cond_destroy(&modeller->is_done);
	free(modeller);
}

struct uses *
modeller_take(struct modeller *modeller)
{
	struct uses *uses;

	pthread_mutex_lock(&modeller->mutex);
	while (modeller->nr == NR_USES)
		pthread_cond_wait(&modeller->is_done, &modeller->mutex);
	uses = &modeller->ring[(modeller->first + modeller->nr) % NR_USES];
	pthread_mutex_unlock(&modeller->mutex);
	uses->nr = uses->nr_origins = 0;
	uses->done = NULL;
	return uses;
}

void
modeller_put(struct modeller *modeller)
{
	pthread_mutex_lock(&modeller->mutex);
	modeller->nr++;
	pthread_cond_signal(&modeller->is_new);
	pthread_mutex_unlock(&modeller->mutex);
}
