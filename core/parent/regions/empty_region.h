/* SPDX-License-Identifier: MIT */
/*
 * What a region counts in which nothing happens, and what it costs: found out with the same backend and the same events
 * on a process of our own, which goes through such a region some thousand times.
 */
#ifndef CORE_PARENT_REGIONS_EMPTY_REGION_H
#define CORE_PARENT_REGIONS_EMPTY_REGION_H

#include "EmptyRegionOutput.h"
#include "error.h"
#include "parent/tracer/counting.h"

/* Takes some ten milliseconds. NULL: it could not be found out. */
struct empty_region_output *
empty_region_measure(const struct counting *counting, const char *backend, struct rot_error *err);

#endif
