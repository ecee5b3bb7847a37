/* SPDX-License-Identifier: MIT */
/* Which two quantities of stored results are drawn. */
#ifndef STORED_STORED_PLOT_AXES_H
#define STORED_STORED_PLOT_AXES_H

#include "stored/stored_result.h"

struct stored_axes {
	struct quantity_request x, y; /* with the clock of the values */
	const char *unit;             /* of y; borrowed from the file */
};

/* The first pair that all results have; x and y: what was asked for, or NULL. Errors name a file and what it has. */
int stored_axes_choose(struct stored_axes *axes, const struct stored_result *results, size_t nr, const char *x,
		       const char *y, struct rot_error *err);

/* Of a point: the value asked for (a request without clock takes any), as JSON. */
const json_t *stored_point_value(const json_t *point, const struct quantity_request *request);

#endif
