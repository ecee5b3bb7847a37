/* SPDX-License-Identifier: MIT */
/* Which quantities of a program are measured in a given number of runs: the most useful ones first. Pure. */
#pragma once

#include "quantities/plan.h"
#include "quantities/quantity.h"
#include "quantities/resolve.h"

struct program_plan {
	struct quantity_request *requests; /* wall time first, if it is measured; in the order of the table */
	struct quantity_resolution *resolutions;
	size_t nr;
	struct pass_plan passes;        /* at least one; without events where nothing can be counted */
	const char *operation, *border; /* those of the roofline: static, NULL if not counted          */
	char *left_out;                 /* quantities that need more runs: "A, B"; "" for none         */
	size_t nr_passes_of_all;        /* that would measure these as well                            */
	bool use_minimum;               /* as quantity_compute                                         */
	bool is_timed;                  /* time is the first request                                   */
};

/* Programs are counted by rot->architecture, unless that counts by steps and no regions are asked for. */
const struct architecture *program_architecture(const struct rot *rot, bool has_regions);

/*
 * The quantities of rot run that nobody names: time, and those of instructions, operations and bytes that fit into
 * max_passes (> 0) passes on this architecture, with their ratios. Not is_timed: no time and no rates, and no pass for
 * them. Clear also after an error.
 */
int program_plan_make(struct program_plan *plan, const struct architecture *architecture, size_t max_passes,
		      bool is_timed, struct rot_error *err);

/*
 * The quantities asked for, in as many passes as they need. default_clock: the configuration key; "auto" is wall time,
 * as in the plan above. Errors: what cannot be counted here, the time stamp counter (nobody reads it for a program).
 */
int program_plan_of(struct program_plan *plan, const struct architecture *architecture,
		    const struct quantity_request *requests, size_t nr_requests, const char *default_clock,
		    struct rot_error *err);

/* Does a pass step through the program's regions, or translate it? What such a run took is no measure of the program.
 */
bool program_plan_steps(const struct program_plan *plan);

/* Is something of modelled caches among it? */
bool program_plan_has_caches(const struct program_plan *plan);

/* How many times as long as it takes else a program may take while it is translated, from seldom less to seldom more.
 */
struct program_slowdown {
	double least, most;
};
struct program_slowdown program_slowdown(bool has_caches);

/* Only the first nr_passes (> 0) have run: what needs the others is taken out. */
void program_plan_cut(struct program_plan *plan, size_t nr_passes);
void program_plan_clear(struct program_plan *plan);
