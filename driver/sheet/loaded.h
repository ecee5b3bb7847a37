/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how long memory takes while others use it. A process follows pointers through memory,
 * and one on each other CPU reads memory of its own, with pauses that become shorter. In each window of time the first
 * one notes how fast it was, and how much the others have read meanwhile: where these did not get their CPUs, it shows.
 */
#pragma once

#include <stddef.h>

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

enum loaded_answer {
	LOADED_ALONE,     /* ns of an access */
	LOADED_FULL,      /* the same while others read most */
	LOADED_MOST,      /* what they read then, GB/s */
	LOADED_HALF_MORE, /* what they read when an access takes half more than alone, GB/s */
	LOADED_NR_ANSWERS
};

#define LOADED_NR_LEVELS 12
#define LOADED_NR_WINDOWS 320

/* Windows of a level of load, from none to the most. */
struct loaded_level {
	size_t nr;
	struct loaded_window {
		double ns, gb_per_s; /* of an access; of all others together */
	} windows[LOADED_NR_WINDOWS];
};

struct loaded {
	struct sheet_answer answers[LOADED_NR_ANSWERS];
	struct measured_curve curve; /* ns over GB/s */
};

/* Pure. */
void loaded_conclude(const struct loaded_level levels[LOADED_NR_LEVELS], struct loaded *loaded);

struct machine;

/* Measures anew each time, for some seconds. -1: no memory or process for it. With one CPU answers say that. */
int loaded_measure(const struct machine *machine, struct loaded *loaded, struct rot_error *err);

void loaded_draw(const struct loaded *loaded, const struct sheet_pictures *pictures);
