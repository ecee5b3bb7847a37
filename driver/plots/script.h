/* SPDX-License-Identifier: MIT */
/* Writing gnuplot scripts: quoting, numbers, the look all plots share. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/pool.h"
#include "error.h"
#include "plots/layout.h"
#include "plots/plot.h"
#include "plots/points.h"

/*
 * The colour and the mark of the series in that place. Colours stay apart for colour-blind readers and in print (Okabe
 * and Ito 2008). Both cycle, together only after 42 series.
 */
const char *script_colour(const struct plot_series *series, size_t place);
int script_mark(const struct plot_series *series, size_t place);

/* How often the series' colour was used before it: of later cycles joining lines are dashed. */
enum { SCRIPT_NR_CYCLES = 3 };
size_t script_cycle(const struct plot_series *series, size_t place);

/* "#0072B2" of "blue" or "#0072b2", and the shape of "circle"; NULL or 0 for what is none, with an error. */
const char *script_colour_of(const char *text, char own[8], struct rot_error *err);
enum plot_shape script_shape_of(const char *text, struct rot_error *err);

/* Which colour of the palette it is; or SCRIPT_NR_COLOURS. */
enum { SCRIPT_NR_COLOURS = 7 };
size_t script_place_of_colour(const char *colour);

/* Shortest decimal form that reads back, always with a point as decimal sign; "NaN" as gnuplot spells it. Fresh memory.
 */
char *script_number(double value);
void script_write_number(FILE *out, double value);

/* The text as a double-quoted gnuplot string: nothing in it is interpreted. Newlines stay line breaks. */
void script_write_string(FILE *out, const char *text);

/* The frame with that caption, which is folded to the panel's width, as a long title is. Both are of the pool. */
struct plot_frame script_fold(struct pool *pool, const struct plot_frame *frame, const char *caption);

/* Terminal-independent head: title, caption, axes, grid, margins, key. x and y are the final ranges; nr_total_series
 * decides the key. */
void script_write_frame(FILE *out, const struct plot_frame *frame, const struct layout_page *page,
			const struct layout_axis *x, const struct layout_axis *y, size_t nr_keyed_series);

/* A label in the panel at a position in points; angle in degrees. align: "left", "center", "right". */
void script_write_label(FILE *out, const char *text, double x, double y, const char *align, double angle,
			const char *colour);

/* The same without rotation, on a white ground that hides what it stands on. */
void
script_write_label_on_white(FILE *out, const char *text, double x, double y, const char *align, const char *colour);

/* White below a label that is turned, for which gnuplot has no boxes. */
void script_write_ground(FILE *out, const struct layout_box *box);

/* Beside the points that are drawn at an end of an axis: the sign of infinity, 0, or less. */
void script_write_ends(FILE *out, const struct plot_series *series, size_t nr_series, const struct layout_axis *x,
		       const struct layout_axis *y);

/* Arrows where something is beyond an edge. */
void script_write_arrows(FILE *out, const struct point_set *set, const struct point_edges *edges);

/* The frame's vertical lines, with their labels. */
void script_write_markers(FILE *out, const struct point_set *set, const struct point_edges *edges);

/* Are pictures also drawn as PNG? The same for all of a process. */
extern bool script_has_png;

/* Runs the plot command(s) once per terminal: call with the complete "plot ..." command. */
void script_write_outputs(FILE *out, const struct layout_page *page, const char *plot_command);
