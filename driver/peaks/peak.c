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
peak_wish_clear(struct peak_wish *wish)
{
	free((char *)wish->operation);
	free((char *)wish->border);
	free((char *)wish->access);
	free((char *)wish->instruction_set);
	*wish = (struct peak_wish){0};
}

/* ---- life ---- */

static const size_t texts[] = {
	offsetof(struct peak, name),
	offsetof(struct peak, operation),
	offsetof(struct peak, border),
	offsetof(struct peak, access),
	offsetof(struct peak, instruction_set),
	offsetof(struct peak, mode),
	offsetof(struct peak, clock_source),
	offsetof(struct peak, search),
	offsetof(struct peak, limit_source),
	offsetof(struct peak, remark),
};

static char **
text_at(struct peak *peak, size_t i)
{
	return (char **)(void *)((char *)peak + texts[i]);
}

void
peak_add_remark(struct peak *peak, const char *text)
{
	char *both;

	if (strstr(peak->remark, text))
		return;
	both = rot_format("%s%s%s", peak->remark, peak->remark[0] ? "; " : "", text);

	rot_string_set(&peak->remark, both);
	free(both);
}

struct peak
peak_copy(const struct peak *peak)
{
	struct peak copy = *peak;

	for (size_t i = 0; i < NR(texts); i++)
		*text_at(&copy, i) = rot_strdup(*text_at(&copy, i));
	copy.variant = rot_calloc(peak->nr_coordinates + 1, sizeof(*copy.variant));
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		copy.variant[i] = (struct peak_coordinate){rot_strdup(peak->variant[i].name), peak->variant[i].value};
	copy.landscape = (struct peak_landscape){.nr_axes = 0};
	return copy;
}

static void
landscape_clear(struct peak_landscape *landscape)
{
	for (size_t i = 0; i < landscape->nr_axes; i++)
		free(landscape->axes[i]);
	free(landscape->axes);
	for (size_t i = 0; i < landscape->nr_points; i++)
		free(landscape->points[i].coordinates);
	free(landscape->points);
}

void
peak_clear(struct peak *peak)
{
	for (size_t i = 0; i < NR(texts); i++)
		free(*text_at(peak, i));
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		free(peak->variant[i].name);
	free(peak->variant);
	landscape_clear(&peak->landscape);
	memset(peak, 0, sizeof(*peak));
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
		if (k == nr) {
			list->peaks[nr++] = peak;
		} else if (peak_is_better(peak.kind, peak.per_cycle.value, list->peaks[k].per_cycle.value)) {
			peak_clear(&list->peaks[k]);
			list->peaks[k] = peak;
		} else {
			peak_clear(&list->peaks[i]);
		}
	}
	list->nr = nr;
}

void
peak_list_clear(struct peak_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		peak_clear(&list->peaks[i]);
	free(list->peaks);
	memset(list, 0, sizeof(*list));
}
