/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: which CPUs share a level of the caches with the first one. Two CPUs each follow
 * pointers through a buffer of 60 % of the level (kernel Chase): if they share it, both are as slow as one CPU with a
 * buffer of both sizes (BlackjackBench, section 3.2).
 */
#pragma once

#include "sheet/part.h"

enum sharing_answer { SHARING_L1, SHARING_L2, SHARING_LAST, SHARING_NR_ANSWERS };

/* More CPUs take too long: some at equal distances are taken. */
#define SHARING_MAX_CPUS 16

struct sharing {
	struct sheet_answer answers[SHARING_NR_ANSWERS];  /* how many CPUs share the level, the first one included */
	struct measured_curve curves[SHARING_NR_ANSWERS]; /* times as long as alone, over CPUs beside the first; of the
							     first itself: with a buffer of both sizes */
	char remarks[SHARING_NR_ANSWERS][160];
};

/* Fills answers from curves. told: as many CPUs as the system says share each level; 0: it does not say. Pure. */
void sharing_conclude(struct sharing *sharing, const int told[SHARING_NR_ANSWERS]);

/* Measures (or takes from the result cache) and concludes. */
extern const struct sheet_part sharing_part;
