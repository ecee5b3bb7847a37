/* SPDX-License-Identifier: MIT */
/*
 * Pointers from line to line: each line of the buffer begins with the address of the next one, in one cycle through all
 * of them, which is random (Sattolo, "An algorithm to generate a random cyclic permutation", Information Processing
 * Letters 22, 1986).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ChaseData.h"
#include "evicted.h"
#include "kernel.h"
#include "macros/ROT_CHASE_CHAINS.h"
#include "pages.h"
#include "repeat.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define UNROLL 8

struct chase {
	struct chase_data data;
	char *buffer;
	char *places[ROT_CHASE_CHAINS]; /* where each chain is */
};

/* SplitMix64, as that of kernel_fill: the same order in every run. */
static uint64_t
next_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/*
 * The lines, fewer than 2^32, in the order of visits: at first all of them, then those that are visited again. Room for
 * twice nr. Returns how many visits there are.
 */
static uint64_t
order_lines(uint32_t *order, uint64_t nr, const char *kind)
{
	uint64_t state = 1;

	for (uint64_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = nr - 1; strcmp(kind, "ASCENDING") != 0 && i > 0; i--) {
		uint64_t j = (next_bits(&state) >> 32) * i >> 32;
		uint32_t line = order[i];

		order[i] = order[j];
		order[j] = line;
	}
	if (strcmp(kind, "HOT") == 0) {
		order[nr] = order[nr / 2];
		return nr + 1;
	}
	if (strcmp(kind, "ZIGZAG") != 0)
		return nr;
	for (uint64_t i = nr; i < 2 * nr - 2; i++)
		order[i] = order[2 * nr - 2 - i];
	return 2 * nr - 2;
}

/* Any shuffling gives one cycle, since it is that of the visits. A line has a word for each visit. */
static void
link_lines(struct chase *chase, const uint32_t *order, uint64_t nr, uint64_t nr_visits)
{
	const uint64_t distance = (uint64_t)chase->data.distance;

	for (uint64_t i = 0; i < nr_visits; i++) {
		const uint64_t next = i + 1 < nr_visits ? i + 1 : 0;
		char *from = chase->buffer + distance * order[i] + (i >= nr) * sizeof(char *);
		char *to = chase->buffer + distance * order[next] + (next >= nr) * sizeof(char *);
		char *second = from + chase->data.pair_distance;

		*(char **)(void *)from = second;
		*(char **)(void *)second = to;
	}
	for (uint64_t k = 0; k < ROT_CHASE_CHAINS; k++)
		chase->places[k] = chase->buffer + distance * order[k * nr / ROT_CHASE_CHAINS];
}

/* No header of the C library has mbind(2). */
#define BIND 2 /* MPOL_BIND */
#define MOVE 2 /* MPOL_MF_MOVE */
#define MAX_NODES 1024

static int
bind_to_node(char *start, size_t bytes, int node)
{
	const size_t bits = 8 * sizeof(unsigned long);
	unsigned long nodes[MAX_NODES / (8 * sizeof(unsigned long))] = {0};

	if (node < MAX_NODES)
		nodes[(size_t)node / bits] = 1UL << (size_t)node % bits;
	if (syscall(SYS_mbind, start, bytes, BIND, nodes, MAX_NODES, MOVE) == 0)
		return 0;
	return kernel_fail("memory of node %d is not given: %s", node, strerror(errno));
}

/* Links lines of nr pages that drive each other out: one of each page, then the next one of each. */
static int
link_pages(struct chase *chase, uint32_t nr)
{
	struct evicted *evicted = kernel_allocate(1, sizeof(*evicted));
	uint32_t found[CONFLICTS_MOST];
	bool is_found;

	if (!evicted)
		return -1;
	evicted->pool = chase->buffer;
	order_lines(evicted->pages, CONFLICTS_POOL, "RANDOM");
	is_found = evicted_find(evicted, found, nr);
	for (unsigned i = 0; i < EVICTED_LINES * nr && is_found; i++) {
		const unsigned next = (i + 1) % (EVICTED_LINES * nr);

		chase->places[0] = evicted_page(evicted, found[i % nr]) + evicted_offset(i / nr);
		*(char **)(void *)chase->places[0] =
			evicted_page(evicted, found[next % nr]) + evicted_offset(next / nr);
	}
	kernel_free(evicted);
	return is_found ? 0
			: kernel_fail("no pages were found by time that share sets of the second level: others "
				      "disturbed it, or it takes as long as the next");
}

/* Whole huge pages, also for a small buffer: its lines then lie behind each other, and fill all sets of a cache alike.
 */
