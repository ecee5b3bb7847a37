/* SPDX-License-Identifier: MIT */
/*
 * Where things are on the picture: axis ranges, ticks, and labels that do not overlap. Pure geometry, no I/O.
 *
 * Positions are in points (1/72 inch) from the lower left corner of the panel.
 */
#ifndef PLOTS_LAYOUT_H
#define PLOTS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "plots/plot.h"

/* The picture, in points, and the panel within it as fractions of the picture. */
#define LAYOUT_WIDTH 510.0
#define LAYOUT_HEIGHT 350.0
#define LAYOUT_LEFT 0.105
#define LAYOUT_RIGHT 0.975
#define LAYOUT_TOP 0.875
#define LAYOUT_BOTTOM 0.195
#define LAYOUT_FONT 9.0       /* labels of axes and the title's smaller neighbours */
#define LAYOUT_SMALL_FONT 7.5 /* ticks, labels within the panel, caption           */

/* Baselines of title, legend and first line of the caption, as fractions of the picture's height. */
#define LAYOUT_TITLE 0.965
#define LAYOUT_KEY 0.915
#define LAYOUT_CAPTION 0.085

#define LAYOUT_PANEL_WIDTH (LAYOUT_WIDTH * (LAYOUT_RIGHT - LAYOUT_LEFT))
#define LAYOUT_PANEL_HEIGHT (LAYOUT_HEIGHT * (LAYOUT_TOP - LAYOUT_BOTTOM))

/* One axis with its final range, low < high, both > 0 when logarithmic. */
struct layout_axis {
	bool is_log;
	double low, high;
	double length; /* of the panel along this axis, in points */
};

/* Points from the panel's edge; may lie outside. Not finite where the value is not, or <= 0 on a logarithmic axis. */
double layout_position(const struct layout_axis *axis, double value);

/* Of a value that has no place on the axis: the end where it is drawn. Infinite: the high one; 0 or
 * less on a logarithmic axis: the low one. */
enum layout_end { LAYOUT_NO_END, LAYOUT_LOW_END, LAYOUT_HIGH_END };
enum layout_end layout_end_of(const struct layout_axis *axis, double value);

/*
 * Range that shows all finite values (positive ones on a logarithmic axis), with a margin; the sides that axis gives
 * are kept. No usable value: 1..10 or 0..1.
 */
struct layout_axis layout_range(const struct plot_axis *axis, const double *values, size_t nr, double length);

/*
 * Ticks within the axis as gnuplot's list "(\"10\" 10, \"\" 20 1, ...)": labels at powers of ten, or at 1, 2, 5 where
 * the axis is short. Fresh memory. Linear axes: NULL (gnuplot's own ticks).
 */
char *layout_ticks(const struct layout_axis *axis);

/* A rectangle that is taken, rotated by angle (degrees) around its centre. */
struct layout_box {
	double x, y; /* centre */
	double width, height;
	double angle;
};

struct layout {
	struct layout_box *boxes;
	size_t nr_boxes;
	double width, height; /* of the panel */
};

void layout_clear(struct layout *layout);

/* True if the box lies within the panel and touches no other one. */
bool layout_is_free(const struct layout *layout, const struct layout_box *box);
void layout_take(struct layout *layout, const struct layout_box *box);

/* Size of a text in small font. */
double layout_text_width(const char *text);
double layout_text_height(void);

#endif
