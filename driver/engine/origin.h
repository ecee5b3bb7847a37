/* SPDX-License-Identifier: MIT */
/* Where values are from: what the results that they are of say of themselves. */
#pragma once

#include <jansson.h>

struct measurement_result;

/*
 * An object: "hashes" of the descriptions, "compilers", "compileLines", and "facts" that kernels told of what they
 * measured, each text once, in the order of measuring; with a result "first" and "last", the dates of the oldest and
 * the newest run. New reference.
 */
json_t *origin_new(void);

/* Adds what a result says, or another origin. */
void origin_add(json_t *origin, const struct measurement_result *result);
void origin_merge(json_t *origin, json_t *other);
