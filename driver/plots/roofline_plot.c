/* SPDX-License-Identifier: MIT */
/* The roofline plot: ceilings, series of points with their spread in both directions, labels that do not overlap. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/points.h"
#include "plots/roofline_shape.h"
#include "plots/script.h"

/* What a label keeps off: everything drawn if there is room, else marks and labels, else labels only. */
enum obstacle { OBSTACLE_LABEL, OBSTACLE_MARK, OBSTACLE_LINE, NR_OBSTACLES };

/* What is known while one plot is drawn. obstacles[k] holds the kinds up to k. */
struct drawing {
	const struct roofline_plot *plot;
	FILE *script;
	struct roofline_shape shape;
	struct layout obstacles[NR_OBSTACLES];
};

static void
take(struct drawing *drawing, enum obstacle kind, const struct layout_box *box)
{
	for (int i = kind; i < NR_OBSTACLES && isfinite(box->x) && isfinite(box->y); i++)
		layout_take(&drawing->obstacles[i], box);
}

/* ---- ceilings ---- */

static struct layout_box
segment_box(const struct drawing *drawing, const struct roofline_segment *segment)
{
	return layout_line(
		layout_position(&drawing->shape.x, segment->x1), layout_position(&drawing->shape.y, segment->y1),
		layout_position(&drawing->shape.x, segment->x2), layout_position(&drawing->shape.y, segment->y2));
}

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
	struct roofline_ceiling low = *ceiling, high = *ceiling;

	if (!isfinite(ceiling->low) || !isfinite(ceiling->high) || ceiling->low <= 0 || ceiling->low >= ceiling->high)
		return;
	low.value = ceiling->low;
	high.value = ceiling->high;
	struct roofline_segment a = roofline_segment_of(&drawing->shape, &low),
				b = roofline_segment_of(&drawing->shape, &high);
	/* where one line meets the one edge of the panel and the other line another edge, the panel's corner is between
	 */
	const double corners[][2] = {
		{a.x1, a.y1}, {a.x2, a.y2}, {fmax(a.x2, b.x2), fmax(a.y2, b.y2)},
		{b.x2, b.y2}, {b.x1, b.y1}, {fmin(a.x1, b.x1), fmin(a.y1, b.y1)},
		{a.x1, a.y1},
	};

	for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
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
	char *style = rot_format("%s%s",
				 ceiling->is_main ? "linewidth 1.8 linecolor rgb \"#000000\""
						  : "linewidth 1.1 linecolor rgb \"#A0A0A0\"",
				 dashes[ceiling->machine < nr ? ceiling->machine : nr - 1]);

	write_segment(drawing, segment, style);
	free(style);
}

static void
write_ceilings(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->plot->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &drawing->plot->ceilings[i];
		struct roofline_segment segment = roofline_segment_of(&drawing->shape, ceiling);
		struct layout_box box = segment_box(drawing, &segment);

		if (!roofline_segment_is_visible(&drawing->shape, &segment))
			continue;
		write_band(drawing, ceiling);
		write_ceiling(drawing, ceiling, &segment);
		take(drawing, OBSTACLE_LINE, &box);
	}
}

static void
write_ceiling_label(FILE *out, const struct roofline_ceiling *ceiling, const char *text, const struct layout_box *box,
		    bool is_on_lines)
{
	const char *colour = ceiling->is_main ? "#000000" : "#606060";

	if (is_on_lines && !ceiling->is_bandwidth)
		script_write_label_on_white(out, text, box->x, box->y, colour);
	else
		script_write_label(out, text, box->x, box->y, "center", box->angle, colour);
}

/*
 * A label beside its line, at the first free place from the preferred end on; above the line before below. Lines and
 * points are avoided if possible, other labels always; a label without any place is left out.
 */
static void
place_ceiling_label(struct drawing *drawing, const struct roofline_ceiling *ceiling)
{
	struct roofline_segment segment = roofline_segment_of(&drawing->shape, ceiling);
	struct layout_box line = segment_box(drawing, &segment);
	char *text = rot_format("%s (%s)", ceiling->name, ceiling->label);
	double width = layout_text_width(text), height = layout_text_height();
	double cosine = cos(line.angle * M_PI / 180), sine = sin(line.angle * M_PI / 180);
	bool is_placed = segment.x1 >= segment.x2;

	for (int attempt = 0; attempt < 2 * NR_OBSTACLES && !is_placed; attempt++) {
		const struct layout *avoided = &drawing->obstacles[NR_OBSTACLES - 1 - attempt / 2];
		double away = (attempt % 2 ? -1 : 1) * (height / 2 + 1.5);

		for (double along = line.width / 2 - width / 2 - 3; along >= -line.width / 2 && !is_placed;
		     along -= 8) {
			/* diagonals: from the lower end upwards, where nothing else is; horizontals: from the right end
			 */
			double at = ceiling->is_bandwidth ? -along : along;
			struct layout_box box = {line.x + at * cosine - away * sine, line.y + at * sine + away * cosine,
						 width, height, line.angle};

			if (!layout_is_free(avoided, &box))
				continue;
			take(drawing, OBSTACLE_LABEL, &box);
			write_ceiling_label(drawing->script, ceiling, text, &box, attempt >= 2);
			is_placed = true;
		}
	}
	free(text);
}

