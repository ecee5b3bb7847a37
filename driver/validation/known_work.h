/* SPDX-License-Identifier: MIT */
/* Every formula of the architecture, and the clocks, tried on kernels whose work is known. */
#ifndef VALIDATION_KNOWN_WORK_H
#define VALIDATION_KNOWN_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "validation/grade.h"
#include "validation/trial.h"
#include "validation/work_list.h"

struct rot;

/* A candidate on one kernel. */
struct known_work_row {
	const struct candidate *candidate;
	const char *kernel; /* "AVX2 DOUBLE FMA", "WRITE 64 MiB cold" */
	double expected;    /* medians */
	double measured;
	struct grade grade;
	size_t nr_tainted;    /* samples left out, */
	size_t nr_overflowed; /* and those of them whose count lay in the upper half of the counter */
	bool is_too_small;    /* struct trial: shown, but no part of a candidate's grade, */
	bool is_estimate; /* and neither is this (struct work_source), unless it is off by more than a factor of 3 */
	unsigned nr_large, nr_plain; /* events of the group it was counted in; both 0: of several, or of none */
};

struct known_work {
	struct candidate *candidates;
	size_t nr_candidates;
	struct known_work_row *rows; /* in the order of the controllers */
	size_t nr;
	size_t nr_points, nr_left_out; /* kernels that were measured, and those that did not fit into the time */
	int nr_rounds;
};

struct known_work_options {
	const struct work_source *sources;
	size_t nr_sources;
	int nr_rounds;  /* at most so many times through all points, each in another order: some failures depend on what
			   ran before */
	int nr_runs;    /* of each point in a round; of long ones fewer (work_point_runs) */
	double seconds; /* what is estimated to take so long is chosen and measured, however long it really takes; no
			   other round is begun that would take longer */
};

/*
 * Measures all points anew, in the groups that the planner would open for all candidates at once. Those whose events
 * the machine refuses are left out with a warning. Interrupted: an error, "interrupted". Clear also after an error.
 */
int known_work_measure(struct rot *rot, struct pool *pool, const struct known_work_options *options,
		       struct known_work *work, struct rot_error *err);

/* Is it part of its candidate's grade? */
bool known_work_is_graded(const struct known_work_row *row);

/* The row that decides the candidate's grade: the weakest, then the farthest off. NULL: there is none. */
const struct known_work_row *known_work_worst(const struct known_work *work, const struct candidate *candidate);

/* That one; without one any of the candidate: one of too little work, or of which all runs were disturbed. */
const struct known_work_row *known_work_row_to_show(const struct known_work *work, const struct candidate *candidate);

/* Its letter, or 0. */
char known_work_grade(const struct known_work *work, const struct candidate *candidate);

/* The number of runs that could have told its grade, if every one of them was disturbed; else 0. */
size_t known_work_nr_disturbed(const struct known_work *work, const struct candidate *candidate);

/*
 * Deviation of a count from what was expected. reference: what it is relative to where that is 0 (struct trial). NaN if
 * the kernel does nothing of the kind.
 */
double known_work_deviation(double measured, double expected, double reference);

#endif
