/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores, copies or combines parts of a buffer with a fixed sequence of instructions: the loops are written in
 * assembly, since compilers merge, exchange or drop loops whose result nobody needs.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "MemoryData.h"
#include "kernel.h"
#include "macros/ROT_MEMORY_INSTRUCTION_SET.h"
#include "macros/ROT_MEMORY_OPERATION.h"
#include "macros/ROT_MEMORY_PREFETCH_DISTANCE.h"
#include "macros/ROT_MEMORY_PREFETCH_HINT.h"
#include "macros/ROT_MEMORY_STREAMS.h"
#include "macros/ROT_MEMORY_UNROLL.h"
#include "pages.h"
#include "repeat.h"

/*
 * A walk. The parts of the buffer (destination, first and second source) begin distance bytes apart; streams
 * stretches of stride bytes of each are walked side by side, turns blocks each, and then rest accesses one by one.
 */
struct walk {
	char *start;
	uint64_t distance, stride, turns, rest;
	uint64_t value[8], one[8]; /* what is stored or multiplied by, and what it changes by */
};

struct memory {
	struct memory_data data;
	char *buffer;
	size_t part_bytes;
	struct walk walk;
};

#define LINE 64

#include "accesses.h"

#if ROT_MEMORY_PREFETCH_HINT__NTA
#define PREFETCH_INSTRUCTION "prefetchnta "
#elif ROT_MEMORY_PREFETCH_HINT__T2
#define PREFETCH_INSTRUCTION "prefetcht2 "
#elif ROT_MEMORY_PREFETCH_HINT__T1
#define PREFETCH_INSTRUCTION "prefetcht1 "
#else
#define PREFETCH_INSTRUCTION "prefetcht0 "
#endif

/* Registers of the streams' pointers, or of the chains' states. */
#define STREAM_0 "%%r8"
#define STREAM_1 "%%r9"
#define STREAM_2 "%%r10"
#define STREAM_3 "%%r11"
#define STREAM_4 "%%r12"
#define STREAM_5 "%%r13"
#define STREAM_6 "%%r14"
#define STREAM_7 "%%r15"
#define LAST_1 STREAM_0
#define LAST_2 STREAM_1
#define LAST_3 STREAM_2
#define LAST_4 STREAM_3
#define LAST_5 STREAM_4
#define LAST_6 STREAM_5
#define LAST_7 STREAM_6
#define LAST_8 STREAM_7
#define STREAM_CLOBBERS "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"

/*
 * From one part to the next: not a multiple of 4096, since a load that has the lower twelve bits of a recent store
 * waits for it, nor of any other power of two that would put all parts into the same sets of a cache.
 */
static size_t
distance_of(size_t part_bytes)
{
	const size_t page = 4096, offset = page / NR_PARTS / LINE * LINE;

	return NR_PARTS == 1 ? 0 : part_bytes + (page + offset - part_bytes % page) % page;
}

static int
initialize(void *kernel)
{
	struct memory *memory = kernel;
	const size_t huge = (size_t)2 << 20;
	size_t bytes, distance;

	memory->part_bytes = (size_t)memory->data.buffer_size / NR_PARTS;
	distance = distance_of(memory->part_bytes);
	bytes = distance * (NR_PARTS - 1) + memory->part_bytes;
	if (bytes < huge)
		bytes = huge;
	memory->buffer = kernel_allocate(bytes, 1);
	if (!memory->buffer)
		return -1;
	if (!memory->data.huge_pages)
		madvise(memory->buffer, bytes, MADV_NOHUGEPAGE);
	memory->walk = (struct walk){.start = memory->buffer, .distance = distance};
	for (int i = 0; i < 8; i++) {
		memory->walk.value[i] = 0x3ff123456789abcd;
		memory->walk.one[i] = 1;
	}
	for (size_t i = 0; i < NR_PARTS; i++)
		kernel_fill((double *)(void *)(memory->buffer + i * distance), memory->part_bytes / sizeof(double),
			    (unsigned)i + 1);
	tell_pages(memory->buffer, (NR_PARTS - 1) * distance + memory->part_bytes);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct memory *memory = kernel;

	for (size_t i = 0; i < NR_PARTS; i++)
		buffers[i] = (struct kernel_buffer){memory->buffer + i * memory->walk.distance, memory->part_bytes};
	return NR_PARTS;
}

