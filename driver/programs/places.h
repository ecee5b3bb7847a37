/* SPDX-License-Identifier: MIT */
/* Where the CPU time of a program went: the samples of all its runs, by function. Pure. */
#ifndef PROGRAMS_PLACES_H
#define PROGRAMS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entities.h"
#include "programs/plan.h"
#include "programs/values.h"
#include "statistics/summary.h"

/*
 * share: of the CPU time of all runs that were sampled, with its interval.
 * values: of what it did in the time that it took, if both are known and the run that was counted was not cut off;
 *         else without any. roof_share: as that of the program, set by program_report_judge; NaN
 * nr_entries, counts: what it did in the run that was translated, by the events of that one's pass; NULL: it was not
 * there
 */
struct place_share {
	const struct program_place *place; /* of the first run it was seen in; borrowed */
	uint64_t nr_samples;
	struct summary share;
	uint64_t nr_entries;
	uint64_t *counts;
	struct program_values values;
	double roof_share;
};

/*
 * functions: those with most samples first; others: code that is in no function of a file, as the kernel's. Shares of
 * both and the missing share are the whole. Zeroed: no run was sampled.
 *
 * missing: CPU time that no sample stands for: that in the kernel, where the system permits samples in user code alone;
 *          else that of threads which lived for less than a period, or that a hypervisor took.
 */
struct program_places {
	struct place_share *functions, *others;
	size_t nr_functions, nr_others;
	const struct pass *counted; /* of the run that was translated; borrowed; NULL: functions are not counted */
	uint64_t nr_samples;
	uint64_t whole; /* samples that the CPU time is worth; at least nr_samples */
	struct summary missing;
	size_t nr_runs;       /* that were sampled */
	double cpu_s, wall_s; /* of these          */
	double off_cpu_s;     /* wall time in which certainly no thread was on a CPU: all of it that exceeds CPU time */
	bool has_kernel;
	uint64_t nr_lost;    /* records */
	const char *refusal; /* why a run was not sampled, borrowed; "": all were that should be */
};

/* Was a run sampled, or refused to be? */
bool program_places_are_known(const struct program_places *places);

/* Clear also after an error. */
int program_places_compute(struct program_places *places, const struct program_plan *plan,
			   const struct architecture *architecture, const struct program_command_output *output,
			   struct rot_error *err);
void program_places_clear(struct program_places *places);

/* Functions in which a thread was found; they are the first ones. */
size_t program_places_nr_sampled(const struct program_places *places);

/* The share of several places together, from the one numbered first on. */
struct summary program_places_rest(const struct program_places *places, size_t first);

#endif
