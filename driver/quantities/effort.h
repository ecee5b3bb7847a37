/* SPDX-License-Identifier: MIT */
/* How often a point is measured: disturbed runs again, and more runs where intervals are wide. Pure. */
#pragma once

#include <stddef.h>

#include "quantities/quantity.h"

/* With a precision: 10, 20, 40, 80 runs. */
#define EFFORT_FIRST_RUNS 10
#define EFFORT_MOST_RUNS 80

/* The course of measuring so far. */
struct effort_course {
	const struct quantity_effort *effort;
	int target;      /* undisturbed runs wanted now                               */
	int nr_rounds;   /* in which disturbed runs were repeated for this target     */
	const char *end; /* as runs_end of quantity_value, once there is no next step */
};

/* Runs that are measured first, whatever they give. */
int effort_first_runs(const struct quantity_effort *effort);

/* effort is borrowed. The first step is to measure course->target runs. */
void effort_begin(struct effort_course *course, const struct quantity_effort *effort);

/*
 * After nr_runs runs, of which the values are and which took spent_s: how many there shall be next, more than nr_runs;
 * 0: these are all.
 *
 * Disturbed runs are repeated until the target is met without them, in at most three rounds and at most as many again
 * as the target; not at all if every run was disturbed, since the cause then lies in the work, and
 * not where the effort keeps them. With a precision the
 * target is doubled while the interval of a time or a rate is wider. Nothing is added that would take longer than the
 * budget.
 */
int effort_next(struct effort_course *course, const struct quantity_value *values, size_t nr_values, int nr_runs,
		double spent_s);
