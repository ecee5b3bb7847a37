/* SPDX-License-Identifier: MIT */
/*
 * Texts of loops. KIND_ENTER puts constants and the start of the chains into registers, KIND_STEP(k, name) advances
 * chain k, KIND_CLOBBERS are the registers. Vectors: chains in 0 to 11, the constant in 15, the second one of FMA in
 * 14, and in 13 the bits that keep what roots are taken of irregular.
 */
#include "repeat.h"

/* ---- integers in general purpose registers ---- */

#define WIDE_0 "%%rax"
#define WIDE_1 "%%rbx"
#define WIDE_2 "%%rdx"
#define WIDE_3 "%%rsi"
#define WIDE_4 "%%rdi"
#define WIDE_5 "%%r8"
#define WIDE_6 "%%r9"
#define WIDE_7 "%%r10"
#define WIDE_8 "%%r11"
#define WIDE_9 "%%r12"
#define WIDE_10 "%%r13"
#define WIDE_11 "%%r15"
#define NARROW_0 "%%eax"
#define NARROW_1 "%%ebx"
#define NARROW_2 "%%edx"
#define NARROW_3 "%%esi"
#define NARROW_4 "%%edi"
#define NARROW_5 "%%r8d"
#define NARROW_6 "%%r9d"
#define NARROW_7 "%%r10d"
#define NARROW_8 "%%r11d"
#define NARROW_9 "%%r12d"
#define NARROW_10 "%%r13d"
#define NARROW_11 "%%r15d"

/* The values do not matter: processors add and multiply all numbers alike. */
#define WIDE_ENTER "movq (%[values]), %%r14\n"
#define WIDE_STEP(k, name) name "q %%r14, " WIDE_##k "\n"
#define NARROW_ENTER WIDE_ENTER
#define NARROW_STEP(k, name) name "l %%r14d, " NARROW_##k "\n"
#define WIDE_STEP_BY_1(k, name) name "q $1, " WIDE_##k "\n"
#define NARROW_STEP_BY_1(k, name) name "l $1, " NARROW_##k "\n"
#define WIDE_SELF(k, name) name "q " WIDE_##k ", " WIDE_##k "\n"
#define NARROW_SELF(k, name) name "l " NARROW_##k ", " NARROW_##k "\n"
#define WIDE_SUM(k, name) name "q (%%r14, " WIDE_##k "), " WIDE_##k "\n"
#define NARROW_SUM(k, name) name "l (%%r14, " WIDE_##k "), " NARROW_##k "\n"
#define WIDE_CLOBBERS                                                                                                  \
	"rax", "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory"
#define NARROW_CLOBBERS WIDE_CLOBBERS

/*
 * Unsigned, by 12345, of a dividend that has its upper bits set again by an "or". The chain is longer by that cycle.
 * rax and rdx belong to the instruction, so with several chains each has its dividend in another register.
 */
#define DIVIDE_64_ENTER "movl $12345, %%r14d\nmovq $0x4000000000001234, %%r15\nmovq %%r15, %%rax\n"
#define DIVIDE_32_ENTER "movl $12345, %%r14d\nmovl $0x40001234, %%r15d\nmovl %%r15d, %%eax\n"
#define DIVIDE_64_ONE(k, name) "xorl %%edx, %%edx\ndivq %%r14\norq %%r15, %%rax\n"
#define DIVIDE_32_ONE(k, name) "xorl %%edx, %%edx\ndivl %%r14d\norl %%r15d, %%eax\n"
#define DIVIDE_64_STEP(k, name)                                                                                        \
	"movq " DIVIDEND_##k ", %%rax\nxorl %%edx, %%edx\ndivq %%r14\nmovq %%r15, " DIVIDEND_##k                       \
		"\norq %%rax, " DIVIDEND_##k "\n"
#define DIVIDE_32_STEP(k, name)                                                                                        \
	"movl " DIVIDEND_##k "d, %%eax\nxorl %%edx, %%edx\ndivl %%r14d\nmovl %%r15d, " DIVIDEND_##k                    \
		"d\norl %%eax, " DIVIDEND_##k "d\n"
#define DIVIDEND_0 "%%r8"
#define DIVIDEND_1 "%%r9"
#define DIVIDEND_2 "%%r10"
#define DIVIDEND_3 "%%r11"
#define DIVIDEND_4 "%%r12"
#define DIVIDEND_5 "%%r13"
#define DIVIDE_64_ONE_ENTER DIVIDE_64_ENTER
#define DIVIDE_32_ONE_ENTER DIVIDE_32_ENTER
#define DIVIDE_64_MORE_ENTER DIVIDE_64_ENTER REPEAT(6, DIVIDE_START, )
#define DIVIDE_32_MORE_ENTER DIVIDE_32_ENTER REPEAT(6, DIVIDE_START, )
#define DIVIDE_START(k, unused) "movq %%r15, " DIVIDEND_##k "\n"

