/* SPDX-License-Identifier: MIT */
/* A producer and a consumer, which wait for each other. */
#include <stdatomic.h>
#include <stdint.h>

#include "HandoverData.h"
#include "kernel.h"

#define MOST_WORDS ((size_t)64 << 17) /* 64 MiB */
#define PATIENCE 1000000000           /* turns of waiting: many seconds; the other thread may have failed */

struct handover {
	struct handover_data data;
	unsigned side; /* 0 writes */
};

/* It is at side 0 while even. What the threads look at has lines of its own. */
static _Alignas(128) atomic_uint ball;
static _Alignas(128) atomic_uint nr_threads;
static _Alignas(128) uint64_t block[MOST_WORDS];

static int
initialize(void *kernel)
{
	struct handover *handover = kernel;

	handover->side = atomic_fetch_add(&nr_threads, 1) % 2;
	return 0;
}

static void
await(unsigned side)
{
	for (long i = 0; i < PATIENCE && atomic_load_explicit(&ball, memory_order_acquire) % 2 != side; i++)
		__builtin_ia32_pause();
}

static void
write_block(size_t nr_words, uint64_t value)
{
	for (size_t i = 0; i < nr_words; i++)
		block[i] = value + i;
}

static void
read_block(size_t nr_words)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr_words; i++)
		sum += block[i];
	__asm__ volatile("" : : "r"(sum));
}

static void
run(void *kernel)
{
	const struct handover *handover = kernel;
	const size_t nr_words = (size_t)handover->data.buffer_size / sizeof(*block);

	for (int64_t turn = 0; turn < handover->data.turns; turn++) {
		await(handover->side);
		if (handover->side == 0)
			write_block(nr_words, (uint64_t)turn + 1);
		else
			read_block(nr_words);
		atomic_fetch_add_explicit(&ball, 1, memory_order_release);
	}
}

KERNEL(handover, "Handover", .initialize = initialize, .run = run);
