/* SPDX-License-Identifier: MIT */
/* Every formula of the architecture, and the clocks, tried on kernels whose work is known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"
#include "error.h"
#include "statistics/summary.h"

struct architecture_formula;
struct clock;
struct rot;
struct shapes;

/* A way to know a quantity that has to prove itself. All but the last are borrowed of the architecture or static. */
struct candidate {
	const char *quantity, *of, *kind, *source;
	const struct architecture_formula *formula; /* over events; NULL: a clock, which needs none */
	const struct clock *clock;                  /* NULL: a formula */
};

/*
 * Summary of n deviations (measured - expected) / reference, where the reference is what was expected, or for work that
 * must be zero the other work of that kernel.
 */
struct grade {
	char letter;       /* 'A' within 1 %, 'B' 3 %, 'C' 10 %, 'F' worse or unstable; 0: there is nothing to go by */
	double bias;       /* median deviation                                                                    */
	double spread;     /* from the 5th to the 95th percentile                                                 */
	double worst;      /* the farther one of these two percentiles, with its sign: what the letter goes by    */
	bool is_unstable;  /* the median alone would be better than F                                             */
	struct summary of; /* 1 + deviation: the ratio measured / expected, with its interval                     */
};

struct grade grade_of(const double *deviations, size_t n);

/* A candidate on one kernel. */
struct known_work_row {
	const struct candidate *candidate;
	const char *kernel; /* "AVX2 DOUBLE FMA", "WRITE 64 MiB cold" */
	double expected;    /* medians */
	double measured;
	struct grade grade;
	size_t nr_tainted;    /* samples left out, */
	size_t nr_overflowed; /* and those of them whose count lay in the upper half of the counter */
	bool is_too_small;    /* too little work: shown, but no part of a candidate's grade, */
	bool is_estimate; /* and neither is this (prefetchers bring more than is asked for), unless it is off by more
			     than a factor of 3 */
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

/*
 * Measures points anew, in the groups that the planner would open for all candidates at once, at most nr_rounds times
 * through all, each in another order: some failures depend on what ran before. As many points are chosen as are
 * estimated to take so many seconds, however long they really take; no other round is begun that would take longer.
 * Points whose events the machine refuses are left out with a warning. Interrupted: an error, "interrupted".
 */
int known_work_measure(struct rot *rot, struct pool *pool, int nr_rounds, double seconds, struct known_work *work,
		       struct rot_error *err);

/* Is it part of its candidate's grade? */
bool known_work_is_graded(const struct known_work_row *row);

/* The row that decides the candidate's grade; without one any of the candidate: one of too little work, or of which all
 * runs were disturbed. */
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

/*
 * Why a formula does not count what it should. Counters fail silently, but mostly in ways that are known: the rules of
 * which one was broken, told by how the counts are wrong.
 */

/* The surroundings of the work. */
struct diagnosis_context {
	const struct known_work *work;
	const struct shapes *shapes;
	bool is_scrubbed; /* something clears the counters before each run */
};

/* For a candidate whose grade is F. Fresh memory, "" if no rule explains it. */
char *diagnosis_of(const struct diagnosis_context *context, const struct candidate *candidate);
