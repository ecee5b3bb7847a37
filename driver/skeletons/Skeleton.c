/*
 * The code of the kernel Skeleton: a[i] = factor * b[i]. Replace the loop of run() by your own, and the buffers by
 * what it needs. The whole contract is in kernels/kernel.h of rot.
 */
#include "SkeletonData.h" /* made from Skeleton.xml: struct skeleton_data with its fields */
#include "kernel.h"

struct skeleton {
	struct skeleton_data data; /* must be first */
	double *a, *b;             /* whatever a run needs; zeroed at the start */
};

/* Allocates and fills the buffers; not measured. Returns 0, or -1 when it cannot. */
static int
initialize(void *kernel)
{
	struct skeleton *self = kernel;
	size_t nr = (size_t)self->data.buffer_size;

	self->a = kernel_allocate(nr, sizeof(double));
	self->b = kernel_allocate(nr, sizeof(double));
	if (!self->a || !self->b)
		return -1;
	/* Random numbers, since some memory stores zeros faster than anything else. */
	kernel_fill(self->a, nr, 1);
	kernel_fill(self->b, nr, 2);
	return 0;
}

/* Says which memory is thrown out of the caches before each run (with warmData: loaded into them). */
static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct skeleton *self = kernel;
	size_t bytes = (size_t)self->data.buffer_size * sizeof(double);

	buffers[0] = (struct kernel_buffer){self->a, bytes};
	buffers[1] = (struct kernel_buffer){self->b, bytes};
	return 2;
}

/* This is measured. */
static void
run(void *kernel)
{
	struct skeleton *self = kernel;
	double *restrict a = self->a;
	const double *b = self->b, factor = self->data.factor;
	long nr = self->data.buffer_size;

	for (long i = 0; i < nr; i++)
		a[i] = factor * b[i];
}

/* Frees what initialize allocated, also after it failed. */
static void
dispose(void *kernel)
{
	struct skeleton *self = kernel;

	kernel_free(self->a);
	kernel_free(self->b);
}

/* The first word is the name of the struct above. */
KERNEL(skeleton, "Skeleton", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
