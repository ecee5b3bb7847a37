/* SPDX-License-Identifier: MIT */
/* The controllers ceiling, memory and peaks: what the profile keeps, as the thesis' tables, files and pictures. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/output.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/places.h"
#include "roof/peak.h"
#include "roof/present.h"
#include "roof/roof.h"
#include "rot.h"

/* Fewer variants than this make no map, or no curve where there is one axis. */
#define LEAST_OF_MAP 9
#define LEAST_OF_CURVE 4

/* ---- files ---- */

static int
write_data(const struct rot *rot, const struct peak_list *list, const char *output_name, struct rot_error *err)
{
	struct output_text csv;

	if (output_take_json(peaks_json(rot, list), output_name, err) < 0)
		return -1;
	peaks_print_csv(list, output_text_begin(&csv));
	return output_text_end(&csv, output_name, ".csv", err);
}

/* Is it the best of its operation, or of its level? Only those are drawn. */
static bool
is_best(const struct peak_list *list, const struct peak *peak)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *other = &list->peaks[i];

		if (other->kind == peak->kind && other->nr_threads == peak->nr_threads &&
		    strcmp(other->operation, peak->operation) == 0 && strcmp(other->border, peak->border) == 0 &&
		    peak_is_better(peak->kind, other->per_cycle.value, peak->per_cycle.value))
			return false;
	}
	return true;
}

static int
draw_landscapes(const struct rot *rot, const struct peak_list *list, const char *output_name, size_t *nr_maps,
		struct rot_error *err)
{
	const bool has_files = plots_go_to(rot->configuration, PLOTS_IN_FILES);
	autofree char *caption = machine_caption(rot->machine);
	int rc = 0;

	*nr_maps = 0;
	for (size_t i = 0; rc == 0 && i < list->nr; i++) {
		const struct peak *peak = &list->peaks[i];
		const size_t least = peak->landscape.nr_axes == 1 ? LEAST_OF_CURVE : LEAST_OF_MAP;
		autofree char *name = NULL;

		if (peak->nr_threads != 1 || peak->landscape.nr_points < least || !is_best(list, peak))
			continue;
		/* "ceiling-AVX-512-FMA-ADD-doublePrecisionFlop" */
		name = rot_format("%s-%s%s%s", output_name, peak->name, peak->operation[0] ? "-" : "", peak->operation);
		for (char *c = name + strlen(output_name); *c; c++)
			*c = isalnum((unsigned char)*c) ? *c : '-';
		rc = has_files ? peak_draw_landscape(peak, caption, name, err) : 0;
		++*nr_maps;
	}
	if (*nr_maps == 0 && has_files)
		rot_note("no heat map of the search is drawn: it tried too few variants; 'rot peaks' tries more");
	return rc;
}

/* ---- the controllers ---- */

/* Errors: nothing is known of this machine, and nothing may be looked for. */
static int
get(struct rot *rot, struct peak_list *list, const char *output_name, struct rot_error *err)
{
	*list = (struct peak_list){.nr = 0};
	plots_warn_of_page(rot->configuration);
	if (output_check(output_name, err) < 0 || roof_get(rot, NULL, list, err) < 0 ||
	    peaks_set_limits(rot, list, err) < 0)
		return -1;
	if (list->nr > 0)
		return 0;
	rot_error_set(err, 0, "the peaks of this machine are not known");
	return rot_error_hint(err, "'rot peaks' finds them");
}

/* Draws what the search tried, and peaks of that kind over the number of threads. */
static int
draw_search(const struct rot *rot, const struct peak_list *list, enum peak_kind kind, const char *output_name,
	    struct rot_error *err)
{
	autofree char *caption = machine_caption(rot->machine);
	autofree char *name = rot_format("%s-threads", output_name);
	size_t nr_maps = 0;
	int rc = draw_landscapes(rot, list, output_name, &nr_maps, err), nr_growths = 0;

	if (rc == 0)
		nr_growths = peaks_draw_growth(list, kind, caption,
					       plots_go_to(rot->configuration, PLOTS_IN_FILES) ? name : NULL, err);
	plots_note_undrawn(rot->configuration, nr_maps + (nr_growths > 0));
	return nr_growths < 0 ? -1 : rc;
}

/* The controller ceiling shows performances, memory all other peaks. */
static int
measure_part(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	const bool is_all = configuration_bool(rot->configuration, "showAll");
	const bool is_ceiling = strcmp(self->name, "ceiling") == 0;
	struct peak_list list, shown = {.nr = 0};
	int rc = get(rot, &list, output_name, err);

	if (rc == 0) {
		shown.peaks = rot_calloc(list.nr + 1, sizeof(*shown.peaks));
		for (size_t i = 0; i < list.nr; i++)
			if ((list.peaks[i].kind == PEAK_PERFORMANCE) == is_ceiling)
				shown.peaks[shown.nr++] = list.peaks[i];
		peaks_print(&shown, is_all, stdout);
		if (is_ceiling && is_all)
			peaks_print_ridges(&list, stdout);
		rc = write_data(rot, &shown, output_name, err);
		if (rc == 0)
			rc = draw_search(rot, &shown, is_ceiling ? PEAK_PERFORMANCE : PEAK_BANDWIDTH, output_name, err);
		free(shown.peaks);
	}
	peak_list_clear(&list);
	return rc;
}

static int
measure_peaks(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	struct peak_list list;
	int rc = get(rot, &list, output_name, err);

	(void)self;
	if (rc == 0) {
		peaks_print(&list, configuration_bool(rot->configuration, "showAll"), stdout);
		rc = write_data(rot, &list, output_name, err);
	}
	if (rc == 0)
		rc = peaks_draw_roofs(rot, &list, NULL, output_name, err);
	peak_list_clear(&list);
	return rc;
}

const struct rot_controller ceiling_controller = {
	.name = "ceiling",
	.description =
		"peak performances of this machine beside what its documents allow, ridge points, and heat maps of "
		"their search",
	.measure = measure_part,
};

const struct rot_controller memory_controller = {
	.name = "memory",
	.description = "peak bandwidths and times of random access of this machine, and heat maps of their search",
	.measure = measure_part,
};

const struct rot_controller peaks_controller = {
	.name = "peaks",
	.description = "the whole roof of this machine, with all levels of the memory",
	.measure = measure_peaks,
};
