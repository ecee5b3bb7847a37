/* SPDX-License-Identifier: MIT */
/*
 * Controllers by name: files (planning/controller_file.h), or those in C that are linked in. A name with a slash or
 * ending in .xml or .c is the path of a file.
 */
#pragma once

#include <stddef.h>

#include "base/paths.h"
#include "base/pool.h"
#include "error.h"
#include "rot.h"

/* Facts of a controller that are told without running it. */
struct controller_info {
	const char *name; /* what "rot measure" takes */
	const char *
		description; /* the comment of an XML controller; "" if a C file would have to be compiled to know it */
	const char *path;    /* of its file; "" when linked in */
	const char *place;   /* "current folder", "your controllers" or "built in" */
};

/* All controllers sorted by name, each name once. Files that are no controllers are passed over. */
void controllers_list(struct pool *pool, const struct paths *paths, struct controller_info **infos, size_t *nr);

/*
 * Finds and runs a controller. output_name NULL: its name without folder and ending. Errors: not found (suggests the
 * nearest), a file that is no valid controller, and what the controller itself says. "interrupted" comes after what was
 * finished has been written.
 */
int controller_run(struct rot *rot, const char *name, const char *output_name, struct rot_error *err);

/* Prints what an XML controller would measure, and measures nothing. An error for one in C: only running it tells. */
int controller_print_plan(struct rot *rot, const char *name, struct rot_error *err);