#if ROT_MEMORY_OPERATION__RANDOM_READ || ROT_MEMORY_OPERATION__RANDOM_LOAD

/*
 * A step of a chain: state = a * state + c (a: Knuth, MMIX); its upper half, scaled to the number of lines, chooses the
 * line. RANDOM_READ: the value read goes into the state, so that the next step must wait for it.
 */
#if ROT_MEMORY_OPERATION__RANDOM_READ
#define TAKE(state) "xorq (%[buffer],%%rax), " state "\n"
#else
#define TAKE(state) "movq (%[buffer],%%rax), %%rax\n"
#endif
#define STEP(state)                                                                                                    \
	"imulq %[a], " state "\n"                                                                                      \
	"addq $1442695041, " state "\n"                                                                                \
	"movq " state ", %%rax\n"                                                                                      \
	"shrq $32, %%rax\n"                                                                                            \
	"imulq %[lines], %%rax\n"                                                                                      \
	"shrq $32, %%rax\n"                                                                                            \
	"shlq $6, %%rax\n" TAKE(state)
#define CHAIN_LOAD(j, unused) "movq 8*" #j "(%[states]), " STREAM_##j "\n"
#define CHAIN_STORE(j, unused) "movq " STREAM_##j ", 8*" #j "(%[states])\n"
#define CHAIN_STEP(j, unused) STEP(STREAM_##j)
#define ROUND(u, unused) REPEAT(ROT_MEMORY_STREAMS, CHAIN_STEP, )

