/* SPDX-License-Identifier: MIT */
/* a = b + 2.34 * c, as the compiler makes it: the example of the thesis. */
#include "TriadData.h"
#include "kernel.h"

struct triad {
	struct triad_data data;
	double *a, *b, *c;
};

static int
initialize(void *kernel)
{
	struct triad *triad = kernel;
	size_t nr = (size_t)triad->data.buffer_size;

	triad->a = kernel_allocate(nr, sizeof(double));
	triad->b = kernel_allocate(nr, sizeof(double));
	triad->c = kernel_allocate(nr, sizeof(double));
	if (!triad->a || !triad->b || !triad->c)
		return -1;
	kernel_fill(triad->a, nr, 1);
	kernel_fill(triad->b, nr, 2);
	kernel_fill(triad->c, nr, 3);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct triad *triad = kernel;
	size_t bytes = (size_t)triad->data.buffer_size * sizeof(double);

	buffers[0] = (struct kernel_buffer){triad->a, bytes};
	buffers[1] = (struct kernel_buffer){triad->b, bytes};
	buffers[2] = (struct kernel_buffer){triad->c, bytes};
	return 3;
}

static void
run(void *kernel)
{
	struct triad *triad = kernel;
	double *restrict a = triad->a;
	const double *b = triad->b, *c = triad->c;
	long nr = triad->data.buffer_size;

	for (long i = 0; i < nr; i++)
		a[i] = b[i] + 2.34 * c[i];
}

static void
dispose(void *kernel)
{
	struct triad *triad = kernel;

	kernel_free(triad->a);
	kernel_free(triad->b);
	kernel_free(triad->c);
	triad->a = triad->b = triad->c = NULL;
}

KERNEL(triad, "Triad", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
