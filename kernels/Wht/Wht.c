/* SPDX-License-Identifier: MIT */
/* The Walsh-Hadamard transform of 2^n doubles, in place: additions and subtractions alone. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "WhtData.h"
#include "kernel.h"

/* A part of this many elements (4 KiB) is transformed by the loops, also in the recursion. */
#define LEAF ((size_t)512)

struct wht {
	struct wht_data data;
	double *buffer;
	size_t n;
	bool is_recursive;
};

static inline void
combine(double *restrict low, double *restrict high, size_t half)
{
	for (size_t i = 0; i < half; i++) {
		double a = low[i], b = high[i];

		low[i] = a + b;
		high[i] = a - b;
	}
}

/* log2 n stages, each over the whole buffer. */
static void
transform_iterative(double *x, size_t n)
{
	for (size_t half = 1; half < n; half *= 2)
		for (size_t i = 0; i < n; i += 2 * half)
			combine(x + i, x + i + half, half);
}

/* The same operations, halves first: what fits into a cache is finished there. */
static void
transform_recursive(double *x, size_t n)
{
	if (n <= LEAF) {
		transform_iterative(x, n);
		return;
	}
	transform_recursive(x, n / 2);
	transform_recursive(x + n / 2, n / 2);
	combine(x, x + n / 2, n / 2);
}

static void
run(void *kernel)
{
	struct wht *wht = kernel;

	if (wht->is_recursive)
		transform_recursive(wht->buffer, wht->n);
	else
		transform_iterative(wht->buffer, wht->n);
}

/* Some elements by the definition: element k is the sum of all x_j, negative where k and j have an odd number of common
 * bits. */
static int
check(struct wht *wht)
{
	size_t places[] = {0, 1 % wht->n, wht->n / 2, wht->n / 3, wht->n - 1};
	double *input = kernel_allocate(wht->n, sizeof(double));
	int rc = 0;

	if (!input)
		return -1;
	memcpy(input, wht->buffer, wht->n * sizeof(double));
	run(wht);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && rc == 0; i++) {
		double sum = 0;

		for (size_t j = 0; j < wht->n; j++)
			sum += __builtin_parityll(places[i] & j) ? -input[j] : input[j];
		if (!(fabs(sum - wht->buffer[places[i]]) <= 1e-12 * (double)wht->n))
			rc = kernel_fail("the transform is wrong: element %zu is %.17g instead of %.17g", places[i],
					 wht->buffer[places[i]], sum);
	}
	kernel_free(input);
	kernel_fill(wht->buffer, wht->n, 1);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct wht *wht = kernel;

	wht->n = (size_t)1 << wht->data.buffer_size_exp;
	wht->is_recursive = strcmp(wht->data.algorithm, "RECURSIVE") == 0;
	wht->buffer = kernel_allocate(wht->n, sizeof(double));
	if (!wht->buffer)
		return -1;
	kernel_fill(wht->buffer, wht->n, 1);
	return wht->data.no_check || atomic_exchange(&is_checked, true) ? 0 : check(wht);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct wht *wht = kernel;

	buffers[0] = (struct kernel_buffer){wht->buffer, wht->n * sizeof(double)};
	return 1;
}

static void
dispose(void *kernel)
{
	struct wht *wht = kernel;

	kernel_free(wht->buffer);
	wht->buffer = NULL;
}

KERNEL(wht, "Wht", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
