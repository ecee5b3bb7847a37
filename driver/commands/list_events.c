/* SPDX-License-Identifier: MIT */
/* rot list events */
#include "commands/list_events.h"

#include <string.h>

#include "events/events.h"
#include "support/json.h"

/* Appends those of one unit; an object of the schema rot.events/1 each, with its unit. */
static void
append(struct listing *listing, const struct pmu_description *pmu)
{
	for (size_t i = 0; i < pmu_description_nr_events(pmu); i++) {
		const struct perf_event_description *event = pmu_description_events_at(pmu, i);
		json_t *json;

		if (!strcasestr(event->name, listing->part))
			continue;
		json = event_json(event);
		json_object_set_new(json, "unit", json_text(pmu->pmu_name));
		json_array_append_new(listing->items, json);
		listing->nr++;
	}
}

int
list_events(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	struct events events;
	int rc = rot ? events_read(rot, &events, err) : -1;

	if (!rot)
		return -1;
	for (size_t i = 0; rc == 0 && i < list_events_measurer_output_nr_pmus(events.output); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events.output, i);

		if (listing->items)
			append(listing, pmu);
		else
			listing->nr += events_print_pmu(pmu, listing->part, stdout);
	}
	events_clear(&events);
	return rc;
}
