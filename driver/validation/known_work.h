/* SPDX-License-Identifier: MIT */
/* Every formula of the architecture, tried on kernels whose work is known. */
#ifndef VALIDATION_KNOWN_WORK_H
#define VALIDATION_KNOWN_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "quantities/architecture.h"
#include "validation/grade.h"

struct rot;

/* A formula on one kernel. */
struct known_work_row {
	const struct architecture_formula *formula;
	char *kernel; /* "AVX2 DOUBLE FMA", "WRITE 64 MiB" */
	double expected;
	double measured; /* median */
	struct grade grade;
	size_t nr_tainted; /* samples left out */

	/* Too little work to tell it from what a cache holds back or inherits: shown, but no part of a formula's grade.
	 */
	bool is_too_small;
};

struct known_work {
	struct known_work_row *rows;
	size_t nr;
};

struct known_work_options {
	const char *const *controllers; /* names of controllers whose points are the known work */
	size_t nr_controllers;
	int nr_rounds; /* times through all points, each in another order: some failures depend on what ran before */
	int nr_runs;   /* of each point in a round */
	double largest_bytes; /* points with more data are left out */
	size_t most_points;   /* of a controller: so many of those that are left, evenly spread */
};

/*
 * Measures all points anew, in the groups that the planner would open for all formulas at once. Interrupted: an error,
 * "interrupted". Clear also after an error.
 */
int known_work_measure(struct rot *rot, const struct known_work_options *options, struct known_work *work,
		       struct rot_error *err);
void known_work_clear(struct known_work *work);

/* The row that decides the formula's grade: the weakest, then the farthest off, of those large enough. NULL: there is
 * none. */
const struct known_work_row *
known_work_worst(const struct known_work *work, const struct architecture_formula *formula);

/* Its letter, or 0. */
char known_work_grade(const struct known_work *work, const struct architecture_formula *formula);

/*
 * Deviation of a count from what was expected. reference: the largest work of that quantity that the kernel does, for
 * formulas of which it does none. NaN if the kernel does nothing of the kind.
 */
double known_work_deviation(double measured, double expected, double reference);

#endif
