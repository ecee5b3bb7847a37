/* SPDX-License-Identifier: MIT */
/* Keeping the folder of built cores from growing without end. */
#ifndef MEASURING_CORE_PRUNE_H
#define MEASURING_CORE_PRUNE_H

#include <stddef.h>

/* Marks a build folder as used now. */
void core_touch(const char *folder);

/* Removes the build folders in folder that were not used for the longest time, until nr_kept are left. */
void core_prune(const char *folder, size_t nr_kept);

#endif
