/* SPDX-License-Identifier: MIT */
/* rot measure: run a controller. */
#include "check/validation.h"
#include "commands/command.h"
#include "experiments/find.h"

struct measure_request {
	bool is_dry;
	const char *output_name;
};

static const struct option_row rows[] = {
	{.name = "dry-run",
	 .about = "only show the plan: points, runs, what of them is cached, and about how long it will take",
	 .offset = offsetof(struct measure_request, is_dry)},
	{.letter = "o",
	 .name = "output",
	 .value = "NAME",
	 .about = "the same as OUTPUT behind the controller",
	 .type = OPTION_TEXT,
	 .offset = offsetof(struct measure_request, output_name)},
};

const struct option_table measure_options = {OPTION_ROWS(rows, struct measure_request)};

static int
measure_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	const struct measure_request *request = options;

	if (!rot)
		return -1;
	if (request->is_dry)
		return controller_print_plan(rot, argv[0], err);
	validation_ensure(rot);
	return controller_run(rot, argv[0], argc > 1 ? argv[1] : request->output_name, err);
}

const struct command measure_command = {
	.name = "measure",
	.arguments = "CONTROLLER [OUTPUT]",
	.summary = "run a controller: measure its points, write its table, plots and OUTPUT.json",
	.examples =
		(const struct command_example[]){
			{"rot measure triad", "table, triad.pdf, triad.svg, triad.json"},
			{"rot measure mmm -quick", "fewer points and runs: soon done"},
			{"rot measure --dry-run mmm", "the points, and how long they will take"},
			{"rot measure ./mine.xml new", "your own experiment; writes new.pdf, ..."},
			{0},
		},
	.description = "CONTROLLER is a name of 'rot list controllers', or the path of an .xml or .c file. Files are "
		       "written to the current folder and start with OUTPUT; without it, with the controller's name. "
		       "What was measured before is taken from the cache, see -useCachedResults and 'rot help "
		       "remeasure'.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 2,
	.options = &measure_options,
	.has_time_report = true,
	.run = measure_run,
	.complete = command_complete_controllers,
};

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