static int
initialize(void *kernel)
{
	struct chase *chase = kernel;
	uint64_t nr = (uint64_t)chase->data.buffer_size / (uint64_t)chase->data.distance;
	uint64_t bytes = chase->data.is_of_one_set ? CONFLICTS_BYTES : (uint64_t)chase->data.buffer_size;
	size_t mapped = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	uint32_t *order = kernel_allocate(2 * nr, sizeof(*order));
	uint64_t nr_visits;

	chase->buffer = kernel_allocate(mapped, 1);
	if (!chase->buffer || !order) {
		kernel_free(order);
		return -1;
	}
	if (chase->data.node >= 0 && bind_to_node(chase->buffer, mapped, chase->data.node) < 0) {
		kernel_free(order);
		return -1;
	}
	if (!chase->data.huge_pages || chase->data.is_of_one_set)
		madvise(chase->buffer, mapped, MADV_NOHUGEPAGE);
	nr_visits = order_lines(order, nr, chase->data.order);
	if (!chase->data.is_of_one_set)
		link_lines(chase, order, nr, nr_visits);
	else if (link_pages(chase, (uint32_t)nr) < 0) {
		kernel_free(order);
		return -1;
	}
	tell_pages(chase->buffer, bytes);
	kernel_free(order);
	return 0;
}

/* With warm data none: they would be read in order, which takes as long and leaves other lines in the caches than the
 * chase does. */
static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct chase *chase = kernel;

	if (chase->data.base.warm_data || chase->data.is_hidden)
		return 0;
	buffers[0] = (struct kernel_buffer){chase->buffer, (size_t)chase->data.buffer_size};
	return 1;
}

/* More chains than registers: those from the 12th on share the last one, and their places stay in memory. */
#if ROT_CHASE_CHAINS > 12
#define IN_REGISTERS 11
#else
#define IN_REGISTERS 12
#endif
#define CHAIN_0 "%%r8"
#define CHAIN_1 "%%r9"
#define CHAIN_2 "%%r10"
#define CHAIN_3 "%%r11"
#define CHAIN_4 "%%r12"
#define CHAIN_5 "%%r13"
#define CHAIN_6 "%%r14"
#define CHAIN_7 "%%r15"
#define CHAIN_8 "%%rax"
#define CHAIN_9 "%%rcx"
#define CHAIN_10 "%%rdx"
#define CHAIN_11 "%%rsi"
#define CHAIN_12 "%%rsi"
#define CHAIN_13 "%%rsi"
#define CHAIN_14 "%%rsi"
#define CHAIN_15 "%%rsi"
#define CHAIN_16 "%%rsi"
#define CHAIN_17 "%%rsi"
#define CHAIN_18 "%%rsi"
#define CHAIN_19 "%%rsi"
#define CHAIN_20 "%%rsi"
#define CHAIN_21 "%%rsi"
#define CHAIN_22 "%%rsi"
#define CHAIN_23 "%%rsi"
#define CHAIN_CLOBBERS "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rax", "rcx", "rdx", "rsi"

#define IF_PLACE(j, is, text) ".if " #j is REPEAT_TEXT(IN_REGISTERS) "\n" text ".endif\n"
#define LOAD_PLACE(j) "movq 8*" #j "(%[places]), " CHAIN_##j "\n"
#define STORE_PLACE(j) "movq " CHAIN_##j ", 8*" #j "(%[places])\n"
#define BEGIN(j, unused) IF_PLACE(j, " < ", LOAD_PLACE(j))
#define END(j, unused) IF_PLACE(j, " < ", STORE_PLACE(j))
#define FOLLOW(j, unused)                                                                                              \
	IF_PLACE(j, " >= ", LOAD_PLACE(j))                                                                             \
	"movq (" CHAIN_##j "), " CHAIN_##j "\n" IF_PLACE(j, " >= ", STORE_PLACE(j))
#define ROUND(u, unused) REPEAT(ROT_CHASE_CHAINS, FOLLOW, )

static __attribute__((noinline)) void
follow(struct chase *chase, uint64_t turns)
{
	/* clang-format off */
	__asm__ volatile(REPEAT(ROT_CHASE_CHAINS, BEGIN, )
			 ".p2align 6\n"
			 "1:\n"
			 REPEAT_OUTER(UNROLL, ROUND, )
			 "decq %[turns]\n"
			 "jnz 1b\n"
			 REPEAT(ROT_CHASE_CHAINS, END, )
			 : [turns] "+r"(turns)
			 : [places] "r"(chase->places)
			 : CHAIN_CLOBBERS, "cc", "memory");
	/* clang-format on */
}

static void
run(void *kernel)
{
	struct chase *chase = kernel;

	follow(chase, (uint64_t)chase->data.accesses / UNROLL);
}

static void
warm_code(void *kernel)
{
	follow(kernel, 1);
}

/* The chains go on from where this ends: those that begin again where they began would find more than a long cycle
 * leaves in a cache. */
static void
warm_data(void *kernel)
{
	struct chase *chase = kernel;

	follow(chase, (uint64_t)chase->data.warm_accesses / UNROLL / ROT_CHASE_CHAINS + 1);
}

static void
dispose(void *kernel)
{
	struct chase *chase = kernel;

	kernel_free(chase->buffer);
	chase->buffer = NULL;
}

KERNEL(chase, "Chase", .initialize = initialize, .buffers = buffers, .run = run, .warm_code = warm_code,
       .warm_data = warm_data, .dispose = dispose);
