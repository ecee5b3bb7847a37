/* SPDX-License-Identifier: MIT */
/* Which two quantities of stored results are drawn. */
#ifndef STORED_STORED_PLOT_AXES_H
#define STORED_STORED_PLOT_AXES_H

#include "stored/stored_result.h"

struct stored_axes {
	struct quantity_request x, y; /* with the clock of the values */
	const char *unit;             /* of y; borrowed from the file */
	bool is_mixed; /* each file has floating-point operations of some precision; x and y say "flop" */
};

/*
 * The first pair that all results have, or else the first that they have of any floating-point operations; x and y:
 * what was asked for, or NULL, and then of these operations. Errors name a file and what it has.
 */
int stored_axes_choose(struct stored_axes *axes, const struct stored_result *results, size_t nr, const char *x,
		       const char *y, struct rot_error *err);

/* Of a point x and y, as JSON, both of the same operation; false: it has not both. */
bool stored_axes_values(const struct stored_axes *axes, const json_t *point, const json_t *values[2]);

/* "double precision": of what the values of the first point with both are; "" of both precisions. Fresh memory. */
char *stored_axes_precision(const struct stored_axes *axes, const struct stored_result *result);

#endif
