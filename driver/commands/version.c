/* SPDX-License-Identifier: MIT */
/* rot version: the versions that rot doctor finds, also where nothing else works. */
#include <stdio.h>
#include <string.h>

#include "check/doctor.h"
#include "commands/command.h"
#include "config.h"

static int
version_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct findings findings = {0};

	(void)options;
	(void)argc;
	(void)argv;
	doctor_look_at_versions(&findings, command_paths(context, err));
	doctor_try_programs(&findings, context->configuration);
	for (size_t i = 0; i < findings.nr; i++)
		printf(i == 0 ? "%s %s\n" : "%-12s %s\n", findings.items[i].name, findings.items[i].text);
	findings_clear(&findings);
	return 0;
}

const struct command version_command = {
	.name = "version",
	.arguments = "",
	.summary = "versions of rot, of its libraries and of the programs it calls",
	.examples =
		(const struct command_example[]){
			{"rot version", "all versions"},
			{"rot doctor --all", "all that is known of this machine"},
			{0},
		},
	.description = "",
	.run = version_run,
};
