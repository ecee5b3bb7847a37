/* SPDX-License-Identifier: MIT */
/*
 * Why a formula does not count what it should. Counters fail silently, but mostly in ways that are known: the rules of
 * which one was broken, told by how the counts are wrong. Pure.
 */
#ifndef VALIDATION_DIAGNOSIS_H
#define VALIDATION_DIAGNOSIS_H

#include <stdbool.h>

#include "validation/known_work.h"
#include "validation/shapes.h"

/* What surrounds the work. */
struct diagnosis_context {
	const struct known_work *work;
	const struct shapes *shapes;
	bool is_scrubbed; /* something clears the counters before each run */
};

/* Of a candidate whose grade is F; fresh memory, "" if no rule explains it. */
char *diagnosis_of(const struct diagnosis_context *context, const struct candidate *candidate);

#endif
