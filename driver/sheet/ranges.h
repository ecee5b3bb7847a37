/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how many variables compiled code keeps in registers (live ranges; BlackjackBench,
 * section 3.5). One that gets none is loaded and stored, and additions take longer.
 */
#pragma once

#include "sheet/part.h"

#define RANGES_NR_COMPILERS 2 /* gcc and clang, each with -O2 */
#define RANGES_NR_ANSWERS (2 * RANGES_NR_COMPILERS)

/* Each compiler has integers, then floating-point numbers; curves: cycles of an addition over variables. */
struct ranges {
	struct sheet_answer answers[RANGES_NR_ANSWERS];
	struct measured_curve curves[RANGES_NR_ANSWERS]; /* without points: there is no such compiler */
};

/* Fills answers from curves. Pure. */
void ranges_conclude(struct ranges *ranges);

/* Measures (or takes from the result cache) and concludes. */
extern const struct sheet_part ranges_part;
