/* SPDX-License-Identifier: MIT */
/* Plots other than rooflines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/points.h"
#include "plots/script.h"

/* ---- values over x: one value each (series plot), or its distribution (distribution plot) ---- */

/* Where a series is drawn beside its x, the script says by how much. */
static char *
series_command(const struct point_set *set, const struct point_edges *edges)
{
	char *command = rot_strdup("plot ");

	for (size_t s = 0; s < set->nr_series; s++) {
		const double shift = beside_shift_of(set, edges, s),
			     share = beside_value(&edges->x, edges->x.is_log ? 1 : 0, shift);
		autofree char *number = rot_number_text(share, 4);
		autofree char *x =
			shift == 0 ? rot_strdup("1") : rot_format("($1%s%s)", edges->x.is_log ? "*" : "+", number);

		points_add_commands(&command, &set->series[s], s, set->frame, false, x);
	}
	rot_append(&command, "%s", set->nr_series ? "" : "NaN notitle");
	return command;
}

static int
write_plot(const struct plot_frame *frame, const struct plot_series *series, size_t nr_series, const char *output_name,
	   struct rot_error *err)
{
	const struct point_set set = {frame, series, nr_series, false};
	const struct point_edges edges = points_edges_of(&set);
	const struct layout_axis *x = &edges.x;
	autofree char *command = series_command(&set, &edges), *caption = points_caption(&set, &edges);
	struct layout_page page;
	struct plot_frame folded;
	struct gnuplot gnuplot;

	if (gnuplot_open(&gnuplot, output_name, err) < 0)
		return -1;
	folded = script_fold(&gnuplot.pool, frame, caption);
	page = layout_page_of(&folded, series, nr_series);
	script_write_frame(gnuplot.script, &folded, &page, x, &edges.y, nr_series);
	fprintf(gnuplot.script, "set boxwidth %g absolute\n", (x->high - x->low) * BESIDE_BOX_SHARE);
	if (x->is_log)
		fprintf(gnuplot.script, POINTS_BOX_OF_X " = %g\n", pow(x->high / x->low, BESIDE_BOX_SHARE) - 1);
	points_write_data(gnuplot.data, series, nr_series, &edges);
	script_write_markers(gnuplot.script, &set, &edges);
	script_write_ends(gnuplot.script, series, nr_series, x, &edges.y);
	script_write_arrows(gnuplot.script, &set, &edges);
	script_write_outputs(gnuplot.script, &page, command);
	return gnuplot_finish(&gnuplot, err);
}

int
series_plot_write(const struct series_plot *plot, const char *output_name, struct rot_error *err)
{
	struct plot_frame frame = plot->frame;

	frame.show_min_max = frame.show_percentiles = false;
	return write_plot(&frame, plot->series, plot->nr_series, output_name, err);
}

int
distribution_plot_write(const struct distribution_plot *plot, const char *output_name, struct rot_error *err)
{
	struct plot_frame frame = plot->frame;
	autofree char *title = points_title(frame.title, plot->series, plot->nr_series);

	frame.title = title;
	return write_plot(&frame, plot->series, plot->nr_series, output_name, err);
}

/* ---- bars from the left, each with its name beside it and its value at its end ---- */

#define BAR "($2-0.32):($2+0.32) with boxxyerrorbars" /* of the distance between bars */
#define NAME_SPACE 8                                  /* points between a name and its bar */

/* Behind the longest bar: room for its value, as a share of it. */
#define VALUE_SPACE 0.3

static struct layout_axis
length_axis(const struct bar_plot *plot, double length)
{
	autofree double *values = rot_calloc(2 * plot->nr + 1, sizeof(*values));
	struct layout_axis axis;

	for (size_t i = 0; i < plot->nr; i++) {
		values[2 * i] = plot->bars[i].value;
		values[2 * i + 1] = plot->bars[i].high;
	}
	axis = layout_range(&plot->frame.x, values, 2 * plot->nr, length);
	axis.high *= pow(axis.high / axis.low, VALUE_SPACE);
	return axis;
}

