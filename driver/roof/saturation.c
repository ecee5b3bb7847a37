/* SPDX-License-Identifier: MIT */
#include "roof/saturation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
is_same_rate(const struct peak *a, const struct peak *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->operation, b->operation) == 0 &&
	       strcmp(a->border, b->border) == 0 && strcmp(a->access, b->access) == 0 &&
	       strcmp(a->instruction_set, b->instruction_set) == 0;
}

/* Is it the one whose growth is told: the first of its rate and mode on several threads? */
static bool
begins(const struct peak_list *list, enum peak_kind kind, size_t at)
{
	const struct peak *peak = &list->peaks[at];

	for (size_t i = 0; i < at; i++)
		if (is_same_rate(&list->peaks[i], peak) && list->peaks[i].nr_threads > 1 &&
		    strcmp(list->peaks[i].mode, peak->mode) == 0)
			return false;
	return peak->kind == kind && peak->nr_threads > 1;
}

static int
by_threads(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;

	return ((*x)->nr_threads > (*y)->nr_threads) - ((*x)->nr_threads < (*y)->nr_threads);
}

static void
judge(struct growth *growth)
{
	double highest = NAN;
	size_t i = 0;

	for (size_t k = 0; k < growth->nr; k++)
		highest = fmax(highest, growth->peaks[k]->per_second.value); /* of a number and NaN, the number */
	growth->factor = highest / growth->peaks[0]->per_second.value;
	while (i < growth->nr && !(growth->peaks[i]->per_second.value >= SATURATION_SHARE * highest))
		i++;
	if (growth->factor < SATURATION_LEAST)
		i = 0;
	growth->saturated_from = i + 1 < growth->nr ? growth->peaks[i]->nr_threads : 0;
}

static struct growth
growth_of(struct pool *pool, const struct peak_list *list, const struct peak *peak)
{
	struct growth growth = {.peaks = pool_calloc(pool, list->nr, sizeof(struct peak *)), .mode = peak->mode};

	for (size_t i = 0; i < list->nr; i++)
		if (is_same_rate(&list->peaks[i], peak) &&
		    (list->peaks[i].nr_threads == 1 || strcmp(list->peaks[i].mode, peak->mode) == 0))
			growth.peaks[growth.nr++] = &list->peaks[i];
	qsort(growth.peaks, growth.nr, sizeof(struct peak *), by_threads);
	judge(&growth);
	return growth;
}

size_t
peaks_growths(struct pool *pool, const struct peak_list *list, enum peak_kind kind, struct growth **growths)
{
	size_t nr = 0;

	*growths = pool_calloc(pool, list->nr, sizeof(**growths));
	for (size_t i = 0; i < list->nr; i++) {
		if (!begins(list, kind, i))
			continue;
		(*growths)[nr] = growth_of(pool, list, &list->peaks[i]);
		nr += (*growths)[nr].nr > 1;
	}
	return nr;
}

size_t
growths_threads(struct pool *pool, const struct growth *growths, size_t nr, int **threads)
{
	size_t nr_threads = 0;

	*threads = NULL;
	for (int next = 0, last = 0;; last = next) {
		next = 0;
		for (size_t i = 0; i < nr; i++)
			for (size_t k = 0; k < growths[i].nr; k++) {
				int here = growths[i].peaks[k]->nr_threads;

				if (here > last && (next == 0 || here < next))
					next = here;
			}
		if (next == 0)
			return nr_threads;
		*threads = pool_grow(pool, *threads, nr_threads, sizeof(**threads));
		(*threads)[nr_threads++] = next;
	}
}
