/* SPDX-License-Identifier: MIT */
/* The whole roof as a roofline without points: performances, the bandwidths of all levels, and where they meet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "machine/machine.h"
#include "memory.h"
#include "page/page.h"
#include "peaks/present.h"
#include "peaks/ridges.h"
#include "peaks/roof.h"
#include "plots/places.h"
#include "quantities/value_text.h"
#include "rot.h"

/* The picture begins at this share of the least ridge point, so that the diagonals are seen. */
#define LEFT_OF_RIDGES 0.1

/* A line this close below another one of its kind and level says nothing new. */
#define NEARLY_THE_SAME 0.93

struct roof {
	const struct peak **lines; /* the highest first, as far as they differ */
	size_t nr;
	bool is_per_cycle; /* of the core, and of one thread; else per second, of all */
};

static double
value_of(const struct roof *roof, const struct peak *peak)
{
	return roof->is_per_cycle ? peak->per_cycle.value : peak->per_second.value * 1e-9;
}

static struct peak_estimate
interval_of(const struct roof *roof, const struct peak *peak)
{
	struct peak_estimate e = roof->is_per_cycle ? peak->per_cycle : peak->per_second;
	double factor = roof->is_per_cycle ? 1 : 1e-9;

	return (struct peak_estimate){e.value * factor, e.low * factor, e.high * factor};
}

/* By work per cycle: the clock may have moved between two peaks. */
static int
higher_first(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;

	return ((*x)->per_cycle.value < (*y)->per_cycle.value) - ((*x)->per_cycle.value > (*y)->per_cycle.value);
}

static bool
is_of(const struct peak *peak, const char *operation, int nr_threads)
{
	if (peak->nr_threads != nr_threads || !(peak->per_second.value > 0))
		return false;
	return peak->kind == PEAK_BANDWIDTH ||
	       (peak->kind == PEAK_PERFORMANCE && strcmp(peak->operation, operation) == 0);
}

/* Of equal ones those that are known best: loads, and fused operations. */
static bool
is_known_better(const struct peak *a, const struct peak *b)
{
	const char *best = a->kind == PEAK_BANDWIDTH ? "load" : "FMA";

	return strcmp(a->access, best) == 0 && strcmp(b->access, best) != 0;
}

/* Keeps the peak, unless one that is nearly the same is there; that is replaced where the new one is known better. */
static void
keep(struct roof *roof, const struct peak *peak)
{
	for (size_t i = 0; i < roof->nr; i++) {
		const struct peak *other = roof->lines[i];

		if (other->kind != peak->kind || strcmp(other->border, peak->border) != 0 ||
		    strcmp(other->mode, peak->mode) != 0 ||
		    peak->per_cycle.value < NEARLY_THE_SAME * other->per_cycle.value)
			continue;
		if (is_known_better(peak, other))
			roof->lines[i] = peak;
		return;
	}
	roof->lines[roof->nr++] = peak;
}

/* Of each level the highest bandwidth, and those of loads and stores with as wide registers; the rest is in the table.
 */
static bool
is_drawn(const struct roof *roof, const struct peak *peak)
{
	for (size_t i = 0; i < roof->nr && peak->kind == PEAK_BANDWIDTH; i++)
		if (strcmp(roof->lines[i]->border, peak->border) == 0)
			return strcmp(roof->lines[i]->instruction_set, peak->instruction_set) == 0 &&
			       (strcmp(peak->access, "load") == 0 || strcmp(peak->access, "store") == 0 ||
				peak->mode[0]);
	return true;
}

static struct roof
choose(const struct peak_list *list, const char *operation, int nr_threads, bool is_per_cycle)
{
	struct roof roof = {.lines = rot_calloc(list->nr + 1, sizeof(*roof.lines)), .is_per_cycle = is_per_cycle};
	const struct peak **all = rot_calloc(list->nr + 1, sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_of(&list->peaks[i], operation, nr_threads) &&
		    (!is_per_cycle || !isnan(list->peaks[i].per_cycle.value)))
			all[nr++] = &list->peaks[i];
	qsort(all, nr, sizeof(*all), higher_first);
	for (size_t i = 0; i < nr; i++)
		if (is_drawn(&roof, all[i]))
			keep(&roof, all[i]);
	free(all);
	return roof;
}

/* The first of its kind and level. */
static bool
is_highest(const struct roof *roof, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (roof->lines[k]->kind == roof->lines[i]->kind &&
		    strcmp(roof->lines[k]->border, roof->lines[i]->border) == 0)
			return false;
	return true;
}

static const struct peak *
highest_performance(const struct roof *roof)
{
	for (size_t i = 0; i < roof->nr; i++)
		if (roof->lines[i]->kind == PEAK_PERFORMANCE)
			return roof->lines[i];
	return NULL;
}

/* "120 GB/s". Fresh memory. */
static char *
ceiling_label(double value, const char *unit)
{
	char *number = digits_text(value, 3), *label = rot_format("%s %s", number, unit);

	free(number);
	return label;
}

