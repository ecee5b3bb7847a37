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

#define GENERAL(operation, precision, kind, instruction) \
	LOOPS(operation##_SCALAR_##precision, kind##_ENTER, kind##_STEP, instruction, "", kind##_CLOBBERS)
#define DIVISION(precision, kind) \
	LOOP(DIV_SCALAR_##precision, 1, kind##_ONE_ENTER, kind##_ONE, , "", WIDE_CLOBBERS) \
	LOOPS_2_TO_6(DIV_SCALAR_##precision, kind##_MORE_ENTER, kind##_STEP, , "", WIDE_CLOBBERS)
#define SIMPLE(operation, set, precision, kind, instruction) \
	LOOPS(operation##_##set##_##precision, kind##_ENTER, kind##_STEP, instruction, LEAVE_##set, VECTOR_CLOBBERS)
#define ROOT(set, precision, kind, instruction) \
	LOOPS(SQRT_##set##_##precision, kind##_ENTER, kind##_ROOT, instruction, LEAVE_##set, VECTOR_CLOBBERS)
#define FUSED(set, precision, kind, instruction) \
	LOOPS(FMA_##set##_##precision, kind##_ENTER, kind##_FUSED, instruction, LEAVE_##set, VECTOR_CLOBBERS)
#define LEAVE_SCALAR ""
#define LEAVE_SSE ""
#define LEAVE_AVX2 "vzeroupper\n"
#define LEAVE_AVX512 "vzeroupper\n"

#define FLOATING(set, precision, kind, suffix) \
	SIMPLE(ADD, set, precision, kind, "add" suffix) SIMPLE(MUL, set, precision, kind, "mul" suffix) \
	SIMPLE(DIV, set, precision, kind, "div" suffix) ROOT(set, precision, kind, "sqrt" suffix) \
	FUSED(set, precision, kind, "vfmadd213" suffix) SIMPLE(OR, set, precision, kind, "orps")

GENERAL(ADD, INT32, NARROW, "add") GENERAL(MUL, INT32, NARROW, "imul") DIVISION(INT32, DIVIDE_32)
GENERAL(ADD, INT64, WIDE, "add") GENERAL(MUL, INT64, WIDE, "imul") DIVISION(INT64, DIVIDE_64)
SIMPLE(ADD, SSE, INT32, SSE, "paddd") SIMPLE(MUL, SSE, INT32, SSE, "pmulld") SIMPLE(ADD, SSE, INT64, SSE, "paddq")
SIMPLE(ADD, AVX2, INT32, AVX2, "paddd") SIMPLE(MUL, AVX2, INT32, AVX2, "pmulld")
SIMPLE(ADD, AVX2, INT64, AVX2, "paddq")
SIMPLE(ADD, AVX512, INT32, AVX512, "paddd") SIMPLE(MUL, AVX512, INT32, AVX512, "pmulld")
SIMPLE(ADD, AVX512, INT64, AVX512, "paddq") SIMPLE(MUL, AVX512, INT64, AVX512, "pmullq")
FLOATING(SCALAR, FLOAT, SSE, "ss") FLOATING(SSE, FLOAT, SSE, "ps")
FLOATING(AVX2, FLOAT, AVX2, "ps") FLOATING(AVX512, FLOAT, AVX512, "ps")
FLOATING(SCALAR, DOUBLE, SSE, "sd") FLOATING(SSE, DOUBLE, SSE, "pd")
FLOATING(AVX2, DOUBLE, AVX2, "pd") FLOATING(AVX512, DOUBLE, AVX512, "pd")

#define SIX(name) name##_1, name##_2, name##_3, name##_4, name##_5, name##_6
#define ROW_OF_6(operation, set, precision) {#operation, #set, #precision, {SIX(operation##_##set##_##precision)}},
#define ROW(operation, set, precision) {#operation, #set, #precision, {SIX(operation##_##set##_##precision), \
	operation##_##set##_##precision##_7, operation##_##set##_##precision##_8, operation##_##set##_##precision##_9, \
	operation##_##set##_##precision##_10, operation##_##set##_##precision##_11, \
	operation##_##set##_##precision##_12}},
#define FLOATING_ROWS(set, precision) ROW(ADD, set, precision) ROW(MUL, set, precision) ROW(DIV, set, precision) \
	ROW(SQRT, set, precision) ROW(FMA, set, precision) ROW(OR, set, precision)

static const struct {
	const char *operation, *instruction_set, *precision;
	void (*loops[MAX_CHAINS])(uint64_t turns, const void *values);
} rows[] = {
	ROW(ADD, SCALAR, INT32) ROW(MUL, SCALAR, INT32) ROW_OF_6(DIV, SCALAR, INT32)
	ROW(ADD, SCALAR, INT64) ROW(MUL, SCALAR, INT64) ROW_OF_6(DIV, SCALAR, INT64)
	ROW(ADD, SSE, INT32) ROW(MUL, SSE, INT32) ROW(ADD, SSE, INT64)
	ROW(ADD, AVX2, INT32) ROW(MUL, AVX2, INT32) ROW(ADD, AVX2, INT64)
	ROW(ADD, AVX512, INT32) ROW(MUL, AVX512, INT32) ROW(ADD, AVX512, INT64) ROW(MUL, AVX512, INT64)
	FLOATING_ROWS(SCALAR, FLOAT) FLOATING_ROWS(SSE, FLOAT) FLOATING_ROWS(AVX2, FLOAT) FLOATING_ROWS(AVX512, FLOAT)
	FLOATING_ROWS(SCALAR, DOUBLE) FLOATING_ROWS(SSE, DOUBLE) FLOATING_ROWS(AVX2, DOUBLE)
	FLOATING_ROWS(AVX512, DOUBLE)
};
/* clang-format on */

/*
 * Chains start at some 1.2, are advanced by a hair, and stay normal numbers of many digits. Roots keep the bits of
 * 4/3, so they do not become 1.
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
