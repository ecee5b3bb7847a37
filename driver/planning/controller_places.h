/* SPDX-License-Identifier: MIT */
/*
 * Where controllers' files are: NAME.xml or NAME.c in the current folder, in USER/controllers or in
 * DATA/driver/controllers; what comes first hides the rest.
 */
#ifndef PLANNING_CONTROLLER_PLACES_H
#define PLANNING_CONTROLLER_PLACES_H

#include <stdbool.h>

#include "configuration/paths.h"
#include "support/pool.h"

#define CONTROLLER_NR_PLACES 3

/* Folders that are searched, in order. */
struct controller_places {
	struct {
		const char *folder;
		const char *name;
		bool takes_c; /* a C file in the current folder is rarely a controller: it is found by name, but not
				 listed */
	} at[CONTROLLER_NR_PLACES];
};

struct controller_places controller_places_of(struct pool *pool, const struct paths *paths);

/* The path of a file in such a folder: in the current one its bare name, as in messages. Fresh memory. */
char *controller_path_in(const char *folder, const char *file);

/* NAME.xml or NAME.c where it is found first; fresh memory, NULL if there is none. */
char *controller_find_file(const struct paths *paths, const char *name);

#endif
