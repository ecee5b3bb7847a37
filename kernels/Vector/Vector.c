/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on one, two or three vectors, element by element, with a fixed sequence of instructions: the roofline
 * kernels of M. Ward's study (optiflop, 2016). Pass after pass, so that vectors which fit stay in the first-level
 * cache. The loop is written in assembly: a compiler would merge passes, or drop those whose result nobody needs. Its
 * version in C is what a compiler makes of such a loop.
 */
#include <stdint.h>
#include <tgmath.h>

#include "VectorData.h"
#include "kernel.h"
#include "macros/ROT_VECTOR_CODE.h"
#include "macros/ROT_VECTOR_INSTRUCTION_SET.h"
#include "macros/ROT_VECTOR_MULTIPLY_ADD.h"
#include "macros/ROT_VECTOR_OPERATION.h"
#include "macros/ROT_VECTOR_PRECISION.h"
#include "macros/ROT_VECTOR_UNROLL.h"
#include "repeat.h"

#if ROT_VECTOR_PRECISION__FLOAT
typedef float number;
#define PRECISION "s"
#define NUMBER_BYTES 4
#else
typedef double number;
#define PRECISION "d"
#define NUMBER_BYTES 8
#endif

#define LINE 64
#define LANES (LINE / NUMBER_BYTES)
#define FURTHEST 8 /* elements behind the end of x that the differences and means read */

struct constants {
	number a[LANES], b[LANES], c[LANES];
};

struct vector {
	struct vector_data data;
	struct constants constants;
	char *memory; /* the vectors, one after the other */
	char *x, *y, *z;
};

/* ---- instructions: m in memory, k a constant, r the result of a step, s what else it needs ---- */

/* WIDTH: bytes of a register; of what is computed at once. */
#if ROT_VECTOR_INSTRUCTION_SET__AVX512
#define REGISTER "%%zmm"
#define WIDTH 64
#elif ROT_VECTOR_INSTRUCTION_SET__AVX2
#define REGISTER "%%ymm"
#define WIDTH 32
#elif ROT_VECTOR_INSTRUCTION_SET__SSE
#define REGISTER "%%xmm"
#define WIDTH 16
#else
#define REGISTER "%%xmm"
#define WIDTH NUMBER_BYTES
#endif

#if ROT_VECTOR_INSTRUCTION_SET__SCALAR
#define SHAPE "s" PRECISION " "
#define MOVE "movs" PRECISION " "
#else
#define SHAPE "p" PRECISION " "
#define MOVE "movup" PRECISION " "
#endif

/* All steps use the same two registers: each begins with a load, and the processor gives each a new one. */
#define R REGISTER "0"
#define S REGISTER "1"
#define A REGISTER "13"
#define B REGISTER "14"
#define C REGISTER "15"
#define CLOBBERS "xmm0", "xmm1", "xmm13", "xmm14", "xmm15"

/* The encoding of SSE where it can do the work, else that of AVX, whose operations can load and keep their operands. */
#if (ROT_VECTOR_INSTRUCTION_SET__SCALAR || ROT_VECTOR_INSTRUCTION_SET__SSE) && ROT_VECTOR_MULTIPLY_ADD__SEPARATE
#define VEX ""
#define FINISH ""
#define INTO(r) ""
#define SCALE(m, k, r) LOAD(m, r) "mul" SHAPE k ", " r "\n"
#if ROT_VECTOR_INSTRUCTION_SET__SCALAR
#define ROOT(m, r) LOAD(m, r) "sqrt" SHAPE r ", " r "\n" /* of memory, it would wait for the r before */
#else
#define ROOT(m, r) "sqrt" SHAPE m ", " r "\n"
#endif
#else
#define VEX "v"
#define FINISH "vzeroupper\n"
#define INTO(r) ", " r
#define SCALE(m, k, r) "vmul" SHAPE m ", " k ", " r "\n"
#if ROT_VECTOR_INSTRUCTION_SET__SCALAR
#define ROOT(m, r) "vsqrt" SHAPE m ", " A ", " r "\n"
#else
#define ROOT(m, r) "vsqrt" SHAPE m ", " r "\n"
#endif
#endif

