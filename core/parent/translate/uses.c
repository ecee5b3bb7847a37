/* SPDX-License-Identifier: MIT */
/* See uses.h. */
#include "parent/translate/uses.h"

#include <signal.h>
#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

static void
do_access(struct cache_model *model, uint64_t word, uint64_t address)
{
	const uint64_t bytes = (word & ~USES_ACCESS) >> USES_FLAG_BITS;

	if (word & USES_COUNTS)
		cache_model_move_counts(model, (uint64_t *)(uintptr_t)address);
	else if (word & (USES_EVICT | USES_CLEAN))
		cache_model_flush(model, address, word & USES_CLEAN);
	else
		cache_model_access(model, address, (uint32_t)bytes, word & USES_STORE, word & USES_STREAMING);
}

void
uses_do(struct uses *uses)
{
	size_t first = 0;

	if (uses->residues)
		cache_model_sample(uses->model, uses->residues);
	for (size_t i = 0; uses->nr_accesses > 0; uses->nr_accesses--) {
		while (!(uses->words[i] & USES_ACCESS))
			i++;
		cache_model_use_lines(uses->model, uses->words + first, i - first);
		do_access(uses->model, uses->words[i], uses->words[i + 1]);
		first = i += 2;
	}
	cache_model_use_lines(uses->model, uses->words + first, uses->nr - first);
	uses->nr = 0;
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
	uses->nr = 0;
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
