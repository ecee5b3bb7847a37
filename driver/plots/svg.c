/* SPDX-License-Identifier: MIT */
/* See svg.h. */
#include "plots/svg.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "plots/beside.h"
#include "plots/roofline_labels.h"
#include "plots/roofline_shape.h"
#include "plots/svg_panel.h"

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
write_ceilings(const struct svg_panel *panel, const struct roofline_shape *shape)
{
	for (size_t i = 0; i < shape->plot->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &shape->plot->ceilings[i];
		const struct roofline_segment segment = roofline_segment_of(shape, ceiling);
		char *look;

		if (!roofline_segment_is_visible(shape, &segment))
			continue;
		look = rot_format("ceiling %s m%zu", ceiling->is_main ? "main" : "other",
				  ceiling->machine > 3 ? 3 : ceiling->machine);
		write_band(panel, shape, ceiling);
		write_segment(panel, look, &segment);
		free(look);
	}
}

static void
write_same_size(const struct svg_panel *panel, const struct roofline_shape *shape)
{
	struct roofline_segment *segments;
	const size_t nr = roofline_same_size_of(shape, &segments);

	for (size_t i = 0; i < nr; i++)
		write_segment(panel, "same size", &segments[i]);
	free(segments);
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
	if (label->has_leader) {
		double x1, y1, x2, y2;

		roofline_leader_of(label, &x1, &y1, &x2, &y2);
		svg_line(panel->out, "leader", x1, LAYOUT_PANEL_HEIGHT - y1, x2, LAYOUT_PANEL_HEIGHT - y2);
	}
	write_label(panel, label, "label");
	xmlTextWriterEndElement(panel->out);
}

/* Above everything, and off the pointer's way. */
static void
write_labels(const struct svg_panel *panel, const struct roofline_shape *shape, const struct roofline_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		const struct roofline_label *label = &labels->items[i];

		if (label->ceiling)
			write_label(panel, label, label->ceiling->is_main ? "label main" : "label other");
		else
			write_point_label(panel, shape, label);
	}
}

/* What says so in words is at the arrow. */
static void
write_arrows(const struct svg_panel *panel, const struct point_set *set)
{
	static const char *const signs[3][3] = {{"↙", "←", "↖"}, {"↓", "", "↑"}, {"↘", "→", "↗"}};
	struct point_arrow *arrows;
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
	free(arrows);
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
	write_ceilings(&panel, &shape);
	write_same_size(&panel, &shape);
	for (int is_dots = 1; is_dots >= 0; is_dots--)
		for (size_t s = 0; s < plot->nr_series; s++)
			if ((plot->series[s].style == PLOT_DOTS) == is_dots)
				svg_series(&panel, &plot->series[s], s, true);
	write_arrows(&panel, &set);
	write_labels(&panel, &shape, &labels);
	svg_end(&panel);
	roofline_labels_clear(&labels);
	return caption;
}

/* ---- series and distributions ---- */

static void
write_markers(const struct svg_panel *panel, const struct point_set *set)
{
	struct layout_box *labels = points_marker_labels(set, &panel->edges);

	for (size_t i = 0; i < set->frame->nr_markers; i++) {
		const double x = svg_x(panel, set->frame->markers[i].x);

		if (labels[i].width == 0)
			continue;
		svg_line(panel->out, "same", x, 0, x, LAYOUT_PANEL_HEIGHT);
		svg_text(panel->out, "label other", labels[i].x, LAYOUT_PANEL_HEIGHT - labels[i].y, 90,
			 set->frame->markers[i].label);
	}
	free(labels);
}

/* The series, beside its x where boxes are in the way. */
static void
write_beside(const struct svg_panel *panel, const struct point_set *set, size_t series)
{
	struct plot_series shown = set->series[series];
	struct plot_point *points = rot_calloc(shown.nr_points + 1, sizeof(*points));
	const double shift = beside_shift_of(set, &panel->edges, series);

	for (size_t i = 0; i < shown.nr_points; i++) {
		points[i] = shown.points[i];
		points[i].x.value = beside_value(&panel->edges.x, points[i].x.value, shift);
	}
	shown.points = points;
	svg_series(panel, &shown, series, false);
	free(points);
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
