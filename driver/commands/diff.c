/* SPDX-License-Identifier: MIT */
/* rot diff: two stored results compared. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "commands/command.h"
#include "experiments/stored_diff.h"
#include "memory.h"
#include "number.h"

struct diff_options {
	double limit; /* a share; NaN: none */
};

/* "0.1%", or a share as of the key precision: "0.001". */
static int
take_limit(void *values, const char *value, struct rot_error *err)
{
	struct diff_options *options = values;
	const size_t length = strlen(value);
	const bool is_percent = length > 0 && value[length - 1] == '%';
	autofree char *number = rot_strndup(value, length - is_percent);
	const bool is_number = rot_number_parse(number, &options->limit) && isfinite(options->limit);

	if (is_percent)
		options->limit /= 100;
	if (is_number && options->limit >= 0)
		return 0;
	rot_error_set(err, 0, "'%s' is no limit of a change", value);
	return rot_error_hint(err, "write a number of percent, as --limit=0.1%%, or a share, as --limit=0.001");
}

static const struct option_row rows[] = {
	{.name = "limit",
	 .value = "CHANGE",
	 .about = "exit status 1 where a measured value differs by more, with its whole interval if it has one; times "
		  "without an interval are left out. 0.1% or 0.001",
	 .type = OPTION_TAKEN,
	 .take = take_limit},
};

static const struct option_table table = {OPTION_ROWS(rows, struct diff_options),
					  .defaults = &(const struct diff_options){.limit = NAN}};

static int
diff_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	autopool pool = {0};
	struct stored_result results[2] = {0};
	const struct diff_options *asked = options;
	struct rot *rot;

	(void)argc;
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	if (stored_result_read(&pool, &results[0], argv[0], err) < 0 ||
	    stored_result_read(&pool, &results[1], argv[1], err) < 0)
		return -1;
	return stored_diff_print(stdout, &results[0], &results[1], configuration_bool(rot->configuration, "showAll"),
				 asked->limit, err);
}

const struct command diff_command = {
	.name = "diff",
	.arguments = "BEFORE.json AFTER.json",
	.summary = "compare two stored results: by how much, how sure that is, and what differs of their environment",
	.examples =
		(const struct command_example[]){
			{"rot diff old.json new.json", "what is faster or slower, and how sure"},
			{"rot diff --all old.json new.json", "also what is the same"},
			{0},
		},
	.description = "BEFORE.json and AFTER.json are what rot measure wrote, or rot run with -o or -j. Nothing is "
		       "measured. For each point that both have, the time, and each quantity that differs: the change "
		       "with its interval of 95 %, in words; differences that may be chance among so many are marked. "
		       "What only one has is listed, and what differs of machine, kernel, compiler, flags and "
		       "libraries. For programs, at most ten functions come first whose time or counts changed. "
		       "--all: also what does not differ. The exit status is 0 whatever differs, 1 if a file is no "
		       "result, if no point is in both, or beyond --limit, and 2 for a wrong command line.",
	.nr_arguments_min = 2,
	.nr_arguments_max = 2,
	.options = &table,
	.run = diff_run,
};
