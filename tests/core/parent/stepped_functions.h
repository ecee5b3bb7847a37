/* SPDX-License-Identifier: MIT */
/*
 * cases: functions whose counts follow from their instructions alone: they do the same whenever they are executed.
 * scenes: functions whose results alone are always the same: of signals, threads, processes.
 */
#pragma once

#include <stdbool.h>

#include "stepping.h"

/* is_there: this processor can; NULL: all can. */
struct stepped_case {
	const char *name;
	stepped_function function;
	bool (*is_there)(void);
};

#define NR_STEPPED_CASES 42
extern const struct stepped_case stepped_cases[];

#define NR_STEPPED_SCENES 17
extern const struct stepped_case stepped_scenes[];
