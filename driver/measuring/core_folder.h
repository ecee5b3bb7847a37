/* SPDX-License-Identifier: MIT */
/* The files rot writes into a build folder for core/core.mk. */
#ifndef MEASURING_CORE_FOLDER_H
#define MEASURING_CORE_FOLDER_H

#include "measuring/core_description.h"

struct rot;

/*
 * Writes settings.mk and generated/, touching only what changes. ccache: its path, or "". Paths that make cannot take
 * are reached through links/ in the folder.
 */
int core_folder_write(const char *folder, const struct rot *rot, const struct core_description *description,
		      const char *ccache, struct rot_error *err);

/*
 * Makes folder a copy of the built folder from (objects and generated files with their times, not the core itself), all
 * or nothing; whether that worked does not matter to the caller.
 */
void core_folder_seed(const char *folder, const char *from);

#endif
