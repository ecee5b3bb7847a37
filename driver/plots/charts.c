/* SPDX-License-Identifier: MIT */
/* Plots of values over x: one value each (series plot), or its distribution (distribution plot). */
#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "number.h"
#include "plots/gnuplot.h"
#include "plots/points.h"
#include "plots/script.h"

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
