/* SPDX-License-Identifier: MIT */
/* rot diff: two stored results compared. */
#include <string.h>

#include "commands/command.h"
#include "controllers/stored_diff.h"

static int
diff_option_length(int argc, char *const *argv)
{
	(void)argc;
	return argv[0][0] != '-' || strcmp(argv[0], "--all") == 0 ? 1 : 0;
}

static int
diff_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct stored_result results[2] = {0};
	bool everything = false;
	int nr_files = 0, rc;

	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--all") == 0)
			everything = true;
		else
			argv[nr_files++] = argv[i];
	}
	if (nr_files != 2) {
		rot_error_set(err, 0, "rot diff takes two files");
		rot_error_hint(err, "rot diff BEFORE.json AFTER.json");
		return COMMAND_USAGE;
	}
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
	.arguments = "[--all] BEFORE.json AFTER.json",
	.summary = "compare two stored results: by how much, how sure that is, and what differs of their environment",
	.description = "BEFORE.json and AFTER.json are what rot measure wrote, or rot run with -o or -j. Nothing is "
		       "measured.\n"
		       "For each point that both have, and each quantity: the change with its interval of 95 %, in "
		       "words. What "
		       "only\n"
		       "one has is listed, and what differs of machine, kernel, compiler, flags and libraries.\n"
		       "\n"
		       "  --all    also what was not measured, where it is the same",
	.nr_arguments_min = 2,
	.nr_arguments_max = 3,
	.option_length = diff_option_length,
	.options = "--all",
	.run = diff_run,
};
