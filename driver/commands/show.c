/* SPDX-License-Identifier: MIT */
/* rot show: the code of a function, with what was measured of it. */
#include <stddef.h>
#include <stdlib.h>

#include "base/terminal.h"
#include "commands/command.h"
#include "experiments/stored_show.h"
#include "memory.h"

static const struct option_row rows[] = {
	{.name = "no-source",
	 .about = "instructions alone",
	 .offset = offsetof(struct annotated_options, has_no_source)},
};

static const struct option_table table = {OPTION_ROWS(rows, struct annotated_options)};

static int
show_run(struct command_context *context, void *values, int argc, char **argv, struct rot_error *err)
{
	autopool pool = {0};
	struct annotated_options *options = values;
	struct stored_result result = {0};
	autofree char *text = NULL;
	struct rot *rot = command_rot_for_programs(context, err);
	size_t length;
	FILE *out;
	int rc;

	if (!rot || stored_result_read(&pool, &result, argv[0], err) < 0)
		return -1;
	options->is_all = configuration_bool(rot->configuration, "showAll");
	out = open_memstream(&text, &length);
	rc = stored_show_print(out, terminal_width(stdout), rot, &result, argc > 1 ? argv[1] : NULL, options, err);
	fclose(out);
	if (rc == 0)
		terminal_page(text);
	return rc;
}

const struct command show_command = {
	.name = "show",
	.arguments = "RESULT.json [FUNCTION]",
	.summary = "show the code of a function with what was measured of it: time, executions, operations, bytes",
	.examples =
		(const struct command_example[]){
			{"rot show solver.json", "the function with most of the time"},
			{"rot show solver.json relax", "another one"},
			{0},
		},
	.description = "RESULT.json is what rot run wrote with -o or -j. Nothing is measured: instructions are read "
		       "from the program's file, which must still have the same code, and source lines by its debug "
		       "information. The loop with most of the time comes first. Beside each instruction: its share of "
		       "the CPU time, how often it was executed, and, of one execution, operations and bytes. A sample "
		       "is often of the instruction behind the one that takes the time. At a terminal the text goes "
		       "through PAGER, or less. --all: also code that was not executed.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 2,
	.options = &table,
	.run = show_run,
};
