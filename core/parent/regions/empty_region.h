/* SPDX-License-Identifier: MIT */
/*
 * A region in which nothing happens: its counts and its cost are found out with the same backend and the same events on
 * a process of our own, which goes through such a region some thousand times.
 */
#pragma once

#include <stdio.h>

#include "EmptyRegionOutput.h"
#include "common/counting.h"
#include "error.h"

/* Takes some ten milliseconds. NULL: it could not be found out. */
struct empty_region_output *
empty_region_measure(const struct counting *counting, const char *backend, struct rot_error *err);

/*
 * Which backends of regions work here, found out by observing an empty region with each. A line for each, in the order
 * in which they are tried for a region: its name, a tab, and what a hit costs in ns; or its name, two tabs, and why
 * not.
 */
void empty_region_print(FILE *out);
