/* SPDX-License-Identifier: MIT */
/* rot doctor: what works on this machine, and what would make more of it work. */
#include <stdio.h>

#include "base/pool.h"
#include "check/doctor.h"
#include "check/events.h"
#include "commands/command.h"

static const struct option_row rows[] = {
	{.letter = "j", .name = "json", .about = "JSON instead of text"},
};

static const struct option_table table = {OPTION_ROWS(rows, bool)};

static int
doctor_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct findings findings = {0};
	const bool *is_json = options;
	struct rot_error ignored;
	struct rot *rot;

	(void)argc;
	(void)argv;
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	doctor_look(&findings, rot);
	if (*is_json) {
		json_auto_t *json = findings_json(&findings, rot);
		autopool pool = {0};
		const struct list_events_measurer_output *events = events_read(rot, &pool, &ignored);

		/* The list is empty where the core cannot list them. */
		json_object_set_new(json, "events", events ? events_json(events) : json_array());
		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		findings_print(&findings, configuration_bool(rot->configuration, "showAll"), stdout);
	}
	context->has_status = true;
	context->status = findings_worst(&findings) == FINDING_BROKEN;
	findings_clear(&findings);
	return 0;
}

const struct command doctor_command = {
	.name = "doctor",
	.arguments = "",
	.summary = "what works on this machine, what does not, why, and the command that would change it",
	.examples =
		(const struct command_example[]){
			{"rot doctor", "what works here, and what would help"},
			{"rot doctor --all", "each finding, what would change it, versions"},
			{"rot doctor --json", "all of it, and events, for programs"},
			{0},
		},
	.description =
		"Looks and tries; changes nothing. Marks: ! limits what can be known, or how exactly; X keeps rot "
		"measure from working. Exit status 0 when rot measure triad works here, else 1.",
	.options = &table,
	.run = doctor_run,
};
