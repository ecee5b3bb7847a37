/* SPDX-License-Identifier: MIT */
/* rot remeasure: run a controller without the results that were measured before. */
#include "commands/command.h"

static int
remeasure_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	if (configuration_set(context->configuration, CONFIGURATION_COMMAND_LINE, "useCachedResults", "false", err) < 0)
		return -1;
	return measure_command.run(context, options, argc, argv, err);
}

const struct command remeasure_command = {
	.name = "remeasure",
	.arguments = "CONTROLLER [OUTPUT]",
	.summary = "like measure, but measure everything again",
	.examples =
		(const struct command_example[]){
			{"rot remeasure triad", "measures all points of triad again"},
			{0},
		},
	.description =
		"The same as 'rot measure CONTROLLER -useCachedResults=false'; the new results take the place of "
		"the old ones.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 2,
	.options = &measure_options,
	.has_time_report = true,
	.run = remeasure_run,
	.complete = command_complete_controllers,
};
