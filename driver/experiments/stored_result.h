/* SPDX-License-Identifier: MIT */
/* OUTPUT.json read back: what "rot measure" and "rot run" wrote, here or on another machine. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/pool.h"
#include "entities.h"
#include "error.h"
#include "quantities/quantity.h"

/* With the values that this rot knows (stored_value). */
struct stored_point {
	const json_t *json;
	struct quantity_value *values;
	size_t nr_values;
};

/* Zeroed: nothing was read. All is of a pool. */
struct stored_result {
	const char *path;
	const char *name; /* for people: the file's name without ending */
	json_t *json;
	struct stored_point *points;
	size_t nr_points;
	struct machine *machine; /* as far as the file says */
};

/* Errors name the file: cannot be read, no JSON (with line and column), no result of rot, without points. */
int stored_result_read(struct pool *pool, struct stored_result *result, const char *path, struct rot_error *err);

/* The points of the file; borrowed. Its elements are objects. */
const json_t *stored_result_points(const struct stored_result *result);

/* May the ceilings of both be compared? Same processor, in the same kind of machine. */
bool stored_result_same_machine(const struct stored_result *a, const struct stored_result *b);
