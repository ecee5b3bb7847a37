/* SPDX-License-Identifier: MIT */
/* rot machine: the data sheet of the machine. */
#include <stddef.h>
#include <stdio.h>

#include "commands/command.h"
#include "sheet/operations.h"

struct machine_request {
	bool is_json;
	const char *only;
};

static const char *const groups[] = {"operations", NULL};

static const struct option_row rows[] = {
	{.letter = "j",
	 .name = "json",
	 .about = "JSON instead of text, with the curve of each answer",
	 .offset = offsetof(struct machine_request, is_json)},
	{.name = "only",
	 .about = "this part of the data sheet",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct machine_request, only),
	 .choices = groups},
};

static const struct option_table table = {OPTION_ROWS(rows, struct machine_request)};

static int
machine_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct operation_sheet sheet = {0};
	const struct machine_request *request = options;
	struct rot *rot = command_rot(context, err);
	int rc;

	(void)argc;
	(void)argv;
	if (!rot)
		return -1;
	rc = operations_measure(rot, &sheet, err);
	if (rc == 0 && request->is_json) {
		json_auto_t *json =
			json_pack("{s:s, s:o}", "schema", "rot.machine/1", "operations", operations_json(&sheet));

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (rc == 0) {
		operations_print(&sheet, stdout);
	}
	operations_clear(&sheet);
	return rc;
}

const struct command machine_command = {
	.name = "machine",
	.arguments = "",
	.summary = "the data sheet of this machine: latency, throughput and operations in flight, measured",
	.examples =
		(const struct command_example[]){
			{"rot machine", "all that is measured of the machine"},
			{"rot machine --only=operations --json", "instructions, with curves"},
			{0},
		},
	.description = "Measures by time alone, without privileges, beside what the processor's documents allow. What "
		       "cannot be told here is said, with the reason. Results are kept: -useCachedResults=false "
		       "measures again.",
	.options = &table,
	.has_time_report = true,
	.run = machine_run,
};
