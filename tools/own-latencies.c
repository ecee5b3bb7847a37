/* SPDX-License-Identifier: MIT */
/*
 * Latencies by a way of its own, for tools/compare-latencies.sh: nothing of rot is in it. Prints the time of a
 * cache line from the first CPU allowed to the second (compare-and-swap by turns, the mean of some lines), and of a
 * load from a random line of 128 MiB that waits for the one before (the shortest of some chases), both in ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { TRIPS = 64, BATCHES = 100, SAMPLES = 24, LINES = (128 << 20) / 64, LOADS = 8192, CHASES = 32 };

static _Alignas(4096) char pages[SAMPLES][4096];
static atomic_int *owner;
static int cpus[2], nr_cpus;

static double
now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0) {
		perror("sched_setaffinity");
		exit(2);
	}
}

static void
pass_on(int from, int to)
{
	int expected = from;

	while (!atomic_compare_exchange_strong(owner, &expected, to))
		expected = from;
}

static void *
answer(void *unused)
{
	pin(cpus[1]);
	for (int i = 0; i < TRIPS * BATCHES; i++)
		pass_on(2, 1);
	return unused;
}

/* The lower quartile of batches: others may have disturbed the rest. */
static double
line_ns(int sample)
{
	static double times[BATCHES];
	pthread_t other;

	owner = (atomic_int *)(void *)&pages[sample][sample * 448 % 4096];
	atomic_store(owner, 1);
	if (pthread_create(&other, NULL, answer, NULL) != 0)
		exit(2);
	for (int batch = 0; batch < BATCHES; batch++) {
		const double start = now_ns();

		for (int i = 0; i < TRIPS; i++)
			pass_on(1, 2);
		times[batch] = (now_ns() - start) / (2 * TRIPS);
	}
	pthread_join(other, NULL);
	qsort(times, BATCHES, sizeof(*times), compare);
	return times[BATCHES / 4];
}

/* The shortest of some chases along one cycle through all lines. */
static double
load_ns(void)
{
	const size_t huge = 2 << 20, bytes = (size_t)LINES * 64;
	char *memory = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *buffer = memory + (huge - (uintptr_t)memory % huge);
	uint32_t *order = malloc(LINES * sizeof(*order));
	double best = 1e9;
	void *volatile *at;

	if (memory == MAP_FAILED || !order)
		exit(2);
	madvise(buffer, bytes, MADV_HUGEPAGE);
	srandom(1);
	for (uint32_t i = 0; i < LINES; i++) {
		const uint32_t other = (uint32_t)random() % (i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (uint32_t i = 0; i < LINES; i++)
		*(void **)(buffer + 64UL * order[i]) = buffer + 64UL * order[(i + 1) % LINES];
	at = (void *volatile *)buffer;
	for (int chase = 0; chase < CHASES; chase++) {
		const double start = now_ns();
		double ns;

		for (int i = 0; i < LOADS; i++)
			at = *at;
		ns = (now_ns() - start) / LOADS;
		best = ns < best ? ns : best;
	}
	free(order);
	munmap(memory, bytes + huge);
	return best;
}

int
main(void)
{
	double line = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr_cpus < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nr_cpus++] = cpu;
	if (nr_cpus < 2)
		return fprintf(stderr, "two CPUs are needed\n"), 2;
	pin(cpus[0]);
	for (int i = 0; i < SAMPLES; i++)
		line += line_ns(i) / SAMPLES;
	printf("%.1f %.1f\n", line, load_ns());
	return 0;
}
