/* SPDX-License-Identifier: MIT */
#include "quantities/set_outputs.h"

#include <stdlib.h>

#include "memory.h"

static json_t *
json_measurer(const struct measurer_output_base *output)
{
	const struct perf_event_measurer_output *events = rot_cast((void *)output, &perf_event_measurer_output_class);
	const struct tsc_measurer_output *tsc = rot_cast((void *)output, &tsc_measurer_output_class);
	const struct execution_time_measurer_output *time =
		rot_cast((void *)output, &execution_time_measurer_output_class);
	json_t *json = json_object();

	json_object_set_new(json, "measurer", json_integer(output->measurer_id));
	if (events) {
		json_t *counts = json_object();
		bool is_whole = true;

		for (size_t i = 0; i < perf_event_measurer_output_nr_event_counts(events); i++) {
			const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(events, i);

			json_object_set_new(counts, count->name, json_integer((json_int_t)count->raw_count));
			is_whole = is_whole && count->time_running == count->time_enabled;
		}
		json_object_set_new(json, "counts", counts);
		json_object_set_new(json, "countedAllTheTime", json_boolean(is_whole));
	}
	if (tsc)
		json_object_set_new(json, "tscTicks", json_integer((json_int_t)tsc->tics));
	if (time)
		json_object_set_new(json, "seconds", json_real((double)time->nano_seconds / 1e9));
	return json;
}

static void
add_measurers(json_t *array, const struct rot_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct measurer_output_base *output = ((struct measurer_output_base **)list->items)[i];

		if (output)
			json_array_append_new(array, json_measurer(output));
	}
}

json_t *
set_output_json(const struct measurer_set_output *set, int number)
{
	json_t *json = json_object(), *measurers = json_array();

	if (set->main_measurer_output)
		json_array_append_new(measurers, json_measurer(set->main_measurer_output));
	add_measurers(measurers, &set->additional_measurer_outputs);
	add_measurers(measurers, &set->validation_measurer_outputs);
	json_object_set_new(json, "measurerSet", json_integer(number));
	json_object_set_new(json, "tid", json_integer(set->tid));
	json_object_set_new(json, "measurers", measurers);
	return json;
}

/* ---- rules of kernels ---- */

struct named_sets {
	const struct measurer_set **items;
	size_t nr;
};

static int
number_of(const struct named_sets *sets, int32_t id)
{
	for (size_t i = 0; i < sets->nr; i++)
		if (sets->items[i]->id == id)
			return (int)i + 1;
	return 0;
}

static void
name_set(struct named_sets *sets, const struct action_base *action)
{
	const struct rot_field *field = rot_class_field(action->entity.class, "measurerSet");
	const struct measurer_set *set = field ? *(struct measurer_set **)rot_field_of(action, field) : NULL;

	if (!set || number_of(sets, set->id) > 0)
		return;
	rot_add(sets->items, sets->nr) = set;
}

/* Also of actions in actions, and of rules that actions add. */
static void
name_sets(struct named_sets *sets, const struct action_base *action)
{
	while (action) {
		const struct measure_action_execution *measure =
			rot_cast((void *)action, &measure_action_execution_class);
		const struct add_rule_action *add = rot_cast((void *)action, &add_rule_action_class);

		name_set(sets, action);
		action = measure ? measure->action : add && add->rule ? add->rule->action : NULL;
	}
}

void
rule_outputs_add(json_t *array, const struct measurement *measured, size_t nr_rules,
		 const struct measurement_result *result, size_t pass)
{
	struct named_sets sets = {0};

	for (size_t i = 0; i < nr_rules; i++)
		name_sets(&sets, measurement_rules_at(measured, i)->action);
	for (size_t i = 0; i < measurement_result_nr_outputs(result) && sets.nr > 0; i++) {
		const struct measurement_run_output *run = measurement_result_outputs_at(result, i);
		json_t *json = json_object(), *read = json_array();

		for (size_t j = 0; j < measurement_run_output_nr_measurer_set_outputs(run); j++) {
			const struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, j);
			int number = number_of(&sets, set->set_id);

			if (number > 0)
				json_array_append_new(read, set_output_json(set, number));
		}
		json_object_set_new(json, "pass", json_integer((json_int_t)pass));
		json_object_set_new(json, "measurerSets", read);
		json_array_append_new(array, json);
	}
	free(sets.items);
}
