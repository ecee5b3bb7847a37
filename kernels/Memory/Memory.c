/* SPDX-License-Identifier: MIT */
/*
 * Reads or writes a buffer with a fixed sequence of instructions: the loops are written in assembly, since compilers
 * merge, exchange or drop loops whose result nobody needs.
 */
#include <stdint.h>

#include "MemoryData.h"
#include "kernel.h"
#include "macros/ROT_MEMORY_INSTRUCTION_SET.h"
#include "macros/ROT_MEMORY_OPERATION.h"
#include "macros/ROT_MEMORY_PREFETCH_DISTANCE.h"
#include "macros/ROT_MEMORY_PREFETCH_HINT.h"
#include "macros/ROT_MEMORY_STREAMS.h"
#include "macros/ROT_MEMORY_UNROLL.h"
#include "repeat.h"

struct memory {
	struct memory_data data;
	char *buffer;
};

#define LINE 64

/* WIDTH: bytes of an access. SET loads the register with what is stored, LOAD and STORE are the accesses measured. */
#if ROT_MEMORY_INSTRUCTION_SET__AVX512
#define WIDTH 64
#define SET(from) "vmovups " from ", %%zmm0\n"
#define LOAD(from) "vmovaps " from ", %%zmm0\n"
#define STORE(to) "vmovaps %%zmm0, " to "\n"
#define STORE_NT(to) "vmovntps %%zmm0, " to "\n"
#define LEAVE "vzeroupper\n"
#elif ROT_MEMORY_INSTRUCTION_SET__AVX2
#define WIDTH 32
#define SET(from) "vmovups " from ", %%ymm0\n"
#define LOAD(from) "vmovaps " from ", %%ymm0\n"
#define STORE(to) "vmovaps %%ymm0, " to "\n"
#define STORE_NT(to) "vmovntps %%ymm0, " to "\n"
#define LEAVE "vzeroupper\n"
#elif ROT_MEMORY_INSTRUCTION_SET__SSE
#define WIDTH 16
#define SET(from) "movups " from ", %%xmm0\n"
#define LOAD(from) "movaps " from ", %%xmm0\n"
#define STORE(to) "movaps %%xmm0, " to "\n"
#define STORE_NT(to) "movntps %%xmm0, " to "\n"
#define LEAVE ""
#else
#define WIDTH 8
#define SET(from) "movq " from ", %%rax\n"
#define LOAD(from) "movq " from ", %%rax\n"
#define STORE(to) "movq %%rax, " to "\n"
#define STORE_NT(to) "movnti %%rax, " to "\n"
#define LEAVE ""
#endif

#if ROT_MEMORY_OPERATION__WRITE
#define ACCESS STORE
#define SET_ACCESS SET
#elif ROT_MEMORY_OPERATION__WRITE_NT
#define ACCESS STORE_NT
#define SET_ACCESS SET
#else
#define ACCESS LOAD
#define SET_ACCESS(from) ""
#endif

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
#define STREAM_CLOBBERS "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"

static int
initialize(void *kernel)
{
	struct memory *memory = kernel;
	size_t bytes = (size_t)memory->data.buffer_size;

	memory->buffer = kernel_allocate(bytes, 1);
	if (!memory->buffer)
		return -1;
	kernel_fill((double *)(void *)memory->buffer, bytes / sizeof(double), 1);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct memory *memory = kernel;

	buffers[0] = (struct kernel_buffer){memory->buffer, (size_t)memory->data.buffer_size};
	return 1;
}

#if ROT_MEMORY_OPERATION__RANDOM_READ

/*
 * A step of a chain: state = a * state + c (a: Knuth, MMIX); its upper half, scaled to the number of lines, chooses the
 * line; the value read goes into the state, so that the next step must wait for it.
 */
