/* SPDX-License-Identifier: MIT */
/* The measurer that lists the units and events libpfm4 knows; nothing is measured. */
#include "child/measurer.h"
#include "common/perf_event.h"

/* Where the listing has arrived. */
struct listing {
	struct list_events_measurer_output *output;
	struct pmu_description *pmu;
	struct perf_event_description *event;
};

static void
add_pmu(const struct perf_pmu *pmu, void *context)
{
	struct listing *listing = context;
	struct pmu_description *description = pmu_description_new();

	rot_string_set(&description->pmu_name, pmu->name);
	rot_string_set(&description->description, pmu->description);
	description->number_of_counters = pmu->nr_counters;
	description->number_of_fixed_counters = pmu->nr_fixed_counters;
	description->is_present = pmu->is_present;
	description->is_default_pmu = pmu->is_default;
	list_events_measurer_output_pmus_add(listing->output, description);
	listing->pmu = description;
}

static void
add_event(const struct perf_event_name *event, void *context)
{
	struct listing *listing = context;
	struct perf_event_description *description = perf_event_description_new();

	rot_string_set(&description->name, event->name);
	rot_string_set(&description->description, event->description);
	rot_string_set(&description->equivalent, event->equivalent);
	pmu_description_events_add(listing->pmu, description);
	listing->event = description;
}

static void
add_attribute(const struct perf_attribute *attribute, void *context)
{
	struct listing *listing = context;
	struct perf_event_attribute_description *description = perf_event_attribute_description_new();

	rot_string_set(&description->name, attribute->name);
	rot_string_set(&description->description, attribute->description);
	rot_string_set(&description->attribute_type, attribute->type);
	perf_event_description_attributes_add(listing->event, description);
}

static void
do_nothing(void *state)
{
	(void)state;
}

static void *
list_events_output(void *state, const void *description, struct rot_error *err)
{
	const struct list_events_measurer *measurer = description;
	struct listing listing = {.output = list_events_measurer_output_new()};
	struct perf_visitor visitor = {
		.pmu = add_pmu, .event = add_event, .attribute = add_attribute, .context = &listing};

	(void)state;
	if (perf_list(measurer->only_present, &visitor, err) < 0) {
		rot_graph_delete(listing.output);
		return NULL;
	}
	return listing.output;
}

const struct measurer_type list_events_measurer_type = {
	.class = &list_events_measurer_class,
	.start = do_nothing,
	.stop = do_nothing,
	.output = list_events_output,
};
