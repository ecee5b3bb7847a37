/* SPDX-License-Identifier: MIT */
/* Values from the runs of a program: for all of it, and for each thread. Pure. */
#pragma once

#include "entities.h"
#include "programs/plan.h"
#include "quantities/quantity.h"

/* A thread, or the whole program. values are as plan->requests. */
struct program_values {
	struct quantity_value *values;
	size_t nr;
	const struct program_thread_output *thread; /* of the first run; NULL: the whole program */
};

/* How the passes and runs compare. */
struct program_agreement {
	size_t nr_counted;     /* runs that counted instructions                                   */
	double spread;         /* (most - fewest) / fewest instructions; NaN if fewer than 2 counted */
	bool has_same_threads; /* in every run that tells them apart, in the same order */
};

/* Instructions of two runs that differ by more are not those of the same work. */
#define PROGRAM_AGREEMENT 0.01

/*
 * Values of the whole program: counts are sums over its threads, time is wall time. Needs a run of every pass. Clear
 * also after an error. Where the run that was counted was cut off, there are no rates. A run is disturbed (here and in
 * those below) if pages were read from a disk, or if it was preempted some percent of its time and far more often than
 * the other runs.
 */
int program_values_total(struct program_values *values, const struct program_plan *plan,
			 const struct architecture *architecture, const struct program_command_output *output,
			 struct rot_error *err);

/* Values of the thread that started as number index (from 0), which every run must have; its time is its life. */
int program_values_thread(struct program_values *values, const struct program_plan *plan,
			  const struct architecture *architecture, const struct program_command_output *output,
			  size_t index, struct rot_error *err);

/*
 * Values of a region, of all threads: counts are sums over the measured hits, less what an empty region counts in as
 * many and in the hits within these; time is the sum of the wall times that threads spent in it, less that of empty
 * regions. So rates are averages per thread within it. Where its hits were too short for that, time is the CPU time by
 * samples, of as many CPUs as the program used at once; it has the interval of their share unless the runs give one.
 */
int program_values_region(struct program_values *values, const struct program_plan *plan,
			  const struct architecture *architecture, const struct program_command_output *output,
			  const struct region_service *service, struct rot_error *err);

/* The same of the thread that started as number index, which every run must have. */
int program_values_region_thread(struct program_values *values, const struct program_plan *plan,
				 const struct architecture *architecture, const struct program_command_output *output,
				 const struct region_service *service, size_t index, struct rot_error *err);
/*
 * Values of code that was counted so by the pass that was translated, and took that time (ns) of wall time: rates have
 * the interval of the time. Clear also after an error.
 */
int program_values_code(struct program_values *values, const struct program_plan *plan,
			const struct architecture *architecture, const uint64_t *counts, const struct summary *time,
			struct rot_error *err);
void program_values_clear(struct program_values *values);

/* The value of that quantity and what it is of ("" for any), or NULL. */
const struct quantity_value *program_values_find(const struct program_values *values, const char *name, const char *of);

/* The samples of a region whose hits were too short to be timed in that run; NULL: it was observed to the end. */
const struct sampled_region *program_sampled_region(const struct program_run_output *run, const char *region);

/* How many threads were in the region while any was, on average; of one that was sampled: CPUs that the program used.
 */
double program_region_at_once(const struct program_run_output *output, const char *region);

/* The empty region that was measured with that backend in that run, or NULL. */
const struct empty_region_output *program_empty_region(const struct program_run_output *output, const char *backend);

/* Somebody ended it while it was counted by blocks: its counts are of a part of what the other runs did. */
bool program_run_is_cut(const struct program_plan *plan, const struct program_run_output *run);

/* Are its threads told apart? Where nobody asked for that, or tracing is refused, the core gives one total. */
bool program_run_has_threads(const struct program_run_output *run);

/*
 * How many threads did the work at the same time, as an average over it: of instructions in their lives, where threads
 * that did less count less. On a busy host this is more than the CPUs that they got. NaN: no run has counted threads.
 */
double program_threads_at_work(const struct program_plan *plan, const struct architecture *architecture,
			       const struct program_command_output *output);

/* Context switches of a run; NaN: they are not known. */
double program_run_switches(const struct program_run_output *output);

/* Instructions that one of them counts; NaN if the pass of the run does not count any. */
double program_empty_instructions(const struct program_plan *plan, const struct architecture *architecture,
				  const struct program_run_output *output, const char *backend);

/* Instructions are those of the whole program in each run. */
struct program_agreement program_agreement_of(const struct program_plan *plan, const struct architecture *architecture,
					      const struct program_command_output *output);