/* The first one is at the top. One without a value has no bar, and one below the axis none that is seen. */
static void
write_bars(struct gnuplot *gnuplot, const struct bar_plot *plot, const struct layout_axis *x)
{
	FILE *out = gnuplot->script;

	fputs("set ytics (", out);
	for (size_t i = 0; i < plot->nr; i++) {
		fputs(i ? ", " : "", out);
		script_write_string(out, plot->bars[i].name);
		fprintf(out, " %zu", plot->nr - 1 - i);
	}
	fprintf(out, ") scale 0 noenhanced font \",%g\"\n", LAYOUT_SMALL_FONT);
	for (size_t i = 0; i < plot->nr; i++) {
		const struct plot_bar *bar = &plot->bars[i];
		const double low = fmax(bar->value, x->low), high = fmax(low, bar->high);
		autofree char *start = script_number(x->low), *value = script_number(low),
			      *end = script_number(isfinite(bar->high) ? high : low);

		fprintf(out, "set label ");
		script_write_string(out, bar->text);
		fprintf(out, " at first %s, first %zu left offset character 0.7,0 noenhanced front font \",%g\"\n",
			isfinite(bar->value) ? end : start, plot->nr - 1 - i, LAYOUT_SMALL_FONT);
		if (isfinite(bar->value))
			fprintf(gnuplot->data, "%s %zu %s %s\n", start, plot->nr - 1 - i, value, end);
	}
}

int
bar_plot_write(const struct bar_plot *plot, const char *output_name, struct rot_error *err)
{
	struct layout_axis y = {.low = -0.7, .high = (double)plot->nr - 0.3, .length = LAYOUT_PANEL_HEIGHT}, x;
	struct layout_page page;
	struct plot_frame frame;
	struct gnuplot gnuplot;
	double left = 0;

	if (gnuplot_open(&gnuplot, output_name, err) < 0)
		return -1;
	frame = script_fold(&gnuplot.pool, &plot->frame, plot->frame.caption);
	page = layout_page_of(&frame, NULL, 0);
	for (size_t i = 0; i < plot->nr; i++)
		left = fmax(left, (layout_text_width(plot->bars[i].name) + NAME_SPACE) / LAYOUT_WIDTH);
	x = length_axis(plot, LAYOUT_WIDTH * (LAYOUT_RIGHT - left));
	script_write_frame(gnuplot.script, &frame, &page, &x, &y, 0);
	fprintf(gnuplot.script, "set lmargin at screen %g\nset grid noytics\n", left);
	write_bars(&gnuplot, plot, &x);
	fprintf(gnuplot.script, "set style fill solid noborder\n");
	script_write_outputs(gnuplot.script, &page,
			     "plot data using 1:2:1:4:" BAR " linecolor rgb \"#A6CEE3\" notitle, data using "
			     "1:2:1:3:" BAR " linecolor rgb \"#0072B2\" notitle");
	return gnuplot_finish(&gnuplot, err);
}

/* ---- the heat map: a grid of colours, with the values in it where they can be read ---- */

/* The panel ends earlier than others: the scale of colours stands beside it. */
#define PANEL_RIGHT 0.83
#define SCALE_LEFT 0.855
#define SCALE_WIDTH 0.022

/* Values are written into the cells up to so many columns. */
#define MAX_COLUMNS_WITH_VALUES 13

/* viridis (van der Walt and Smith 2015): of even steps for the eye, also colour-blind and in grey print. */
static const char palette[] = "set palette defined (0 \"#440154\", 1 \"#472D7B\", 2 \"#3B528B\", 3 \"#2C728E\", "
			      "4 \"#21918C\", 5 \"#28AE80\", 6 \"#5EC962\", 7 \"#ADDC30\", 8 \"#FDE725\")\n";

static double
value_at(const struct heat_plot *plot, size_t column, size_t row)
{
	return plot->values[row * plot->nr_columns + column];
}

static void
range_of(const struct heat_plot *plot, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < plot->nr_rows * plot->nr_columns; i++) {
		*low = fmin(*low, isnan(plot->values[i]) ? INFINITY : plot->values[i]);
		*high = fmax(*high, isnan(plot->values[i]) ? -INFINITY : plot->values[i]);
	}
	if (!(*low < *high)) {
		*high = isfinite(*high) ? *high : 1;
		*low = *high > 0 ? 0 : *high - 1;
	}
}

