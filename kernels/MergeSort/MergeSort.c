/* SPDX-License-Identifier: MIT */
/* Merge sort of two or more ways, between two arrays. */
#include <stdatomic.h>

#include "MergeSortData.h"
#include "kernel.h"

#define MOST_WAYS 32

struct merge_sort {
	struct merge_sort_data data;
	double *source;    /* as they are before */
	double *arrays[2]; /* the first one is that of the result */
};

static long
begin_of(long begin, long nr, long part, long ways)
{
	return begin + nr * part / ways;
}

/* Merges the parts of from, whose first elements are at, into to. */
static void
merge(const double *from, double *to, long *at, long *end, long nr_parts)
{
	while (nr_parts > 0) {
		long least = 0;

		for (long i = 1; i < nr_parts; i++)
			least = from[at[i]] < from[at[least]] ? i : least;
		*to++ = from[at[least]++];
		if (at[least] < end[least])
			continue;
		nr_parts--;
		at[least] = at[nr_parts];
		end[least] = end[nr_parts];
	}
}

/* So many elements from begin on; the result is in that one of the arrays. */
static void
sort(const struct merge_sort *s, long begin, long nr, int result)
{
	const long ways = s->data.ways < nr ? s->data.ways : nr;
	long at[MOST_WAYS], end[MOST_WAYS];

	if (nr == 1) {
		s->arrays[result][begin] = s->source[begin];
		return;
	}
	for (long i = 0; i < ways; i++) {
		at[i] = begin_of(begin, nr, i, ways);
		end[i] = begin_of(begin, nr, i + 1, ways);
		sort(s, at[i], end[i] - at[i], !result);
	}
	merge(s->arrays[!result], s->arrays[result] + begin, at, end, ways);
}

static void
run(void *kernel)
{
	const struct merge_sort *s = kernel;

	sort(s, 0, s->data.nr_elements, 0);
}

/* In order, and none lost: sums of doubles that are added in another order differ by roundings. */
static int
check(struct merge_sort *s)
{
	const double *result = s->arrays[0];
	double difference = 0;

	run(s);
	for (long i = 0; i < s->data.nr_elements; i++) {
		if (i > 0 && !(result[i - 1] <= result[i]))
			return kernel_fail("the order is wrong: element %ld is %.17g behind %.17g", i, result[i],
					   result[i - 1]);
		difference += result[i] - s->source[i];
	}
	if (!(difference < 1e-6 && difference > -1e-6))
		return kernel_fail("the sum is wrong: it differs by %g", difference);
	return 0;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct merge_sort *s = kernel;
	const size_t nr = (size_t)s->data.nr_elements;

	s->source = kernel_allocate(nr, sizeof(double));
	s->arrays[0] = kernel_allocate(nr, sizeof(double));
	s->arrays[1] = kernel_allocate(nr, sizeof(double));
	if (!s->source || !s->arrays[0] || !s->arrays[1])
		return -1;
	kernel_fill(s->source, nr, 1);
	kernel_fill(s->arrays[0], nr, 2);
	kernel_fill(s->arrays[1], nr, 3);
	if (s->data.no_check || atomic_exchange(&is_checked, true))
		return 0;
	return check(s);
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	const struct merge_sort *s = kernel;
	const size_t bytes = (size_t)s->data.nr_elements * sizeof(double);

	buffers[0] = (struct kernel_buffer){s->source, bytes};
	buffers[1] = (struct kernel_buffer){s->arrays[0], bytes};
	buffers[2] = (struct kernel_buffer){s->arrays[1], bytes};
	return 3;
}

static void
dispose(void *kernel)
{
	struct merge_sort *s = kernel;

	kernel_free(s->source);
	kernel_free(s->arrays[0]);
	kernel_free(s->arrays[1]);
}

KERNEL(merge_sort, "MergeSort", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
