/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: what is fetched from memory before it is asked for. Lines at equal distances beside
 * the same lines at random, and pairs of lines at random places, all of them cold (kernel Chase).
 */
#pragma once

#include "sheet/part.h"

enum prefetch_answer {
	PREFETCH_STRIDE, /* the largest that is foreseen */
	PREFETCH_BESIDE, /* how far lines are that come with one that is read */
	PREFETCH_NR_ANSWERS
};

enum prefetch_curve {
	PREFETCH_IN_ORDER, /* cycles of an access, over the distance of lines */
	PREFETCH_AT_RANDOM,
	PREFETCH_PAIRS, /* over the bytes between the two accesses of a pair; the first point is within a line */
	PREFETCH_NR_CURVES
};

struct prefetch {
	struct sheet_answer answers[PREFETCH_NR_ANSWERS];
	struct measured_curve curves[PREFETCH_NR_CURVES];
	struct measured_curve shares[PREFETCH_NR_ANSWERS]; /* of the time of what is not fetched before */
};

/* Fills answers and shares from curves. Pure. */
void prefetch_conclude(struct prefetch *prefetch);

/* Measures (or takes from the result cache) and concludes. */
extern const struct sheet_part prefetch_part;
