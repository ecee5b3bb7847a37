/* SPDX-License-Identifier: MIT */
#include "peaks/peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "entity.h"
#include "memory.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

const char *
peak_kind_name(enum peak_kind kind)
{
	static const char *const names[NR_PEAK_KINDS] = {"performance", "bandwidth", "latency"};

	return names[kind];
}

bool
peak_is_better(enum peak_kind kind, double a, double b)
{
	return !isnan(a) && (isnan(b) || (kind == PEAK_LATENCY ? a < b : a > b));
}

/* ---- wishes ---- */

static bool
is_word(const char *wanted, const char *word)
{
	return !wanted || wanted[0] == '\0' || strcmp(wanted, word ? word : "") == 0;
}

bool
peak_wish_is(const struct peak_wish *wish, const char *operation, const char *border, const char *access,
	     const char *instruction_set)
{
	return is_word(wish->operation, operation) && is_word(wish->border, border) && is_word(wish->access, access) &&
	       is_word(wish->instruction_set, instruction_set);
}

void
peak_add_remark(struct pool *pool, struct peak *peak, const char *text)
{
	if (!strstr(peak->remark, text))
		peak->remark = pool_format(pool, "%s%s%s", peak->remark, peak->remark[0] ? "; " : "", text);
}

static bool
is_same_but_for_variant(const struct peak *a, const struct peak *b)
{
	const char *const of_a[] = {a->name, a->operation, a->border, a->access, a->instruction_set, a->mode},
			  *const of_b[] = {b->name, b->operation, b->border, b->access, b->instruction_set, b->mode};

	for (size_t i = 0; i < NR(of_a); i++)
		if (strcmp(of_a[i], of_b[i]) != 0)
			return false;
	return a->kind == b->kind && a->nr_threads == b->nr_threads;
}

void
peak_list_keep_best(struct peak_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak peak = list->peaks[i];
		size_t k = 0;

		while (k < nr && !is_same_but_for_variant(&list->peaks[k], &peak))
			k++;
		if (k == nr)
			list->peaks[nr++] = peak;
		else if (peak_is_better(peak.kind, peak.per_cycle.value, list->peaks[k].per_cycle.value))
			list->peaks[k] = peak;
	}
	list->nr = nr;
}

void
peak_list_clear(struct peak_list *list)
{
	pool_clear(&list->pool);
	*list = (struct peak_list){.nr = 0};
}

/* ---- borders and ridge points ---- */

static const struct {
	const char *border, *level;
} levels[] = {{"cpuL1", "L1"}, {"l1l2", "L2"}, {"l2l3", "L3"}, {"llcRam", "memory"}};

int
border_order(const char *border)
{
	int i = 0;

	while (i < (int)NR(levels) && strcmp(levels[i].border, border) != 0)
		i++;
	return i;
}

const char *
border_level(const char *border)
{
	size_t i = (size_t)border_order(border);

	return i < NR(levels) ? levels[i].level : border;
}

bool
peak_ridge(const struct peak *performance, const struct peak *bandwidth, struct peak_estimate *intensity)
{
	const bool is_per_cycle = isfinite(performance->per_cycle.value) && isfinite(bandwidth->per_cycle.value);
	const struct peak_estimate p = is_per_cycle ? performance->per_cycle : performance->per_second;
	const struct peak_estimate b = is_per_cycle ? bandwidth->per_cycle : bandwidth->per_second;

	*intensity = (struct peak_estimate){p.value / b.value, p.low / b.high, p.high / b.low};
	return performance->kind == PEAK_PERFORMANCE && bandwidth->kind == PEAK_BANDWIDTH &&
	       strstr(performance->operation, "Flop") && performance->nr_threads == bandwidth->nr_threads;
}
