/* SPDX-License-Identifier: MIT */
/* See step_obstacles.h. */
#include "quantities/step_obstacles.h"

#include <stddef.h>
#include <string.h>

#include "quantities/expected.h"
#include "quantities/pass.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#define FEWER_INSTRUCTIONS "choose smaller sizes, or raise -stepLimit (some 60 million instructions take a second)"
#define MORE_TIME "choose smaller sizes, or raise -timeLimit (seconds)"

/* cut: of StepMeasurerOutput, or NULL. */
static const struct {
	const char *text, *hint, *cut;
} obstacles[NR_STEP_OBSTACLES] = {
	[STEPS_CAN] = {"", "", "none"},
	[STEPS_OF_OTHERS] = {"a kernel has threads of its own, and those of several workloads cannot be told apart",
			     "let it compute with one thread, or alone", NULL},
	[STEPS_TOO_MANY] = {"more instructions are expected than stepLimit allows to count", FEWER_INSTRUCTIONS, NULL},
	[STEPS_LATE] = {"counting it takes longer than timeLimit allows", MORE_TIME, NULL},
	[STEPS_REFUSED] = {"the measuring core could not count it", "see what it said before", NULL},
	[STEPS_CUT_MEMORY] = {"the measuring core cannot access its memory",
			      "see what the system forbids: /proc/PID/mem, and tracing (rot doctor)", "memory"},
	[STEPS_FROM_FULL] = {"caches are modelled as empty at the start, which they are not behind a kernel",
			     "ask for what crosses cpuL1", NULL},
	[STEPS_WITHOUT_CACHES] = {"the sizes of the caches to model are not known", "rot peaks measures them first",
				  NULL},
};

const char *
step_obstacle_text(enum step_obstacle obstacle)
{
	return obstacles[obstacle].text;
}

const char *
step_obstacle_hint(enum step_obstacle obstacle)
{
	return obstacles[obstacle].hint;
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
	enum step_obstacle obstacle = STEPS_CAN;

	while (obstacle < NR_STEP_OBSTACLES && (!obstacles[obstacle].cut || strcmp(obstacles[obstacle].cut, cut) != 0))
		obstacle++;
	return obstacle < NR_STEP_OBSTACLES ? obstacle : STEPS_REFUSED;
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
