/* SPDX-License-Identifier: MIT */
#include "check/events.h"

#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/pool.h"
#include "engine/measuring.h"
#include "memory.h"
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
	if (measuring_perform(rot, &measurement, 1, 1, &result, err) < 0) {
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
