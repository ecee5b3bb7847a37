/* SPDX-License-Identifier: MIT */
/* Keeping folders of the cache from growing without end. */
#ifndef MEASURING_CORE_PRUNE_H
#define MEASURING_CORE_PRUNE_H

#include <stddef.h>

/* Marks a build folder as used now. */
void core_touch(const char *folder);

/*
 * Removes what was not used for the longest time from folder, until nr_kept are left. mark: name of the file in each
 * that tells by its time when it was used; NULL: they are files, which do so themselves.
 */
void prune(const char *folder, const char *mark, size_t nr_kept);

#endif
