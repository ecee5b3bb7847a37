/* SPDX-License-Identifier: MIT */
/* Where the CPU time of a program went: the samples of all its runs, by function, loop or line. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entities.h"
#include "programs/plan.h"
#include "programs/values.h"
#include "statistics/summary.h"

/*
 * share: of the CPU time of all runs that were sampled, with its interval. total: with all that it called; of functions
 *        alone, and NaN if the calls that led to samples are not known.
 * values: of what it did in the time that it took with so many threads, waiting left out, if both are known and the run
 *         that was counted was not cut off; else without any. roof_share: under the roof of so many threads, set by
 *         program_report_judge; NaN
 * nr_pairs, nr_pairs_of_one: of samples of its function in one run, and those of them that are of one thread
 * nr_threads: as many were in its function at once, by these, but at most as many as worked in the program
 * nr_entries, nr_turns, counts: what it did in the run that was translated, by the events of that one's pass; NULL: it
 * was not there. nr_entries of a loop: 0: not known; nr_turns: of a loop alone
 * trips: of these entries of a loop, so many made 1 turn, 2 or 3, 4 to 7, ...: uint64_t; NULL: not known; borrowed
 * chained: such a loop, with its chain; borrowed; NULL: that is not known
 */
struct place_share {
	const struct program_place *place; /* of a run it was seen in; borrowed */
	const struct program_part *part;   /* of it; NULL: all of it; borrowed  */
	uint64_t nr_samples, nr_total, nr_pairs, nr_pairs_of_one;
	int nr_threads;
	struct summary share, total;
	uint64_t nr_entries, nr_turns;
	uint64_t *counts;
	const struct rot_list *trips;
	const struct program_part *chained;
	struct program_values values;
	double roof_share;
};

struct place_list {
	struct place_share *items;
	size_t nr;
};

/*
 * The same time in parts: by function; by loop, where functions without loops are parts as well; by source line, where
 * functions without lines are. Code that is in no function of a file, as the kernel's, is apart from these.
 */
enum place_kind { PLACES_FUNCTIONS, PLACES_LOOPS, PLACES_LINES, PLACES_OTHERS, NR_PLACE_KINDS };

/*
 * lists: those with most samples first. Shares of one list, of the others and the missing share are the whole. Zeroed:
 * no run was sampled.
 *
 * missing: CPU time that no sample stands for: that in the kernel, where the system permits samples in user code alone;
 *          else that of threads which lived for less than a period, or that a hypervisor took.
 */
struct program_places {
	struct place_list lists[NR_PLACE_KINDS];
	const struct pass *counted; /* of the run that was translated; borrowed; NULL: functions are not counted */
	uint64_t nr_samples;
	uint64_t whole; /* samples that the CPU time is worth; at least nr_samples */
	struct summary missing;
	size_t nr_runs;       /* that were sampled */
	double cpu_s, wall_s; /* of these          */
	double run_s, wait_s; /* threads were on a CPU, and waited for one; 0: not known */
	double off_cpu_s;     /* wall time in which certainly no thread was on a CPU: all of it that exceeds CPU time */
	bool has_kernel;
	bool has_totals;        /* of each run the calls that led to samples are known */
	uint64_t nr_incomplete; /* samples of which not all of them are                */
	uint64_t nr_lost;       /* records */
	const char *refusal;    /* why a run was not sampled, borrowed; "": all were that should be */
};

/* Was a run sampled, or refused to be? */
bool program_places_are_known(const struct program_places *places);

/* nr_threads: that worked in the program at once. Clear also after an error. */
int program_places_compute(struct program_places *places, const struct program_plan *plan,
			   const struct architecture *architecture, const struct program_command_output *output,
			   int nr_threads, struct rot_error *err);
void program_places_clear(struct program_places *places);

/* They are the same function, maybe of different runs. */
bool place_is_same(const struct program_place *place, const struct program_place *other);

/* The number of places in which a thread was found; they are the first ones. */
size_t place_list_nr_sampled(const struct place_list *list);

/* The share of several places together, from the one numbered first on. */
struct summary program_places_rest(const struct program_places *places, enum place_kind kind, size_t first);
