/* SPDX-License-Identifier: MIT */
/* Pictures of peaks: the whole roof as a roofline without points, and the landscape of a search. */
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
#include "plots/plot.h"
#include "quantities/value_text.h"
#include "rot.h"

/* ---- rooflines ---- */

/* The picture begins at this share of the least ridge point, so that the diagonals are seen. */
#define LEFT_OF_RIDGES 0.1

/* Likewise it ends beyond the largest one, so that the names of performances have room. */
#define RIGHT_OF_RIDGES 14

/* Performances are drawn of which each is at most this share of the one above. */
#define CLEARLY_LESS 0.8

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
is_line_of(const struct peak *peak, const char *operation, int nr_threads)
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
		    peak->per_cycle.value < ROOF_NEARLY_THE_SAME * other->per_cycle.value)
			continue;
		if (is_known_better(peak, other))
			roof->lines[i] = peak;
		return;
	}
	roof->lines[roof->nr++] = peak;
}

/*
 * Of each level the highest bandwidth, and that of loads with as wide registers, of memory also that of stores;
 * performances that are clearly apart, below the highest one without mixtures of operations ("FMA_ADD", "MIX"). The
 * rest is in the table.
 */
static bool
is_drawn(const struct roof *roof, const struct peak *peak)
{
	const bool is_bandwidth = peak->kind == PEAK_BANDWIDTH;
	const bool is_basic = strcmp(peak->access, "load") == 0 || peak->mode[0] ||
			      (strcmp(peak->access, "store") == 0 && strcmp(peak->border, "llcRam") == 0);
	const bool is_mixture = strchr(peak->access, '_') || strcmp(peak->access, "MIX") == 0;

	for (size_t i = 0; i < roof->nr; i++) {
		const struct peak *other = roof->lines[i];
		const double share = peak->per_cycle.value / other->per_cycle.value;

		if (is_bandwidth && strcmp(other->border, peak->border) == 0)
			return strcmp(other->instruction_set, peak->instruction_set) == 0 && is_basic;
		if (!is_bandwidth && other->kind == peak->kind &&
		    ((share < ROOF_NEARLY_THE_SAME && share > CLEARLY_LESS) || is_mixture))
			return false;
	}
	return true;
}

