/* SPDX-License-Identifier: MIT */
#include "check/events.h"

#include <ctype.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/output.h"
#include "base/pool.h"
#include "base/text_table.h"
#include "engine/measuring.h"
#include "experiments/c_controller.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"

/* The smallest measurement: one workload that does nothing, with the listing measurer. NULL on error. */
static struct measurement *
listing_new(struct rot *rot, struct rot_error *err)
{
	const struct rot_class *dummy = rot_registry_find(rot->registry, "Dummy");
	struct measurement *measurement;
	struct workload *workload;
	struct measurer_set *set;

	if (!dummy) {
		rot_error_set(err, 0, "the kernel Dummy is missing, which lists events");
		return NULL;
	}
	measurement = measurement_new();
	workload = workload_new();
	set = measurer_set_new();
	workload->kernel = rot_entity_new(dummy);
	workload->measurer_set = set;
	set->main_measurer = (struct measurer_base *)list_events_measurer_new();
	measurement_workloads_add(measurement, workload);
	return measurement;
}

/* The listing in what the core gave, or NULL. */
static const struct list_events_measurer_output *
listing_find(const struct measurement_result *result)
{
	size_t nr;
	autofree struct rot_entity **reached = rot_graph_collect(result, &nr);
	const struct list_events_measurer_output *output = NULL;

	for (size_t i = 0; i < nr && !output; i++)
		output = rot_cast(reached[i], &list_events_measurer_output_class);
	return output;
}

const struct list_events_measurer_output *
events_read(struct rot *rot, struct pool *pool, struct rot_error *err)
{
	autograph struct measurement *measurement = listing_new(rot, err);
	struct measurement_result *result;
	const struct list_events_measurer_output *events;

	if (!measurement)
		return NULL;
	if (measuring_perform(rot, &measurement, 1, 1, 1, &result, err) < 0) {
		rot_error_prefix(err, "cannot list the events");
		return NULL;
	}
	events = listing_find(pool_own(pool, result, rot_graph_delete));
	if (!events)
		rot_error_set(err, 0, "the measuring core did not list its events");
	return events;
}

/* ---- JSON ---- */

json_t *
event_json(const struct perf_event_description *event)
{
	json_t *json = json_entity(event), *attributes = json_array();

	for (size_t i = 0; i < perf_event_description_nr_attributes(event); i++)
		json_array_append_new(attributes, json_entity(perf_event_description_attributes_at(event, i)));
	json_object_set_new(json, "attributes", attributes);
	return json;
}

json_t *
events_json(const struct list_events_measurer_output *events)
{
	json_t *units = json_array();

	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);
		json_t *unit = json_entity(pmu), *list = json_array();

		for (size_t k = 0; k < pmu_description_nr_events(pmu); k++)
			json_array_append_new(list, event_json(pmu_description_events_at(pmu, k)));
		json_object_set_new(unit, "events", list);
		json_array_append_new(units, unit);
	}
	return units;
}

/* ---- printing ---- */

bool
event_attribute_is_umask(const struct perf_event_attribute_description *attribute)
{
	return strcmp(attribute->attribute_type, "umask") == 0;
}

static void
print_event(const struct pmu_description *pmu, const struct perf_event_description *event, FILE *out)
{
	autofree char *name = rot_format("%s::%s", pmu->pmu_name, event->name);
	size_t nr = perf_event_description_nr_attributes(event);

	entry_print(name, "", event->description, out);
	for (size_t i = 0; i < nr; i++) {
		const struct perf_event_attribute_description *attribute =
			perf_event_description_attributes_at(event, i);

		if (event_attribute_is_umask(attribute))
			fprintf(out, "      :%s  %s\n", attribute->name, attribute->description);
	}
}

size_t
events_print_pmu(const struct pmu_description *pmu, const char *part, FILE *out)
{
	size_t nr = pmu_description_nr_events(pmu), nr_shown = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct perf_event_description *event = pmu_description_events_at(pmu, i);

		if (!strcasestr(event->name, part))
			continue;
		if (!nr_shown++)
			fprintf(out, "%s (%s), %d counters and %d fixed\n", pmu->pmu_name, pmu->description,
				(int)pmu->number_of_counters, (int)pmu->number_of_fixed_counters);
		print_event(pmu, event, out);
	}
	return nr_shown;
}

/* ---- the controller: a text for each unit, JSON, and a table ---- */

/* OUTPUT-UNIT.txt */
static char *
text_path(const struct pmu_description *pmu, const char *output_name)
{
	autofree char *unit = rot_strdup(pmu->pmu_name);

	for (char *c = unit; *c; c++)
		*c = isalnum((unsigned char)*c) || *c == '_' ? *c : '-';
	return rot_format("%s-%s.txt", output_name, unit);
}

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
	if (output_take_json(json_pack("{s:s, s:o, s:o}", "schema", "rot.events/1", "machine",
				       json_entity(rot->machine), "units", events_json(events)),
			     output_name, err) < 0)
		return -1;
	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);
		autofree char *path = text_path(pmu, output_name);
		struct output_text text;
		FILE *out = output_text_begin(&text);

		if (events_print_pmu(pmu, "", out) == 0)
			fprintf(out, "%s (%s): no events that libpfm4 knows by name\n", pmu->pmu_name,
				pmu->description);
		if (output_text_end(&text, path, "", err) < 0)
			return -1;
	}
	return 0;
}

const struct rot_controller list_events_controller = {
	.name = "listEvents",
	.description = "the counting units of this machine and their events, as texts and JSON (on the terminal: rot "
		       "list events)",
	.measure = measure_event_list,
	.plan = "one start of the measuring core, which lists what libpfm4 finds on this machine; nothing is measured",
};
