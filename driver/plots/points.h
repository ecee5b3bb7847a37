/* SPDX-License-Identifier: MIT */
/* Points of series as gnuplot data and plot elements: what the kinds of plots share. */
#ifndef PLOTS_POINTS_H
#define PLOTS_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plots/layout.h"
#include "plots/plot.h"

/* All values that should be visible, for choosing ranges. NaN entries count for one axis only. */
struct point_values {
	double *x, *y;
	size_t nr;
};

/* Values, minima and maxima of all points. */
struct point_values point_values_of(const struct plot_series *series, size_t nr_series);
void point_values_add(struct point_values *values, double x, double y);
void point_values_clear(struct point_values *values);

/* The point of that size, or NULL (also for NaN). */
const struct plot_point *point_of_size(const struct plot_series *series, double size);

/* The ends of the axes, where values are drawn that are beyond them: infinite ones, and those that a logarithmic axis
 * does not have. */
struct point_edges {
	struct layout_axis x, y;
};

/* What of the point is drawn: itself, or the edge that it is beyond. */
double point_shown_x(const struct plot_point *point, const struct point_edges *edges);
double point_shown_y(const struct plot_point *point, const struct point_edges *edges);

/*
 * One data set (index) a series: columns x y xmin xmax ymin ymax x25 x75 y25 y75 n size expected "label".
 */
void points_write_data(FILE *out, const struct plot_series *series, size_t nr_series, const struct point_edges *edges);

/*
 * Appends the plot elements of one series to command (which is freed) and returns the new one: boxes 25/75 % and
 * whiskers min/max (in x as well if both_directions), the joining line with marks and the title. index: of the series
 * in the data.
 */
char *points_add_commands(char *command, const struct plot_series *series, size_t index, const struct plot_frame *frame,
			  bool both_directions);

/* The script's variable with the width of boxes on a logarithmic x axis, as a share of x. */
#define POINTS_BOX_OF_X "box_of_x"

/* The frame's title with "(n=10)" or "(n=5...10)" of all points; the title alone when nothing was repeated. Fresh
 * memory. */
char *points_title(const char *title, const struct plot_series *series, size_t nr_series);

#endif
