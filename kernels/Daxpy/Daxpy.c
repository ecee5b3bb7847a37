/* SPDX-License-Identifier: MIT */
/* y = alpha x + y by a BLAS library: level 1 of the thesis. */
#include "DaxpyData.h"
#include "blas.h"
#include "kernel.h"
#include "verify.h"

struct daxpy {
	struct daxpy_data data;
	struct blas blas;
	double *x, *y;
};

static void
run(void *kernel)
{
	struct daxpy *daxpy = kernel;

	daxpy->blas.daxpy((int)daxpy->data.vector_size, BLAS_ALPHA, daxpy->x, 1, daxpy->y, 1);
}

static int
check(struct daxpy *daxpy, size_t nr)
{
	double *expected = kernel_allocate(nr, sizeof(double));
	int rc;

	if (!expected)
		return -1;
	for (size_t i = 0; i < nr; i++)
		expected[i] = BLAS_ALPHA * daxpy->x[i] + daxpy->y[i];
	run(daxpy);
	rc = verify_equal(daxpy->y, expected, nr, 1, "y of daxpy");
	kernel_free(expected);
	kernel_fill(daxpy->y, nr, 2);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct daxpy *daxpy = kernel;
	size_t nr = (size_t)daxpy->data.vector_size;

	daxpy->x = kernel_allocate(nr, sizeof(double));
	daxpy->y = kernel_allocate(nr, sizeof(double));
	if (!daxpy->x || !daxpy->y ||
	    blas_open(&daxpy->blas, daxpy->data.implementation, daxpy->data.core_type, daxpy->data.base.num_threads) <
		    0)
		return -1;
	kernel_fill(daxpy->x, nr, 1);
	kernel_fill(daxpy->y, nr, 2);
	return daxpy->data.no_check || atomic_exchange(&is_checked, true) ? 0 : check(daxpy, nr);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct daxpy *daxpy = kernel;
	size_t bytes = (size_t)daxpy->data.vector_size * sizeof(double);

	buffers[0] = (struct kernel_buffer){daxpy->x, bytes};
	buffers[1] = (struct kernel_buffer){daxpy->y, bytes};
	return 2;
}

static void
dispose(void *kernel)
{
	struct daxpy *daxpy = kernel;

	kernel_free(daxpy->x);
	kernel_free(daxpy->y);
	daxpy->x = daxpy->y = NULL;
}

KERNEL(daxpy, "Daxpy", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
