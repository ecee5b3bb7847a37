/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "peaks/peak.h"

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
	char *const texts[] = {peak->name, peak->operation,    peak->border, peak->access,       peak->instruction_set,
			       peak->mode, peak->clock_source, peak->search, peak->limit_source, peak->remark};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		free(peak->variant[i].name);
	free(peak->variant);
	landscape_clear(&peak->landscape);
	memset(peak, 0, sizeof(*peak));
}

void
peak_list_clear(struct peak_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		peak_clear(&list->peaks[i]);
	free(list->peaks);
	memset(list, 0, sizeof(*list));
}
