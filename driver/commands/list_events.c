/* SPDX-License-Identifier: MIT */
/* rot list events */
#include "commands/list_events.h"

#include "events/events.h"

int
list_events(struct command_context *context, const char *part, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	struct events events;
	size_t nr_shown = 0;
	int rc = rot ? events_read(rot, &events, err) : -1;

	if (!rot)
		return -1;
	for (size_t i = 0; rc == 0 && i < list_events_measurer_output_nr_pmus(events.output); i++)
		nr_shown += events_print_pmu(list_events_measurer_output_pmus_at(events.output, i), part, stdout);
	if (rc == 0 && nr_shown == 0 && *part) {
		rc = rot_error_set(err, 0, "no event of this machine has '%s' in its name", part);
		rot_error_hint(err, "'rot list events' shows all");
	}
	events_clear(&events);
	return rc;
}
