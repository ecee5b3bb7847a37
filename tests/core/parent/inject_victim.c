/* SPDX-License-Identifier: MIT */
/*
 * inject_victim FD NAME...: threads that compute checksums or wait in system calls, over and over, and compare what
 * they get with what they should. FD: a struct victim_shared. Each NAME is a situation: one of the tables below.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject_loops.h"
#include "inject_waits.h"

static struct victim_shared *shared;

/* ---- computing ---- */

#define NR_TURNS 20000

static const struct sum {
	const char *name;
	uint64_t (*compute)(uint64_t nr);
	enum victim_level level;
} sums[] = {
	{"integers", sum_integers, LEVEL_SSE}, {"red_zone", sum_red_zone, LEVEL_SSE},   {"sse", sum_sse, LEVEL_SSE},
	{"avx", sum_avx, LEVEL_AVX},           {"avx512", sum_avx512, LEVEL_AVX512},    {"x87", sum_x87, LEVEL_SSE},
	{"rounding", sum_rounding, LEVEL_SSE}, {"backwards", sum_backwards, LEVEL_SSE},
};

static enum victim_level
level_of_processor(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
		return LEVEL_AVX512;
	return __builtin_cpu_supports("avx2") ? LEVEL_AVX : LEVEL_SSE;
}

static void
judge(struct victim_slot *slot, bool is_right, uint64_t value)
{
	slot->nr_rounds++;
	if (is_right)
		return;
	slot->nr_wrong++;
	slot->wrong_value = value;
}

/* ---- restartable sequences ---- */

#define MAX_CPUS 1024
#define RSEQ_TURNS 2000

static uint64_t counters[MAX_CPUS];

/* Where the C library has registered it, since glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static bool
has_rseq(void)
{
	return &__rseq_size && __rseq_size > 0;
}

static void *
rseq_area(void)
{
	return (char *)__builtin_thread_pointer() + __rseq_offset;
}

/* Counts on each CPU; so do the functions that run here. */
static void
count_per_cpu(struct victim_slot *slot, void *rseq)
{
	uint64_t sum = 0;

	while (!shared->is_stopping) {
		rseq_add(counters, rseq, RSEQ_TURNS);
		slot->nr_rounds++;
	}
	for (size_t i = 0; i < MAX_CPUS; i++)
		sum += counters[i];
	if (sum != slot->nr_rounds + slot->nr_ran) {
		slot->wrong_value = sum;
		slot->nr_wrong = slot->nr_rounds + slot->nr_ran - sum;
	}
}

/* ---- threads ---- */

struct work {
	struct victim_slot *slot;
	const struct sum *sum;
	const struct wait *wait;
};

static void *
be_slot(void *context)
{
	struct work *work = context;
	struct victim_slot *slot = work->slot;
	void *rseq = work->sum || work->wait ? NULL : rseq_area();
	uint64_t expected = work->sum ? work->sum->compute(NR_TURNS) : 0;

	slot->self = (uint64_t)pthread_self();
	slot->rseq = (uint64_t)rseq;
	slot->tid = gettid();
	shared->is_ready++;
	while (work->sum && !shared->is_stopping) {
		uint64_t value = work->sum->compute(NR_TURNS);

		judge(slot, value == expected, value);
	}
	while (work->wait && !shared->is_stopping) {
		errno = 0;
		judge(slot, work->wait->wait(), (uint64_t)errno);
	}
	if (rseq)
		count_per_cpu(slot, rseq);
	slot->tid = 0;
	return NULL;
}

/* Until the thread that waits has ended, so that it does not wait for ever. */
static void *
be_waker(void *context)
{
	struct work *work = context;

	while (work->slot->tid == 0)
		usleep(100);
	while (work->slot->tid != 0) {
		usleep(150);
		work->wait->wake(work->slot->tid);
	}
	return NULL;
}

static const struct sum *
find_sum(const char *name)
{
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		if (strcmp(sums[i].name, name) == 0)
			return &sums[i];
	}
	return NULL;
}

/* Situations that the processor or the C library has not are left out. */
static void
start(const char *name, pthread_t *threads, int *nr_threads)
{
	struct work *work = calloc(1, sizeof(*work));

	work->sum = find_sum(name);
	work->wait = waits_find(name);
	if (!work->sum && !work->wait && strcmp(name, "rseq") != 0) {
		fprintf(stderr, "inject_victim: there is no situation '%s'\n", name);
		exit(2);
	}
	if ((work->sum && work->sum->level > level_of_processor()) || (!work->sum && !work->wait && !has_rseq())) {
		free(work);
		return;
	}
	work->slot = &shared->slots[shared->nr_slots++];
	work->slot->level = level_of_processor();
	snprintf(work->slot->name, sizeof(work->slot->name), "%s", name);
	pthread_create(&threads[(*nr_threads)++], NULL, be_slot, work);
	if (work->wait && work->wait->wake)
		pthread_create(&threads[(*nr_threads)++], NULL, be_waker, work);
}

int
main(int argc, char **argv)
{
	pthread_t threads[2 * VICTIM_MAX_SLOTS];
	int nr_threads = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
	if (shared == MAP_FAILED || waits_open(&shared->semaphores) < 0)
		return 1;
	raise(SIGURG); /* now there is one thread; ignored */
	shared->trampoline = (uint64_t)victim_trampoline;
	shared->clobber = (uint64_t)victim_clobber;
	shared->clobber_bytes = (uint64_t)(victim_clobber_end - (const char *)victim_clobber);
	shared->conflict = (uint64_t)victim_conflict;
	shared->fault = (uint64_t)victim_fault;
	shared->slots_address = (uint64_t)shared->slots;
	shared->counters_address = (uint64_t)counters;
	for (int i = 2; i < argc && shared->nr_slots < VICTIM_MAX_SLOTS; i++)
		start(argv[i], threads, &nr_threads);
	while (shared->is_ready < shared->nr_slots)
		usleep(1000);
	shared->is_ready = -1;
	while (!shared->is_stopping && !shared->wants_exec)
		usleep(1000);
	if (shared->wants_exec)
		execl("/bin/true", "true", NULL);
	for (int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
