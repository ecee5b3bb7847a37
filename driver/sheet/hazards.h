/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: what makes code wait without doing more. Each hazard is timed beside the same code
 * without it (kernel Hazard), and the difference is its cost.
 */
#pragma once

#include "error.h"
#include "sheet/sheet.h"

struct rot;

#define HAZARDS_NR 18

/* Measures (or takes from the result cache) the core cycles that meeting each hazard once adds. */
int hazards_measure(struct rot *rot, struct sheet_answer answers[HAZARDS_NR], struct rot_error *err);

/* met, without: core cycles of both halves of the runs; NaN: always disturbed. Pure. */
struct sheet_answer hazard_conclude(const char *name, const double met[2], const double without[2]);
