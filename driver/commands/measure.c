/* SPDX-License-Identifier: MIT */
/* rot measure: run a controller. */
#include "commands/command.h"
#include "controllers/find.h"
#include "validation/validation.h"

static int
measure_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);

	if (!rot)
		return -1;
	validation_ensure(rot);
	return controller_run(rot, argv[0], argc > 1 ? argv[1] : NULL, err);
}

const struct command measure_command = {
	.name = "measure",
	.arguments = "CONTROLLER [OUTPUT]",
	.summary = "run a controller: measure its points, write its table, plots and OUTPUT.json",
	.description =
		"CONTROLLER is a name of 'rot list controllers', or the path of an .xml or .c file.\n"
		"Files are written to the current folder and start with OUTPUT; without it, with the controller's "
		"name.\n"
		"What was measured before is taken from the cache, see -useCachedResults and 'rot help remeasure'.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 2,
	.has_time_report = true,
	.run = measure_run,
	.complete = command_complete_controllers,
};
