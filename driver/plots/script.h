/* SPDX-License-Identifier: MIT */
/* Writing gnuplot scripts: quoting, numbers, the look all plots share. */
#ifndef PLOTS_SCRIPT_H
#define PLOTS_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

#include "plots/layout.h"
#include "plots/plot.h"
#include "plots/points.h"

/* Colours that stay apart for colour-blind readers and in print (Okabe and Ito 2008), and marks; both cycle. */
const char *script_colour(size_t series);
int script_mark(size_t series);

/* Shortest decimal form that reads back, always with a point as decimal sign; "NaN" as gnuplot spells it. Fresh memory.
 */
char *script_number(double value);
void script_write_number(FILE *out, double value);

/* The text as a double-quoted gnuplot string: nothing in it is interpreted. Newlines stay line breaks. */
void script_write_string(FILE *out, const char *text);

/* Terminal-independent head: title, caption, axes, grid, margins, key. x and y are the final ranges; nr_total_series
 * decides the key. */
void script_write_frame(FILE *out, const struct plot_frame *frame, const struct layout_page *page,
			const struct layout_axis *x, const struct layout_axis *y, size_t nr_keyed_series);

/* A label in the panel at a position in points; angle in degrees. align: "left", "center", "right". */
void script_write_label(FILE *out, const char *text, double x, double y, const char *align, double angle,
			const char *colour);

/* The same without rotation, on a white ground that hides what it stands on. */
void script_write_label_on_white(FILE *out, const char *text, double x, double y, const char *colour);

/* White below a label that is turned, for which gnuplot has no boxes. */
void script_write_ground(FILE *out, const struct layout_box *box);

/* Beside the points that are drawn at an end of an axis: the sign of infinity, 0, or less. */
void script_write_ends(FILE *out, const struct plot_series *series, size_t nr_series, const struct layout_axis *x,
		       const struct layout_axis *y);

/* Arrows where something is beyond an edge. */
void script_write_arrows(FILE *out, const struct point_set *set, const struct point_edges *edges);

/* The frame's vertical lines; their labels where no point is, and no line between two. */
void script_write_markers(FILE *out, const struct plot_frame *frame, const struct plot_series *series, size_t nr_series,
			  const struct point_edges *edges);

/* Are pictures also drawn as PNG? The same for all of a process. */
extern bool script_has_png;

/* Runs the plot command(s) once per terminal: call with the complete "plot ..." command. */
void script_write_outputs(FILE *out, const struct layout_page *page, const char *plot_command);

#endif
