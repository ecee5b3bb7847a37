/* SPDX-License-Identifier: MIT */
/* Where the labels of a roofline stand: beside their lines and points, off each other. Pure geometry, no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "plots/roofline_shape.h"

/* Positions are in points from the lower left corner of a panel of LAYOUT_PANEL_WIDTH and LAYOUT_PANEL_HEIGHT. */
struct roofline_label {
	char *text;
	char *stands_for; /* text is a letter for this, which had no place; NULL: it is itself */
	struct layout_box box;
	bool is_on_lines;                       /* there was no place off them: it needs a ground  */
	const struct roofline_ceiling *ceiling; /* whose it is; NULL: a point's                    */
	size_t series;                          /* of the point                                    */
	const char *place;                      /* of the point; NULL                              */
	bool has_leader;                        /* a thin line leads from the label to its point   */
	double x, y;                            /* the point                                       */
	double mark;                            /* half the width of the point's mark              */
};

struct roofline_labels {
	struct roofline_label *items; /* in the order of placing */
	size_t nr;
};

/*
 * shape: of a panel of that size. Of points those that are labelled. Lines are avoided if possible, other
 * labels always, and marks by labels of points. Where a label has no place, a ceiling gets a letter, as does a point of
 * a plot without a key; other points have none.
 */
struct roofline_labels roofline_labels_of(const struct roofline_shape *shape);
void roofline_labels_clear(struct roofline_labels *labels);

/* The caption (taken over) and, where there are letters, what they stand for. Fresh memory. */
char *roofline_labels_caption(const struct roofline_labels *labels, char *caption);

/* The leader, from the label (1) to shortly before the point (2). */
void roofline_leader_of(const struct roofline_label *label, double *x1, double *y1, double *x2, double *y2);
