/* SPDX-License-Identifier: MIT */
/* y = alpha A x + beta y by a BLAS library: level 2 of the thesis. */
#include "DgemvData.h"
#include "blas.h"
#include "kernel.h"
#include "verify.h"

struct dgemv {
	struct dgemv_data data;
	struct blas blas;
	double *a, *x, *y;
};

static void
run(void *kernel)
{
	struct dgemv *dgemv = kernel;
	int n = (int)dgemv->data.matrix_size;

	dgemv->blas.dgemv(BLAS_ROW_MAJOR, BLAS_NO_TRANSPOSE, n, n, BLAS_ALPHA, dgemv->a, n, dgemv->x, 1, BLAS_BETA,
			  dgemv->y, 1);
}

static int
check(struct dgemv *dgemv, size_t n)
{
	double *expected = kernel_allocate(n, sizeof(double));
	int rc;

	if (!expected)
		return -1;
	verify_times(expected, dgemv->a, dgemv->x, n);
	for (size_t i = 0; i < n; i++)
		expected[i] = BLAS_ALPHA * expected[i] + BLAS_BETA * dgemv->y[i];
	run(dgemv);
	rc = verify_equal(dgemv->y, expected, n, (double)n, "y of dgemv");
	kernel_free(expected);
	kernel_fill(dgemv->y, n, 3);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct dgemv *dgemv = kernel;
	size_t n = (size_t)dgemv->data.matrix_size;

	dgemv->a = kernel_allocate(n * n, sizeof(double));
	dgemv->x = kernel_allocate(n, sizeof(double));
	dgemv->y = kernel_allocate(n, sizeof(double));
	if (!dgemv->a || !dgemv->x || !dgemv->y ||
	    blas_open(&dgemv->blas, dgemv->data.implementation, dgemv->data.core_type, dgemv->data.base.num_threads) <
		    0)
		return -1;
	kernel_fill(dgemv->a, n * n, 1);
	kernel_fill(dgemv->x, n, 2);
	kernel_fill(dgemv->y, n, 3);
	return dgemv->data.no_check || atomic_exchange(&is_checked, true) ? 0 : check(dgemv, n);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct dgemv *dgemv = kernel;
	size_t n = (size_t)dgemv->data.matrix_size;

	buffers[0] = (struct kernel_buffer){dgemv->a, n * n * sizeof(double)};
	buffers[1] = (struct kernel_buffer){dgemv->x, n * sizeof(double)};
	buffers[2] = (struct kernel_buffer){dgemv->y, n * sizeof(double)};
	return 3;
}

static void
dispose(void *kernel)
{
	struct dgemv *dgemv = kernel;

	kernel_free(dgemv->a);
	kernel_free(dgemv->x);
	kernel_free(dgemv->y);
	dgemv->a = dgemv->x = dgemv->y = NULL;
}

KERNEL(dgemv, "Dgemv", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
