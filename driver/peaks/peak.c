/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "peaks/peak.h"

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