/* ---- points ---- */

/* Zero bytes mean infinite intensity: such a point is drawn at the right edge. */
static double
shown_x(const struct drawing *drawing, const struct plot_point *point)
{
	return point_shown_x(point, &(struct point_edges){drawing->shape.x, drawing->shape.y});
}

static double
shown_y(const struct drawing *drawing, const struct plot_point *point)
{
	return point_shown_y(point, &(struct point_edges){drawing->shape.x, drawing->shape.y});
}

/* Extent of a value with its spread along an axis, at least that of a mark. */
static void
extent(const struct layout_axis *axis, const struct summary *summary, double shown, double *centre, double *size)
{
	double at = layout_position(axis, shown);
	double low = fmin(at, layout_position(axis, summary->minimum)) - 3.5;
	double high = fmax(at, layout_position(axis, summary->maximum)) + 3.5;

	*centre = isfinite(low + high) ? (low + high) / 2 : at;
	*size = isfinite(low + high) ? high - low : 7;
}

/* The sign of infinity at the right edge. */
static void
take_sign(struct drawing *drawing, const struct plot_point *point)
{
	struct layout_box box = {drawing->shape.x.length - SCRIPT_END_SIGN,
				 layout_position(&drawing->shape.y, point->y.value), LAYOUT_SMALL_FONT,
				 LAYOUT_SMALL_FONT, 0};

	if (layout_end_of(&drawing->shape.x, point->x.value) == LAYOUT_HIGH_END)
		take(drawing, OBSTACLE_MARK, &box);
}

static void
take_series(struct drawing *drawing, const struct plot_series *series)
{
	for (size_t i = 0; i < series->nr_points; i++) {
		const struct plot_point *point = &series->points[i];
		struct layout_box box = {0};

		extent(&drawing->shape.x, &point->x, shown_x(drawing, point), &box.x, &box.width);
		extent(&drawing->shape.y, &point->y, shown_y(drawing, point), &box.y, &box.height);
		take(drawing, OBSTACLE_MARK, &box);
		take_sign(drawing, point);
		if (i == 0)
			continue;
		struct roofline_segment line = {shown_x(drawing, point - 1), shown_y(drawing, point - 1),
						shown_x(drawing, point), shown_y(drawing, point)};

		box = segment_box(drawing, &line);
		take(drawing, OBSTACLE_LINE, &box);
	}
}

/* A thin line from a label to its point (x, y), where the label is not beside it. */
static void
write_leader(const struct drawing *drawing, const struct layout_box *label, double x, double y, const char *colour)
{
	double from_x = fmax(label->x - label->width / 2, fmin(x, label->x + label->width / 2));
	double from_y = fmax(label->y - label->height / 2, fmin(y, label->y + label->height / 2));

	fprintf(drawing->script,
		"set arrow from graph %.5f, graph %.5f to graph %.5f, graph %.5f nohead back linewidth 0.4 linecolor "
		"rgb \"%s\"\n",
		from_x / LAYOUT_PANEL_WIDTH, from_y / LAYOUT_PANEL_HEIGHT, x / LAYOUT_PANEL_WIDTH,
		y / LAYOUT_PANEL_HEIGHT, colour);
}

/* Beside a point: eight directions at five distances. */
enum { NR_DIRECTIONS = 8, NR_PLACES = 5 * NR_DIRECTIONS };

static void
place_point_label(struct drawing *drawing, const struct plot_point *point, const char *colour)
{
	static const int directions[NR_DIRECTIONS][2] = {
		{1, 0}, {1, 1}, {1, -1}, {-1, 0}, {-1, 1}, {-1, -1}, {0, 1}, {0, -1},
	};
	char *text = isinf(point->x.value) ? rot_format("%s (no bytes)", point->label) : rot_strdup(point->label);
	double x = layout_position(&drawing->shape.x, shown_x(drawing, point));
	double y = layout_position(&drawing->shape.y, shown_y(drawing, point));
	double width = layout_text_width(text), height = layout_text_height();
	bool is_placed = !isfinite(x) || !isfinite(y);

	for (int attempt = 0; attempt < NR_PLACES * NR_OBSTACLES && !is_placed; attempt++) {
		const struct layout *avoided = &drawing->obstacles[NR_OBSTACLES - 1 - attempt / NR_PLACES];
		double gap = 4 + attempt % NR_PLACES / NR_DIRECTIONS * 9;
		const int *direction = directions[attempt % NR_DIRECTIONS];
		struct layout_box box = {x + direction[0] * (width / 2 + gap),
					 y + direction[1] * (height / 2 + gap / 2), width, height, 0};

		if (!layout_is_free(avoided, &box))
			continue;
		take(drawing, OBSTACLE_LABEL, &box);
		if (attempt < NR_PLACES)
			script_write_label(drawing->script, text, box.x, box.y, "center", 0, colour);
		else
			script_write_label_on_white(drawing->script, text, box.x, box.y, colour);
		if (attempt % NR_PLACES >= 2 * NR_DIRECTIONS)
			write_leader(drawing, &box, x, y, colour);
		is_placed = true;
	}
	free(text);
}

