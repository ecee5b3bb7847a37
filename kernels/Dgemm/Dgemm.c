/* SPDX-License-Identifier: MIT */
/* C = alpha A B + beta C by a BLAS library: level 3 of the thesis. */
#include "DgemmData.h"
#include "blas.h"
#include "kernel.h"
#include "matrices.h"

struct dgemm {
	struct dgemm_data data;
	struct blas blas;
	struct matrices matrices;
};

static void
run(void *kernel)
{
	struct dgemm *dgemm = kernel;
	const struct matrices *m = &dgemm->matrices;
	int n = (int)m->n;

	dgemm->blas.dgemm(BLAS_ROW_MAJOR, BLAS_NO_TRANSPOSE, BLAS_NO_TRANSPOSE, n, n, n, BLAS_ALPHA, m->a, n, m->b, n,
			  BLAS_BETA, m->c, n);
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct dgemm *dgemm = kernel;

	if (blas_open(&dgemm->blas, dgemm->data.implementation, dgemm->data.core_type, dgemm->data.base.num_threads) <
		    0 ||
	    matrices_open(&dgemm->matrices, (size_t)dgemm->data.matrix_size) < 0)
		return -1;
	if (dgemm->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return matrices_check(&dgemm->matrices, BLAS_ALPHA, BLAS_BETA, run, dgemm, "C v of dgemm");
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	return matrices_buffers(&((struct dgemm *)kernel)->matrices, buffers);
}

static void
dispose(void *kernel)
{
	matrices_close(&((struct dgemm *)kernel)->matrices);
}

KERNEL(dgemm, "Dgemm", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
