/* SPDX-License-Identifier: MIT */
/*
 * The lines of a roofline: which it shows, where they begin and end, whatever it is drawn with. Pure geometry, no I/O.
 */
#pragma once

#include <stdbool.h>

#include "plots/layout.h"
#include "plots/plot.h"
#include "plots/points.h"

/* The plot (borrowed) with its final axes, both logarithmic. */
struct roofline_shape {
	const struct roofline_plot *plot;
	struct layout_axis x, y;
};

/* The plot's points. */
struct point_set roofline_points_of(const struct roofline_plot *plot);

/*
 * All points, all performance ceilings, and all ridge points of each machine's highest performance are to be seen, as
 * far as the axes of the plot leave it open. width, height: of the panel, in any unit.
 */
struct roofline_shape roofline_shape_of(const struct roofline_plot *plot, double width, double height);

/* A line between two points, in units of the axes. */
struct roofline_segment {
	double x1, y1, x2, y2;
};

/*
 * A performance line starts where the steepest bandwidth line meets it; a bandwidth line ends at the highest
 * performance; of the same machine.
 */
struct roofline_segment roofline_segment_of(const struct roofline_shape *shape, const struct roofline_ceiling *ceiling);

/* Has it a length, within the panel? */
bool roofline_segment_is_visible(const struct roofline_shape *shape, const struct roofline_segment *segment);

/*
 * Corners of the area between the interval's ends of a ceiling, a closed line in units of the axes: corners[k] is
 * {x, y}. False: the interval is not known, or empty.
 */
enum { ROOFLINE_BAND_CORNERS = 7 };
bool roofline_band_of(const struct roofline_shape *shape, const struct roofline_ceiling *ceiling,
		      double corners[ROOFLINE_BAND_CORNERS][2]);

/* Where a point is drawn: what is beyond an axis at its end. */
double roofline_shown_x(const struct roofline_shape *shape, const struct plot_point *point);
double roofline_shown_y(const struct roofline_shape *shape, const struct plot_point *point);

/* The connections of points of the same size in consecutive series, if the plot wants them. Free the array. */
size_t roofline_same_size_of(const struct roofline_shape *shape, struct roofline_segment **segments);
