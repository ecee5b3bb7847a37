/* SPDX-License-Identifier: MIT */
/* rot measure: run a controller. */
#include <string.h>

#include "commands/command.h"
#include "controllers/find.h"
#include "validation/validation.h"

static int
measure_option_length(int argc, char *const *argv)
{
	(void)argc;
	if (strcmp(argv[0], "--") == 0)
		return -1; /* names from here on */
	return argv[0][0] != '-' || strcmp(argv[0], "--dry-run") == 0 ? 1 : 0;
}

static int
measure_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	bool is_dry = false, has_ended = false;
	int nr = 0;

	if (!rot)
		return -1;
	for (int i = 0; i < argc; i++) {
		if (!has_ended && strcmp(argv[i], "--dry-run") == 0)
			is_dry = true;
		else if (!has_ended && strcmp(argv[i], "--") == 0)
			has_ended = true;
		else
			argv[nr++] = argv[i];
	}
	if (nr < 1 || nr > 2) {
		rot_error_set(err, 0, "rot measure takes a controller, and maybe a name for its files");
		rot_error_hint(err, "rot measure CONTROLLER [OUTPUT]");
		return COMMAND_USAGE;
	}
	if (is_dry)
		return controller_print_plan(rot, argv[0], err);
	validation_ensure(rot);
	return controller_run(rot, argv[0], nr > 1 ? argv[1] : NULL, err);
}

const struct command measure_command = {
	.name = "measure",
	.arguments = "CONTROLLER [OUTPUT]",
	.summary = "run a controller: measure its points, write its table, plots and OUTPUT.json",
	.description =
		"CONTROLLER is a name of 'rot list controllers', or the path of an .xml or .c file.\n"
		"Files are written to the current folder and start with OUTPUT; without it, with the controller's "
		"name.\n"
		"What was measured before is taken from the cache, see -useCachedResults and 'rot help remeasure'.\n"
		"\n"
		"  --dry-run    only show the plan: points, runs, what of them is cached, and about how long it will "
		"take",
	.nr_arguments_min = 1,
	.nr_arguments_max = 4,
	.option_length = measure_option_length,
	.options = "--dry-run",
	.has_time_report = true,
	.run = measure_run,
	.complete = command_complete_controllers,
};
