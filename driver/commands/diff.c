/* SPDX-License-Identifier: MIT */
/* rot diff: two stored results compared. */
#include "commands/command.h"
#include "stored/stored_diff.h"

static const struct option_row rows[] = {
	{.name = "all", .about = "also what was not measured, where it is the same"},
};

static const struct option_table options = {"diff", rows, sizeof(rows) / sizeof(*rows), false};

static int
diff_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct stored_result results[2] = {0};
	bool everything = false;
	int rc;

	if (options_take(&options, &everything, &argc, argv, err) < 0)
		return COMMAND_USAGE;
	if (!command_rot(context, err))
		return -1;
	rc = stored_result_read(&results[0], argv[0], err);
	if (rc == 0)
		rc = stored_result_read(&results[1], argv[1], err);
	if (rc == 0)
		rc = stored_diff_print(stdout, &results[0], &results[1], everything, err);
	stored_result_clear(&results[0]);
	stored_result_clear(&results[1]);
	return rc;
}

const struct command diff_command = {
	.name = "diff",
	.arguments = "BEFORE.json AFTER.json",
	.summary = "compare two stored results: by how much, how sure that is, and what differs of their environment",
	.description = "BEFORE.json and AFTER.json are what rot measure wrote, or rot run with -o or -j. Nothing is "
		       "measured. For each point that both have, and each quantity: the change with its interval of 95 "
		       "%, in words; differences that may be chance among so many are marked. What only one has is "
		       "listed, and what differs of machine, kernel, compiler, flags "
		       "and libraries.",
	.nr_arguments_min = 2,
	.nr_arguments_max = 2,
	.options = &options,
	.run = diff_run,
};