#define LOAD(m, r) VEX MOVE m ", " r "\n"
#define STORE(r, m) VEX MOVE r ", " m "\n"
#define ADD(m, r) VEX "add" SHAPE m ", " r INTO(r) "\n" /* r = r + m */
#define SUB(m, r) VEX "sub" SHAPE m ", " r INTO(r) "\n" /* r = r - m */
#define MUL(m, r) VEX "mul" SHAPE m ", " r INTO(r) "\n" /* r = r * m */

/*
 * r = r + k * m, and r = k * r + m. What is stored to should be loaded last: with y loaded before x, y = a x + y took a
 * fifth longer on Zen 5.
 */
#if ROT_VECTOR_MULTIPLY_ADD__FUSED
#define ADD_SCALED(m, k, r) "vfmadd231" SHAPE m ", " k ", " r "\n"
#define SCALE_ADD(m, k, r) "vfmadd213" SHAPE m ", " k ", " r "\n"
#else
#define ADD_SCALED(m, k, r) SCALE(m, k, S) ADD(S, r)
#endif

/* ---- a step: one register of each vector ---- */

#if ROT_VECTOR_OPERATION__COPY
#define COMPUTE(x, y, z) LOAD(x, R)
#elif ROT_VECTOR_OPERATION__AX
#define COMPUTE(x, y, z) SCALE(x, A, R)
#elif ROT_VECTOR_OPERATION__XPX
#define COMPUTE(x, y, z) LOAD(x, R) ADD(R, R)
#elif ROT_VECTOR_OPERATION__AY
#define COMPUTE(x, y, z) SCALE(y, A, R)
#elif ROT_VECTOR_OPERATION__YPY
#define COMPUTE(x, y, z) LOAD(y, R) ADD(R, R)
#elif ROT_VECTOR_OPERATION__XPY
#define COMPUTE(x, y, z) LOAD(x, R) ADD(y, R)
#elif ROT_VECTOR_OPERATION__AXPY && ROT_VECTOR_MULTIPLY_ADD__FUSED
#define COMPUTE(x, y, z) LOAD(x, R) SCALE_ADD(y, A, R)
#elif ROT_VECTOR_OPERATION__AXPY
#define COMPUTE(x, y, z) SCALE(x, A, R) ADD(y, R)
#elif ROT_VECTOR_OPERATION__AXPBY
#define COMPUTE(x, y, z) SCALE(y, B, R) ADD_SCALED(x, A, R)
#elif ROT_VECTOR_OPERATION__DIFF1
#define COMPUTE(x, y, z) LOAD(BEHIND(1) x, R) SUB(x, R)
#elif ROT_VECTOR_OPERATION__DIFF8
#define COMPUTE(x, y, z) LOAD(BEHIND(8) x, R) SUB(x, R)
#elif ROT_VECTOR_OPERATION__MEAN1
#define COMPUTE(x, y, z) LOAD(BEHIND(1) x, R) ADD(x, R) MUL(A, R)
#elif ROT_VECTOR_OPERATION__MEAN8
#define COMPUTE(x, y, z) LOAD(BEHIND(8) x, R) ADD(x, R) MUL(A, R)
#elif ROT_VECTOR_OPERATION__SQRT
#define COMPUTE(x, y, z) ROOT(x, R)
#elif ROT_VECTOR_OPERATION__XPYPZ
#define COMPUTE(x, y, z) LOAD(x, R) ADD(y, R) ADD(z, R)
#elif ROT_VECTOR_OPERATION__XYPZ && ROT_VECTOR_MULTIPLY_ADD__FUSED
#define COMPUTE(x, y, z) LOAD(z, R) LOAD(x, S) ADD_SCALED(y, S, R)
#elif ROT_VECTOR_OPERATION__XYPZ
#define COMPUTE(x, y, z) LOAD(x, R) MUL(y, R) ADD(z, R)
#elif ROT_VECTOR_OPERATION__AXPYPZ && ROT_VECTOR_MULTIPLY_ADD__FUSED
#define COMPUTE(x, y, z) LOAD(y, R) ADD_SCALED(x, A, R) ADD(z, R)
#elif ROT_VECTOR_OPERATION__AXPYPZ
#define COMPUTE(x, y, z) SCALE(x, A, R) ADD(y, R) ADD(z, R)
#elif ROT_VECTOR_OPERATION__AXPBYPZ && ROT_VECTOR_MULTIPLY_ADD__FUSED
#define COMPUTE(x, y, z) LOAD(z, R) ADD_SCALED(x, A, R) ADD_SCALED(y, B, R)
#elif ROT_VECTOR_OPERATION__AXPBYPZ
#define COMPUTE(x, y, z) SCALE(x, A, R) ADD_SCALED(y, B, R) ADD(z, R)
#else
#define COMPUTE(x, y, z) SCALE(z, C, R) ADD_SCALED(x, A, R) ADD_SCALED(y, B, R)
#endif

