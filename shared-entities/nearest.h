/* SPDX-License-Identifier: MIT */
/* The word that somebody probably meant, and hints that name it. */
#pragma once

#include <stddef.h>

#include "error.h"

/*
 * The candidate nearest to word (letters inserted, deleted, replaced, or two exchanged that are neighbours or next but
 * one; case counts little), or NULL when none is near: at most one change in three letters. NULL candidates are
 * skipped. The first of equally near ones wins.
 */
const char *rot_nearest(const char *word, const char *const *candidates, size_t nr);

/*
 * Sets the hint "did you mean 'NEAREST'? More", or "more" alone when no candidate is near. more: what else to do, or
 * "". Returns -1.
 */
int
rot_nearest_hint(struct rot_error *err, const char *word, const char *const *candidates, size_t nr, const char *more);

/* The same with all candidates as more: "WHAT: a, b, c". A NULL candidate is "anything". */
int rot_nearest_hint_all(struct rot_error *err, const char *word, const char *const *candidates, size_t nr,
			 const char *what);