static void
write_ticks(FILE *out, char axis, const char *const *names, size_t nr)
{
	fprintf(out, "set %ctics (", axis);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ", " : "", out);
		script_write_string(out, names[i]);
		fprintf(out, " %zu", i);
	}
	fprintf(out, ") scale 0 font \",%g\"\n", LAYOUT_SMALL_FONT);
}

/* White on the dark half of the colours, black on the bright one; as many digits as tell the values apart. */
static void
write_values(FILE *out, const struct heat_plot *plot, double low, double high)
{
	double size = fmin(LAYOUT_SMALL_FONT, 0.85 * LAYOUT_PANEL_HEIGHT / (double)plot->nr_rows);

	if (plot->nr_columns > MAX_COLUMNS_WITH_VALUES)
		return;
	for (size_t row = 0; row < plot->nr_rows; row++)
		for (size_t column = 0; column < plot->nr_columns; column++) {
			double value = value_at(plot, column, row);

			if (isnan(value))
				continue;
			fprintf(out,
				"set label \"%.3g\" at %zu,%zu center noenhanced front font \",%g\" textcolor rgb "
				"\"%s\"\n",
				value, column, row, size, value < low + 0.55 * (high - low) ? "#FFFFFF" : "#000000");
		}
}

static void
write_best(FILE *out, const struct heat_plot *plot)
{
	double x = (double)plot->best_column, y = (double)plot->best_row;

	fprintf(out,
		"set object rectangle from %.1f,%.1f to %.1f,%.1f front fillstyle empty border rgb \"#D55E00\" "
		"linewidth 2.5\n",
		x - 0.5, y - 0.5, x + 0.5, y + 0.5);
}

int
heat_plot_write(const struct heat_plot *plot, const char *output_name, struct rot_error *err)
{
	struct layout_axis x = {.low = -0.5, .high = (double)plot->nr_columns - 0.5, .length = LAYOUT_PANEL_WIDTH};
	struct layout_axis y = {.low = -0.5, .high = (double)plot->nr_rows - 0.5, .length = LAYOUT_PANEL_HEIGHT};
	struct layout_page page;
	struct plot_frame frame;
	struct gnuplot gnuplot;
	double low, high;
	FILE *out;

	if (gnuplot_open(&gnuplot, output_name, err) < 0)
		return -1;
	out = gnuplot.script;
	frame = script_fold(&gnuplot.pool, &plot->frame, plot->frame.caption);
	page = layout_page_of(&frame, NULL, 0);
	range_of(plot, &low, &high);
	script_write_frame(out, &frame, &page, &x, &y, 0);
	fprintf(out, "set rmargin at screen %g\nunset grid\nset border 0\n", PANEL_RIGHT);
	write_ticks(out, 'x', plot->columns, plot->nr_columns);
	write_ticks(out, 'y', plot->rows, plot->nr_rows);
	fputs(palette, out);
	fputs("set cbrange [", out);
	script_write_number(out, low);
	fputs(":", out);
	script_write_number(out, high);
	fprintf(out, "]\nset colorbox user origin screen %g, screen %g size screen %g, screen %g\n", SCALE_LEFT,
		page.bottom / page.height, SCALE_WIDTH, LAYOUT_PANEL_HEIGHT / page.height);
	fprintf(out, "set cbtics scale 0.5 font \",%g\"\nset cblabel ", LAYOUT_SMALL_FONT);
	script_write_string(out, plot->value_label);
	fprintf(out, " noenhanced font \",%g\" offset 1,0\n", LAYOUT_FONT);
	write_values(out, plot, low, high);
	write_best(out, plot);
	for (size_t row = 0; row < plot->nr_rows; row++)
		for (size_t column = 0; column < plot->nr_columns; column++) {
			autofree char *text = script_number(value_at(plot, column, row));

			fprintf(gnuplot.data, "%zu %zu %s\n", column, row, text);
		}
	/* "pixels": drawn as rectangles, which no viewer blurs */
	script_write_outputs(out, &page, "plot data using 1:2:3 with image pixels notitle");
	return gnuplot_finish(&gnuplot, err);
}
