/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: what makes code wait without doing more. Each hazard is timed beside the same code
 * without it (kernel Hazard), and the difference is its cost.
 */
#pragma once

#include <stdbool.h>

#include "sheet/part.h"
#include "sheet/survey.h"

#define HAZARDS_NR 18

/* Measures (or takes from the result cache) the core cycles that meeting each hazard once adds. */
extern const struct sheet_part hazards_part;

/* NaN: always disturbed; varies: the median of the runs, and the range of all of them. Pure. */
struct sheet_answer
hazard_conclude(const char *name, const struct survey_times *met, const struct survey_times *without, bool varies);
