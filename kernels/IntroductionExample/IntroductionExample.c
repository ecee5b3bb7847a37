/* SPDX-License-Identifier: MIT */
/* The two loop orders of the thesis' introduction. */
#include "IntroductionExampleData.h"
#include "kernel.h"

struct introduction_example {
	struct introduction_example_data data;
	double *matrix; /* [m][n], row-major */
};

static int
initialize(void *kernel)
{
	struct introduction_example *example = kernel;
	size_t nr = (size_t)example->data.m * (size_t)example->data.n;

	example->matrix = kernel_allocate(nr, sizeof(double));
	if (!example->matrix)
		return -1;
	kernel_fill(example->matrix, nr, 1);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct introduction_example *example = kernel;
	size_t nr = (size_t)example->data.m * (size_t)example->data.n;

	buffers[0] = (struct kernel_buffer){example->matrix, nr * sizeof(double)};
	return 1;
}

static __attribute__((noinline)) void
run_row_by_row(double *M, int m, int n)
{
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			M[i * n + j] = 3 * j * j * M[i * n + j];
}

/* The barrier keeps the order of the loops: gcc -O3 may exchange them (-floop-interchange), and the example would show
 * nothing. */
static __attribute__((noinline)) void
run_column_by_column(double *M, int m, int n)
{
	for (int j = 0; j < n; j++) {
		int tmp = 3 * j * j;

		for (int i = 0; i < m; i++)
			M[i * n + j] = tmp * M[i * n + j];
		__asm__ volatile("" ::: "memory");
	}
}

static void
run(void *kernel)
{
	struct introduction_example *example = kernel;

	if (example->data.variant == 0)
		run_row_by_row(example->matrix, example->data.m, example->data.n);
	else
		run_column_by_column(example->matrix, example->data.m, example->data.n);
}

static void
dispose(void *kernel)
{
	struct introduction_example *example = kernel;

	kernel_free(example->matrix);
	example->matrix = NULL;
}

KERNEL(introduction_example, "IntroductionExample", .initialize = initialize, .buffers = buffers, .run = run,
       .dispose = dispose);