/* ---- vectors, and one number in them ---- */

#define VECTOR_CLOBBERS                                                                                                \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm13",     \
		"xmm14", "xmm15", "cc", "memory"
#define VECTOR_ENTER(move, width)                                                                                      \
	REPEAT(12, VECTOR_START, move " 64(%[values]), %%" width)                                                      \
	move " (%[values]), %%" width "15\n" move " 128(%[values]), %%" width "14\n" move " 192(%[values]), %%" width  \
	     "13\n"
#define VECTOR_START(k, text) text #k "\n"

#define SSE_ENTER VECTOR_ENTER("movups", "xmm")
#define SSE_STEP(k, name) name " %%xmm15, %%xmm" #k "\n"
#define SSE_ROOT(k, name) name " %%xmm" #k ", %%xmm" #k "\norps %%xmm13, %%xmm" #k "\n"
#define SSE_SHIFT(k, name) name " %%xmm" #k "\n"
#define SSE_SELF(k, name) name " %%xmm" #k ", %%xmm" #k "\n"
#define SSE_WIDEN SSE_SELF
#define SSE_NARROW SSE_SELF
#define SSE_FUSED(k, name) name " %%xmm15, %%xmm14, %%xmm" #k "\n"
#define AVX2_ENTER VECTOR_ENTER("vmovups", "ymm")
#define AVX2_STEP(k, name) "v" name " %%ymm15, %%ymm" #k ", %%ymm" #k "\n"
#define AVX2_ROOT(k, name) "v" name " %%ymm" #k ", %%ymm" #k "\nvorps %%ymm13, %%ymm" #k ", %%ymm" #k "\n"
#define AVX2_SELF(k, name) "v" name " %%ymm" #k ", %%ymm" #k "\n"
#define AVX2_SHIFT AVX2_SELF
#define AVX2_WIDEN(k, name) "v" name " %%xmm" #k ", %%ymm" #k "\n"
#define AVX2_NARROW(k, name) "v" name " %%ymm" #k ", %%xmm" #k "\n"
#define AVX2_FUSED(k, name) name " %%ymm15, %%ymm14, %%ymm" #k "\n"
#define AVX512_ENTER VECTOR_ENTER("vmovups", "zmm")
#define AVX512_STEP(k, name) "v" name " %%zmm15, %%zmm" #k ", %%zmm" #k "\n"
#define AVX512_ROOT(k, name) "v" name " %%zmm" #k ", %%zmm" #k "\nvorps %%zmm13, %%zmm" #k ", %%zmm" #k "\n"
#define AVX512_SELF(k, name) "v" name " %%zmm" #k ", %%zmm" #k "\n"
#define AVX512_SHIFT AVX512_SELF
#define AVX512_WIDEN(k, name) "v" name " %%ymm" #k ", %%zmm" #k "\n"
#define AVX512_NARROW(k, name) "v" name " %%zmm" #k ", %%ymm" #k "\n"
#define AVX512_FUSED(k, name) name " %%zmm15, %%zmm14, %%zmm" #k "\n"

/*
 * The gathered elements become the next offsets. The mask, which the instruction clears, is copied anew each time, and
 * its destination emptied: else each chain would wait for the one before.
 */
#define AVX2_GATHER_ENTER AVX2_ENTER "vpcmpeqd %%ymm15, %%ymm15, %%ymm15\n"
#define AVX2_GATHER(k, name)                                                                                           \
	"vmovaps %%ymm15, %%ymm14\nvxorps %%xmm13, %%xmm13, %%xmm13\n" name " %%ymm14, (%[values], %%ymm" #k         \
	", 1), %%ymm13\nvmovaps %%ymm13, %%ymm" #k "\n"
#define AVX512_GATHER_ENTER AVX512_ENTER "kxnorw %%k2, %%k2, %%k2\n"
#define AVX512_GATHER(k, name)                                                                                         \
	"kmovw %%k2, %%k1\nvxorps %%xmm13, %%xmm13, %%xmm13\n" name " (%[values], %%zmm" #k                           \
	", 1), %%zmm13%{%%k1%}\nvmovaps %%zmm13, %%zmm" #k "\n"
