/* SPDX-License-Identifier: MIT */
/* C = A B + C by loops, as the compiler makes them: the triple loop and the blocked loops of the thesis. */
#include <stdatomic.h>

#include "MmmData.h"
#include "kernel.h"
#include "macros/ROT_MMM_ALGORITHM.h"
#include "macros/ROT_MMM_KU.h"
#include "macros/ROT_MMM_MU.h"
#include "macros/ROT_MMM_NB.h"
#include "macros/ROT_MMM_NU.h"
#include "matrices.h"

struct mmm {
	struct mmm_data data;
	struct matrices matrices;
};

/* With restrict the compiler may keep elements of C in registers: scalar replacement. */
#if ROT_MMM_ALGORITHM__BLOCKED_RESTRICT
#define POINTER double *restrict
#else
#define POINTER double *
#endif

#if ROT_MMM_ALGORITHM__TRIPLE_LOOP
static void
multiply(const double *a, const double *b, double *c, long n)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			for (long k = 0; k < n; k++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}
#else
/* Mu x Ku elements of A times Ku x Nu of B. */
static inline void
multiply_elements(const POINTER a, const POINTER b, POINTER c, long n)
{
	for (long k = 0; k < ROT_MMM_KU; k++)
		for (long i = 0; i < ROT_MMM_MU; i++)
			for (long j = 0; j < ROT_MMM_NU; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* Nb x Nb elements. */
static inline void
multiply_blocks(const POINTER a, const POINTER b, POINTER c, long n)
{
	for (long i = 0; i < ROT_MMM_NB; i += ROT_MMM_MU)
		for (long j = 0; j < ROT_MMM_NB; j += ROT_MMM_NU)
			for (long k = 0; k < ROT_MMM_NB; k += ROT_MMM_KU)
				multiply_elements(a + i * n + k, b + k * n + j, c + i * n + j, n);
}

static void
multiply(const double *a, const double *b, double *c, long n)
{
	for (long i = 0; i < n; i += ROT_MMM_NB)
		for (long j = 0; j < n; j += ROT_MMM_NB)
			for (long k = 0; k < n; k += ROT_MMM_NB)
				multiply_blocks(a + i * n + k, b + k * n + j, c + i * n + j, n);
}
#endif

static void
run(void *kernel)
{
	const struct matrices *m = &((struct mmm *)kernel)->matrices;

	multiply(m->a, m->b, m->c, (long)m->n);
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct mmm *mmm = kernel;

	if (matrices_open(&mmm->matrices, (size_t)mmm->data.matrix_size) < 0)
		return -1;
	if (mmm->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return matrices_check(&mmm->matrices, 1, 1, run, mmm, "C v of the product");
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	return matrices_buffers(&((struct mmm *)kernel)->matrices, buffers);
}

static void
dispose(void *kernel)
{
	matrices_close(&((struct mmm *)kernel)->matrices);
}

KERNEL(mmm, "Mmm", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