/* Vectors the operation has, and where its result goes. In place: the only vector is y. */
#if ROT_VECTOR_OPERATION__AY || ROT_VECTOR_OPERATION__YPY
#define VECTORS(W) W("%[y]")
#define RESULT(x, y, z) y
#elif ROT_VECTOR_OPERATION__XPYPZ || ROT_VECTOR_OPERATION__XYPZ || ROT_VECTOR_OPERATION__AXPYPZ ||                     \
	ROT_VECTOR_OPERATION__AXPBYPZ || ROT_VECTOR_OPERATION__AXPBYPCZ
#define VECTORS(W) W("%[x]") W("%[y]") W("%[z]")
#define RESULT(x, y, z) z
#else
#define VECTORS(W) W("%[x]") W("%[y]")
#define RESULT(x, y, z) y
#endif

#define BEHIND(nr) #nr "*" REPEAT_TEXT(NUMBER_BYTES) "+"
#define AT(vector, u) #u "*" REPEAT_TEXT(WIDTH) "(%[" #vector "])"
#define STEP(u, unused)                                                                                                \
	COMPUTE(AT(x, u), AT(y, u), AT(z, u))                                                                          \
	STORE(R, RESULT(AT(x, u), AT(y, u), AT(z, u)))
#define ADVANCE(vector) "addq %[block], " vector "\n"
#define RETURN(vector) "subq %[bytes], " vector "\n"

/* Bytes of each vector in a turn of the loop. */
#define BLOCK (WIDTH * ROT_VECTOR_UNROLL)

#if ROT_VECTOR_CODE__C
#define IN_C_COPY x[i]
#define IN_C_AX a *x[i]
#define IN_C_XPX x[i] + x[i]
#define IN_C_AY a *y[i]
#define IN_C_YPY y[i] + y[i]
#define IN_C_XPY x[i] + y[i]
#define IN_C_AXPY a *x[i] + y[i]
#define IN_C_AXPBY a *x[i] + b *y[i]
#define IN_C_DIFF1 x[i + 1] - x[i]
#define IN_C_DIFF8 x[i + 8] - x[i]
#define IN_C_MEAN1 a *(x[i + 1] + x[i])
#define IN_C_MEAN8 a *(x[i + 8] + x[i])
#define IN_C_SQRT sqrt(x[i])
#define IN_C_XPYPZ x[i] + y[i] + z[i]
#define IN_C_XYPZ x[i] * y[i] + z[i]
#define IN_C_AXPYPZ a *x[i] + y[i] + z[i]
#define IN_C_AXPBYPZ a *x[i] + b *y[i] + z[i]
#define IN_C_AXPBYPCZ a *x[i] + b *y[i] + c *z[i]

static __attribute__((noinline)) void
run_pass(const struct constants *constants, const number *restrict x, number *restrict y, number *restrict z,
	 long length)
{
	const number a = constants->a[0], b = constants->b[0], c = constants->c[0];

	(void)a, (void)b, (void)c, (void)x, (void)y, (void)z;
	for (long i = 0; i < length; i++)
		RESULT(x, y, z)[i] = REPEAT_JOIN(IN_C_, ROT_VECTOR_OPERATION);
}

