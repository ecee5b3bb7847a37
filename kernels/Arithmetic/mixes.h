/* SPDX-License-Identifier: MIT */
/* STEP: every chain advanced once; NR_CHAINS: how many there are. From ADD, MUL, DIV, SQRT and FMA of a chain. */

#if ROT_ARITHMETIC_OPERATION__FMA_ADD || ROT_ARITHMETIC_OPERATION__FMA_FMA_ADD

/*
 * Groups of three registers: two chains of FMA, and one of ADD, which FMA_ADD advances twice a step. FMA and ADD do not
 * take turns: Zen hands instructions to its two schedulers in turn, and one would get all the FMA (measured on Zen 4:
 * 21 instead of 24 flop/cycle).
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
#if ROT_ARITHMETIC_OPERATION__FMA_ADD
#define STEP(u, unused) REPEAT(NR_GROUPS, FMAS, ) REPEAT(NR_GROUPS, ADDS, ) REPEAT(NR_GROUPS, ADDS, )
#else
#define STEP(u, unused) REPEAT(NR_GROUPS, FMAS, ) REPEAT(NR_GROUPS, ADDS, )
#endif

#else

#define NR_CHAINS ROT_ARITHMETIC_DLP
/* k mod 3 of a number below 32, for the assembler, in which "%" may begin a register and "/" a comment. */
#define MOD_3(k) "(" #k " - 3 * ((" #k " * 11) >> 5))"
#define EITHER(condition, one, other) ".if " condition "\n" one ".else\n" other ".endif\n"

#if ROT_ARITHMETIC_OPERATION__ADD
#define ADVANCE(k, unused) ADD(k)
#elif ROT_ARITHMETIC_OPERATION__MUL
#define ADVANCE(k, unused) MUL(k)
#elif ROT_ARITHMETIC_OPERATION__DIV
#define ADVANCE(k, unused) DIV(k)
#elif ROT_ARITHMETIC_OPERATION__SQRT
#define ADVANCE(k, unused) SQRT(k)
#elif ROT_ARITHMETIC_OPERATION__FMA
#define ADVANCE(k, unused) FMA(k)
#elif ROT_ARITHMETIC_OPERATION__MUL_ADD_ADD
#define ADVANCE(k, unused) EITHER(MOD_3(k) " == 0", MUL(k), ADD(k))
#elif ROT_ARITHMETIC_OPERATION__MUL_MUL_ADD
#define ADVANCE(k, unused) EITHER(MOD_3(k) " == 2", ADD(k), MUL(k))
#else
/* Two multiply, two add; of two or three that remain the last one adds. */
#define ADVANCE(k, unused)                                                                                             \
	EITHER("(" #k " & 2) || (" #k " == " REPEAT_TEXT(ROT_ARITHMETIC_DLP) " - 1 && (" #k " & 3) == 1)", ADD(k),     \
	       MUL(k))
#endif

#if ROT_ARITHMETIC_OPERATION__MIX
#define ADD_TO(k, unused) ADD(k)
#define MULTIPLY(k, unused) MUL(k)
#define STEP(u, unused) REPEAT(NR_CHAINS, MULTIPLY, ) REPEAT(NR_CHAINS, ADD_TO, )
#else
#define STEP(u, unused) REPEAT(NR_CHAINS, ADVANCE, )
#endif

#endif