static struct roofline_ceiling
ceiling_of(const struct roof *roof, size_t i)
{
	const struct peak *peak = roof->lines[i];
	bool is_bandwidth = peak->kind == PEAK_BANDWIDTH;
	struct peak_estimate e = interval_of(roof, peak);
	const char *unit =
		roof->is_per_cycle ? (is_bandwidth ? "byte/cycle" : "flop/cycle") : (is_bandwidth ? "GB/s" : "Gflop/s");

	return (struct roofline_ceiling){
		.name = rot_format("%s%s%s", peak->name, peak->mode[0] ? ", " : "", peak->mode),
		.is_bandwidth = is_bandwidth,
		.value = e.value,
		.low = e.low,
		.high = e.high,
		.label = ceiling_label(e.value, unit),
		.is_main = is_highest(roof, i),
	};
}

/* Where the highest performance meets the highest bandwidth of each level. */
static struct plot_point *
ridge_points(const struct roof *roof, size_t *nr)
{
	struct plot_point *points = rot_calloc(roof->nr + 1, sizeof(*points));
	const struct peak *peak = highest_performance(roof);

	*nr = 0;
	for (size_t i = 0; peak && i < roof->nr; i++) {
		const struct peak *bandwidth = roof->lines[i];
		double intensity = value_of(roof, peak) / value_of(roof, bandwidth);

		if (bandwidth->kind != PEAK_BANDWIDTH || !is_highest(roof, i))
			continue;
		points[(*nr)++] = (struct plot_point){
			.x = summary_single(intensity, "given"),
			.y = summary_single(value_of(roof, peak), "given"),
			.label = rot_format("%.3g", intensity),
			.is_labelled = true,
			.size = NAN,
		};
	}
	return points;
}

static int
draw(const struct rot *rot, const struct roof *roof, const char *title, const char *caption, struct page *page,
     const char *output_name, struct rot_error *err)
{
	struct roofline_ceiling *ceilings = rot_calloc(roof->nr + 1, sizeof(*ceilings));
	struct plot_series ridges = {.name = "minimum arithmetic intensity for the highest performance [flop/byte]"};
	struct plot_point *points = ridge_points(roof, &ridges.nr_points);
	struct roofline_plot plot = {
		.frame = {.title = title,
			  .caption = caption,
			  .x = {.label = "Operational intensity", .unit = "flop/byte", .low = NAN, .high = NAN},
			  .y = {.label = "Performance",
				.unit = roof->is_per_cycle ? "flop/cycle" : "Gflop/s",
				.low = NAN,
				.high = NAN},
			  .key_position = "auto"},
		.ceilings = ceilings,
		.nr_ceilings = roof->nr,
		.series = &ridges,
		.nr_series = 1,
	};
	int rc;

	ridges.points = points;
	for (size_t i = 0; i < ridges.nr_points; i++)
		plot.frame.x.low = fmin(plot.frame.x.low, LEFT_OF_RIDGES * points[i].x.value);
	for (size_t i = 0; i < roof->nr; i++)
		ceilings[i] = ceiling_of(roof, i);
	if (page)
		page_add_roofline(page, &plot);
	rc = roofline_plot_show(&plot, rot->configuration, output_name, err);
	for (size_t i = 0; i < roof->nr; i++) {
		free((char *)ceilings[i].name);
		free((char *)ceilings[i].label);
	}
	for (size_t i = 0; i < ridges.nr_points; i++)
		free((char *)points[i].label);
	free(points);
	free(ceilings);
	return rc;
}

static int
draw_roof(const struct rot *rot, const struct peak_list *list, const char *operation, int nr_threads,
	  const char *caption, struct page *page, const char *output_name, struct rot_error *err)
{
	const bool is_per_cycle = strcmp(configuration_string(rot->configuration, "clock"), "coreCycles") == 0;
	struct roof roof = choose(list, operation, nr_threads, is_per_cycle);
	char *words = camel_case_words(operation), *note = roof_note(list, nr_threads, is_per_cycle);
	char *title =
		rot_format("The roof of this machine: %s, %d thread%s", words, nr_threads, nr_threads == 1 ? "" : "s");
	char *lines = rot_format("%s\n%s", caption, note);
	int rc = highest_performance(&roof) ? draw(rot, &roof, title, lines, page, output_name, err) : 0;

	free(lines);
	free(title);
	free(note);
	free(words);
	free(roof.lines);
	return rc;
}

/* ---- pictures of a machine ---- */

static const struct {
	const char *operation, *name;
} pictures[] = {{"doublePrecisionFlop", ""}, {"singlePrecisionFlop", "-single"}};

static bool
has_performance(const struct peak_list *list, const char *operation, int nr_threads)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->peaks[i].kind == PEAK_PERFORMANCE && list->peaks[i].nr_threads == nr_threads &&
		    strcmp(list->peaks[i].operation, operation) == 0)
			return true;
	return false;
}

int
peaks_draw_roofs(const struct rot *rot, const struct peak_list *list, struct page *page, const char *output_name,
		 struct rot_error *err)
{
	int threads[] = {1, roof_nr_threads(list, 1e9)}, rc = 0;
	char *caption = machine_caption(rot->machine);

	for (size_t i = 0; rc == 0 && i < sizeof(pictures) / sizeof(*pictures); i++)
		for (int k = 0; rc == 0 && k < (threads[1] > 1 ? 2 : 1); k++) {
			char *all = k ? rot_format("-%d-threads", threads[k]) : rot_strdup("");
			char *name = rot_format("%s%s%s", output_name, pictures[i].name, all);

			if (has_performance(list, pictures[i].operation, threads[k]))
				rc = draw_roof(rot, list, pictures[i].operation, threads[k], caption, page, name, err);
			free(name);
			free(all);
		}
	free(caption);
	return rc;
}
