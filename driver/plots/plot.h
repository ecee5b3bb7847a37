/* SPDX-License-Identifier: MIT */
/*
 * Plots, drawn by gnuplot: each writes NAME.data, NAME.gnuplot, NAME.pdf and NAME.svg. Pictures are made in temporary
 * files and renamed, so a failure leaves no partial ones. Strings are borrowed. All values are in the units of the
 * axes.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "statistics/summary.h"

struct rot;

/* An axis. low or high NaN: automatic. unit may be "". */
struct plot_axis {
	const char *label;
	const char *unit;
	bool is_log;
	double low, high;
};

/* A vertical line at a value of x, with its label: "L2". One outside of the axis is not drawn. */
struct plot_marker {
	double x;
	const char *label;
};

/* All plots share these. */
struct plot_frame {
	const char *title;
	const char
		*caption; /* under the plot: machine, cache state, estimator, n, kind; several lines with \n; or "" */
	struct plot_axis x, y;
	const char *key_position; /* as the configuration key keyPosition */
	bool show_min_max, show_percentiles;
	const struct plot_marker *markers; /* rooflines have none */
	size_t nr_markers;
};

struct plot_point {
	struct summary x, y; /* x: roofline only has an uncertain x; others use x.value */
	const char *label;   /* drawn at the point when is_labelled */
	bool is_labelled;
	bool is_expected;  /* of what was not counted, but is expected: its mark is hollow */
	const char *about; /* for who points at it, where the plot can tell: lines; NULL: nothing */
	double size;       /* points of the same size in several series can be connected; NaN: none */
	double share;      /* of PLOT_DOTS: the area of its mark, of 1 */
	const char *place; /* the id of its row in a page, if it has one; NULL */
};

enum plot_style {
	PLOT_JOINED, /* marks joined by a line */
	PLOT_MODEL,  /* a dashed line without marks: a theoretical curve */
	PLOT_MARKS,  /* marks alone: a point each run */
	PLOT_STEPS,  /* x is the middle of a step, y its height: a histogram */
	PLOT_DOTS,   /* marks that are not joined, behind those of other series; their area is a share */
};

/* Half the width of a mark, in points: of a dot by its share, else PLOT_MARK. */
#define PLOT_MARK 3.0
#define PLOT_LARGEST_DOT 11.0
#define PLOT_LEAST_DOT 1.5

static inline double
plot_dot_size(double share)
{
	return fmax(PLOT_LEAST_DOT, PLOT_LARGEST_DOT * sqrt(share));
}

/* In the order in which series have them. */
enum plot_shape {
	PLOT_CIRCLE = 1,
	PLOT_SQUARE,
	PLOT_TRIANGLE,
	PLOT_DIAMOND,
	PLOT_TRIANGLE_DOWN,
	PLOT_PENTAGON,
	PLOT_NR_SHAPES = PLOT_PENTAGON
};

struct plot_series {
	const char *name;
	const struct plot_point *points; /* in order */
	size_t nr_points;
	enum plot_style style;
	bool is_joined; /* of PLOT_DOTS, on pages: the same thing at several borders */
	int look_shift; /* added to its place for its colour and mark: it looks the same in all plots of the same values
			 */
	const char *colour;    /* "#RRGGBB" instead of that; NULL */
	enum plot_shape shape; /* likewise; 0 */
};

/* The number of the colour and mark of the series in that place, if it has none of its own. */
static inline size_t
plot_look(const struct plot_series *series, size_t place)
{
	return (size_t)((ptrdiff_t)place + series->look_shift);
}

/* From 0 on. */
static inline size_t
plot_shape(const struct plot_series *series, size_t place)
{
	return series->shape ? (size_t)series->shape - 1 : plot_look(series, place) % PLOT_NR_SHAPES;
}

struct roofline_ceiling {
	const char *name;  /* "AVX-512 FMA" */
	bool is_bandwidth; /* else performance */
	double value;      /* y unit, or y unit per x unit */
	double low, high;  /* band; NaN if unknown */
	const char *label; /* value with unit: "31.9 flop/cycle" */
	bool is_main;      /* the highest peak: black; others grey */
	size_t machine;    /* only ceilings of the same one bound each other; others than the first are dashed */
};

enum same_size { SAME_SIZE_NONE, SAME_SIZE_ALL };

struct roofline_plot {
	struct plot_frame frame; /* both axes are logarithmic whatever it says */
	const struct roofline_ceiling *ceilings;
	size_t nr_ceilings;
	const struct plot_series *series;
	size_t nr_series;
	enum same_size same_size; /* dashed connections of equal sizes of all series */
};

/* Candlesticks 25/75 with min/max whiskers over x, medians joined; title gets "(n=...)". */
struct distribution_plot {
	struct plot_frame frame;
	const struct plot_series *series;
	size_t nr_series;
};

/* One value per x. */
struct series_plot {
	struct plot_frame frame;
	const struct plot_series *series;
	size_t nr_series;
};

/* A value for each pair of a column and a row, as a colour; ticks name columns and rows. The best one is framed. */
struct heat_plot {
	struct plot_frame frame;                  /* its axes give labels alone */
	const char *const *columns, *const *rows; /* from the left, and from the bottom */
	size_t nr_columns, nr_rows;               /* at least 1 each */
	const double *values;                     /* [nr_rows][nr_columns]; NaN: none, left white */
	const char *value_label;                  /* with its unit: "flop/cycle" */
	size_t best_column, best_row;
};

/* A bar from the left to a value, and in a paler colour on to the highest; value NaN: the text alone. */
struct plot_bar {
	const char *name, *text; /* beside its begin, and at its end */
	double value, high;
};

struct bar_plot {
	struct plot_frame frame; /* its x axis is that of the values, and logarithmic; y has no label */
	const struct plot_bar *bars;
	size_t nr; /* at least 1 */
};

int roofline_plot_write(const struct roofline_plot *plot, const char *output_name, struct rot_error *err);
int distribution_plot_write(const struct distribution_plot *plot, const char *output_name, struct rot_error *err);
int series_plot_write(const struct series_plot *plot, const char *output_name, struct rot_error *err);
int bar_plot_write(const struct bar_plot *plot, const char *output_name, struct rot_error *err);
int heat_plot_write(const struct heat_plot *plot, const char *output_name, struct rot_error *err);
