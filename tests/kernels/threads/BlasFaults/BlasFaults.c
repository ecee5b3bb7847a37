/* SPDX-License-Identifier: MIT */
/* y = y + 2 x, with the threads that OpenBLAS keeps; x is there, y is fresh. Each thread takes whole pages. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "BlasFaultsData.h"
#include "kernel.h"

#define PAGE_DOUBLES ((size_t)512)

extern void cblas_daxpy(int n, double alpha, const double *x, int stride_x, double *y, int stride_y);
extern void openblas_set_num_threads(int nr);

struct blas_faults {
	struct blas_faults_data data;
	size_t nr; /* of doubles in a vector */
	double *x, *y;
};

static double *
map(size_t nr)
{
	double *memory = mmap(NULL, nr * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		madvise(memory, nr * sizeof(double), MADV_NOHUGEPAGE);
	return memory;
}

static int
initialize(void *kernel)
{
	struct blas_faults *self = kernel;

	self->nr = (size_t)self->data.threads * (size_t)self->data.pages * PAGE_DOUBLES;
	self->x = map(self->nr);
	self->y = map(self->nr);
	if (self->x == MAP_FAILED || self->y == MAP_FAILED)
		return kernel_fail("cannot map %zu bytes", 2 * self->nr * sizeof(double));
	memset(self->x, 1, self->nr * sizeof(double));
	openblas_set_num_threads(self->data.threads);
	return 0;
}

static void
run(void *kernel)
{
	struct blas_faults *self = kernel;

	madvise(self->y, self->nr * sizeof(double), MADV_DONTNEED);
	cblas_daxpy((int)self->nr, 2, self->x, 1, self->y, 1);
}

static void
dispose(void *kernel)
{
	struct blas_faults *self = kernel;

	if (self->x != MAP_FAILED)
		munmap(self->x, self->nr * sizeof(double));
	if (self->y != MAP_FAILED)
		munmap(self->y, self->nr * sizeof(double));
}

KERNEL(blas_faults, "BlasFaults", .initialize = initialize, .run = run, .dispose = dispose);
