/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: how many threads work at once until one of them is delayed (BlackjackBench, section
 * 3.4). Threads that wait for results share a core without harm, and those that need all of its units do not: so CPUs
 * are told from cores.
 */
#pragma once

#include "sheet/part.h"

enum contexts_answer {
	CONTEXTS_WAITING, /* each instruction for the one before */
	CONTEXTS_FLOAT,
	CONTEXTS_INTEGER,
	CONTEXTS_L1,
	CONTEXTS_NR_ANSWERS
};

/* curves: what the slowest thread takes, as multiples of one alone, over the number of threads. */
struct contexts {
	struct sheet_answer answers[CONTEXTS_NR_ANSWERS];
	struct measured_curve curves[CONTEXTS_NR_ANSWERS];
};

/* Fills answers from curves. Cores as the system tells, and at most by the times of pairs of CPUs. Pure. */
void contexts_conclude(struct contexts *contexts, size_t nr_cpus, size_t told_cores, size_t nr_cores);

/* Measures (or takes from the result cache) and concludes. */
extern const struct sheet_part contexts_part;
