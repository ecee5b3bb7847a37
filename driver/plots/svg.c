/* SPDX-License-Identifier: MIT */
#include "plots/svg.h"

#include <libxml/xmlwriter.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "memory.h"
#include "number.h"
#include "plots/layout.h"
#include "plots/points.h"
#include "plots/roofline_labels.h"
#include "plots/roofline_shape.h"
#include "plots/script.h"

/* ---- panels ---- */

/* Coordinates of what is drawn: points from the upper left corner of the panel. */
struct svg_panel {
	xmlTextWriterPtr out;
	const struct plot_frame *frame;
	struct point_edges edges;
	const char *id;
};

#define X(text) ((const xmlChar *)(text))

/* Beside the panel, in points: room for ticks and names of axes. */
#define LEFT 50.0
#define RIGHT 10.0
#define TOP 8.0
#define BELOW 36.0

/* ---- elements ---- */

static char *
coordinate(double value)
{
	return rot_number_text(round(value * 100) / 100, 6);
}

/* Two decimals, and a point whatever the locale. */
static void
attribute(xmlTextWriterPtr out, const char *name, double value)
{
	autofree char *text = coordinate(value);

	xmlTextWriterWriteAttribute(out, X(name), X(text));
}

static void
begin(xmlTextWriterPtr out, const char *element, const char *look)
{
	xmlTextWriterStartElement(out, X(element));
	xmlTextWriterWriteAttribute(out, X("class"), X(look));
}

static void
svg_line(xmlTextWriterPtr out, const char *look, double x1, double y1, double x2, double y2)
{
	begin(out, "line", look);
	attribute(out, "x1", x1);
	attribute(out, "y1", y1);
	attribute(out, "x2", x2);
	attribute(out, "y2", y2);
	xmlTextWriterEndElement(out);
}

static void
rectangle(xmlTextWriterPtr out, const char *look, double x, double y, double width, double height)
{
	begin(out, "rect", look);
	attribute(out, "x", x);
	attribute(out, "y", y);
	attribute(out, "width", width);
	attribute(out, "height", height);
	xmlTextWriterEndElement(out);
}

static void
svg_path(xmlTextWriterPtr out, const char *look, const char *path)
{
	begin(out, "path", look);
	xmlTextWriterWriteAttribute(out, X("d"), X(path));
	xmlTextWriterEndElement(out);
}

/* Names may be any text. */
static void
write_string(xmlTextWriterPtr out, const char *text)
{
	autofree char *allowed = xml_text(text);

	xmlTextWriterWriteString(out, X(allowed));
}

static void
svg_text(xmlTextWriterPtr out, const char *look, double x, double y, double angle, const char *text)
{
	begin(out, "text", look);
	attribute(out, "x", x);
	attribute(out, "y", y);
	if (angle != 0) {
		autofree char *turn = coordinate(-angle), *at_x = coordinate(x), *at_y = coordinate(y);

		xmlTextWriterWriteFormatAttribute(out, X("transform"), "rotate(%s %s %s)", turn, at_x, at_y);
	}
	write_string(out, text);
	xmlTextWriterEndElement(out);
}

/* "M1.00 2.00": appended to path (NULL: begun), which is freed; the new one. Values that are not finite are left out.
 */
static char *
svg_path_add(char *path, double x, double y)
{
	autofree char *at_x = NULL, *at_y = NULL;

	if (!isfinite(x) || !isfinite(y))
		return path ? path : rot_strdup("");
	at_x = coordinate(x);
	at_y = coordinate(y);
	rot_append(&path, "%s%s %s", path && *path ? "L" : "M", at_x, at_y);
	return path;
}

static double
svg_x(const struct svg_panel *panel, double x)
{
	return layout_position(&panel->edges.x, x);
}

static double
svg_y(const struct svg_panel *panel, double y)
{
	return LAYOUT_PANEL_HEIGHT - layout_position(&panel->edges.y, y);
}

