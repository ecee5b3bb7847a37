/* SPDX-License-Identifier: MIT */
/* See step_obstacles.h. */
#include "quantities/step_obstacles.h"

#include <stddef.h>
#include <string.h>

#include "quantities/expected.h"
#include "quantities/pass.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#define FEWER_STEPS "choose smaller sizes, or raise -stepLimit (0.1 to 40 million instructions take a second)"
#define ASK_FOR_STEPS "-counting=steps asks for them; -autoStepLimit says how many need not be asked for"
#define OTHER_CODE "other flags (-optimization) may make other code of it"

/* cut: of StepMeasurerOutput, or NULL. */
static const struct {
	const char *text, *hint, *cut;
} obstacles[NR_STEP_OBSTACLES] = {
	[STEPS_CAN] = {"", "", "none"},
	[STEPS_OF_OTHERS] = {"a kernel has threads of its own, and those of several workloads cannot be told apart",
			     "let it compute with one thread, or alone", NULL},
	[STEPS_TOO_MANY] = {"more instructions are expected than stepLimit allows to step", FEWER_STEPS, NULL},
	[STEPS_REFUSED] = {"the measuring core could not step it", "see what it said before", NULL},
	[STEPS_CUT_LIMIT] = {"it executes more instructions than stepLimit allows to step", FEWER_STEPS, "limit"},
	[STEPS_CUT_CODE] = {"it executes an instruction that cannot be followed", OTHER_CODE, "code"},
	[STEPS_CUT_TURNS] = {"it has a loop of which registers do not tell how often it was executed", OTHER_CODE,
			     "turns"},
	[STEPS_CUT_MEMORY] = {"the measuring core cannot access its memory",
			      "see what the system forbids: /proc/PID/mem, and tracing (rot doctor)", "memory"},
	[STEPS_FROM_FULL] = {"caches are modelled as empty at the start, which they are not behind a kernel",
			     "ask for what crosses cpuL1", NULL},
	[STEPS_SHARE_CACHES] = {"caches that several threads share are not modelled",
				"let it compute with one thread, or ask for what crosses cpuL1", NULL},
	[STEPS_WITHOUT_CACHES] = {"the sizes of the caches to model are not known", "rot peaks measures them first",
				  NULL},
	[STEPS_UNASKED_LONG] = {"more instructions are expected than are stepped without being asked for",
				ASK_FOR_STEPS, NULL},
	[STEPS_UNASKED_CUT] = {"it executes more than is stepped without being asked for", ASK_FOR_STEPS, NULL},
	[STEPS_UNASKED_LENGTH] = {"nothing says how much is done, so it is not stepped without being asked for",
				  "-counting=steps", NULL},
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
	else
		*obstacle = step_obstacle_of_length(&architecture->stepping, *steps);
	return 0;
}

enum step_obstacle
step_obstacle_of_length(const struct architecture_stepping *stepping, double steps)
{
	if (steps > (double)stepping->limit)
		return STEPS_TOO_MANY;
	if (!stepping->is_unasked || (steps > 0 && steps <= (double)stepping->short_limit))
		return STEPS_CAN;
	return steps > 0 ? STEPS_UNASKED_LONG : STEPS_UNASKED_LENGTH;
}

bool
step_length_is_short(const struct architecture_stepping *stepping, double steps)
{
	if (stepping->is_unasked)
		return true;
	return stepping->short_limit < stepping->limit && steps > 0 && steps <= (double)stepping->short_limit;
}

enum step_obstacle
step_obstacle_of_cut(const struct architecture_stepping *stepping, const char *cut)
{
	enum step_obstacle obstacle = STEPS_CAN;

	while (obstacle < NR_STEP_OBSTACLES && (!obstacles[obstacle].cut || strcmp(obstacles[obstacle].cut, cut) != 0))
		obstacle++;
	if (obstacle == NR_STEP_OBSTACLES)
		return STEPS_REFUSED;
	return obstacle == STEPS_CUT_LIMIT && stepping->is_unasked ? STEPS_UNASKED_CUT : obstacle;
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
			 bool is_full, bool is_shared)
{
	if (strcmp(formula->kind, "modelled") != 0)
		return STEPS_CAN;
	if (is_full)
		return STEPS_FROM_FULL;
	if (is_shared)
		return STEPS_SHARE_CACHES;
	if (!*formula->of) /* of no border: translations, whose number is that of the thesis' model */
		return STEPS_CAN;
	return knows_caches(stepping->machine, formula->of) ? STEPS_CAN : STEPS_WITHOUT_CACHES;
}
