/* SPDX-License-Identifier: MIT */
/* Bars from the left, each with its name beside it and its value at its end. */
#include <math.h>

#include "memory.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/script.h"

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