/* To the compiler, the empty instruction reads and changes all vectors, so no pass is dropped or merged. */
static void
run_loop(const struct vector *vector, uint64_t passes)
{
	for (; passes > 0; passes--) {
		run_pass(&vector->constants, (const number *)(const void *)vector->x, (number *)(void *)vector->y,
			 (number *)(void *)vector->z, (long)vector->data.length);
		__asm__ volatile("" : : "r"(vector->memory) : "memory");
	}
}
#else
/* Passes, one after the other without leaving the loop: a pass over the first-level cache takes some 200 cycles. */
static __attribute__((noinline)) void
run_loop(const struct vector *vector, uint64_t passes)
{
	uint64_t bytes = (uint64_t)vector->data.length * NUMBER_BYTES, turns = bytes / BLOCK;
	const char *x = vector->x;
	char *y = vector->y, *z = vector->z;

	/* clang-format off */
	__asm__ volatile(VEX MOVE "(%[constants]), " A "\n"
			 VEX MOVE "64(%[constants]), " B "\n"
			 VEX MOVE "128(%[constants]), " C "\n"
			 "2:\n"
			 "movq %[turns], %%rcx\n"
			 ".p2align 6\n"
			 "1:\n"
			 REPEAT_OUTER(ROT_VECTOR_UNROLL, STEP, )
			 VECTORS(ADVANCE)
			 "decq %%rcx\n"
			 "jnz 1b\n"
			 VECTORS(RETURN)
			 "decq %[passes]\n"
			 "jnz 2b\n"
			 FINISH
			 : [passes] "+r"(passes), [x] "+r"(x), [y] "+r"(y), [z] "+r"(z)
			 : [turns] "r"(turns), [bytes] "r"(bytes), [block] "i"(BLOCK),
			   [constants] "r"(&vector->constants)
			 : CLOBBERS, "rcx", "cc", "memory");
	/* clang-format on */
}
#endif

/* ---- the kernel ---- */

/*
 * a, b and c keep all results finite and normal however often they are added up (but for y + y, which is infinite after
 * a thousand passes; SSE and AVX add infinities as fast as other numbers).
 */
static void
set_constants(struct constants *constants)
{
	for (size_t lane = 0; lane < LANES; lane++) {
#if ROT_VECTOR_OPERATION__AY
		constants->a[lane] = (number)(1 - 1.2e-7);
#else
		constants->a[lane] = (number)0.5;
#endif
		constants->b[lane] = (number)0.25;
		constants->c[lane] = (number)0.125;
	}
}

static void
fill(char *memory, size_t bytes)
{
#if ROT_VECTOR_PRECISION__FLOAT
	kernel_fill_float((float *)(void *)memory, bytes / sizeof(number), 1);
#else
	kernel_fill((double *)(void *)memory, bytes / sizeof(number), 1);
#endif
}

/* From the start of a vector to that of the next: it begins with a line. */
static size_t
vector_bytes(const struct vector *vector)
{
	size_t bytes = ((size_t)vector->data.length + FURTHEST) * sizeof(number);

	return (bytes + LINE - 1) / LINE * LINE + (size_t)vector->data.gap;
}

static int
initialize(void *kernel)
{
	struct vector *vector = kernel;
	size_t bytes = vector_bytes(vector);

	vector->memory = kernel_allocate(3 * bytes, 1);
	if (!vector->memory)
		return -1;
	vector->x = vector->memory;
	vector->y = vector->x + bytes;
	vector->z = vector->y + bytes;
	fill(vector->memory, 3 * bytes);
	set_constants(&vector->constants);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct vector *vector = kernel;
	size_t bytes = (size_t)vector->data.length * sizeof(number), nr = 0;

#define BUFFER(name) buffers[nr++] = (struct kernel_buffer){BUFFER_OF(name), bytes};
#define BUFFER_OF(name) (name[2] == 'x' ? vector->x : name[2] == 'y' ? vector->y : vector->z)
	VECTORS(BUFFER)
	return nr;
}

static void
run(void *kernel)
{
	struct vector *vector = kernel;

	run_loop(vector, (uint64_t)vector->data.iterations);
}

static void
warm_code(void *kernel)
{
	run_loop(kernel, 1);
}

static void
dispose(void *kernel)
{
	struct vector *vector = kernel;

	kernel_free(vector->memory);
	vector->memory = NULL;
}

KERNEL(vector, "Vector", .initialize = initialize, .buffers = buffers, .run = run, .warm_code = warm_code,
       .dispose = dispose);
