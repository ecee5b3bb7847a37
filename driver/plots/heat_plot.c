/* SPDX-License-Identifier: MIT */
/* The heat map: a grid of colours, with the values in it where they can be read. */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/script.h"

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
