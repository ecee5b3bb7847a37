/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how the system takes a CPU away. A process looks at the clock again and again; a gap
 * between two looks is time that it did not have (BlackjackBench, section 3.6). Alone on its CPU, gaps are interrupts
 * and what a hypervisor takes; beside another that always works, they are the time slots of the other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sheet/part.h"

enum scheduling_answer {
	SCHEDULING_RESOLUTION,    /* least step of the clock, ns */
	SCHEDULING_INTERRUPTIONS, /* gaps of a second, alone */
	SCHEDULING_LONGEST,       /* gap alone, us */
	SCHEDULING_SLOT,          /* median gap beside another, ms */
	SCHEDULING_NR_ANSWERS
};

/* Looks at the clock of one process. */
struct scheduling_gaps {
	uint64_t observed_ns, least_step_ns;
	size_t nr;
	uint64_t ns[4096]; /* each longer than SCHEDULING_GAP_NS */
};

#define SCHEDULING_GAP_NS 5000

/* curves: of gaps alone and beside another, in us, over the share of them that are shorter. */
struct scheduling {
	struct sheet_answer answers[SCHEDULING_NR_ANSWERS];
	struct measured_curve curves[2];
};

/* Pure. */
void scheduling_conclude(const struct scheduling_gaps *alone, const struct scheduling_gaps *beside,
			 struct scheduling *scheduling);

/* Measures anew each time, for a second. -1: no process could be started. */
extern const struct sheet_part scheduling_part;
