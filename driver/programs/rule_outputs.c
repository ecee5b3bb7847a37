/* SPDX-License-Identifier: MIT */
/* See rule_outputs.h. Ids are those that are counted through the rules, from 1. */
#include "programs/rule_outputs.h"

#include "quantities/set_outputs.h"

static json_t *
of_set(const struct measurer_set_output *set)
{
	return set_output_json(set, set->set_id);
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
			json_array_append_new(sets, of_set(program_run_output_measurer_set_outputs_at(run, j)));
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
