/* SPDX-License-Identifier: MIT */
/* Boxes of several series at the same x: drawn side by side where they would cover each other. Pure geometry, no I/O.
 */
#pragma once

#include "plots/points.h"

/* Width of a box, as a share of the panel's. */
#define BESIDE_BOX_SHARE 0.012

/* How far the series is drawn to the right of its x, in points; 0 where no boxes are in the way. */
double beside_shift_of(const struct point_set *set, const struct point_edges *edges, size_t series);

/* Extends the sides of x that the plot leaves open, as far as that needs. */
void beside_make_room(const struct point_set *set, struct point_edges *edges);

/* The value that is so many points to the right. */
double beside_value(const struct layout_axis *axis, double value, double points);
