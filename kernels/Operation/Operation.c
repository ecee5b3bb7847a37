/* SPDX-License-Identifier: MIT */
/* One instruction in independent chains. The loops are assembly: the compiler changes none of them. */
#include <stdint.h>
#include <string.h>

#include "OperationData.h"
#include "kernel.h"
#include "loops.h"

#define MAX_CHAINS 12

struct operation {
	struct operation_data data;
	void (*loop)(uint64_t turns, const void *values);
	union {
		double doubles[4][8];
		float floats[4][16];
		uint32_t narrow[4][16];
		uint64_t integers[4][8];
	} values; /* the constant, where chains start, the second constant of FMA, and the bits of roots */
};

/* clang-format off */
#define LOOP(name, nr, enter, step, instruction, leave, ...) \
	static __attribute__((noinline)) void name##_##nr(uint64_t turns, const void *values) \
	{ \
		__asm__ volatile(enter ".p2align 6\n1:\n.rept 8\n" REPEAT(nr, step, instruction) ".endr\n" \
				 "decq %[turns]\njnz 1b\n" leave \
				 : [turns] "+c"(turns) : [values] "r"(values) : __VA_ARGS__); \
	}
#define LOOPS_2_TO_6(...) LOOP_OF(2, __VA_ARGS__) LOOP_OF(3, __VA_ARGS__) LOOP_OF(4, __VA_ARGS__) \
	LOOP_OF(5, __VA_ARGS__) LOOP_OF(6, __VA_ARGS__)
#define LOOPS(...) LOOP_OF(1, __VA_ARGS__) LOOPS_2_TO_6(__VA_ARGS__) LOOP_OF(7, __VA_ARGS__) LOOP_OF(8, __VA_ARGS__) \
	LOOP_OF(9, __VA_ARGS__) LOOP_OF(10, __VA_ARGS__) LOOP_OF(11, __VA_ARGS__) LOOP_OF(12, __VA_ARGS__)
#define LOOP_OF(nr, name, ...) LOOP(name, nr, __VA_ARGS__)

