/* SPDX-License-Identifier: MIT */
/* The word that somebody probably meant. */
#ifndef ROT_NEAREST_H
#define ROT_NEAREST_H

#include <stddef.h>

/*
 * The candidate nearest to word (letters inserted, deleted, replaced, or two neighbours swapped; case counts little),
 * or NULL when none is near: at most one change in three letters. NULL candidates are skipped. The first of equally
 * near ones wins.
 */
const char *rot_nearest(const char *word, const char *const *candidates, size_t nr);

#endif
