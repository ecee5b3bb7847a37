/* SPDX-License-Identifier: MIT */
/*
 * Floating point arithmetic on chains of registers. The loop is written in assembly, so that the compiler neither
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
 * Every chain starts between 1.2 and 1.6. A step multiplies by 1 - DELTA, adds DELTA, or both, so that CHUNK steps
 * leave it between 1 and 2: finite, normal, of many digits. Then all chains start anew. (X87 MUL_ADD has room for one
 * constant and adds 1 - DELTA: up to CHUNK.)
 */
#define CHUNK (1 << 20)
#if ROT_ARITHMETIC_PRECISION__FLOAT
typedef float number;
#define PRECISION "s"
#define DELTA 1.2e-7
#else
typedef double number;
#define PRECISION "d"
#define DELTA 1e-9
#endif

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

#if ROT_ARITHMETIC_OPERATION__FMA || ROT_ARITHMETIC_OPERATION__FMA_ADD
#define USES_FMA 1
#else
#define USES_FMA 0
#endif

#if ROT_ARITHMETIC_INSTRUCTION_SET__X87

/* st(0) holds the constant, st(1)... the chains. */
#define CHAIN_0 "%%st(1)"
#define CHAIN_1 "%%st(2)"
#define CHAIN_2 "%%st(3)"
#define CHAIN_3 "%%st(4)"
#define CHAIN_4 "%%st(5)"
#define CHAIN_5 "%%st(6)"
#define CHAIN_6 "%%st(7)"
#if ROT_ARITHMETIC_PRECISION__FLOAT
#define X87_SIZE "s"
#else
#define X87_SIZE "l"
#endif
#define ADD(k) "fadd %%st, " CHAIN_##k "\n"
#define MUL(k) "fmul %%st, " CHAIN_##k "\n"
#define LOAD(k, unused) "fld" X87_SIZE " 64*" #k "(%[start])\n"
#define STORE(k, unused) "fstp" X87_SIZE " 64*" #k "(%[results])\n"
#if ROT_ARITHMETIC_OPERATION__ADD
#define ENTER "fld" X87_SIZE " 64*31(%[start])\n"
#else
#define ENTER "fld" X87_SIZE " 64*30(%[start])\n"
#endif
#define LEAVE "fstp %%st\n"
#define FINISH ""
#define CLOBBERS "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"

#else

#if ROT_ARITHMETIC_INSTRUCTION_SET__AVX512
#define REGISTER "%%zmm"
#elif ROT_ARITHMETIC_INSTRUCTION_SET__AVX2
#define REGISTER "%%ymm"
#else
#define REGISTER "%%xmm"
#endif

#if ROT_ARITHMETIC_INSTRUCTION_SET__AVX512 || ROT_ARITHMETIC_REGISTERS == 32
#define M REGISTER "30"
#define A REGISTER "31"
#define CLOBBERS                                                                                                       \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
		"xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",     \
		"xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
#else
#define M REGISTER "14"
#define A REGISTER "15"
#define CLOBBERS                                                                                                       \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
		"xmm13", "xmm14", "xmm15"
#endif

#if ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR
#define SHAPE "s" PRECISION " "
#define MOVE "movs" PRECISION " "
#else
#define SHAPE "p" PRECISION " "
#define MOVE "movup" PRECISION " "
#endif

/* The encoding of SSE where it can do the work, else that of AVX. */
#if (ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR || ROT_ARITHMETIC_INSTRUCTION_SET__SSE) && !USES_FMA &&                    \
	ROT_ARITHMETIC_REGISTERS == 16
#define ADD(k) "add" SHAPE A ", " REGISTER #k "\n"
#define MUL(k) "mul" SHAPE M ", " REGISTER #k "\n"
#define VEX ""
#define FINISH ""
#else
#define ADD(k) "vadd" SHAPE A ", " REGISTER #k ", " REGISTER #k "\n"
#define MUL(k) "vmul" SHAPE M ", " REGISTER #k ", " REGISTER #k "\n"
#define FMA(k) "vfmadd213" SHAPE A ", " M ", " REGISTER #k "\n"
#define VEX "v"
#define FINISH "vzeroupper\n"
#endif