/* ---- axes ---- */

/* An axis, and how it lies in the panel: distances in points, in the direction that is not its own. */
struct side {
	const struct layout_axis *axis;
	bool is_x;
	double across;         /* the panel's size */
	double edge, outwards; /* where the axis is, and 1 or -1: which way is out */
	double text;           /* how far out texts are */
	const char *look;      /* of texts */
};

/* At a tick, from one place in the other direction to another one. */
static void
write_at_tick(const struct svg_panel *panel, const struct side *side, const char *look, double at, double from,
	      double to)
{
	svg_line(panel->out, look, side->is_x ? at : from, side->is_x ? from : at, side->is_x ? at : to,
		 side->is_x ? to : at);
}

static void
write_ticks(const struct svg_panel *panel, const struct side *side)
{
	const double text = side->edge + side->outwards * side->text;
	struct layout_tick *ticks;
	const size_t nr = layout_ticks_of(side->axis, &ticks);

	for (size_t i = 0; i < nr; i++) {
		const bool is_named = ticks[i].text[0];
		const double at = side->is_x ? svg_x(panel, ticks[i].value) : svg_y(panel, ticks[i].value);

		if (is_named)
			write_at_tick(panel, side, "grid", at, 0, side->across);
		write_at_tick(panel, side, "axis", at, side->edge, side->edge + side->outwards * (is_named ? 4 : 2));
		if (is_named)
			svg_text(panel->out, side->look, side->is_x ? at : text, side->is_x ? text : at, 0,
				 ticks[i].text);
	}
	layout_ticks_delete(ticks, nr);
}

/* Smaller where it would be longer than the panel and what is at both its ends. */
static void
write_axis_name(const struct svg_panel *panel, const struct side *side, const char *look, const char *name)
{
	const double width = layout_text_width(name) * LAYOUT_FONT / LAYOUT_SMALL_FONT, at = side->axis->length / 2;
	autofree char *size = coordinate(LAYOUT_FONT * fmin(1, (side->axis->length + 2 * TOP) / width));

	xmlTextWriterStartElement(panel->out, X("g"));
	xmlTextWriterWriteFormatAttribute(panel->out, X("style"), "font-size:%spx", size);
	svg_text(panel->out, look, side->is_x ? at : -38, side->is_x ? LAYOUT_PANEL_HEIGHT + 28 : at,
		 side->is_x ? 0 : 90, name);
	xmlTextWriterEndElement(panel->out);
}

static char *
axis_name(const struct plot_axis *axis)
{
	return *axis->unit ? rot_format("%s [%s]", axis->label, axis->unit) : rot_strdup(axis->label);
}

/* The page's script needs these to say where the pointer is: "log 0.01 10" and the unit. */
static void
write_axis_data(const struct svg_panel *panel, char name, const struct layout_axis *axis, const char *unit)
{
	char *low = rot_number_text(axis->low, 6), *high = rot_number_text(axis->high, 6), key[] = "data-?";

	key[sizeof(key) - 2] = name;
	xmlTextWriterWriteFormatAttribute(panel->out, X(key), "%s %s %s %s", axis->is_log ? "log" : "linear", low, high,
					  unit);
	free(low);
	free(high);
}

/*
 * For who does not see it. A group, since what is in an image is not told. The name is an attribute: browsers show
 * <title> beside the pointer wherever it is, and <desc> nowhere.
 */
static void
write_description(const struct svg_panel *panel, const char *x_name, const char *y_name)
{
	autofree char *title = xml_text(panel->frame->title);
	autofree char *text = rot_format("%s%s over %s%s.", y_name, panel->edges.y.is_log ? ", logarithmic," : "",
					 x_name, panel->edges.x.is_log ? ", logarithmic" : "");

	xmlTextWriterWriteAttribute(panel->out, X("role"), X("group"));
	xmlTextWriterWriteAttribute(panel->out, X("aria-label"), X(title));
	xmlTextWriterWriteFormatAttribute(panel->out, X("aria-describedby"), "%s-about", panel->id);
	xmlTextWriterStartElement(panel->out, X("desc"));
	xmlTextWriterWriteFormatAttribute(panel->out, X("id"), "%s-about", panel->id);
	write_string(panel->out, text);
	xmlTextWriterEndElement(panel->out);
}

