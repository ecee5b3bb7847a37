/* SPDX-License-Identifier: MIT */
#include "plots/roofline_shape.h"

#include <math.h>
#include <stddef.h>

#include "memory.h"
#include "plots/points.h"

static double
highest(const struct roofline_plot *plot, size_t machine, bool is_bandwidth)
{
	double value = NAN;

	for (size_t i = 0; i < plot->nr_ceilings; i++)
		if (plot->ceilings[i].is_bandwidth == is_bandwidth && plot->ceilings[i].machine == machine)
			value = fmax(value, plot->ceilings[i].value);
	return value;
}

static double
lowest(const struct roofline_plot *plot, bool is_bandwidth)
{
	double value = NAN;

	for (size_t i = 0; i < plot->nr_ceilings; i++)
		if (plot->ceilings[i].is_bandwidth == is_bandwidth)
			value = fmin(value, plot->ceilings[i].value);
	return value;
}

/* At the left the names of bandwidths have room, at the right those of performances. */
#define ROOM_OF_NAMES 1.8
#define ROOM_OF_LONG_NAMES 7

/* Above the highest one, in points, for its name. */
#define ABOVE_ROOF 13

static bool
has_several_roofs(const struct roofline_plot *plot)
{
	for (size_t i = 0; i < plot->nr_ceilings; i++)
		if (plot->ceilings[i].machine > 0)
			return true;
	return false;
}

/* Points that many times farther right than the ridge point of all lines get an arrow at the edge: others need the
 * room. */
#define FARTHEST 1000

struct point_set
roofline_points_of(const struct roofline_plot *plot)
{
	return (struct point_set){&plot->frame, plot->series, plot->nr_series, true};
}

struct roofline_shape
roofline_shape_of(const struct roofline_plot *plot, double width, double height)
{
	const struct point_set set = roofline_points_of(plot);
	struct point_values values = point_values_of(&set);
	struct point_edges edges;
	double top = NAN;
	struct plot_axis x = plot->frame.x, y = plot->frame.y;

	for (size_t i = 0; i < plot->nr_ceilings; i++) {
		const struct roofline_ceiling *ceiling = &plot->ceilings[i];

		if (ceiling->is_bandwidth)
			point_values_add(&values, highest(plot, ceiling->machine, false) / ceiling->value, NAN);
		else
			point_values_add(&values, NAN, ceiling->value);
		top = ceiling->is_bandwidth ? top : fmax(top, ceiling->value);
	}
	for (size_t i = 0; i < values.nr; i++)
		if (isfinite(values.x[i]) && values.x[i] > FARTHEST * top / lowest(plot, true))
			values.x[i] = NAN;
	x.is_log = y.is_log = true;
	edges.x = layout_range(&x, values.x, values.nr, width);
	edges.x.low /= isnan(x.low) ? ROOM_OF_NAMES : 1;
	edges.x.high *= !isnan(x.high) ? 1 : has_several_roofs(plot) ? ROOM_OF_LONG_NAMES : ROOM_OF_NAMES;
	/* the least steep roof at the left edge, so that the diagonals fill the panel's height but not more */
	point_values_add(&values, NAN, edges.x.low * lowest(plot, true) * 2);
	edges.y = layout_range(&y, values.y, values.nr, height);
	points_widen(&set, &edges);
	if (isnan(y.high) && isfinite(top))
		edges.y.high =
			fmax(edges.y.high, top * pow(edges.y.high / edges.y.low, ABOVE_ROOF / LAYOUT_PANEL_HEIGHT));
	layout_leave_ends(&edges.x, &x, values.x, values.nr);
	layout_leave_ends(&edges.y, &y, values.y, values.nr);
	point_values_clear(&values);
	return (struct roofline_shape){plot, edges.x, edges.y};
}

struct roofline_segment
roofline_segment_of(const struct roofline_shape *shape, const struct roofline_ceiling *ceiling)
{
	const struct layout_axis *x = &shape->x, *y = &shape->y;
	const double steepest = highest(shape->plot, ceiling->machine, true),
		     peak = highest(shape->plot, ceiling->machine, false);
	double top, left, right;

	if (!ceiling->is_bandwidth) {
		left = isnan(steepest) ? x->low : fmax(x->low, ceiling->value / steepest);
		return (struct roofline_segment){left, ceiling->value, x->high, ceiling->value};
	}
	top = isnan(peak) ? y->high : fmin(peak, y->high);
	left = fmax(x->low, y->low / ceiling->value);
	right = fmin(x->high, top / ceiling->value);
	return (struct roofline_segment){left, left * ceiling->value, right, right * ceiling->value};
}

bool
roofline_segment_is_visible(const struct roofline_shape *shape, const struct roofline_segment *segment)
{
	return segment->x1 < segment->x2 && segment->y1 <= shape->y.high && segment->y2 >= shape->y.low;
}

bool
roofline_band_of(const struct roofline_shape *shape, const struct roofline_ceiling *ceiling,
		 double corners[ROOFLINE_BAND_CORNERS][2])
{
	struct roofline_ceiling low = *ceiling, high = *ceiling;
	struct roofline_segment a, b;

	if (!isfinite(ceiling->low) || !isfinite(ceiling->high) || ceiling->low <= 0 || ceiling->low >= ceiling->high)
		return false;
	low.value = ceiling->low;
	high.value = ceiling->high;
	a = roofline_segment_of(shape, &low);
	b = roofline_segment_of(shape, &high);
	/* where one line meets the one edge of the panel and the other line another edge, the panel's corner is between
	 */
	const double found[ROOFLINE_BAND_CORNERS][2] = {
		{a.x1, a.y1}, {a.x2, a.y2}, {fmax(a.x2, b.x2), fmax(a.y2, b.y2)},
		{b.x2, b.y2}, {b.x1, b.y1}, {fmin(a.x1, b.x1), fmin(a.y1, b.y1)},
		{a.x1, a.y1},
	};

	for (size_t i = 0; i < ROOFLINE_BAND_CORNERS; i++) {
		corners[i][0] = found[i][0];
		corners[i][1] = found[i][1];
	}
	return true;
}

double
roofline_shown_x(const struct roofline_shape *shape, const struct plot_point *point)
{
	return point_shown_x(point, &(struct point_edges){shape->x, shape->y});
}

double
roofline_shown_y(const struct roofline_shape *shape, const struct plot_point *point)
{
	return point_shown_y(point, &(struct point_edges){shape->x, shape->y});
}

size_t
roofline_same_size_of(const struct roofline_shape *shape, struct roofline_segment **segments)
{
	const struct roofline_plot *plot = shape->plot;
	size_t nr = 0;

	*segments = NULL;
	for (size_t s = 0; plot->same_size == SAME_SIZE_ALL && s + 1 < plot->nr_series; s++)
		for (size_t i = 0; i < plot->series[s].nr_points; i++) {
			const struct plot_point *a = &plot->series[s].points[i];
			const struct plot_point *b = point_of_size(&plot->series[s + 1], a->size);

			if (!b)
				continue;
			rot_add(*segments, nr) =
				(struct roofline_segment){roofline_shown_x(shape, a), roofline_shown_y(shape, a),
							  roofline_shown_x(shape, b), roofline_shown_y(shape, b)};
		}
	return nr;
}
