/* SPDX-License-Identifier: MIT */
/* The landscape of a search: two axes as a heat map, with the best over all others; one axis as a curve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "peaks/present.h"
#include "plots/plot.h"
#include "quantities/value_text.h"

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
fill(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, double *values)
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
	return rot_format("%s\n%zu variants tried%s; the framed one is the best%s", machine, landscape->nr_points,
			  landscape->nr_axes > 2 ? ", each cell the best over what is not shown" : "",
			  has_gaps ? "; white: not tried, or not possible" : "");
}

static int
draw(const struct peak *peak, const struct shown_axis *x, const struct shown_axis *y, const char *caption,
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

	fill(peak, x, y, values);
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
	rc = draw(peak, &x, &y, caption, output_name, err);
	shown_axis_clear(&x);
	shown_axis_clear(&y);
	return rc;
}
