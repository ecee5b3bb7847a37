/* SPDX-License-Identifier: MIT */
/* rot run: measure somebody else's program. */
#include <string.h>

#include "check/validation.h"
#include "commands/command.h"
#include "commands/program_run.h"
#include "programs/options.h"

/* Addresses differ from run to run, so what crosses borders of caches does; it is counted if caches are named, or
 * misses asked for. */
static int
count_alone(struct configuration *configuration, bool needs_caches, struct rot_error *err)
{
	const bool has_caches = needs_caches || strcmp(configuration_string(configuration, "caches"), "auto") != 0;

	if (configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "counting", "blocks", err) < 0)
		return -1;
	return has_caches ? 0 : configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "caches", "none", err);
}

static int
run_run(struct command_context *context, void *values, int argc, char **argv, struct rot_error *err)
{
	struct run_options *options = values;
	struct rot *rot;

	if (run_options_check(options, argc > 0, err) < 0)
		return COMMAND_USAGE;
	/* By object or thread misses must be told apart by kind. */
	options->has_miss_kinds |= strcmp(options->by, "object") == 0 || strcmp(options->by, "thread") == 0;
	if ((options->has_miss_kinds || options->nr_what_ifs > 0) &&
	    strcmp(configuration_string(context->configuration, "caches"), "none") == 0) {
		rot_error_set(err, 0,
			      "--what-if, --miss-kinds, --by=object and --by=thread tell of modelled caches, and "
			      "-caches=none models none");
		return COMMAND_USAGE;
	}
	if ((options->has_miss_curve || options->has_miss_kinds || options->nr_what_ifs > 0) &&
	    !options->is_counts_only &&
	    configuration_set(context->configuration, CONFIGURATION_COMMAND_LINE, "counting", "blocks", err) < 0)
		return -1;
	/* A visit is one run. */
	options->is_counts_only |=
		options->process_id && strcmp(configuration_string(context->configuration, "counting"), "blocks") == 0;
	if (options->is_counts_only &&
	    count_alone(context->configuration, options->has_miss_kinds || options->nr_what_ifs > 0, err) < 0)
		return -1;
	/* Counts alone are placed under no roof, which kernels would find. */
	context->needs_no_kernels = options->is_counts_only;
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	if (!options->is_counts_only)
		validation_ensure(rot);
	context->has_status = true;
	return program_run(rot, options, argv, &context->status, err);
}

const struct command run_command = {
	.name = "run",
	.arguments = "[--] PROGRAM [ARGUMENT...]",
	.summary = "run a program and say what it did: time, operations, bytes, and where it stands under the roof",
	.examples =
		(const struct command_example[]){
			{"rot run ./solver -n 4", "what it did, and where it is in the roof"},
			{"rot run -o new ./solver -n 4", "also new.pdf, new.svg, new.json"},
			{"rot run --region=solve ./prog", "the function solve alone"},
			{"rot run --runs=10 ./prog", "with intervals, from ten runs"},
			{"rot run --counts-only ./prog", "the same counts each time"},
			{0},
		},
	.description =
		"The program runs as without rot: its input, output and exit status are its own. The table goes "
		"to standard error. Options and keys stand before PROGRAM; all behind it is the program's.\n\n"
		"Exit status: that of the program, 128+n if signal n ended it, 127 if it is not found, 126 if it "
		"cannot be run; 1 if rot could not measure it, 2 for a wrong command line. With -strict 1 instead of 0 "
		"if a number is not both measured and sound. More: rot help RUN.md, rot help REGIONS.md.",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.options = &run_options_table,
	.run = run_run,
};
