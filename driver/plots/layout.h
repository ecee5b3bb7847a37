/* SPDX-License-Identifier: MIT */
/*
 * Where things are on the picture: axis ranges, ticks, and labels that do not overlap. Pure geometry, no I/O.
 *
 * Positions are in points (1/72 inch) from the lower left corner of the panel.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "plots/plot.h"

/*
 * The same for all pictures of a process: 1, or more where texts and lines are to be larger. Then the picture has fewer
 * points, which are larger themselves, and is a little higher.
 */
extern double layout_zoom;

/* The picture's width, in points, and the panel within it: its sides as fractions of that width, its height in points.
 */
#define LAYOUT_WIDTH (510.0 / layout_zoom)
#define LAYOUT_LEFT (53.5 / LAYOUT_WIDTH)
#define LAYOUT_RIGHT (1 - 12.75 / LAYOUT_WIDTH)
#define LAYOUT_FONT 9.0       /* labels of axes and the title's smaller neighbours */
#define LAYOUT_SMALL_FONT 7.5 /* ticks, labels within the panel                    */
#define LAYOUT_CAPTION_FONT 6.75

#define LAYOUT_PANEL_WIDTH (LAYOUT_WIDTH * (LAYOUT_RIGHT - LAYOUT_LEFT))
#define LAYOUT_PANEL_HEIGHT (238.0 / sqrt(layout_zoom))

/* Beside the points that are drawn at an end of an axis a sign says which value they have; so far inwards, in points.
 */
#define LAYOUT_END_SIGN 9.0

/* How long an arrow is that points at what is beyond an edge, in points. */
#define LAYOUT_ARROW 9.0

/* Texts above and below the panel let it grow: points from the picture's lower edge. */
struct layout_page {
	double height;      /* of the picture */
	double bottom, top; /* of the panel */
	double title, key;  /* the middles: of the title's first line, of the key with all its rows */
	double caption;     /* the middle of its first line */
	size_t key_columns; /* at most */
};

struct layout_page layout_page_of(const struct plot_frame *frame, const struct plot_series *series, size_t nr_series);

/* One axis with its final range, low < high, both > 0 when logarithmic. */
enum { LAYOUT_MOST_TICKS = 12 };
struct layout_axis {
	bool is_log;
	double low, high;
	double length;                   /* of the panel along this axis, in points */
	bool is_whole;                   /* all its values are whole numbers: ticks are as well */
	double ticks[LAYOUT_MOST_TICKS]; /* ascending: ticks are there alone */
	size_t nr_ticks;                 /* 0: wherever it is usual */
};

/* Points from the panel's edge; may lie outside. Not finite where the value is not, or <= 0 on a logarithmic axis. */
double layout_position(const struct layout_axis *axis, double value);

/*
 * The end where a value is drawn that has no place on the axis. Infinite: the high one; 0 or less on a logarithmic
 * axis: the low one.
 */
enum layout_end { LAYOUT_NO_END, LAYOUT_LOW_END, LAYOUT_HIGH_END };
enum layout_end layout_end_of(const struct layout_axis *axis, double value);

/* At which end a value is that the axis does not reach, or does not have. */
enum layout_end layout_beyond(const struct layout_axis *axis, double value);

/*
 * Range that shows all finite values (positive ones on a logarithmic axis), with a margin; the sides that axis gives
 * are kept. No usable value: 1..10 or 0..1.
 */
struct layout_axis layout_range(const struct plot_axis *axis, const double *values, size_t nr, double length);

/*
 * Extends the sides that axis leaves open to further values, each by at most a fifth of the range (or of the value, or
 * by a factor of 1.5 on a logarithmic axis): what is still farther away stays beyond it.
 */
void layout_widen(struct layout_axis *range, const struct plot_axis *axis, const double *values, size_t nr);

/* Extends the sides that axis leaves open where values are drawn at an end, so that their sign has room there. */
void layout_leave_ends(struct layout_axis *range, const struct plot_axis *axis, const double *values, size_t nr);

/* Notes whether the values are whole numbers. at_values: of a few whole ones all along the axis, ticks are where these
 * are. */
void layout_suit_ticks(struct layout_axis *axis, const double *values, size_t nr, bool at_values);

/* A tick of an axis. */
struct layout_tick {
	double value;
	char *text; /* "": without a label */
};

/*
 * Ticks within the axis, ascending; where it has ticks of its own, these, with labels as far as there is room.
 * Logarithmic ones have labels at powers of ten, or at 1, 2, 5 where the axis is short; "2·10⁶" where digits would be
 * many. Gives how many; delete them.
 */
size_t layout_ticks_of(const struct layout_axis *axis, struct layout_tick **ticks);
void layout_ticks_delete(struct layout_tick *ticks, size_t nr);

/* The same as gnuplot's list "(\"10\" 10 0, \"\" 20 1, ...)". Fresh memory. */
char *layout_ticks(const struct layout_axis *axis);

/* A rectangle that is taken, rotated by angle (degrees) around its centre. */
struct layout_box {
	double x, y; /* centre */
	double width, height;
	double angle;
};

/* The box of a thin line between two points. */
struct layout_box layout_line(double x1, double y1, double x2, double y2);

struct layout {
	struct layout_box *boxes;
	size_t nr_boxes;
	double width, height; /* of the panel */
};

void layout_clear(struct layout *layout);

/* True if the box lies within the panel and touches no other one. */
bool layout_is_free(const struct layout *layout, const struct layout_box *box);
void layout_take(struct layout *layout, const struct layout_box *box);

/* Makes blanks of the text line breaks where a line would be longer than that, in small font. */
void layout_fold(char *text, double width);

/* Size of a text in small font. */
double layout_text_width(const char *text);
double layout_text_height(void);
