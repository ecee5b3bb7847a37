/* SPDX-License-Identifier: MIT */
/* The places that a command names (places.h), as points of a process. */
#ifndef CORE_PARENT_REGIONS_REGION_PLACES_H
#define CORE_PARENT_REGIONS_REGION_PLACES_H

#include "parent/regions/regions.h"
#include "parent/symbols/symbols.h"

/* A region_finder; its context is a struct symbol_files. */
int region_places_find(void *symbol_files, pid_t tid, const struct region *region, struct region_points *points,
		       struct rot_error *err);

#endif
