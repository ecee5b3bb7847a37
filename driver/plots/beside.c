/* SPDX-License-Identifier: MIT */
#include "plots/beside.h"

#include <math.h>

/* Of the distance to the next x all series together may take this share; less than LEAST_STEP apart they stay where
 * they are. */
#define MOST_TAKEN 0.6
#define LEAST_STEP 2.0

static double
position(const struct point_edges *edges, const struct plot_point *point)
{
	return layout_position(&edges->x, point_shown_x(point, edges));
}

/* Has a box that is at the same x as that of the other point, and reaches into it? */
static bool
covers(const struct point_edges *edges, const struct plot_point *a, const struct plot_point *b)
{
	return a->y.n > 1 && b->y.n > 1 && a->x.value == b->x.value &&
	       layout_position(&edges->y, a->y.quartile25) < layout_position(&edges->y, b->y.quartile75) &&
	       layout_position(&edges->y, b->y.quartile25) < layout_position(&edges->y, a->y.quartile75);
}

/* What two series have with each other: do boxes cover each other, and the least distance of two different x. */
static void
compare(const struct point_edges *edges, const struct plot_series *a, const struct plot_series *b, bool *is_covered,
	double *gap)
{
	for (size_t i = 0; i < a->nr_points; i++)
		for (size_t k = 0; k < b->nr_points; k++) {
			const double apart = fabs(position(edges, &a->points[i]) - position(edges, &b->points[k]));

			*is_covered = *is_covered || (a != b && covers(edges, &a->points[i], &b->points[k]));
			if (apart > 0)
				*gap = fmin(*gap, apart);
		}
}

static bool
has_marks(const struct plot_series *series)
{
	return series->style == PLOT_JOINED || series->style == PLOT_MARKS;
}

double
beside_shift_of(const struct point_set *set, const struct point_edges *edges, size_t series)
{
	double gap = edges->x.length, place = 0, nr = 0, step;
	bool is_covered = false;

	if (!set->frame->show_percentiles || set->is_of_two || !has_marks(&set->series[series]))
		return 0;
	for (size_t s = 0; s < set->nr_series; s++) {
		if (!has_marks(&set->series[s]))
			continue;
		place = s == series ? nr : place;
		nr++;
		for (size_t t = s; t < set->nr_series; t++)
			if (has_marks(&set->series[t]))
				compare(edges, &set->series[s], &set->series[t], &is_covered, &gap);
	}
	step = fmin(1.2 * BESIDE_BOX_SHARE * edges->x.length, MOST_TAKEN * gap / nr);
	return is_covered && step >= LEAST_STEP ? (place - (nr - 1) / 2) * step : 0;
}

double
beside_value(const struct layout_axis *axis, double value, double points)
{
	return axis->is_log ? value * pow(axis->high / axis->low, points / axis->length)
			    : value + (axis->high - axis->low) * points / axis->length;
}

void
beside_make_room(const struct point_set *set, struct point_edges *edges)
{
	const double half_box = BESIDE_BOX_SHARE * edges->x.length;
	const struct plot_axis *axis = &set->frame->x;
	double left = 0, right = 0;

	for (size_t s = 0; s < set->nr_series; s++) {
		const double shift = beside_shift_of(set, edges, s);

		for (size_t i = 0; shift != 0 && i < set->series[s].nr_points; i++) {
			const double at = position(edges, &set->series[s].points[i]) + shift;

			left = fmax(left, half_box - at);
			right = fmax(right, at + half_box - edges->x.length);
		}
	}
	if (left > 0 && isnan(axis->low))
		edges->x.low = beside_value(&edges->x, edges->x.low, -left);
	if (right > 0 && isnan(axis->high))
		edges->x.high = beside_value(&edges->x, edges->x.high, right);
}