static __attribute__((noinline)) void
run_loop(char *buffer, uint64_t lines, uint64_t reads)
{
	uint64_t states[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	const uint64_t a = 6364136223846793005u;
	uint64_t turns = reads / (ROT_MEMORY_STREAMS * ROT_MEMORY_UNROLL);
	uint64_t rest = reads % (ROT_MEMORY_STREAMS * ROT_MEMORY_UNROLL);

	if (turns > 0)
		/* clang-format off */
		__asm__ volatile(REPEAT(ROT_MEMORY_STREAMS, CHAIN_LOAD, )
				 ".p2align 6\n"
				 "1:\n"
				 REPEAT_OUTER(ROT_MEMORY_UNROLL, ROUND, )
				 "decq %[turns]\n"
				 "jnz 1b\n"
				 REPEAT(ROT_MEMORY_STREAMS, CHAIN_STORE, )
				 : [turns] "+c"(turns)
				 : [buffer] "S"(buffer), [lines] "D"(lines), [a] "d"(a), [states] "b"(states)
				 : "rax", STREAM_CLOBBERS, "cc", "memory");
	/* clang-format on */
	for (; rest > 0; rest--)
		__asm__ volatile(STEP("%[state]")
				 : [state] "+r"(states[0])
				 : [buffer] "r"(buffer), [lines] "r"(lines), [a] "r"(a)
				 : "rax", "cc", "memory");
}

static void
walk(struct memory *memory, uint64_t iterations)
{
	uint64_t lines = (uint64_t)memory->data.buffer_size / LINE;

	run_loop(memory->buffer, lines, lines * iterations);
}

#else

#define AT(j, u) #u "*" REPEAT_TEXT(WIDTH) "(" STREAM_##j ")"
#define AT_FIRST(j, u) #u "*" REPEAT_TEXT(WIDTH) "(" STREAM_##j ",%%rdx)"
#define AT_SECOND(j, u) #u "*" REPEAT_TEXT(WIDTH) "(" STREAM_##j ",%%rdx,2)"
#define AHEAD(address) PREFETCH_INSTRUCTION REPEAT_TEXT(ROT_MEMORY_PREFETCH_DISTANCE) "+" address "\n"
/* Once a line: decided by the assembler, which can compute where the access lies in its line. */
#if ROT_MEMORY_PREFETCH_DISTANCE > 0
#define PREFETCH(j, u)                                                                                                 \
	".ifeq (" #u                                                                                                   \
	"*" REPEAT_TEXT(WIDTH) ") & 63\n" PREFETCH_OF(AHEAD, AT(j, u), AT_FIRST(j, u), AT_SECOND(j, u)) ".endif\n"
#else
#define PREFETCH(j, u)
#endif
#define STREAM_START(j, unused) "movq %%rcx, " STREAM_##j "\naddq %%rax, %%rcx\n"
#define STREAM_ACCESS(j, u) PREFETCH(j, u) ACCESS(AT(j, u), AT_FIRST(j, u), AT_SECOND(j, u))
#define STREAM_ADVANCE(j, unused) "addq %[block], " STREAM_##j "\n"
#define ROUND(u, unused) REPEAT(ROT_MEMORY_STREAMS, STREAM_ACCESS, u)

/* Each stream walks turns blocks of BLOCK bytes; what is left of the part follows access by access. */
#define BLOCK (WIDTH * ROT_MEMORY_UNROLL)

/*
 * Passes, one after the other without leaving the loop: a pass over the L1 cache takes 200 cycles. What begins a pass
 * is kept in vector registers, since loads of it would take the place of those measured.
 */
static __attribute__((noinline)) void
run_loop(struct walk *walk, uint64_t passes)
{
	/* clang-format off */
	__asm__ volatile(GET_V("%c[value](%[walk])", "%c[one](%[walk])")
			 "movq %c[distance](%[walk]), %%rdx\n"
			 KEEP " %c[start](%[walk]), %%xmm3\n"
			 KEEP " %c[stride](%[walk]), %%xmm4\n"
			 KEEP " %c[turns](%[walk]), %%xmm5\n"
			 KEEP " %c[rest](%[walk]), %%xmm6\n"
			 "2:\n"
			 KEEP " %%xmm3, %%rcx\n"
			 KEEP " %%xmm4, %%rax\n"
			 REPEAT(ROT_MEMORY_STREAMS, STREAM_START, )
			 KEEP " %%xmm5, %%rcx\n"
			 "testq %%rcx, %%rcx\n"
			 "jz 3f\n"
			 ".p2align 6\n"
			 "1:\n"
			 REPEAT_OUTER(ROT_MEMORY_UNROLL, ROUND, )
			 CHANGES
			 REPEAT(ROT_MEMORY_STREAMS, STREAM_ADVANCE, )
			 "decq %%rcx\n"
			 "jnz 1b\n"
			 /* The last stream ends where the rest begins. */
			 "3:\n"
			 "movq " REPEAT_JOIN(LAST_, ROT_MEMORY_STREAMS) ", %%r8\n"
			 KEEP " %%xmm6, %%rcx\n"
			 "testq %%rcx, %%rcx\n"
			 "jz 5f\n"
			 "4:\n"
			 ACCESS("(%%r8)", "(%%r8,%%rdx)", "(%%r8,%%rdx,2)")
			 CHANGES
			 "addq $" REPEAT_TEXT(WIDTH) ", %%r8\n"
			 "decq %%rcx\n"
			 "jnz 4b\n"
			 "5:\n"
			 "decq %[passes]\n"
			 "jnz 2b\n"
			 KEEP_V("%c[value](%[walk])")
			 : [passes] "+D"(passes)
			 : [walk] "S"(walk), [block] "i"(BLOCK), [start] "i"(offsetof(struct walk, start)),
			   [distance] "i"(offsetof(struct walk, distance)), [stride] "i"(offsetof(struct walk, stride)),
			   [turns] "i"(offsetof(struct walk, turns)), [rest] "i"(offsetof(struct walk, rest)),
			   [value] "i"(offsetof(struct walk, value)), [one] "i"(offsetof(struct walk, one))
			 : "rax", "rbx", "rcx", "rdx", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", STREAM_CLOBBERS, "cc", "memory");
	/* clang-format on */
}

/*
 * For parts that are one turn of the loop above, if that is short: nothing is between passes, and several are in a
 * turn, since each takes a few cycles only. (On some hosts a Zen 5 loads two registers of 64 bytes in each cycle only
 * as long as they come from about a dozen lines.)
 */
#define HAS_SMALL (ROT_MEMORY_STREAMS * BLOCK * NR_PARTS <= 1024)
#define TOGETHER 4
#if HAS_SMALL
static __attribute__((noinline)) void
run_small(struct walk *walk, uint64_t turns)
{
	/* clang-format off */
	__asm__ volatile(GET_V("%c[value](%[walk])", "%c[one](%[walk])")
			 "movq %c[distance](%[walk]), %%rdx\n"
			 "movq %c[start](%[walk]), %%rcx\n"
			 "movq %c[stride](%[walk]), %%rax\n"
			 REPEAT(ROT_MEMORY_STREAMS, STREAM_START, )
			 ".p2align 6\n"
			 "1:\n"
			 ".rept " REPEAT_TEXT(TOGETHER) "\n"
			 REPEAT_OUTER(ROT_MEMORY_UNROLL, ROUND, )
			 CHANGES
			 ".endr\n"
			 "decq %[turns]\n"
			 "jnz 1b\n"
			 KEEP_V("%c[value](%[walk])")
			 : [turns] "+D"(turns)
			 : [walk] "S"(walk), [start] "i"(offsetof(struct walk, start)),
			   [distance] "i"(offsetof(struct walk, distance)), [stride] "i"(offsetof(struct walk, stride)),
			   [value] "i"(offsetof(struct walk, value)), [one] "i"(offsetof(struct walk, one))
			 : "rax", "rbx", "rcx", "rdx", "xmm0", "xmm1", "xmm2", STREAM_CLOBBERS, "cc", "memory");
	/* clang-format on */
}

#endif

static void
walk(struct memory *memory, uint64_t iterations)
{
	uint64_t bytes = memory->part_bytes, turns = bytes / (ROT_MEMORY_STREAMS * BLOCK);

	memory->walk.turns = turns;
	memory->walk.stride = turns * BLOCK;
	memory->walk.rest = (bytes - turns * BLOCK * ROT_MEMORY_STREAMS) / WIDTH;
#if HAS_SMALL
	if (turns == 1 && memory->walk.rest == 0 && iterations >= TOGETHER) {
		run_small(&memory->walk, iterations / TOGETHER);
		iterations %= TOGETHER;
	}
#endif
	if (iterations > 0)
		run_loop(&memory->walk, iterations);
#if ROT_MEMORY_OPERATION__WRITE_NT || ROT_MEMORY_OPERATION__COPY_NT || ROT_MEMORY_OPERATION__TRIAD_NT
	__asm__ volatile("sfence" ::: "memory");
#endif
}

#endif

static void
run(void *kernel)
{
	struct memory *memory = kernel;

	walk(memory, (uint64_t)memory->data.iterations);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/*
 * Passes until they no longer become faster: a last level that takes victims (Zen) is warm only after a dozen of them.
 * At most a second.
 */
static void
warm_data(void *kernel)
{
	struct memory *memory = kernel;
	const uint64_t passes = 1 + ((uint64_t)1 << 20) / (uint64_t)memory->data.buffer_size;
	double begin = seconds(), before = begin, best = 1e9;

	for (int nr_slower = 0; nr_slower < 4 && before - begin < 1;) {
		double now, time;

		walk(memory, passes);
		now = seconds();
		time = now - before;
		before = now;
		nr_slower = time < 0.98 * best ? 0 : nr_slower + 1;
		if (time < best)
			best = time;
	}
}

static void
dispose(void *kernel)
{
	struct memory *memory = kernel;

	kernel_free(memory->buffer);
	memory->buffer = NULL;
}

KERNEL(memory, "Memory", .initialize = initialize, .buffers = buffers, .run = run, .warm_data = warm_data,
       .dispose = dispose);
