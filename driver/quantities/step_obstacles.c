/* SPDX-License-Identifier: MIT */
/* See step_obstacles.h. */
#include "quantities/step_obstacles.h"

#include <stddef.h>
#include <string.h>

#include "quantities/expected.h"
#include "quantities/pass.h"
#include "quantities/remarks.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* NULL for STEPS_CAN. */
static const struct remark *
remark_of(enum step_obstacle obstacle)
{
	static const char *const codes[NR_STEP_OBSTACLES] = {
		[STEPS_CAN] = "",
		[STEPS_OF_OTHERS] = "severalWorkloads",
		[STEPS_TOO_MANY] = "stepLimit",
		[STEPS_LATE] = "timeLimit",
		[STEPS_REFUSED] = "refused",
		[STEPS_CUT_MEMORY] = "memory",
		[STEPS_FROM_FULL] = "fullCaches",
		[STEPS_WITHOUT_CACHES] = "unknownCaches",
	};

	return remark_find(REMARK_OBSTACLE, codes[obstacle]);
}

const char *
step_obstacle_text(enum step_obstacle obstacle)
{
	const struct remark *remark = remark_of(obstacle);

	return remark ? remark->text : "";
}

const char *
step_obstacle_hint(enum step_obstacle obstacle)
{
	const struct remark *remark = remark_of(obstacle);

	return remark ? remark->advice : "";
}

/* ---- of all that a measurement does ---- */

int
step_obstacle_of_work(struct rot *rot, const struct architecture *architecture, const struct measurement *measurement,
		      enum step_obstacle *obstacle, double *steps, struct rot_error *err)
{
	*obstacle = STEPS_CAN;
	*steps = 0;
	if (!architecture->counts_by_steps)
		return 0;
	if (measurement_has_own_threads(measurement) && measurement_nr_workloads(measurement) > 1)
		*obstacle = STEPS_OF_OTHERS;
	else if (!measured_action(measurement) && expected_steps_of(rot, measurement, steps, err) < 0)
		return -1;
	else if (architecture->cannot_step)
		*obstacle = STEPS_REFUSED;
	else if (*steps > (double)architecture->stepping.limit)
		*obstacle = STEPS_TOO_MANY;
	return 0;
}

enum step_obstacle
step_obstacle_of_cut(const char *cut)
{
	if (strcmp(cut, "none") == 0)
		return STEPS_CAN;
	return strcmp(cut, "memory") == 0 ? STEPS_CUT_MEMORY : STEPS_REFUSED;
}

/* ---- of one quantity of it ---- */

/* The sizes of all caches that are nearer to the core than the border. */
static bool
knows_caches(const struct machine *machine, const char *border)
{
	static const char *const borders[] = {"l1l2", "l2l3", "llcRam"};
	const bool is_known[] = {machine && machine->l1_data_bytes > 0, machine && machine->l2_bytes > 0,
				 machine && machine->llc_bytes > 0};

	for (size_t i = 0; i < NR_ELEMENTS(borders) && is_known[i]; i++)
		if (strncmp(borders[i], border, strlen(borders[i])) == 0)
			return true;
	return false;
}

/* What of steps is modelled are the lines that cross a border, and translations. */
enum step_obstacle
step_obstacle_of_formula(const struct architecture_stepping *stepping, const struct architecture_formula *formula,
			 bool is_full)
{
	if (strcmp(formula->kind, "modelled") != 0)
		return STEPS_CAN;
	if (is_full)
		return STEPS_FROM_FULL;
	if (!*formula->of) /* of no border: translations, whose number is that of the thesis' model */
		return STEPS_CAN;
	return knows_caches(stepping->machine, formula->of) ? STEPS_CAN : STEPS_WITHOUT_CACHES;
}