/* Points first: a ceiling's label may stand anywhere along its line. Of ceilings, those that matter most first. */
static void
place_labels(struct drawing *drawing)
{
	for (size_t s = 0; s < drawing->plot->nr_series; s++) {
		const struct plot_series *series = &drawing->plot->series[s];

		for (size_t i = 0; i < series->nr_points; i++)
			if (series->points[i].is_labelled)
				place_point_label(drawing, &series->points[i], script_colour(s + series->nr_hidden));
	}
	for (int is_main = 1; is_main >= 0; is_main--)
		for (size_t i = 0; i < drawing->plot->nr_ceilings; i++)
			if (drawing->plot->ceilings[i].is_main == is_main)
				place_ceiling_label(drawing, &drawing->plot->ceilings[i]);
}

/* Dashed lines through the points of the same size in consecutive series. */
static void
write_same_size(struct drawing *drawing)
{
	const struct roofline_plot *plot = drawing->plot;

	for (size_t s = 0; plot->same_size == SAME_SIZE_ALL && s + 1 < plot->nr_series; s++) {
		for (size_t i = 0; i < plot->series[s].nr_points; i++) {
			const struct plot_point *a = &plot->series[s].points[i];
			const struct plot_point *b = point_of_size(&plot->series[s + 1], a->size);
			struct roofline_segment segment = {shown_x(drawing, a), shown_y(drawing, a), 0, 0};
			struct layout_box box;

			if (!b)
				continue;
			segment.x2 = shown_x(drawing, b);
			segment.y2 = shown_y(drawing, b);
			box = segment_box(drawing, &segment);
			take(drawing, OBSTACLE_LINE, &box);
			write_segment(drawing, &segment, "dashtype 2 linewidth 0.8 linecolor rgb \"#808080\"");
		}
	}
}

/* ---- the whole ---- */

static char *
plot_command(const struct roofline_plot *plot)
{
	char *command = rot_strdup("plot ");

	for (size_t s = 0; s < plot->nr_series; s++)
		command = points_add_commands(command, &plot->series[s], s, &plot->frame, true);
	if (!plot->nr_series) {
		free(command);
		return rot_strdup("plot NaN notitle");
	}
	return command;
}

static int
draw(struct drawing *drawing, struct gnuplot *gnuplot, struct rot_error *err)
{
	const struct roofline_plot *plot = drawing->plot;
	char *command = plot_command(plot);

	drawing->script = gnuplot->script;
	for (int i = 0; i < NR_OBSTACLES; i++)
		drawing->obstacles[i] = (struct layout){.width = LAYOUT_PANEL_WIDTH, .height = LAYOUT_PANEL_HEIGHT};
	drawing->shape = roofline_shape_of(plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	struct plot_frame frame = plot->frame;
	struct layout_page page = layout_page_of(&frame, plot->series, plot->nr_series);

	frame.x.is_log = frame.y.is_log = true;
	script_write_frame(gnuplot->script, &frame, &page, &drawing->shape.x, &drawing->shape.y, plot->nr_series);
	write_ceilings(drawing);
	for (size_t s = 0; s < plot->nr_series; s++)
		take_series(drawing, &plot->series[s]);
	write_same_size(drawing);
	place_labels(drawing);
	points_write_data(gnuplot->data, plot->series, plot->nr_series,
			  &(struct point_edges){drawing->shape.x, drawing->shape.y});
	script_write_ends(gnuplot->script, plot->series, plot->nr_series, &drawing->shape.x, &drawing->shape.y);
	script_write_outputs(gnuplot->script, &page, command);
	for (int i = 0; i < NR_OBSTACLES; i++)
		layout_clear(&drawing->obstacles[i]);
	free(command);
	return gnuplot_finish(gnuplot, err);
}

int
roofline_plot_write(const struct roofline_plot *plot, const char *output_name, struct rot_error *err)
{
	struct gnuplot gnuplot = {0};
	struct drawing drawing = {.plot = plot};
	int rc = gnuplot_open(&gnuplot, output_name, err);

	if (rc == 0)
		rc = draw(&drawing, &gnuplot, err);
	gnuplot_close(&gnuplot);
	return rc;
}