static void
svg_begin(const struct svg_panel *panel)
{
	xmlTextWriterPtr out = panel->out;
	const struct side across = {&panel->edges.x, true, LAYOUT_PANEL_HEIGHT, LAYOUT_PANEL_HEIGHT, 1, 12, "tick x"},
			  up = {&panel->edges.y, false, LAYOUT_PANEL_WIDTH, 0, -1, 6, "tick y"};
	autofree char *x_name = axis_name(&panel->frame->x), *y_name = axis_name(&panel->frame->y);

	begin(out, "svg", "plot");
	xmlTextWriterWriteAttribute(out, X("xmlns"), X("http://www.w3.org/2000/svg"));
	xmlTextWriterWriteFormatAttribute(out, X("viewBox"), "%.0f %.0f %.0f %.0f", -LEFT, -TOP,
					  LEFT + LAYOUT_PANEL_WIDTH + RIGHT, TOP + LAYOUT_PANEL_HEIGHT + BELOW);
	xmlTextWriterWriteFormatAttribute(out, X("data-size"), "%g %g", LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	write_axis_data(panel, 'x', &panel->edges.x, panel->frame->x.unit);
	write_axis_data(panel, 'y', &panel->edges.y, panel->frame->y.unit);
	write_description(panel, x_name, y_name);
	xmlTextWriterStartElement(out, X("clipPath"));
	xmlTextWriterWriteFormatAttribute(out, X("id"), "%s-panel", panel->id);
	rectangle(out, "clip", -4, -4, LAYOUT_PANEL_WIDTH + 4 + RIGHT, LAYOUT_PANEL_HEIGHT + 8);
	xmlTextWriterEndElement(out);
	write_ticks(panel, &across);
	write_ticks(panel, &up);
	svg_line(out, "axis", 0, 0, 0, LAYOUT_PANEL_HEIGHT);
	svg_line(out, "axis", 0, LAYOUT_PANEL_HEIGHT, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	write_axis_name(panel, &across, "name x", x_name);
	write_axis_name(panel, &up, "name y", y_name);
	xmlTextWriterStartElement(out, X("g"));
	xmlTextWriterWriteFormatAttribute(out, X("clip-path"), "url(#%s-panel)", panel->id);
}

static void
svg_end(const struct svg_panel *panel)
{
	xmlTextWriterEndElement(panel->out);
	xmlTextWriterEndElement(panel->out);
}

/* ---- points ---- */

/* Begins an element in the colour of the series at that index: of the class "s3", or by its style. */
static void
svg_begin_of_series(xmlTextWriterPtr out, const char *element, const char *look, const struct plot_series *series,
		    size_t index)
{
	const size_t place =
		series->colour ? script_place_of_colour(series->colour) : plot_look(series, index) % SCRIPT_NR_COLOURS;
	const char *const cycles[SCRIPT_NR_CYCLES] = {"", " c1", " c2"};
	autofree char *classes = place < SCRIPT_NR_COLOURS
					 ? rot_format("%s s%zu%s", look, place, cycles[script_cycle(series, index)])
					 : rot_strdup(look);

	begin(out, element, classes);
	if (place == SCRIPT_NR_COLOURS)
		xmlTextWriterWriteFormatAttribute(out, X("style"), "color:%s", series->colour);
}

/* Around the origin, as gnuplot's in other plots: circle, square, triangle, diamond, the triangle turned, pentagon. */
static const char *const marks[PLOT_NR_SHAPES] = {
	"M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", "M-2.7-2.7H2.7V2.7H-2.7z", "M0-3.6L3.3 2.3H-3.3z",
	"M0-3.8L3.4 0L0 3.8L-3.4 0z",         "M0 3.6L3.3-2.3H-3.3z",    "M0-3.4L3.2-1L2 2.7H-2L-3.2-1z",
};

static const char *
mark_of(const struct plot_series *series, size_t index)
{
	return marks[plot_shape(series, index)];
}

static bool
has_marks(const struct plot_series *series)
{
	return series->style == PLOT_JOINED || series->style == PLOT_MARKS || series->style == PLOT_DOTS;
}

static const char *
line_look(enum plot_style style)
{
	return style == PLOT_MODEL ? "model" : style == PLOT_STEPS ? "steps" : "join";
}

void
svg_write_mark(xmlTextWriterPtr out, const struct plot_series *series, size_t index)
{
	svg_begin_of_series(out, "svg", "key", series, index);
	xmlTextWriterWriteAttribute(out, X("viewBox"), X("-9 -5 18 10"));
	if (series->style == PLOT_JOINED || series->style == PLOT_MODEL || series->style == PLOT_STEPS)
		svg_line(out, line_look(series->style), -9, 0, 9, 0);
	if (has_marks(series))
		svg_path(out, series->style == PLOT_DOTS ? "mark dot" : "mark", mark_of(series, index));
	xmlTextWriterEndElement(out);
}

/* Half the width of a box over x, in points. */
#define HALF_BOX 3.0

static void
write_spread(const struct svg_panel *panel, const struct plot_point *point, bool in_both_directions)
{
	const double x = svg_x(panel, point_shown_x(point, &panel->edges)),
		     y = svg_y(panel, point_shown_y(point, &panel->edges));
	const double low = svg_y(panel, point->y.minimum), high = svg_y(panel, point->y.maximum);
	const double left = svg_x(panel, point->x.minimum), right = svg_x(panel, point->x.maximum);
	const double bottom = svg_y(panel, point->y.quartile25), top = svg_y(panel, point->y.quartile75);
	const double first = svg_x(panel, point->x.quartile25), third = svg_x(panel, point->x.quartile75);
	const bool has_width = in_both_directions && isfinite(first) && isfinite(third) && third - first > HALF_BOX;

	if (panel->frame->show_min_max && isfinite(x) && isfinite(low) && isfinite(high))
		svg_line(panel->out, "whisker", x, low, x, high);
	if (panel->frame->show_min_max && in_both_directions && isfinite(y) && isfinite(left) && isfinite(right) &&
	    right - left > 0.1)
		svg_line(panel->out, "whisker", left, y, right, y);
	if (panel->frame->show_percentiles && isfinite(x) && isfinite(bottom) && isfinite(top) && bottom > top)
		rectangle(panel->out, "box", has_width ? first : x - HALF_BOX, top,
			  has_width ? third - first : 2 * HALF_BOX, bottom - top);
}

/* The sign of what is beyond an axis, further inwards. */
static void
write_end_sign(const struct svg_panel *panel, const struct plot_point *point, double x, double y)
{
	const enum layout_end end_x = layout_end_of(&panel->edges.x, point->x.value),
			      end_y = layout_end_of(&panel->edges.y, point->y.value);
	const double value = end_x ? point->x.value : point->y.value;
	const char *sign = value > 0 ? "\u221e" : value < 0 ? "< 0" : "0";

	if (end_x)
		x += end_x == LAYOUT_HIGH_END ? -LAYOUT_END_SIGN : LAYOUT_END_SIGN;
	else
		y += end_y == LAYOUT_HIGH_END ? LAYOUT_END_SIGN : -LAYOUT_END_SIGN;
	if (end_x || end_y)
		svg_text(panel->out, "sign", x, y, 0, sign);
}

static void
write_place(xmlTextWriterPtr out, const char *place)
{
	if (place)
		xmlTextWriterWriteAttribute(out, X("data-place"), X(place));
}

static void
write_point(const struct svg_panel *panel, const struct plot_series *series, size_t index,
	    const struct plot_point *point)
{
	const double x = svg_x(panel, point_shown_x(point, &panel->edges)),
		     y = svg_y(panel, point_shown_y(point, &panel->edges));
	autofree char *size = coordinate(plot_dot_size(point->share) / PLOT_MARK);
	autofree char *scale = series->style == PLOT_DOTS    ? rot_format(" scale(%s)", size)
			       : series->style == PLOT_MARKS ? rot_strdup(" scale(0.6)")
							     : rot_strdup("");
	autofree char *at_x = NULL, *at_y = NULL;

	if (!isfinite(x) || !isfinite(y))
		return;
	at_x = coordinate(x);
	at_y = coordinate(y);
	begin(panel->out, "g", point->is_expected ? "point expected" : "point");
	write_place(panel->out, point->place);
	if (point->about) {
		xmlTextWriterWriteAttribute(panel->out, X("role"), X("img"));
		xmlTextWriterWriteAttribute(panel->out, X("tabindex"), X("0"));
		xmlTextWriterStartElement(panel->out, X("title"));
		write_string(panel->out, point->about);
		xmlTextWriterEndElement(panel->out);
	}
	begin(panel->out, "path", series->style == PLOT_DOTS ? "mark dot" : "mark");
	xmlTextWriterWriteFormatAttribute(panel->out, X("transform"), "translate(%s %s)%s", at_x, at_y, scale);
	xmlTextWriterWriteAttribute(panel->out, X("d"), X(mark_of(series, index)));
	xmlTextWriterEndElement(panel->out);
	write_end_sign(panel, point, x, y);
	xmlTextWriterEndElement(panel->out);
}

/* Each value in the middle of its step. */
static char *
step_path(const struct svg_panel *panel, const struct plot_series *series)
{
	char *path = NULL;

	for (size_t i = 0; i < series->nr_points; i++) {
		const struct plot_point *point = &series->points[i], *before = i > 0 ? point - 1 : NULL,
					*after = i + 1 < series->nr_points ? point + 1 : NULL;
		const double y = svg_y(panel, point_shown_y(point, &panel->edges));

		path = svg_path_add(path,
				    svg_x(panel, before ? (before->x.value + point->x.value) / 2 : point->x.value), y);
		path = svg_path_add(path, svg_x(panel, after ? (after->x.value + point->x.value) / 2 : point->x.value),
				    y);
	}
	return path;
}

static char *
joined_path(const struct svg_panel *panel, const struct plot_series *series)
{
	char *path = NULL;

	for (size_t i = 0; i < series->nr_points; i++)
		path = svg_path_add(path, svg_x(panel, point_shown_x(&series->points[i], &panel->edges)),
				    svg_y(panel, point_shown_y(&series->points[i], &panel->edges)));
	return path;
}

static void
write_line(const struct svg_panel *panel, const struct plot_series *series)
{
	autofree char *path = NULL;

	if (series->style == PLOT_MARKS || (series->style == PLOT_DOTS && !series->is_joined) || series->nr_points == 0)
		return;
	path = series->style == PLOT_STEPS ? step_path(panel, series) : joined_path(panel, series);
	svg_path(panel->out, line_look(series->style), path);
}

/* Spread, joining line, marks with their titles, signs at the ends. */
static void
svg_series(const struct svg_panel *panel, const struct plot_series *series, size_t index, bool in_both_directions)
{
	svg_begin_of_series(panel->out, "g", "series", series, index);
	xmlTextWriterWriteFormatAttribute(panel->out, X("id"), "%s-%zu", panel->id, index);
	for (size_t i = 0; series->style != PLOT_MODEL && i < series->nr_points; i++)
		if (series->points[i].y.n > 1 || series->points[i].x.n > 1)
			write_spread(panel, &series->points[i], in_both_directions);
	write_line(panel, series);
	for (size_t i = 0; i < series->nr_points; i++)
		if (has_marks(series))
			write_point(panel, series, index, &series->points[i]);
	xmlTextWriterEndElement(panel->out);
}

/* ---- rooflines ---- */

static void
write_segment(const struct svg_panel *panel, const char *look, const struct roofline_segment *segment)
{
	svg_line(panel->out, look, svg_x(panel, segment->x1), svg_y(panel, segment->y1), svg_x(panel, segment->x2),
		 svg_y(panel, segment->y2));
}

static void
write_band(const struct svg_panel *panel, const struct roofline_shape *shape, const struct roofline_ceiling *ceiling)
{
	double corners[ROOFLINE_BAND_CORNERS][2];
	char *path = NULL;

	if (!roofline_band_of(shape, ceiling, corners))
		return;
	for (size_t i = 0; i < ROOFLINE_BAND_CORNERS; i++)
		path = svg_path_add(path, svg_x(panel, corners[i][0]), svg_y(panel, corners[i][1]));
	svg_path(panel->out, "band", path);
	free(path);
}

static void
write_same_size(const struct svg_panel *panel, const struct roofline_shape *shape)
{
	autofree struct roofline_segment *segments = NULL;
	const size_t nr = roofline_same_size_of(shape, &segments);

	for (size_t i = 0; i < nr; i++)
		write_segment(panel, "same size", &segments[i]);
}

static void
write_label(const struct svg_panel *panel, const struct roofline_label *label, const char *look)
{
	svg_text(panel->out, look, label->box.x, LAYOUT_PANEL_HEIGHT - label->box.y, label->box.angle, label->text);
}

/* With what says of which series it is, so that the page can hide both. */
static void
write_point_label(const struct svg_panel *panel, const struct roofline_shape *shape, const struct roofline_label *label)
{
	svg_begin_of_series(panel->out, "g", "of-label", &shape->plot->series[label->series], label->series);
	xmlTextWriterWriteFormatAttribute(panel->out, (const xmlChar *)"data-of", "%s-%zu", panel->id, label->series);
	write_place(panel->out, label->place);
	if (label->has_leader) {
		double x1, y1, x2, y2;

		roofline_leader_of(label, &x1, &y1, &x2, &y2);
		svg_line(panel->out, "leader", x1, LAYOUT_PANEL_HEIGHT - y1, x2, LAYOUT_PANEL_HEIGHT - y2);
	}
	write_label(panel, label, "label");
	xmlTextWriterEndElement(panel->out);
}

static void
write_arrows(const struct svg_panel *panel, const struct point_set *set)
{
	static const char *const signs[3][3] = {{"↙", "←", "↖"}, {"↓", "", "↑"}, {"↘", "→", "↗"}};
	autofree struct point_arrow *arrows = NULL;
	const size_t nr = points_arrows_of(set, &panel->edges, &arrows);

	for (size_t i = 0; i < nr; i++) {
		const struct point_arrow *arrow = &arrows[i];

		svg_begin_of_series(panel->out, "g", "of-sign", &set->series[arrow->series], arrow->series);
		xmlTextWriterWriteFormatAttribute(panel->out, (const xmlChar *)"data-of", "%s-%zu", panel->id,
						  arrow->series);
		svg_text(panel->out, "sign", arrow->x - arrow->right * LAYOUT_ARROW / 2,
			 LAYOUT_PANEL_HEIGHT - arrow->y + arrow->up * LAYOUT_ARROW / 2, 0,
			 signs[arrow->right + 1][arrow->up + 1]);
		xmlTextWriterEndElement(panel->out);
	}
}

char *
roofline_svg_write(const struct roofline_plot *plot, const char *id, xmlTextWriterPtr out)
{
	const struct roofline_shape shape = roofline_shape_of(plot, LAYOUT_PANEL_WIDTH, LAYOUT_PANEL_HEIGHT);
	const struct point_set set = roofline_points_of(plot);
	const struct svg_panel panel = {out, &plot->frame, {shape.x, shape.y}, id};
	struct roofline_labels labels = roofline_labels_of(&shape);
	char *caption = roofline_labels_caption(&labels, points_caption(&set, &panel.edges));

	svg_begin(&panel);
	for (size_t i = 0; i < shape.plot->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &shape.plot->ceilings[i];
		const struct roofline_segment segment = roofline_segment_of(&shape, ceiling);
		autofree char *look = NULL;

		if (!roofline_segment_is_visible(&shape, &segment))
			continue;
		look = rot_format("ceiling %s m%zu", ceiling->is_main ? "main" : "other",
				  ceiling->machine > 3 ? 3 : ceiling->machine);
		write_band(&panel, &shape, ceiling);
		write_segment(&panel, look, &segment);
	}
	write_same_size(&panel, &shape);
	for (int is_dots = 1; is_dots >= 0; is_dots--)
		for (size_t s = 0; s < plot->nr_series; s++)
			if ((plot->series[s].style == PLOT_DOTS) == is_dots)
				svg_series(&panel, &plot->series[s], s, true);
	write_arrows(&panel, &set);
	/* Above everything, and off the pointer's way. */
	for (size_t i = 0; i < labels.nr; i++) {
		const struct roofline_label *label = &labels.items[i];

		if (label->ceiling)
			write_label(&panel, label, label->ceiling->is_main ? "label main" : "label other");
		else
			write_point_label(&panel, &shape, label);
	}
	svg_end(&panel);
	roofline_labels_clear(&labels);
	return caption;
}

/* ---- series and distributions ---- */

static void
write_markers(const struct svg_panel *panel, const struct point_set *set)
{
	autofree struct layout_box *labels = points_marker_labels(set, &panel->edges);

	for (size_t i = 0; i < set->frame->nr_markers; i++) {
		const double x = svg_x(panel, set->frame->markers[i].x);

		if (labels[i].width == 0)
			continue;
		svg_line(panel->out, "same", x, 0, x, LAYOUT_PANEL_HEIGHT);
		svg_text(panel->out, "label other", labels[i].x, LAYOUT_PANEL_HEIGHT - labels[i].y, 90,
			 set->frame->markers[i].label);
	}
}

/* The series, beside its x where boxes are in the way. */
static void
write_beside(const struct svg_panel *panel, const struct point_set *set, size_t series)
{
	struct plot_series shown = set->series[series];
	autofree struct plot_point *points = rot_calloc(shown.nr_points + 1, sizeof(*points));
	const double shift = beside_shift_of(set, &panel->edges, series);

	for (size_t i = 0; i < shown.nr_points; i++) {
		points[i] = shown.points[i];
		points[i].x.value = beside_value(&panel->edges.x, points[i].x.value, shift);
	}
	shown.points = points;
	svg_series(panel, &shown, series, false);
}

char *
series_svg_write(const struct plot_frame *frame, const struct plot_series *series, size_t nr_series, bool shows_spread,
		 const char *id, xmlTextWriterPtr out)
{
	struct plot_frame shown = *frame;
	const struct point_set set = {&shown, series, nr_series, false};
	struct svg_panel panel = {.out = out, .frame = &shown, .id = id};

	shown.show_min_max = shown.show_min_max && shows_spread;
	shown.show_percentiles = shown.show_percentiles && shows_spread;
	panel.edges = points_edges_of(&set);

	svg_begin(&panel);
	write_markers(&panel, &set);
	for (size_t s = 0; s < nr_series; s++)
		write_beside(&panel, &set, s);
	write_arrows(&panel, &set);
	svg_end(&panel);
	return points_caption(&set, &panel.edges);
}