/* X(operation, set, precision, what LOOP needs) of all that have 12 chains. */
#define GENERAL(X, operation, precision, kind, step, instruction) \
	X(operation, SCALAR, precision, kind##_ENTER, kind##_##step, instruction, "", WIDE_CLOBBERS)
#define VECTOR(X, operation, set, precision, registers, step, instruction) \
	X(operation, set, precision, registers##_ENTER, registers##_##step, instruction, LEAVE_##set, VECTOR_CLOBBERS)
#define GATHER(X, set, precision, instruction) \
	X(GATHER, set, precision, set##_GATHER_ENTER, set##_GATHER, instruction, LEAVE_##set, VECTOR_CLOBBERS)
#define LEAVE_SCALAR ""
#define LEAVE_SSE ""
#define LEAVE_AVX2 "vzeroupper\n"
#define LEAVE_AVX512 "vzeroupper\n"

#define INTEGERS(X, precision, kind) \
	GENERAL(X, ADD, precision, kind, STEP, "add") GENERAL(X, MUL, precision, kind, STEP, "imul") \
	GENERAL(X, SHIFT, precision, kind, STEP_BY_1, "shl") GENERAL(X, POPCNT, precision, kind, SELF, "popcnt") \
	GENERAL(X, LEA, precision, kind, SUM, "lea")
#define INTEGER_VECTORS(X, set) \
	VECTOR(X, ADD, set, INT32, set, STEP, "paddd") VECTOR(X, MUL, set, INT32, set, STEP, "pmulld") \
	VECTOR(X, SHIFT, set, INT32, set, SHIFT, "pslld $1,") VECTOR(X, MAX, set, INT32, set, STEP, "pmaxsd") \
	VECTOR(X, ADD, set, INT64, set, STEP, "paddq") VECTOR(X, SHIFT, set, INT64, set, SHIFT, "psllq $1,") \
	VECTOR(X, TO_DOUBLE, set, INT32, set, WIDEN, "cvtdq2pd")
#define INTEGER_COMPARISONS(X, set) \
	VECTOR(X, COMPARE, set, INT32, set, STEP, "pcmpgtd") VECTOR(X, COMPARE, set, INT64, set, STEP, "pcmpgtq")
#define FLOATING(X, set, precision, registers, suffix) \
	VECTOR(X, ADD, set, precision, registers, STEP, "add" suffix) \
	VECTOR(X, MUL, set, precision, registers, STEP, "mul" suffix) \
	VECTOR(X, DIV, set, precision, registers, STEP, "div" suffix) \
	VECTOR(X, SQRT, set, precision, registers, ROOT, "sqrt" suffix) \
	VECTOR(X, FMA, set, precision, registers, FUSED, "vfmadd213" suffix) \
	VECTOR(X, OR, set, precision, registers, STEP, "orps") \
	VECTOR(X, MAX, set, precision, registers, STEP, "max" suffix)
#define FLOATING_COMPARISONS(X, set, registers, letter) \
	VECTOR(X, COMPARE, set, FLOAT, registers, STEP, "cmp" letter "s $1,") \
	VECTOR(X, COMPARE, set, DOUBLE, registers, STEP, "cmp" letter "d $1,")
#define FLOATING_VECTORS(X, set) \
	FLOATING(X, set, FLOAT, set, "ps") FLOATING(X, set, DOUBLE, set, "pd") \
	VECTOR(X, SHUFFLE, set, FLOAT, set, STEP, "shufps $27,") \
	VECTOR(X, SHUFFLE, set, DOUBLE, set, STEP, "shufpd $85,") \
	VECTOR(X, TO_DOUBLE, set, FLOAT, set, WIDEN, "cvtps2pd") \
	VECTOR(X, TO_FLOAT, set, DOUBLE, set, NARROW, "cvtpd2ps") \
	VECTOR(X, TO_INT32, set, DOUBLE, set, NARROW, "cvttpd2dq")

#define ALL(X) \
	INTEGERS(X, INT32, NARROW) INTEGERS(X, INT64, WIDE) \
	INTEGER_VECTORS(X, SSE) INTEGER_VECTORS(X, AVX2) INTEGER_VECTORS(X, AVX512) \
	INTEGER_COMPARISONS(X, SSE) INTEGER_COMPARISONS(X, AVX2) \
	VECTOR(X, MUL, AVX512, INT64, AVX512, STEP, "pmullq") VECTOR(X, MAX, AVX512, INT64, AVX512, STEP, "pmaxsq") \
	VECTOR(X, POPCNT, AVX512, INT32, AVX512, SELF, "popcntd") \
	VECTOR(X, POPCNT, AVX512, INT64, AVX512, SELF, "popcntq") \
	FLOATING(X, SCALAR, FLOAT, SSE, "ss") FLOATING(X, SCALAR, DOUBLE, SSE, "sd") \
	VECTOR(X, TO_DOUBLE, SCALAR, FLOAT, SSE, SELF, "cvtss2sd") \
	VECTOR(X, TO_FLOAT, SCALAR, DOUBLE, SSE, SELF, "cvtsd2ss") \
	FLOATING_VECTORS(X, SSE) FLOATING_VECTORS(X, AVX2) FLOATING_VECTORS(X, AVX512) \
	FLOATING_COMPARISONS(X, SCALAR, SSE, "s") FLOATING_COMPARISONS(X, SSE, SSE, "p") \
	FLOATING_COMPARISONS(X, AVX2, AVX2, "p") \
	VECTOR(X, PERMUTE, AVX2, FLOAT, AVX2, STEP, "permps") VECTOR(X, PERMUTE, AVX512, FLOAT, AVX512, STEP, "permps") \
	VECTOR(X, PERMUTE, AVX512, DOUBLE, AVX512, STEP, "permpd") \
	GATHER(X, AVX2, FLOAT, "vgatherdps") GATHER(X, AVX2, DOUBLE, "vgatherqpd") \
	GATHER(X, AVX512, FLOAT, "vgatherdps") GATHER(X, AVX512, DOUBLE, "vgatherqpd")

#define DEFINE(operation, set, precision, ...) LOOPS(operation##_##set##_##precision, __VA_ARGS__)
ALL(DEFINE)

#define DIVISION(precision, kind) \
	LOOP(DIV_SCALAR_##precision, 1, kind##_ONE_ENTER, kind##_ONE, , "", WIDE_CLOBBERS) \
	LOOPS_2_TO_6(DIV_SCALAR_##precision, kind##_MORE_ENTER, kind##_STEP, , "", WIDE_CLOBBERS)
DIVISION(INT32, DIVIDE_32) DIVISION(INT64, DIVIDE_64)

#define SIX(name) name##_1, name##_2, name##_3, name##_4, name##_5, name##_6
#define ROW_OF_6(operation, set, precision) {#operation, #set, #precision, {SIX(operation##_##set##_##precision)}},
#define ROW(operation, set, precision, ...) {#operation, #set, #precision, {SIX(operation##_##set##_##precision), \
	operation##_##set##_##precision##_7, operation##_##set##_##precision##_8, operation##_##set##_##precision##_9, \
	operation##_##set##_##precision##_10, operation##_##set##_##precision##_11, \
	operation##_##set##_##precision##_12}},

static const struct {
	const char *operation, *instruction_set, *precision;
	void (*loops[MAX_CHAINS])(uint64_t turns, const void *values);
} rows[] = {
	ALL(ROW) ROW_OF_6(DIV, SCALAR, INT32) ROW_OF_6(DIV, SCALAR, INT64)
};
/* clang-format on */

/*
 * The elements that are gathered say where the next one lies, in bytes. Chains of floating point start at some 1.2, are
 * advanced by a hair, and stay normal numbers of many digits. Roots keep the bits of 4/3, so they do not become 1.
 */
static void
fill(struct operation *operation)
{
	const char *precision = operation->data.precision;
	bool is_add = strcmp(operation->data.operation, "ADD") == 0,
	     is_fma = strcmp(operation->data.operation, "FMA") == 0;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 4; k++)
			operation->values.integers[k][i] = UINT64_C(0x5851f42d4c957f2d);
	if (strcmp(operation->data.operation, "GATHER") == 0) {
		for (unsigned i = 0; i < 64; i++)
			if (strcmp(precision, "DOUBLE") != 0)
				operation->values.narrow[i / 16][i % 16] = (i + 1) % 16 * 4;
			else if (i < 32)
				operation->values.integers[i / 8][i % 8] = (i + 1) % 8 * 8;
		return;
	}
	for (int i = 0; i < 8 && strcmp(precision, "DOUBLE") == 0; i++) {
		operation->values.doubles[0][i] = is_add || is_fma ? 1e-9 : 1 - 1e-9;
		operation->values.doubles[1][i] = 1.2345 + 0.01 * i;
		operation->values.doubles[2][i] = 1 - 1e-9;
		operation->values.doubles[3][i] = 4.0 / 3;
	}
	for (int i = 0; i < 16 && strcmp(precision, "FLOAT") == 0; i++) {
		operation->values.floats[0][i] = is_add || is_fma ? 1.2e-7F : 1 - 1.2e-7F;
		operation->values.floats[1][i] = 1.2345F + 0.01F * (float)i;
		operation->values.floats[2][i] = 1 - 1.2e-7F;
		operation->values.floats[3][i] = 4.0F / 3;
	}
}

static int
initialize(void *kernel)
{
	struct operation *operation = kernel;
	const struct operation_data *data = &operation->data;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].operation, data->operation) == 0 &&
		    strcmp(rows[i].instruction_set, data->instruction_set) == 0 &&
		    strcmp(rows[i].precision, data->precision) == 0)
			operation->loop = rows[i].loops[data->chains - 1];
	if (!operation->loop)
		return kernel_fail("there is no loop of %d chains of %s %s %s", data->chains, data->instruction_set,
				   data->precision, data->operation);
	fill(operation);
	return 0;
}

static void
run(void *kernel)
{
	struct operation *operation = kernel;

	operation->loop((uint64_t)operation->data.turns, &operation->values);
}

static void
warm_code(void *kernel)
{
	struct operation *operation = kernel;

	operation->loop(1, &operation->values);
}

KERNEL(operation, "Operation", .initialize = initialize, .run = run, .warm_code = warm_code);