static struct roof
choose_lines(const struct peak_list *list, const char *operation, int nr_threads, bool is_per_cycle)
{
	struct roof roof = {.lines = rot_calloc(list->nr + 1, sizeof(*roof.lines)), .is_per_cycle = is_per_cycle};
	const struct peak **all = rot_calloc(list->nr + 1, sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_line_of(&list->peaks[i], operation, nr_threads) &&
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
draw_roofline(const struct rot *rot, const struct roof *roof, const char *title, const char *caption, struct page *page,
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
	for (size_t i = 0; i < ridges.nr_points; i++) {
		plot.frame.x.low = fmin(plot.frame.x.low, LEFT_OF_RIDGES * points[i].x.value);
		plot.frame.x.high = fmax(plot.frame.x.high, RIGHT_OF_RIDGES * points[i].x.value);
	}
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
	struct roof roof = choose_lines(list, operation, nr_threads, is_per_cycle);
	char *words = camel_case_words(operation), *note = roof_note(list, nr_threads, is_per_cycle);
	char *title =
		rot_format("The roof of this machine: %s, %d thread%s", words, nr_threads, nr_threads == 1 ? "" : "s");
	char *lines = rot_format("%s\n%s", caption, note);
	int rc = highest_performance(&roof) ? draw_roofline(rot, &roof, title, lines, page, output_name, err) : 0;

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

/* ---- what a search tried ---- */

/* The different values of an axis, ascending, and as texts. */
struct shown_axis {
	size_t axis; /* index in the landscape */
	int *values;
	char **names;
	size_t nr;
};

static int
ascending(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static struct shown_axis
axis_values(const struct peak_landscape *landscape, size_t axis)
{
	struct shown_axis shown = {.axis = axis};
	size_t nr = 0;

	shown.values = rot_calloc(landscape->nr_points + 1, sizeof(*shown.values));
	shown.names = rot_calloc(landscape->nr_points + 1, sizeof(*shown.names));
	for (size_t i = 0; i < landscape->nr_points; i++)
		shown.values[i] = landscape->points[i].coordinates[axis];
	qsort(shown.values, landscape->nr_points, sizeof(*shown.values), ascending);
	for (size_t i = 0; i < landscape->nr_points; i++)
		if (nr == 0 || shown.values[nr - 1] != shown.values[i])
			shown.values[nr++] = shown.values[i];
	shown.nr = nr;
	for (size_t i = 0; i < nr; i++)
		shown.names[i] = rot_format("%d", shown.values[i]);
	return shown;
}

static void
shown_axis_clear(struct shown_axis *shown)
{
	for (size_t i = 0; i < shown->nr; i++)
		free(shown->names[i]);
	free(shown->names);
	free(shown->values);
}

static size_t
index_of(const struct shown_axis *shown, int value)
{
	size_t i = 0;

	while (i + 1 < shown->nr && shown->values[i] != value)
		i++;
	return i;
}

/* The axis that the thesis shows in this place, or else the one with most values that is not the other one. */
static size_t
choose_axis(const struct peak_landscape *landscape, const char *const preferred[], size_t other)
{
	size_t best = other == 0 ? 1 : 0, most = 0;

	for (; *preferred; preferred++)
		for (size_t i = 0; i < landscape->nr_axes; i++)
			if (i != other && strcmp(landscape->axes[i], *preferred) == 0)
				return i;
	for (size_t i = 0; i < landscape->nr_axes; i++) {
		struct shown_axis shown = axis_values(landscape, i);

		if (i != other && shown.nr > most) {
			best = i;
			most = shown.nr;
		}
		shown_axis_clear(&shown);
	}
	return best;
}

static const char *
unit_of(const struct peak *peak)
{
	if (peak->kind == PEAK_LATENCY)
		return "cycles";
	if (peak->kind == PEAK_BANDWIDTH)
		return "byte/cycle";
	return strstr(peak->operation, "Flop") ? "flop/cycle" : "operations/cycle";
}

/* Fills the grid with the best of the points that fall into a cell. */
static void
fill_landscape(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, double *values)
{
	for (size_t i = 0; i < x->nr * y->nr; i++)
		values[i] = NAN;
	for (size_t i = 0; i < peak->landscape.nr_points; i++) {
		const struct peak_point *point = &peak->landscape.points[i];
		double *cell = &values[index_of(y, point->coordinates[y->axis]) * x->nr +
				       index_of(x, point->coordinates[x->axis])];

		if (peak_is_better(peak->kind, point->per_cycle, *cell))
			*cell = point->per_cycle;
	}
}

/* Of the peak's variant, so that what the table says is framed; else the best cell. */
static void
find_best(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, const double *values,
	  struct heat_plot *plot)
{
	const struct shown_axis *const axes[] = {x, y};
	size_t *const places[] = {&plot->best_column, &plot->best_row};
	size_t best = 0, nr_found = 0;

	for (size_t i = 1; i < x->nr * y->nr; i++)
		if (peak_is_better(peak->kind, values[i], values[best]))
			best = i;
	plot->best_column = best % x->nr;
	plot->best_row = best / x->nr;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < peak->nr_coordinates; i++)
			if (strcmp(peak->variant[i].name, peak->landscape.axes[axes[k]->axis]) == 0) {
				*places[k] = index_of(axes[k], peak->variant[i].value);
				nr_found++;
			}
	if (nr_found == 1) {
		plot->best_column = best % x->nr;
		plot->best_row = best / x->nr;
	}
}

/* "AVX-512 FMA, double precision: 47.99 flop/cycle with dlp 12, unroll 4". Fresh memory. */
static char *
title_of(const struct peak *peak)
{
	char *words = camel_case_words(peak->operation);
	char *title = rot_format("%s%s%s: %.4g %s with", peak->name, words[0] ? ", " : "", words, peak->per_cycle.value,
				 unit_of(peak));

	for (size_t i = 0; i < peak->nr_coordinates; i++) {
		char *name = camel_case_words(peak->variant[i].name);
		char *longer = rot_format("%s%s %s %d", title, i ? "," : "", name, peak->variant[i].value);

		free(name);
		free(title);
		title = longer;
	}
	free(words);
	return title;
}

/* What is to know of the cells. Fresh memory. */
static char *
caption_of(const struct peak_landscape *landscape, const char *machine, const double *values, size_t nr)
{
	bool has_gaps = false;

	for (size_t i = 0; i < nr; i++)
		has_gaps = has_gaps || isnan(values[i]);
	return rot_format("%s\n%zu variants tried%s; framed: that of the title, which has later runs%s", machine,
			  landscape->nr_points,
			  landscape->nr_axes > 2 ? ", each cell the best over what is not shown" : "",
			  has_gaps ? "; white: not tried, or not possible" : "");
}

static int
draw_heat_map(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, const char *caption,
	      const char *output_name, struct rot_error *err)
{
	const struct peak_landscape *landscape = &peak->landscape;
	double *values = rot_calloc(x->nr * y->nr, sizeof(*values));
	char *title = title_of(peak), *x_label = camel_case_words(landscape->axes[x->axis]);
	char *y_label = camel_case_words(landscape->axes[y->axis]);
	char *under;
	struct heat_plot plot = {
		.frame = {.title = title,
			  .x = {.label = x_label, .unit = "", .low = NAN, .high = NAN},
			  .y = {.label = y_label, .unit = "", .low = NAN, .high = NAN},
			  .key_position = "none"},
		.columns = (const char *const *)x->names,
		.rows = (const char *const *)y->names,
		.nr_columns = x->nr,
		.nr_rows = y->nr,
		.values = values,
		.value_label = unit_of(peak),
	};
	int rc;

	fill_landscape(peak, x, y, values);
	under = caption_of(landscape, caption, values, x->nr * y->nr);
	plot.frame.caption = under;
	find_best(peak, x, y, values, &plot);
	rc = heat_plot_write(&plot, output_name, err);
	free(under);
	free(y_label);
	free(x_label);
	free(title);
	free(values);
	return rc;
}

static int
by_first_coordinate(const void *a, const void *b)
{
	const struct peak_point *x = a, *y = b;

	return ascending(x->coordinates, y->coordinates);
}

/* Points that could not be measured are left out. */
static int
draw_curve(const struct peak *peak, const char *caption, const char *output_name, struct rot_error *err)
{
	const struct peak_landscape *landscape = &peak->landscape;
	struct peak_point *sorted = rot_calloc(landscape->nr_points, sizeof(*sorted));
	struct plot_point *points = rot_calloc(landscape->nr_points, sizeof(*points));
	struct plot_series series = {.name = peak->name, .points = points};
	char *title = title_of(peak), *x_label = camel_case_words(landscape->axes[0]);
	struct series_plot plot = {
		.frame = {.title = title,
			  .caption = caption,
			  .x = {.label = x_label, .unit = "", .low = NAN, .high = NAN},
			  .y = {.label = peak->kind == PEAK_LATENCY ? "Time" : "Rate",
				.unit = unit_of(peak),
				.low = NAN,
				.high = NAN},
			  .key_position = "none"},
		.series = &series,
		.nr_series = 1,
	};
	int rc;

	memcpy(sorted, landscape->points, landscape->nr_points * sizeof(*sorted));
	qsort(sorted, landscape->nr_points, sizeof(*sorted), by_first_coordinate);
	for (size_t i = 0; i < landscape->nr_points; i++)
		if (!isnan(sorted[i].per_cycle))
			points[series.nr_points++] = (struct plot_point){
				.x = summary_single(sorted[i].coordinates[0], "given"),
				.y = summary_single(sorted[i].per_cycle, "given"),
				.size = NAN,
			};
	rc = series_plot_write(&plot, output_name, err);
	free(x_label);
	free(title);
	free(points);
	free(sorted);
	return rc;
}

int
peak_draw_landscape(const struct peak *peak, const char *caption, const char *output_name, struct rot_error *err)
{
	static const char *const columns[] = {"unroll", NULL}, *const rows[] = {"dlp", "streams", NULL};
	const struct peak_landscape *landscape = &peak->landscape;
	struct shown_axis x, y;
	size_t x_axis;
	int rc;

	if (landscape->nr_axes == 0 || landscape->nr_points == 0)
		return rot_error_set(err, 0, "nothing was searched for the peak '%s'", peak->name);
	if (landscape->nr_axes == 1)
		return draw_curve(peak, caption, output_name, err);
	x_axis = choose_axis(landscape, columns, SIZE_MAX);
	x = axis_values(landscape, x_axis);
	y = axis_values(landscape, choose_axis(landscape, rows, x_axis));
	rc = draw_heat_map(peak, &x, &y, caption, output_name, err);
	shown_axis_clear(&x);
	shown_axis_clear(&y);
	return rc;
}
