/* SPDX-License-Identifier: MIT */
/* One sweep of a stencil from a grid to another one: the points at the rims stay as they are. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "StencilData.h"
#include "kernel.h"
#include "verify.h"

struct stencil {
	struct stencil_data data;
	double *old, *new;
};

static long
least(long x, long y)
{
	return x < y ? x : y;
}

/* Points from begin to end of a row; the neighbours of a point are so far away. */
static void
sweep_row(const double *old, double *restrict new, long begin, long end, long row)
{
	for (long i = begin; i < end; i++)
		new[i] = 0.5 * old[i] + 0.125 * (old[i - 1] + old[i + 1] + old[i - row] + old[i + row]);
}

static void
sweep_row_in_space(const double *old, double *restrict new, long begin, long end, long row, long plane)
{
	for (long i = begin; i < end; i++)
		new[i] = 0.25 * old[i] + 0.125 * (old[i - 1] + old[i + 1] + old[i - row] + old[i + row] +
						  old[i - plane] + old[i + plane]);
}

/* All inner points, whose rows and columns are taken in blocks. */
static void
run(void *kernel)
{
	const struct stencil *s = kernel;
	const long length = s->data.length, rows = s->data.rows, plane = length * rows;
	const long width = s->data.block ? s->data.block : length, height = s->data.block ? s->data.block : rows;
	const bool is_space = s->data.dimensions == 3;

	for (long left = 1; left < length - 1; left += width) {
		const long right = least(left + width, length - 1);

		if (!is_space)
			for (long y = 1; y < rows - 1; y++)
				sweep_row(s->old + y * length, s->new + y *length, left, right, length);
		for (long top = 1; is_space && top < rows - 1; top += height)
			for (long z = 1; z < s->data.planes - 1; z++)
				for (long y = top; y < least(top + height, rows - 1); y++)
					sweep_row_in_space(s->old + z * plane + y * length,
							   s->new + z *plane + y *length, left, right, length, plane);
	}
}

/* The first sweep beside one point by point. */
static int
check(struct stencil *s, size_t nr)
{
	const long length = s->data.length, rows = s->data.rows, plane = length * rows;
	const bool is_space = s->data.dimensions == 3;
	double *expected = kernel_allocate(nr, sizeof(double));
	int rc;

	if (!expected)
		return -1;
	memcpy(expected, s->new, nr * sizeof(double));
	for (long i = 0; i < (long)nr; i++) {
		const long x = i % length, y = i / length % rows, z = i / plane;
		double sum;

		if (x == 0 || x == length - 1 || y == 0 || y == rows - 1 ||
		    (is_space && (z == 0 || z == s->data.planes - 1)))
			continue;
		sum = s->old[i - 1] + s->old[i + 1] + s->old[i - length] + s->old[i + length];
		expected[i] = is_space ? 0.25 * s->old[i] + 0.125 * (sum + s->old[i - plane] + s->old[i + plane])
				       : 0.5 * s->old[i] + 0.125 * sum;
	}
	run(s);
	rc = verify_equal(s->new, expected, nr, 8, "the new grid");
	kernel_free(expected);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct stencil *s = kernel;
	const size_t nr = (size_t)(s->data.length * s->data.rows * s->data.planes);

	s->old = kernel_allocate(nr, sizeof(double));
	s->new = kernel_allocate(nr, sizeof(double));
	if (!s->old || !s->new)
		return -1;
	kernel_fill(s->old, nr, 1);
	kernel_fill(s->new, nr, 2);
	if (s->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return check(s, nr);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	const struct stencil *s = kernel;
	const size_t bytes = (size_t)(s->data.length * s->data.rows * s->data.planes) * sizeof(double);

	buffers[0] = (struct kernel_buffer){s->old, bytes};
	buffers[1] = (struct kernel_buffer){s->new, bytes};
	return 2;
}

static void
dispose(void *kernel)
{
	struct stencil *s = kernel;

	kernel_free(s->old);
	kernel_free(s->new);
}

KERNEL(stencil, "Stencil", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
