/* SPDX-License-Identifier: MIT */
/* The controller listEvents: what "rot list events" shows, kept as files, a text for each unit and all as JSON. */
#include <ctype.h>

#include "base/json.h"
#include "base/output.h"
#include "base/pool.h"
#include "base/text_table.h"
#include "check/events.h"
#include "experiments/c_controller.h"
#include "memory.h"
#include "quantities/architecture.h"

/* ---- a text for each unit ---- */

/* OUTPUT-UNIT.txt */
static char *
text_path(const struct pmu_description *pmu, const char *output_name)
{
	autofree char *unit = rot_strdup(pmu->pmu_name);

	for (char *c = unit; *c; c++)
		*c = isalnum((unsigned char)*c) || *c == '_' ? *c : '-';
	return rot_format("%s-%s.txt", output_name, unit);
}

static int
write_text(const struct pmu_description *pmu, const char *output_name, struct rot_error *err)
{
	autofree char *path = text_path(pmu, output_name);
	struct output_text text;
	FILE *out = output_text_begin(&text);

	if (events_print_pmu(pmu, "", out) == 0)
		fprintf(out, "%s (%s): no events that libpfm4 knows by name\n", pmu->pmu_name, pmu->description);
	return output_text_end(&text, path, "", err);
}

/* ---- JSON ---- */

static int
write_json(const struct rot *rot, const struct list_events_measurer_output *events, const char *output_name,
	   struct rot_error *err)
{
	return output_take_json(json_pack("{s:s, s:o, s:o}", "schema", "rot.events/1", "machine",
					  json_entity(rot->machine), "units", events_json(events)),
				output_name, err);
}

/* ---- the table ---- */

/* With unit masks each counts as one. */
static size_t
nr_countable(const struct pmu_description *pmu)
{
	size_t nr = 0;

	for (size_t i = 0; i < pmu_description_nr_events(pmu); i++) {
		const struct perf_event_description *event = pmu_description_events_at(pmu, i);
		size_t nr_masks = 0;

		for (size_t k = 0; k < perf_event_description_nr_attributes(event); k++)
			nr_masks += event_attribute_is_umask(perf_event_description_attributes_at(event, k));
		nr += nr_masks ? nr_masks : 1;
	}
	return nr;
}

static void
print_units(const struct rot *rot, const struct list_events_measurer_output *events, const char *output_name)
{
	static const struct text_table_column columns[] = {
		{"unit", true},    {"what it is", true},       {"counters", false}, {"fixed", false},
		{"events", false}, {"with unit masks", false}, {"listed in", true}};
	struct text_table table = {
		.columns = columns, .nr_columns = sizeof(columns) / sizeof(columns[0]), .nr_keys = 1};

	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);
		char *const cells[] = {rot_strdup(pmu->pmu_name),
				       rot_strdup(pmu->description),
				       rot_format("%d", (int)pmu->number_of_counters),
				       rot_format("%d", (int)pmu->number_of_fixed_counters),
				       rot_format("%zu", pmu_description_nr_events(pmu)),
				       rot_format("%zu", nr_countable(pmu)),
				       text_path(pmu, output_name)};

		text_table_add(&table, cells);
	}
	text_table_print(&table, stdout);
	text_table_clear(&table);
	if (rot->architecture->why_not.text[0])
		printf("Named, but not counted here: hardware events (%s).\n", rot->architecture->why_not.text);
}

static int
measure_event_list(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	autopool pool = {0};
	const struct list_events_measurer_output *events;

	(void)self;
	if (output_check(output_name, err) < 0)
		return -1;
	events = events_read(rot, &pool, err);
	if (!events)
		return -1;
	print_units(rot, events, output_name);
	if (write_json(rot, events, output_name, err) < 0)
		return -1;
	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(events); i++)
		if (write_text(list_events_measurer_output_pmus_at(events, i), output_name, err) < 0)
			return -1;
	return 0;
}

const struct rot_controller list_events_controller = {
	.name = "listEvents",
	.description = "the counting units of this machine and their events, as texts and JSON (on the terminal: rot "
		       "list events)",
	.measure = measure_event_list,
	.plan = "one start of the measuring core, which lists what libpfm4 finds on this machine; nothing is measured",
};
