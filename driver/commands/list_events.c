/* SPDX-License-Identifier: MIT */
/* rot list events: asked of the measuring core, because only it knows libpfm4. */
#include "commands/list_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/print.h"
#include "entities.h"
#include "measuring/measuring.h"
#include "memory.h"

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

static void
print_event(const struct pmu_description *pmu, const struct perf_event_description *event)
{
	char *name = rot_format("%s::%s", pmu->pmu_name, event->name);
	size_t nr = perf_event_description_nr_attributes(event);

	print_entry(name, "", event->description);
	for (size_t i = 0; i < nr; i++) {
		const struct perf_event_attribute_description *attribute =
			perf_event_description_attributes_at(event, i);

		if (!strcmp(attribute->attribute_type, "umask"))
			printf("      :%s  %s\n", attribute->name, attribute->description);
	}
	free(name);
}

/* Returns how many events were shown. */
static size_t
print_pmu(const struct pmu_description *pmu, const char *part)
{
	size_t nr = pmu_description_nr_events(pmu), nr_shown = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct perf_event_description *event = pmu_description_events_at(pmu, i);

		if (!strcasestr(event->name, part))
			continue;
		if (!nr_shown++)
			printf("%s (%s), %d counters and %d fixed\n", pmu->pmu_name, pmu->description,
			       (int)pmu->number_of_counters, (int)pmu->number_of_fixed_counters);
		print_event(pmu, event);
	}
	return nr_shown;
}

/* The listing in what the core gave, or NULL. */
static const struct list_events_measurer_output *
listing_find(const struct measurement_result *result)
{
	size_t nr;
	struct rot_entity **reached = rot_graph_collect(result, &nr);
	const struct list_events_measurer_output *output = NULL;

	for (size_t i = 0; i < nr && !output; i++)
		output = rot_cast(reached[i], &list_events_measurer_output_class);
	free(reached);
	return output;
}

int
list_events(struct command_context *context, const char *part, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	struct measurement *measurement = rot ? listing_new(rot, err) : NULL;
	struct measurement_result *result = NULL;
	const struct list_events_measurer_output *output;
	size_t nr_shown = 0;
	int rc = -1;

	if (!measurement)
		return -1;
	if (measuring_perform(rot, &measurement, 1, 1, &result, err) < 0) {
		rot_error_prefix(err, "cannot list the events");
		goto out;
	}
	output = listing_find(result);
	if (!output) {
		rot_error_set(err, 0, "the measuring core did not list its events");
		goto out;
	}
	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(output); i++)
		nr_shown += print_pmu(list_events_measurer_output_pmus_at(output, i), part);
	rc = nr_shown > 0 || !*part ? 0 : rot_error_set(err, 0, "no event of this machine has '%s' in its name", part);
	if (rc < 0)
		rot_error_hint(err, "'rot list events' shows all");
out:
	rot_graph_delete(result);
	rot_graph_delete(measurement);
	return rc;
}
