/* SPDX-License-Identifier: MIT */
/*
 * known_loops [ROUNDS]: loops whose turns are known, whatever the compiler makes of them, ROUNDS times (1).
 *
 *	triad      N turns, one entry; compilers make vectors and a loop of the rest of it
 *	product    a product of matrices in blocks: 6 loops; the innermost has BLOCK turns
 *	chase      STEPS turns in a row
 *	ragged     a loop with 0, 1, ... 9 turns, in one of 10 turns
 *	shared     two loops in one function, entered 1 and 3 times a call, the first by a jump into its middle
 *
 * Those whose turns a compiler might change are written in its own instructions.
 */
#include <stdlib.h>

enum { N = 10003, SIZE = 24, BLOCK = 6, STEPS = 1000, ROWS = 10 };

double a[N], b[N], c[N];
double x[SIZE][SIZE], y[SIZE][SIZE], z[SIZE][SIZE];

__attribute__((noinline)) static void
triad(double *restrict to, const double *from, const double *with, long n)
{
	for (long i = 0; i < n; i++)
		to[i] = from[i] + 3 * with[i];
}

/* A turn of it cannot be left out, doubled or joined with others. */
#define FENCE() __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void
product(void)
{
	for (int i = 0; i < SIZE; i += BLOCK)
		for (int j = 0; j < SIZE; j += BLOCK)
			for (int k = 0; k < SIZE; k += BLOCK)
				for (int ii = i; ii < i + BLOCK; ii++)
					for (int jj = j; jj < j + BLOCK; jj++)
						for (int kk = k; kk < k + BLOCK; kk++) {
							z[ii][jj] += x[ii][kk] * y[kk][jj];
							FENCE();
						}
}

static inline void
follow(void **cell)
{
	for (int i = 0; i < STEPS; i++) {
		cell = *cell;
		__asm__ volatile("" : "+r"(cell) : : "memory");
	}
}

__attribute__((noinline)) static void
chase(void)
{
	void *cell = &cell;

	follow(&cell);
}

__attribute__((noinline)) static double
ragged(double value)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < i; k++) {
			value = value * 1.5 + 1;
			__asm__ volatile("" : "+x"(value));
		}
	return value;
}

/* 1 entry with 5 turns, the first half a one; then 3 entries with 4 turns each in a loop of 3 turns. */
void shared(void);
__asm__(".text\n	.globl shared\n	.type shared, @function\n	.p2align 4\nshared:\n	.cfi_startproc\n"
	"	mov $5, %eax\n	jmp 2f\n"
	"1:	nop\n"
	"2:	dec %eax\n	jnz 1b\n"
	"	mov $3, %edx\n"
	"3:	mov $4, %eax\n"
	"4:	dec %eax\n	jnz 4b\n"
	"	dec %edx\n	jnz 3b\n"
	"	ret\n	.cfi_endproc\n	.size shared, .-shared\n");

int
main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	double value = 1;

	for (long i = 0; i < rounds; i++) {
		triad(a, b, c, N);
		product();
		chase();
		value = ragged(value);
		shared();
		FENCE();
	}
	return value == 0;
}
