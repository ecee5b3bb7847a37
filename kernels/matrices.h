/* SPDX-License-Identifier: MIT */
/* Three square matrices of doubles, for kernels that make C of A B + C. */
#pragma once

#include "kernel.h"
#include "verify.h"

struct matrices {
	size_t n; /* rows and columns */
	double *a, *b, *c;
};

/* -1 after kernel_fail. */
static inline int
matrices_open(struct matrices *matrices, size_t n)
{
	*matrices = (struct matrices){
		n,
		kernel_allocate(n * n, sizeof(double)),
		kernel_allocate(n * n, sizeof(double)),
		kernel_allocate(n * n, sizeof(double)),
	};
	if (!matrices->a || !matrices->b || !matrices->c)
		return -1;
	kernel_fill(matrices->a, n * n, 1);
	kernel_fill(matrices->b, n * n, 2);
	kernel_fill(matrices->c, n * n, 3);
	return 0;
}

/* Multiplies once (kernel is its argument) and checks C = alpha A B + beta C; C is filled again. -1 after kernel_fail.
 */
static inline int
matrices_check(struct matrices *matrices, double alpha, double beta, void (*multiply)(void *), void *kernel,
	       const char *what)
{
	size_t n = matrices->n;
	double *work = kernel_allocate(5 * n, sizeof(double));
	int rc;

	if (!work)
		return -1;
	verify_product_begin(matrices->a, matrices->b, matrices->c, n, alpha, beta, work);
	multiply(kernel);
	rc = verify_product_end(matrices->c, n, work, what);
	kernel_free(work);
	kernel_fill(matrices->c, n * n, 3);
	return rc;
}

static inline size_t
matrices_buffers(const struct matrices *matrices, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	size_t bytes = matrices->n * matrices->n * sizeof(double);

	buffers[0] = (struct kernel_buffer){matrices->a, bytes};
	buffers[1] = (struct kernel_buffer){matrices->b, bytes};
	buffers[2] = (struct kernel_buffer){matrices->c, bytes};
	return 3;
}

static inline void
matrices_close(struct matrices *matrices)
{
	kernel_free(matrices->a);
	kernel_free(matrices->b);
	kernel_free(matrices->c);
	matrices->a = matrices->b = matrices->c = NULL;
}
