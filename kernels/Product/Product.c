/* SPDX-License-Identifier: MIT */
/* C = A B + C in the orders that papers on data access compare; each element is loaded and stored as they say. */
#include <stdatomic.h>
#include <string.h>

#include "ProductData.h"
#include "kernel.h"
#include "verify.h"

/* Sides of a product, or the begin of a part: rows of A, columns of B, and what is summed. */
enum { I, J, K, NR_SIDES };

struct sides {
	long of[NR_SIDES];
};

struct product {
	struct product_data data;
	struct sides whole;
	int order[NR_SIDES]; /* from the outermost loop to the innermost */
	long length;         /* of a row */
	double *a, *b, *c;
};

static long
least(long x, long y)
{
	return x < y ? x : y;
}

/* The part of these sides that begins there, by three loops. */
static void
multiply(const struct product *p, struct sides begin, struct sides part)
{
	const long length = p->length;
	const long step_a[NR_SIDES] = {length, 0, 1}, step_b[NR_SIDES] = {0, 1, length};
	const long step_c[NR_SIDES] = {length, 1, 0};
	const int x = p->order[0], y = p->order[1], z = p->order[2];
	const long to_a = step_a[z], to_b = step_b[z], to_c = step_c[z], nr = part.of[z];

	for (long i = begin.of[x]; i < begin.of[x] + part.of[x]; i++)
		for (long j = begin.of[y]; j < begin.of[y] + part.of[y]; j++) {
			const double *a = p->a + i * step_a[x] + j * step_a[y] + begin.of[z] * to_a;
			const double *b = p->b + i * step_b[x] + j * step_b[y] + begin.of[z] * to_b;
			double *c = p->c + i * step_c[x] + j * step_c[y] + begin.of[z] * to_c;

			for (long k = 0; k < nr; k++)
				c[k * to_c] += a[k * to_a] * b[k * to_b];
		}
}

static void
multiply_blocks(const struct product *p)
{
	const int x = p->order[0], y = p->order[1], z = p->order[2];
	const long *whole = p->whole.of, nb = p->data.nb;
	struct sides at, part;

	for (at.of[x] = 0; at.of[x] < whole[x]; at.of[x] += nb)
		for (at.of[y] = 0; at.of[y] < whole[y]; at.of[y] += nb)
			for (at.of[z] = 0; at.of[z] < whole[z]; at.of[z] += nb) {
				for (int s = 0; s < NR_SIDES; s++)
					part.of[s] = least(nb, whole[s] - at.of[s]);
				multiply(p, at, part);
			}
}

static void
multiply_halves(const struct product *p, struct sides begin, struct sides part)
{
	int longest = part.of[I] >= part.of[J] ? I : J;
	struct sides first = part;

	longest = part.of[longest] >= part.of[K] ? longest : K;
	if (part.of[longest] <= p->data.nb) {
		multiply(p, begin, part);
		return;
	}
	first.of[longest] /= 2;
	multiply_halves(p, begin, first);
	begin.of[longest] += first.of[longest];
	part.of[longest] -= first.of[longest];
	multiply_halves(p, begin, part);
}

static void
run(void *kernel)
{
	const struct product *p = kernel;
	const struct sides begin = {{0, 0, 0}};

	if (strcmp(p->data.algorithm, "BLOCKED") == 0)
		multiply_blocks(p);
	else if (strcmp(p->data.algorithm, "RECURSIVE") == 0)
		multiply_halves(p, begin, p->whole);
	else
		multiply(p, begin, p->whole);
}

/* Elements between the rows are not touched, so that the rows are checked one by one: C v = A (B v) + C v. */
static int
check(struct product *p)
{
	const size_t n = (size_t)p->whole.of[K], columns = (size_t)p->whole.of[J], rows = (size_t)p->whole.of[I];
	const size_t length = (size_t)p->length;
	double *v = kernel_allocate(2 * n + 2 * rows, sizeof(double)), *bv = v + n, *expected = v + 2 * n;
	double *got = expected + rows;
	int rc;

	if (!v)
		return -1;
	kernel_fill(v, n, 77);
	memset(bv, 0, (n + 2 * rows) * sizeof(double));
	for (size_t i = 0; i < n * columns; i++)
		bv[i / columns] += p->b[i / columns * length + i % columns] * v[i % columns];
	for (size_t i = 0; i < rows * n; i++)
		expected[i / n] += p->a[i / n * length + i % n] * bv[i % n];
	for (size_t i = 0; i < rows * columns; i++)
		expected[i / columns] += p->c[i / columns * length + i % columns] * v[i % columns];
	run(p);
	for (size_t i = 0; i < rows * columns; i++)
		got[i / columns] += p->c[i / columns * length + i % columns] * v[i % columns];
	rc = verify_equal(got, expected, rows, 2 * (double)n, "C v of the product");
	kernel_free(v);
	kernel_fill(p->c, rows * length, 3);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct product *p = kernel;
	const long n = p->data.matrix_size, rows = p->data.rows ? p->data.rows : n;
	size_t length, nr_long = (size_t)n, nr_short = (size_t)rows;

	p->whole = (struct sides){{rows, p->data.columns ? p->data.columns : n, n}};
	p->length = p->data.row_length ? p->data.row_length : n;
	for (int s = 0; s < NR_SIDES; s++)
		p->order[s] = p->data.order[s] - 'I';
	length = (size_t)p->length;
	p->a = kernel_allocate(nr_short * length, sizeof(double));
	p->b = kernel_allocate(nr_long * length, sizeof(double));
	p->c = kernel_allocate(nr_short * length, sizeof(double));
	if (!p->a || !p->b || !p->c)
		return -1;
	kernel_fill(p->a, nr_short * length, 1);
	kernel_fill(p->b, nr_long * length, 2);
	kernel_fill(p->c, nr_short * length, 3);
	if (p->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return check(p);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	const struct product *p = kernel;
	const size_t row = (size_t)p->length * sizeof(double);

	buffers[0] = (struct kernel_buffer){p->a, (size_t)p->whole.of[I] * row};
	buffers[1] = (struct kernel_buffer){p->b, (size_t)p->whole.of[K] * row};
	buffers[2] = (struct kernel_buffer){p->c, (size_t)p->whole.of[I] * row};
	return 3;
}

static void
dispose(void *kernel)
{
	struct product *p = kernel;

	kernel_free(p->a);
	kernel_free(p->b);
	kernel_free(p->c);
}

KERNEL(product, "Product", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
