/* SPDX-License-Identifier: MIT */
/*
 * Parameter spaces: named axes with values, and all points they span. Source: thesis, section "Parameter Space".
 *
 * Values are texts with expressions in braces over the axes before; the first axis changes slowest. Pure: nothing is
 * measured.
 */
#pragma once

#include <stddef.h>

#include "base/pool.h"
#include "engine/expression.h"
#include "error.h"

/* Where a point is on one axis. */
struct coordinate {
	const char *axis;
	double number;    /* NaN: text is the value */
	const char *text; /* the value itself; with a number, its text: may be NULL where coordinates are given */
};

struct point {
	struct coordinate *coordinates; /* in the order of the axes */
	size_t nr_coordinates;
};

struct space;

/* The text has a value; values with blanks between; from, to and step; from, to and factor. */
enum space_values { SPACE_VALUE, SPACE_LIST, SPACE_RANGE, SPACE_GEOMETRIC };

/* More points than this are an error: somebody mistyped a step. */
#define SPACE_MAX_POINTS 1000000

/* The space and its points live as long as the pool. */
struct space *space_new(struct pool *pool);

/*
 * Further axes are added to the end. Values of an axis are added to the axis added last. condition (NULL or "": always)
 * is an expression over the axes before: the values count only where it is true. where ("FILE:LINE", or NULL) is put
 * before later errors about them. All strings are copied; NULL counts as "".
 */
int
space_add_axis(struct space *space, const char *name, struct rot_error *err); /* a second axis of that name: error */
void space_add_values(struct space *space, enum space_values kind, const char *const text[3], const char *condition,
		      const char *where);

/* Points where the condition is true are left out. */
void space_add_skip(struct space *space, const char *condition, const char *where);

/*
 * All points; a space without axes has one point without coordinates. constants (may be NULL) are further variables.
 * Errors: as expression.h; a bound that is no number, a step that never arrives, no value at all, too many points.
 */
int space_points(const struct space *space, const struct expression_scope *constants, struct point **points, size_t *nr,
		 struct rot_error *err);

/* The coordinate on that axis, or NULL. */
const struct coordinate *point_coordinate(const struct point *point, const char *axis);

/* "size=100, operation=ADD", for messages. Fresh memory. */
char *point_text(const struct point *point);

/* Makes the coordinates variables. */
void point_set_variables(const struct point *point, struct expression_scope *scope);