#define STEP(state)                                                                                                    \
	"imulq %[a], " state "\n"                                                                                      \
	"addq $1442695041, " state "\n"                                                                                \
	"movq " state ", %%rax\n"                                                                                      \
	"shrq $32, %%rax\n"                                                                                            \
	"imulq %[lines], %%rax\n"                                                                                      \
	"shrq $32, %%rax\n"                                                                                            \
	"shlq $6, %%rax\n"                                                                                             \
	"xorq (%[buffer],%%rax), " state "\n"
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
#define AHEAD(j, u) REPEAT_TEXT(ROT_MEMORY_PREFETCH_DISTANCE) "+" AT(j, u)
/* Once a line: decided by the assembler, which can compute where the access lies in its line. */
#if ROT_MEMORY_PREFETCH_DISTANCE > 0
#define PREFETCH(j, u) ".ifeq (" #u "*" REPEAT_TEXT(WIDTH) ") & 63\n" PREFETCH_INSTRUCTION AHEAD(j, u) "\n.endif\n"
#else
#define PREFETCH(j, u)
#endif
#define STREAM_START(j, unused) "movq %%rcx, " STREAM_##j "\naddq %[stride], %%rcx\n"
#define STREAM_ACCESS(j, u) PREFETCH(j, u) ACCESS(AT(j, u))
#define STREAM_ADVANCE(j, unused) "addq %[block], " STREAM_##j "\n"
#define ROUND(u, unused) REPEAT(ROT_MEMORY_STREAMS, STREAM_ACCESS, u)

/* Each stream walks turns blocks of BLOCK bytes; what is left of the buffer follows access by access. */
#define BLOCK (WIDTH * ROT_MEMORY_UNROLL)

static const uint64_t stored[8] = {
	0x3ff123456789abcd, 0x3ff123456789abcd, 0x3ff123456789abcd, 0x3ff123456789abcd,
	0x3ff123456789abcd, 0x3ff123456789abcd, 0x3ff123456789abcd, 0x3ff123456789abcd,
};

/* Passes over the streams, one after the other without leaving the loop: a pass over the L1 cache takes 200 cycles. */
static __attribute__((noinline)) void
run_loop(char *start, uint64_t stride, uint64_t passes)
{
	uint64_t turns = stride / BLOCK;

	/* clang-format off */
	__asm__ volatile(SET_ACCESS("(%[stored])")
			 "2:\n"
			 "movq %[start], %%rcx\n"
			 REPEAT(ROT_MEMORY_STREAMS, STREAM_START, )
			 "movq %[turns], %%rcx\n"
			 ".p2align 6\n"
			 "1:\n"
			 REPEAT_OUTER(ROT_MEMORY_UNROLL, ROUND, )
			 REPEAT(ROT_MEMORY_STREAMS, STREAM_ADVANCE, )
			 "decq %%rcx\n"
			 "jnz 1b\n"
			 "decq %[passes]\n"
			 "jnz 2b\n"
			 LEAVE
			 : [passes] "+r"(passes)
			 : [start] "r"(start), [stride] "r"(stride), [turns] "m"(turns), [block] "i"(BLOCK),
			   [stored] "r"(stored)
			 : "rax", "rcx", "xmm0", STREAM_CLOBBERS, "cc", "memory");
	/* clang-format on */
}

static __attribute__((noinline)) void
run_rest(char *start, const char *end)
{
	for (; start < end; start += WIDTH)
		/* clang-format off */
		__asm__ volatile(SET_ACCESS("(%[stored])")
				 ACCESS("(%[start])")
				 LEAVE
				 :
				 : [start] "r"(start), [stored] "r"(stored)
				 : "rax", "xmm0", "memory");
	/* clang-format on */
}

static void
walk(struct memory *memory, uint64_t iterations)
{
	uint64_t bytes = (uint64_t)memory->data.buffer_size;
	uint64_t stride = bytes / (ROT_MEMORY_STREAMS * BLOCK) * BLOCK;
	uint64_t passes = stride * ROT_MEMORY_STREAMS == bytes ? iterations : 1;

	for (; iterations > 0; iterations -= passes) {
		if (stride > 0)
			run_loop(memory->buffer, stride, passes);
		run_rest(memory->buffer + ROT_MEMORY_STREAMS * stride, memory->buffer + bytes);
	}
#if ROT_MEMORY_OPERATION__WRITE_NT
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

static void
dispose(void *kernel)
{
	struct memory *memory = kernel;

	kernel_free(memory->buffer);
	memory->buffer = NULL;
}

KERNEL(memory, "Memory", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
