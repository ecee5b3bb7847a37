/* SPDX-License-Identifier: MIT */
/* What a formula of the architecture, or a clock, should tell of a measurement whose work is known. */
#ifndef VALIDATION_TRIAL_H
#define VALIDATION_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entities.h"
#include "error.h"
#include "quantities/architecture.h"
#include "quantities/plan.h"
#include "quantities/samples.h"
#include "support/pool.h"

struct rot;
struct clock;

/* A way to know a quantity that has to prove itself. All but the last are borrowed of the architecture or static. */
struct candidate {
	const char *quantity, *of, *kind, *source;
	const struct architecture_formula *formula; /* over events; NULL: a clock, which needs none */
	const struct clock *clock;                  /* NULL: a formula */
};

/* Formulas in the order of the architecture, then clocks. */
size_t candidates_of(struct pool *pool, const struct architecture *architecture, struct candidate **candidates);

/* A candidate on one measurement. */
struct trial {
	const struct candidate *candidate;
	double expected;  /* of a run; NaN: each run tells it itself, by another clock */
	double reference; /* > 0: what a deviation is relative to where nothing is expected: all that the kernel does of
			     the kind */

	/* Too little work to tell it from what a cache holds back or inherits, and from page walks and code. */
	bool is_too_small;
};

/*
 * The trials of those candidates of whose kind the kernels do a known amount, or none beside something else of that
 * kind; fresh memory. -1: an expression of a kernel's definition failed.
 */
int trials_find(struct rot *rot, struct pool *pool, const struct measurement *measurement,
		const struct candidate *candidates, size_t nr, struct trial **trials, size_t *nr_trials,
		struct rot_error *err);

/* The passes that tell all of them. */
int trials_plan(const struct trial *trials, size_t nr, const struct architecture *architecture, struct pass_plan *plan,
		struct rot_error *err);

/* The time stamp counter and the wall clock at one moment: what both go on by until another is the rate. */
struct moment {
	uint64_t ticks;
	double ns;
};
struct moment moment_now(void);

/* What run i tells, by the samples of the plan's passes. */
struct trial_reading {
	double value, expected;
	unsigned taints; /* enum sample_taint */
};
struct trial_reading
trial_read(const struct trial *trial, const struct architecture *architecture, const struct pass_plan *plan,
	   const struct pass_samples *samples, size_t run, const struct moment *start);

/* The pass that a formula was counted in; NULL: in several, or it is a clock. */
const struct pass *trial_pass(const struct trial *trial, const struct pass_plan *plan);

#endif
