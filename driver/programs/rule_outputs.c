/* SPDX-License-Identifier: MIT */
/* See rule_outputs.h. Ids are those that are counted through the rules, from 1. */
#include "programs/rule_outputs.h"

static void
add_counts(json_t *json, const struct perf_event_measurer_output *output)
{
	json_t *counts = json_object();
	bool is_whole = true;

	for (size_t i = 0; i < perf_event_measurer_output_nr_event_counts(output); i++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(output, i);

		json_object_set_new(counts, count->name, json_integer((json_int_t)count->raw_count));
		is_whole = is_whole && count->time_running == count->time_enabled;
	}
	json_object_set_new(json, "counts", counts);
	json_object_set_new(json, "countedAllTheTime", json_boolean(is_whole));
}

static json_t *
json_measurer(const struct measurer_output_base *output)
{
	const struct perf_event_measurer_output *events = rot_cast((void *)output, &perf_event_measurer_output_class);
	const struct tsc_measurer_output *tsc = rot_cast((void *)output, &tsc_measurer_output_class);
	const struct execution_time_measurer_output *time =
		rot_cast((void *)output, &execution_time_measurer_output_class);
	json_t *json = json_object();

	json_object_set_new(json, "measurer", json_integer(output->measurer_id));
	if (events)
		add_counts(json, events);
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

static json_t *
json_set(const struct measurer_set_output *set)
{
	json_t *json = json_object(), *measurers = json_array();

	if (set->main_measurer_output)
		json_array_append_new(measurers, json_measurer(set->main_measurer_output));
	add_measurers(measurers, &set->additional_measurer_outputs);
	add_measurers(measurers, &set->validation_measurer_outputs);
	json_object_set_new(json, "measurerSet", json_integer(set->set_id));
	json_object_set_new(json, "tid", json_integer(set->tid));
	json_object_set_new(json, "measurers", measurers);
	return json;
}

json_t *
program_rule_outputs(const struct program_command_output *output)
{
	json_t *runs = json_array();
	bool has_any = false;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		json_t *json = json_object(), *sets = json_array();

		for (size_t j = 0; j < program_run_output_nr_measurer_set_outputs(run); j++)
			json_array_append_new(sets, json_set(program_run_output_measurer_set_outputs_at(run, j)));
		has_any = has_any || json_array_size(sets) > 0;
		json_object_set_new(json, "pass", json_integer(run->pass));
		json_object_set_new(json, "measurerSets", sets);
		json_array_append_new(runs, json);
	}
	if (has_any)
		return runs;
	json_decref(runs);
	return NULL;
}
