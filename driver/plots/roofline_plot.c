/* SPDX-License-Identifier: MIT */
/* The roofline plot: ceilings, series of points with their spread in both directions, labels that do not overlap. */
#include <stdlib.h>

#include "memory.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/points.h"
#include "plots/roofline_labels.h"
#include "plots/roofline_shape.h"
#include "plots/script.h"

/* The state while one plot is drawn. */
struct drawing {
	const struct roofline_plot *plot;
	FILE *script;
	struct roofline_shape shape;
};

/* ---- ceilings ---- */

static void
write_segment(const struct drawing *drawing, const struct roofline_segment *segment, const char *style)
{
	fputs("set arrow from ", drawing->script);
	script_write_number(drawing->script, segment->x1);
	fputs(",", drawing->script);
	script_write_number(drawing->script, segment->y1);
	fputs(" to ", drawing->script);
	script_write_number(drawing->script, segment->x2);
	fputs(",", drawing->script);
	script_write_number(drawing->script, segment->y2);
	fprintf(drawing->script, " nohead back %s\n", style);
}

/* The interval of a ceiling as a grey band behind its line. */
static void
write_band(const struct drawing *drawing, const struct roofline_ceiling *ceiling)
{
	double corners[ROOFLINE_BAND_CORNERS][2];

	if (!roofline_band_of(&drawing->shape, ceiling, corners))
		return;
	for (size_t i = 0; i < ROOFLINE_BAND_CORNERS; i++) {
		fputs(i ? " to " : "set object polygon from ", drawing->script);
		script_write_number(drawing->script, corners[i][0]);
		fputs(",", drawing->script);
		script_write_number(drawing->script, corners[i][1]);
	}
	fputs(" behind fillcolor rgb \"#D8D8D8\" fillstyle transparent solid 0.6 noborder\n", drawing->script);
}

static void
write_ceiling(const struct drawing *drawing, const struct roofline_ceiling *ceiling,
	      const struct roofline_segment *segment)
{
	static const char *const dashes[] = {"", " dashtype (14,5)", " dashtype (4,4)", " dashtype (14,4,4,4)"};
	const size_t nr = sizeof dashes / sizeof *dashes;
	autofree char *style = rot_format("%s%s",
					  ceiling->is_main ? "linewidth 1.8 linecolor rgb \"#000000\""
							   : "linewidth 1.1 linecolor rgb \"#A0A0A0\"",
					  dashes[ceiling->machine < nr ? ceiling->machine : nr - 1]);

	write_segment(drawing, segment, style);
}

/* ---- labels and connections ---- */

static void
write_ceiling_label(FILE *out, const struct roofline_label *label)
{
	const struct layout_box *box = &label->box;
	const char *colour = label->ceiling->is_main ? "#000000" : "#606060";

	if (label->is_on_lines && !label->ceiling->is_bandwidth) {
		script_write_label_on_white(out, label->text, box->x, box->y, "center", colour);
		return;
	}
	if (label->is_on_lines)
		script_write_ground(out, box);
	script_write_label(out, label->text, box->x, box->y, "center", box->angle, colour);
}

static void
write_point_label(FILE *out, const struct roofline_label *label, const char *colour)
{
	const double half = label->box.width / 2, left = label->box.x - half, right = label->box.x + half;
	const char *align = left > label->x ? "left" : right < label->x ? "right" : "center";
	const double x = left > label->x ? left : right < label->x ? right : label->box.x;

	if (label->is_on_lines)
		script_write_label_on_white(out, label->text, x, label->box.y, align, colour);
	else
		script_write_label(out, label->text, x, label->box.y, align, 0, colour);
	if (label->has_leader) {
		/* A thin grey line to the point, where the label is not beside it. */
		double x1, y1, x2, y2;

		roofline_leader_of(label, &x1, &y1, &x2, &y2);
		fprintf(out,
			"set arrow from graph %.5f, graph %.5f to graph %.5f, graph %.5f nohead back linewidth 0.4 "
			"linecolor "
			"rgb \"#B0B0B0\"\n",
			x1 / LAYOUT_PANEL_WIDTH, y1 / LAYOUT_PANEL_HEIGHT, x2 / LAYOUT_PANEL_WIDTH,
			y2 / LAYOUT_PANEL_HEIGHT);
	}
}

static void
write_labels(const struct drawing *drawing, const struct roofline_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		const struct roofline_label *label = &labels->items[i];

		if (label->ceiling)
			write_ceiling_label(drawing->script, label);
		else
			write_point_label(drawing->script, label,
					  script_colour(&drawing->plot->series[label->series], label->series));
	}
}

/* Dashed lines through the points of the same size in consecutive series. */
static void
write_same_size(const struct drawing *drawing)
{
	autofree struct roofline_segment *segments = NULL;
	size_t nr = roofline_same_size_of(&drawing->shape, &segments);

	for (size_t i = 0; i < nr; i++)
		write_segment(drawing, &segments[i], "dashtype 2 linewidth 0.8 linecolor rgb \"#808080\"");
}

/* ---- the whole ---- */

static char *
roofline_command(const struct roofline_plot *plot)
{
	char *command = rot_strdup("plot ");

	for (int is_dots = 1; is_dots >= 0; is_dots--)
		for (size_t s = 0; s < plot->nr_series; s++)
			if ((plot->series[s].style == PLOT_DOTS) == is_dots)
				points_add_commands(&command, &plot->series[s], s, &plot->frame, true, "1");
			else if (!is_dots)
				points_add_key(&command, &plot->series[s], s);
	rot_append(&command, "%s", plot->nr_series ? "" : "NaN notitle");
	return command;
}

int
roofline_plot_write(const struct roofline_plot *plot, const char *output_name, struct rot_error *err)
{
	autofree char *command = roofline_command(plot), *caption = NULL;
	const struct point_set set = roofline_points_of(plot);
	struct drawing drawing = {.plot = plot};
	struct roofline_labels labels;
	struct point_edges edges;
	struct plot_frame frame;
	struct layout_page page;
	struct gnuplot gnuplot;

	if (gnuplot_open(&gnuplot, output_name, err) < 0)
		return -1;
	drawing.script = gnuplot.script;
	drawing.shape = roofline_shape_of(plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	edges = (struct point_edges){drawing.shape.x, drawing.shape.y};
	labels = roofline_labels_of(&drawing.shape);
	caption = roofline_labels_caption(&labels, points_caption(&set, &edges));
	frame = script_fold(&gnuplot.pool, &plot->frame, caption);
	frame.x.is_log = frame.y.is_log = true;
	page = layout_page_of(&frame, plot->series, plot->nr_series);
	script_write_frame(gnuplot.script, &frame, &page, &drawing.shape.x, &drawing.shape.y, plot->nr_series);
	for (size_t i = 0; i < plot->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &plot->ceilings[i];
		struct roofline_segment segment = roofline_segment_of(&drawing.shape, ceiling);

		if (!roofline_segment_is_visible(&drawing.shape, &segment))
			continue;
		write_band(&drawing, ceiling);
		write_ceiling(&drawing, ceiling, &segment);
	}
	write_same_size(&drawing);
	write_labels(&drawing, &labels);
	points_write_data(gnuplot.data, plot->series, plot->nr_series, &edges);
	script_write_ends(gnuplot.script, plot->series, plot->nr_series, &edges.x, &edges.y);
	script_write_arrows(gnuplot.script, &set, &edges);
	script_write_outputs(gnuplot.script, &page, command);
	roofline_labels_clear(&labels);
	return gnuplot_finish(&gnuplot, err);
}
