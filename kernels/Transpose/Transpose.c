/* SPDX-License-Identifier: MIT */
/* B = A transposed. Rows of A are read in order, and columns of B are written. */
#include <stdatomic.h>
#include <string.h>

#include "TransposeData.h"
#include "kernel.h"

struct transpose {
	struct transpose_data data;
	long length; /* of a row */
	double *a, *b;
};

/* A part of A. */
struct part {
	long row, column, rows, columns;
};

static long
least(long x, long y)
{
	return x < y ? x : y;
}

static void
move(const struct transpose *t, struct part part)
{
	const long length = t->length;

	for (long i = part.row; i < part.row + part.rows; i++)
		for (long j = part.column; j < part.column + part.columns; j++)
			t->b[j * length + i] = t->a[i * length + j];
}

static void
move_blocks(const struct transpose *t)
{
	const long n = t->data.matrix_size, nb = t->data.nb;

	for (long i = 0; i < n; i += nb)
		for (long j = 0; j < n; j += nb)
			move(t, (struct part){i, j, least(nb, n - i), least(nb, n - j)});
}

static void
move_halves(const struct transpose *t, struct part part)
{
	struct part first = part;

	if (part.rows <= t->data.nb && part.columns <= t->data.nb) {
		move(t, part);
		return;
	}
	if (part.rows >= part.columns) {
		first.rows /= 2;
		part.row += first.rows;
		part.rows -= first.rows;
	} else {
		first.columns /= 2;
		part.column += first.columns;
		part.columns -= first.columns;
	}
	move_halves(t, first);
	move_halves(t, part);
}

static void
run(void *kernel)
{
	const struct transpose *t = kernel;
	const struct part all = {0, 0, t->data.matrix_size, t->data.matrix_size};

	if (strcmp(t->data.algorithm, "BLOCKED") == 0)
		move_blocks(t);
	else if (strcmp(t->data.algorithm, "RECURSIVE") == 0)
		move_halves(t, all);
	else
		move(t, all);
}

static int
check(struct transpose *t)
{
	const long n = t->data.matrix_size;

	run(t);
	for (long i = 0; i < n * n; i++) {
		const double is = t->b[i % n * t->length + i / n], expected = t->a[i / n * t->length + i % n];

		if (memcmp(&is, &expected, sizeof(is)) != 0)
			return kernel_fail("the transposed matrix is wrong: row %ld, column %ld", i % n, i / n);
	}
	return 0;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct transpose *t = kernel;
	size_t nr;

	t->length = t->data.row_length ? t->data.row_length : t->data.matrix_size;
	nr = (size_t)t->data.matrix_size * (size_t)t->length;
	t->a = kernel_allocate(nr, sizeof(double));
	t->b = kernel_allocate(nr, sizeof(double));
	if (!t->a || !t->b)
		return -1;
	kernel_fill(t->a, nr, 1);
	kernel_fill(t->b, nr, 2);
	if (t->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return check(t);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	const struct transpose *t = kernel;
	const size_t bytes = (size_t)t->data.matrix_size * (size_t)t->length * sizeof(double);

	buffers[0] = (struct kernel_buffer){t->a, bytes};
	buffers[1] = (struct kernel_buffer){t->b, bytes};
	return 2;
}

static void
dispose(void *kernel)
{
	struct transpose *t = kernel;

	kernel_free(t->a);
	kernel_free(t->b);
}

KERNEL(transpose, "Transpose", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
