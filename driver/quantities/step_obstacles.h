/* SPDX-License-Identifier: MIT */
/* Why steps do not count what they count elsewhere, and what of it follows from how much work there is. */
#ifndef QUANTITIES_STEP_OBSTACLES_H
#define QUANTITIES_STEP_OBSTACLES_H

#include <stdbool.h>

#include "entities.h"
#include "error.h"
#include "quantities/architecture.h"

struct rot;

/* What they do not count is then obtained as where nothing is counted. */
enum step_obstacle {
	STEPS_CAN,
	STEPS_OF_OTHERS,      /* a kernel has threads of its own, and is not alone: which are its own is not known */
	STEPS_TOO_MANY,       /* more instructions are expected than may be counted so */
	STEPS_LATE,           /* the core tried, and the time limit was not enough */
	STEPS_REFUSED,        /* the core may not step anything */
	STEPS_CUT_MEMORY,     /* the core tried, and gave up: memory cannot be accessed */
	STEPS_FROM_FULL,      /* caches are modelled as empty when a region begins, which they are not */
	STEPS_WITHOUT_CACHES, /* nobody knows the sizes of the caches that would be modelled */
	NR_STEP_OBSTACLES
};

/* In words, and what helps, as the table of remarks has them; "" for STEPS_CAN. */
const char *step_obstacle_text(enum step_obstacle obstacle);
const char *step_obstacle_hint(enum step_obstacle obstacle);

/* ---- of all that a measurement does ---- */

/*
 * What is known before anything is stepped. *steps: instructions that a run is expected to execute where it is stepped;
 * 0: nobody knows. -1: an expression of a kernel's definition failed.
 */
int
step_obstacle_of_work(struct rot *rot, const struct architecture *architecture, const struct measurement *measurement,
		      enum step_obstacle *obstacle, double *steps, struct rot_error *err);

/* What the core met when it stepped it, by what it calls it (StepMeasurerOutput.cut); STEPS_CAN: "none". */
enum step_obstacle step_obstacle_of_cut(const char *cut);

/* ---- of one quantity of it ---- */

/* The formula is over events of steps. is_full: the caches hold something when the work begins. */
enum step_obstacle step_obstacle_of_formula(const struct architecture_stepping *stepping,
					    const struct architecture_formula *formula, bool is_full);

#endif
