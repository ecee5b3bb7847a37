/* SPDX-License-Identifier: MIT */
/* How far counts are from known work, and the grade for it. Pure. */
#ifndef VALIDATION_GRADE_H
#define VALIDATION_GRADE_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics/summary.h"

/*
 * Of n deviations (measured - expected) / reference, where the reference is what was expected, or for work that must be
 * zero the other work of that kernel.
 */
struct grade {
	char letter;       /* 'A' within 1 %, 'B' 3 %, 'C' 10 %, 'F' worse or unstable; 0: there is nothing to go by */
	double bias;       /* median deviation                                                                    */
	double spread;     /* from the 5th to the 95th percentile                                                 */
	double worst;      /* the farther one of these two percentiles, with its sign: what the letter goes by    */
	bool is_unstable;  /* the median alone would be better than F                                             */
	struct summary of; /* 1 + deviation: the ratio measured / expected, with its interval                     */
};

struct grade grade_of(const double *deviations, size_t n);

/* The weaker of two letters; 0 counts as nothing. */
char grade_weaker(char a, char b);

#endif