#define LOAD(k, unused) VEX MOVE "64*" #k "(%[start]), " REGISTER #k "\n"
#define STORE(k, unused) VEX MOVE REGISTER #k ", 64*" #k "(%[results])\n"
#define ENTER VEX MOVE "64*30(%[start]), " M "\n" VEX MOVE "64*31(%[start]), " A "\n"
#define LEAVE ""

#endif

#if ROT_ARITHMETIC_OPERATION__FMA_ADD

/*
 * Groups of three registers: two chains of FMA, and one of ADD that is advanced twice a step. FMA and ADD do not take
 * turns: Zen hands instructions to its two schedulers in turn, and one would get all the FMA (measured on Zen 4: 21
 * instead of 24 flop/cycle).
 */
#define GROUP_0(X) X(0, 1, 2)
#define GROUP_1(X) X(3, 4, 5)
#define GROUP_2(X) X(6, 7, 8)
#define GROUP_3(X) X(9, 10, 11)
#define GROUP_4(X) X(12, 13, 14)
#define GROUP_5(X) X(15, 16, 17)
#define GROUP_6(X) X(18, 19, 20)
#define GROUP_7(X) X(21, 22, 23)
#define GROUP_8(X) X(24, 25, 26)
#define GROUP_9(X) X(27, 28, 29)
#define TWO_FMA(f, g, a) FMA(f) FMA(g)
#define ONE_ADD(f, g, a) ADD(a)
#define FMAS(k, unused) GROUP_##k(TWO_FMA)
#define ADDS(k, unused) GROUP_##k(ONE_ADD)
#define HALF_OF_2 1
#define HALF_OF_4 2
#define HALF_OF_6 3
#define HALF_OF_8 4
#define HALF_OF_10 5
#define HALF_OF_12 6
#define HALF_OF_14 7
#define HALF_OF_16 8
#define HALF_OF_18 9
#define HALF_OF_20 10
#define CHAINS_OF_2 3
#define CHAINS_OF_4 6
#define CHAINS_OF_6 9
#define CHAINS_OF_8 12
#define CHAINS_OF_10 15
#define CHAINS_OF_12 18
#define CHAINS_OF_14 21
#define CHAINS_OF_16 24
#define CHAINS_OF_18 27
#define CHAINS_OF_20 30
#define NR_GROUPS REPEAT_JOIN(HALF_OF_, ROT_ARITHMETIC_DLP)
#define NR_CHAINS REPEAT_JOIN(CHAINS_OF_, ROT_ARITHMETIC_DLP)
#define STEP(u, unused) REPEAT(NR_GROUPS, FMAS, ) REPEAT(NR_GROUPS, ADDS, ) REPEAT(NR_GROUPS, ADDS, )

#else

#if ROT_ARITHMETIC_OPERATION__ADD
#define ADVANCE(k, unused) ADD(k)
#elif ROT_ARITHMETIC_OPERATION__MUL
#define ADVANCE(k, unused) MUL(k)
#elif ROT_ARITHMETIC_OPERATION__FMA
#define ADVANCE(k, unused) FMA(k)
#else
#define ADVANCE(k, unused) ".if " #k " & 2\n" ADD(k) ".else\n" MUL(k) ".endif\n"
#endif
#define NR_CHAINS ROT_ARITHMETIC_DLP
#define STEP(u, unused) REPEAT(NR_CHAINS, ADVANCE, )

#endif

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
			 : [turns] "+r"(turns)
			 : [start] "r"(&arithmetic->start), [results] "r"(arithmetic->results)
			 : CLOBBERS, "cc", "memory");
	/* clang-format on */
}

static int
initialize(void *kernel)
{
	struct arithmetic *arithmetic = kernel;
	struct values *start = &arithmetic->start;

	for (size_t lane = 0; lane < LANES; lane++) {
		for (size_t i = 0; i < MAX_CHAINS; i++)
			start->chains[i][lane] = (number)(1.2345 + 0.01 * (double)i + 0.001 * (double)lane);
		start->multiplier[lane] = (number)(1 - DELTA);
		start->addend[lane] = (number)DELTA;
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
