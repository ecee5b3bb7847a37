/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on chains of registers. The loop is written in assembly, so that the compiler neither
 * spills registers nor merges, reorders or drops the work.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "ArithmeticData.h"
#include "kernel.h"
#include "macros/ROT_ARITHMETIC_DLP.h"
#include "macros/ROT_ARITHMETIC_INSTRUCTION_SET.h"
#include "macros/ROT_ARITHMETIC_OPERATION.h"
#include "macros/ROT_ARITHMETIC_PRECISION.h"
#include "macros/ROT_ARITHMETIC_REGISTERS.h"
#include "macros/ROT_ARITHMETIC_UNROLL.h"
#include "repeat.h"

/*
 * Every chain starts between 1.2 and 1.6. A step multiplies by 1 - DELTA, divides by it, adds DELTA, or both, so that
 * CHUNK steps leave it between 1 and 2: finite, normal, of many digits. Then all chains start anew. Integers
 * overflow, which no processor minds.
 */
#define CHUNK (1 << 20)
#if ROT_ARITHMETIC_PRECISION__FLOAT
typedef float number;
#define PRECISION "s"
#define DELTA 1.2e-7
#elif ROT_ARITHMETIC_PRECISION__DOUBLE
typedef double number;
#define PRECISION "d"
#define DELTA 1e-9
#elif ROT_ARITHMETIC_PRECISION__INT32
typedef uint32_t number;
#else
typedef uint64_t number;
#endif
#define IS_INTEGER (ROT_ARITHMETIC_PRECISION__INT32 || ROT_ARITHMETIC_PRECISION__INT64)

#define MAX_CHAINS 30
#define LANES (64 / sizeof(number))

struct values {
	number chains[MAX_CHAINS][LANES];
	number multiplier[LANES], addend[LANES];
};

struct arithmetic {
	struct arithmetic_data data;
	struct values start;
	number results[MAX_CHAINS][LANES]; /* the chains after the last chunk */
	atomic_bool is_stopped;
};

#if ROT_ARITHMETIC_OPERATION__FMA || ROT_ARITHMETIC_OPERATION__FMA_ADD || ROT_ARITHMETIC_OPERATION__FMA_FMA_ADD
#define USES_FMA 1
#else
#define USES_FMA 0
#endif

/*
 * Where chain k starts (30 and 31: multiplier and addend), and where its result goes. Each of the files included
 * defines LOAD, STORE, ENTER (constants to registers), the operations, LEAVE (before the results are stored), FINISH
 * (after that) and CLOBBERS.
 */
#define START(k) "64*" #k "+%c[start](%[arithmetic])"
#define RESULT(k) "64*" #k "+%c[results](%[arithmetic])"
#if ROT_ARITHMETIC_INSTRUCTION_SET__X87
#include "x87.h"
#elif IS_INTEGER && ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR
#include "general.h"
#else
#include "vector.h"
#endif
#include "mixes.h"

_Static_assert(offsetof(struct values, multiplier) == 64 * MAX_CHAINS, "LOAD and ENTER know the layout");

static __attribute__((noinline)) void
run_loop(struct arithmetic *arithmetic, uint64_t turns)
{
	/* clang-format off */
	__asm__ volatile(REPEAT(NR_CHAINS, LOAD, )
			 ENTER
			 ".p2align 6\n"
			 "1:\n"
			 REPEAT_OUTER(ROT_ARITHMETIC_UNROLL, STEP, )
			 "decq %[turns]\n"
			 "jnz 1b\n"
			 LEAVE
			 REPEAT(NR_CHAINS, STORE, )
			 FINISH
			 : [turns] "+c"(turns)
			 : [arithmetic] "r"(arithmetic), [start] "i"(offsetof(struct arithmetic, start)),
			   [results] "i"(offsetof(struct arithmetic, results))
			 : CLOBBERS, "cc", "memory");
	/* clang-format on */
}

#if IS_INTEGER
#define START_VALUE(i, lane) (number)(0x0123456789abcdef + 0x2468ace02468ace * (i) + 0x123456 * (lane))
#define MULTIPLIER(lane) (number)6364136223846793005
#define ADDEND (number)0x6a09e667f3bcc909
#else
#define START_VALUE(i, lane) (number)(1.2345 + 0.01 * (double)(i) + 0.001 * (double)(lane))
#define ADDEND (number) DELTA
#if ROT_ARITHMETIC_OPERATION__SQRT
#define MULTIPLIER(lane) START_VALUE(7, lane) /* what the roots are of */
#else
#define MULTIPLIER(lane) (number)(1 - DELTA)
#endif
#endif

static int
initialize(void *kernel)
{
	struct arithmetic *arithmetic = kernel;
	struct values *start = &arithmetic->start;

	for (size_t lane = 0; lane < LANES; lane++) {
		for (size_t i = 0; i < MAX_CHAINS; i++)
			start->chains[i][lane] = START_VALUE(i, lane);
		start->multiplier[lane] = MULTIPLIER(lane);
		start->addend[lane] = ADDEND;
	}
	atomic_store(&arithmetic->is_stopped, false);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct arithmetic *arithmetic = kernel;

	buffers[0] = (struct kernel_buffer){&arithmetic->start, sizeof(arithmetic->start)};
	buffers[1] = (struct kernel_buffer){arithmetic->results, sizeof(arithmetic->results)};
	return 2;
}

static void
run(void *kernel)
{
	struct arithmetic *arithmetic = kernel;
	const uint64_t chunk = CHUNK / ROT_ARITHMETIC_UNROLL;
	uint64_t left = (uint64_t)arithmetic->data.iterations;

	while (left > 0 && !atomic_load_explicit(&arithmetic->is_stopped, memory_order_relaxed)) {
		uint64_t turns = left < chunk ? left : chunk;

		run_loop(arithmetic, turns);
		if (!arithmetic->data.run_until_stopped)
			left -= turns;
	}
	atomic_store(&arithmetic->is_stopped, false);
}

static void
warm_code(void *kernel)
{
	run_loop(kernel, 1);
}

static void
stop(void *kernel)
{
	struct arithmetic *arithmetic = kernel;

	atomic_store(&arithmetic->is_stopped, true);
}

KERNEL(arithmetic, "Arithmetic", .initialize = initialize, .buffers = buffers, .run = run, .warm_code = warm_code,
       .stop = stop);
