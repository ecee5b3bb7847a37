/* SPDX-License-Identifier: MIT */
/* Points of series as gnuplot data and plot elements: what the kinds of plots share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plots/layout.h"
#include "plots/plot.h"

/* Values, for choosing ranges. NaN entries count for one axis only. */
struct point_values {
	double *x, *y;
	size_t nr;
};

/* All series of a plot. */
struct point_set {
	const struct plot_frame *frame;
	const struct plot_series *series;
	size_t nr_series;
	bool is_of_two; /* x has a spread as well, in a roofline */
};

/* All values of the points that have to be seen, and quartiles where boxes are drawn. */
struct point_values point_values_of(const struct point_set *set);
void point_values_add(struct point_values *values, double x, double y);
void point_values_clear(struct point_values *values);

/* The point of that size, or NULL (also for NaN). */
const struct plot_point *point_of_size(const struct plot_series *series, double size);

/* The ends of the axes, where values are drawn that are beyond them: infinite ones, and those that a logarithmic axis
 * does not have. */
struct point_edges {
	struct layout_axis x, y;
};

/* Both axes of points over x, which has ticks at its values if these are few. */
struct point_edges points_edges_of(const struct point_set *set);

/* Extends the axes to the ends of whiskers that are not far away. */
void points_widen(const struct point_set *set, struct point_edges *edges);

/*
 * A value, or the end of a whisker, beyond an edge of the panel. There (in points from the lower left corner) an arrow
 * points outwards: -1, 0 or 1.
 */
struct point_arrow {
	size_t series;
	double x, y;
	int right, up;
	bool is_whisker;
};
size_t points_arrows_of(const struct point_set *set, const struct point_edges *edges, struct point_arrow **arrows);

/* The frame's caption, and how many values and ends of whiskers are beyond the edges. Fresh memory. */
char *points_caption(const struct point_set *set, const struct point_edges *edges);

/*
 * Where the labels of the frame's markers are, turned upwards: off each other, points and the lines between points, as
 * far as there is room. One for each marker, of width 0 where the axis does not reach. Free the array.
 */
struct layout_box *points_marker_labels(const struct point_set *set, const struct point_edges *edges);

/* The place where the point is drawn: its own, or the edge that it is beyond. */
double point_shown_x(const struct plot_point *point, const struct point_edges *edges);
double point_shown_y(const struct plot_point *point, const struct point_edges *edges);

/*
 * One data set (index) a series: columns x y xmin xmax ymin ymax x25 x75 y25 y75 n size expected "label", and of dots
 * the share.
 */
void points_write_data(FILE *out, const struct plot_series *series, size_t nr_series, const struct point_edges *edges);

/*
 * Appends the plot elements of one series to the command: boxes 25/75 % and
 * whiskers min/max (in x as well if both_directions), the joining line with marks and the title. index: of the series
 * in the data. x: the column or expression of x, "1".
 */
void points_add_commands(char **command, const struct plot_series *series, size_t index, const struct plot_frame *frame,
			 bool both_directions, const char *x);

/* Likewise the entry of dots in the key, where it is their turn. */
void points_add_key(char **command, const struct plot_series *series, size_t index);

/* The script's variable with the width of boxes on a logarithmic x axis, as a share of x. */
#define POINTS_BOX_OF_X "box_of_x"

/* The frame's title with "(n=10)" or "(n=5...10)" of all points; the title alone when nothing was repeated. Fresh
 * memory. */
char *points_title(const char *title, const struct plot_series *series, size_t nr_series);

/* Width of a box, as a share of the panel's. */
#define BESIDE_BOX_SHARE 0.012

/* How far the series is drawn to the right of its x, in points; 0 where no boxes are in the way. */
double beside_shift_of(const struct point_set *set, const struct point_edges *edges, size_t series);

/* The value that is so many points to the right. */
double beside_value(const struct layout_axis *axis, double value, double points);
