/* SPDX-License-Identifier: MIT */
#include "quantities/pass.h"

#include <stdlib.h>

#include "base/json.h"
#include "memory.h"
#include "quantities/expected.h"

bool
workload_is_load(const struct workload *workload)
{
	return workload->measurer_set && !workload->measurer_set->main_measurer;
}

/* ---- the measurers of a pass ---- */

/* Where nobody tells: what most processors of the last ten years have. */
#define USUAL_L1_WAYS 8
#define USUAL_L2_WAYS 8
#define USUAL_L3_WAYS 16

static uint64_t
told_or(int64_t told, uint64_t usual)
{
	return told > 0 ? (uint64_t)told : usual;
}

static void
set_trait(const struct cache_trait *trait, char **policy, uint64_t *line_bytes, bool *is_shared)
{
	if (trait->policy)
		rot_string_set(policy, trait->policy);
	if (trait->line_bytes)
		*line_bytes = (uint64_t)trait->line_bytes;
	if (trait->sharing)
		*is_shared = trait->sharing == CACHE_SHARED;
}

/* machine: of the sizes; NULL: nothing is modelled but a TLB. */
static struct step_measurer *
step_measurer(const struct cache_shapes *caches, const struct machine *machine)
{
	struct step_measurer *measurer = step_measurer_new();

	if (machine) {
		measurer->l1_bytes = (uint64_t)machine->l1_data_bytes;
		measurer->l2_bytes = (uint64_t)machine->l2_bytes;
		/* The last level is the second where there are two. */
		measurer->l3_bytes = (uint64_t)(machine->llc_bytes > machine->l2_bytes ? machine->llc_bytes : 0);
	}
	measurer->l1_ways = told_or(caches->ways.l1_data, USUAL_L1_WAYS);
	measurer->l2_ways = told_or(caches->ways.l2, USUAL_L2_WAYS);
	measurer->l3_ways = told_or(caches->ways.llc, USUAL_L3_WAYS);
	set_trait(&caches->traits[0], &measurer->l1_policy, &measurer->l1_line_bytes, &measurer->l1_is_shared);
	set_trait(&caches->traits[1], &measurer->l2_policy, &measurer->l2_line_bytes, &measurer->l2_is_shared);
	set_trait(&caches->traits[2], &measurer->l3_policy, &measurer->l3_line_bytes, &measurer->l3_is_shared);
	if (caches->tlb.entries) {
		measurer->tlb_entries = (uint64_t)caches->tlb.entries;
		measurer->tlb_ways = (uint64_t)caches->tlb.ways;
		measurer->tlb_page_bytes = (uint64_t)caches->tlb.page_bytes;
	}
	return measurer;
}

struct step_measurer *
what_if_measurer(const struct architecture *architecture, const char *text, struct rot_error *err)
{
	const struct machine none = {.l1_data_bytes = 0};
	struct cache_shapes caches = architecture->stepping.caches;
	struct machine machine;

	caches.machine = caches.machine ? caches.machine : &none;
	if (cache_shapes_parse(text, true, &machine, &caches, err) < 0)
		return NULL;
	return step_measurer(&caches, &machine);
}

/* The units of all events of the pass. */
static struct perf_event_measurer *
machine_measurer(const struct architecture *architecture, const struct pass *pass)
{
	struct perf_event_measurer *measurer = &machine_event_measurer_new()->base;

	for (size_t i = 0; i < pass->nr_events; i++) {
		const struct architecture_event *event = &architecture->events[pass->events[i]];

		for (size_t k = 0; k < event->uncore.nr_units; k++) {
			const struct uncore_unit *unit = &event->uncore.units[k];
			struct machine_event_definition *definition = machine_event_definition_new();

			rot_string_set(&definition->base.name, event->name);
			rot_string_set(&definition->base.definition, unit->name);
			definition->pmu_type = unit->type;
			definition->config = unit->config;
			definition->cpu = unit->cpu;
			perf_event_measurer_events_add(measurer, &definition->base);
		}
	}
	return measurer;
}

/* The same as pass_measurer, with the caches of that machine. */
static struct perf_event_measurer *
measurer_on(const struct architecture *architecture, const struct pass *pass, const struct machine *machine)
{
	struct perf_event_measurer *measurer;

	if (pass_is_of_machine(architecture, pass))
		return machine_measurer(architecture, pass);
	measurer = pass->is_stepped ? &step_measurer(&architecture->stepping.caches, machine)->base
				    : perf_event_measurer_new();
	for (size_t i = 0; i < pass->nr_events; i++) {
		const struct architecture_event *event = &architecture->events[pass->events[i]];
		struct perf_event_definition *definition = perf_event_definition_new();

		rot_string_set(&definition->name, event->name);
		rot_string_set(&definition->definition, event->definition);
		perf_event_measurer_events_add(measurer, definition);
	}
	rot_string_set(&measurer->scrub_event, architecture->scrub_event);
	measurer->scrub_count = architecture->scrub_count;
	return measurer;
}

struct perf_event_measurer *
pass_measurer(const struct architecture *architecture, const struct pass *pass)
{
	return measurer_on(architecture, pass, architecture->stepping.caches.machine);
}

/* machine: as the work finds it; NULL: not known. */
static struct measurer_set *
pass_set(const struct architecture *architecture, const struct pass *pass, const struct machine *machine)
{
	struct measurer_set *set = measurer_set_new();
	struct resource_usage_measurer *disturbances;

	if (pass->is_stepped) {
		set->main_measurer = &measurer_on(architecture, pass, machine)->base;
		return set;
	}
	if (pass->probes_clock)
		measurer_set_additional_measurers_add(set, &clock_probe_measurer_new()->base);
	/* Right around the kernel: the caches are prepared in a long time that is disturbed often, without harm. */
	disturbances = resource_usage_measurer_new();
	disturbances->read_steal_time = false;
	measurer_set_additional_measurers_add(set, &disturbances->base);
	measurer_set_additional_measurers_add(set, &execution_time_measurer_new()->base);
	if (pass->nr_events) {
		measurer_set_additional_measurers_add(set, &tsc_measurer_new()->base);
		set->main_measurer = &measurer_on(architecture, pass, machine)->base;
	} else {
		set->main_measurer = &tsc_measurer_new()->base;
	}
	measurer_set_validation_measurers_add(set, &resource_usage_measurer_new()->base);
	return set;
}

/* ---- the threads of kernels that declare some ---- */

bool
measurement_has_own_threads(const struct measurement *measurement)
{
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (workload->kernel && workload->kernel->num_threads > 1 && !workload_is_load(workload))
			return true;
	}
	return false;
}

static struct event_predicate_base *
on_workload(const char *event)
{
	struct workload_event_predicate *predicate = workload_event_predicate_new();

	rot_string_set(&predicate->event, event);
	return &predicate->base;
}

/* The same events while a kernel runs, on all threads there are or that come. The group is cleared by the workloads. */
static struct rule *
thread_rule(const struct architecture *architecture, const struct pass *pass)
{
	struct create_measurer_on_thread_action *action = create_measurer_on_thread_action_new();
	struct rule *rule = rule_new();
	struct perf_event_measurer *events = pass_measurer(architecture, pass);

	rot_string_set(&events->scrub_event, "");
	events->scrub_count = 0;
	action->measurer_set = measurer_set_new();
	action->measurer_set->main_measurer = &events->base;
	action->start_predicate = on_workload("kernelStart");
	action->stop_predicate = on_workload("kernelStop");
	action->read_predicate = on_workload("kernelStop");
	rule->predicate = &measurement_run_event_predicate_new()->base;
	rule->action = &action->base;
	return rule;
}

/* Where they are stepped, they are so as the one that calls the kernel. What the machine counts is of all threads. */
static bool
needs_thread_rule(const struct architecture *architecture, const struct measurement *measurement,
		  const struct pass *pass)
{
	return pass->nr_events && !pass->is_stepped && !pass_is_of_machine(architecture, pass) &&
	       measurement_has_own_threads(measurement);
}

const struct measurer_set *
pass_thread_set(const struct architecture *architecture, const struct measurement *measured, const struct pass *pass)
{
	const struct create_measurer_on_thread_action *action;
	size_t nr = measurement_nr_rules(measured);

	if (!needs_thread_rule(architecture, measured, pass) || nr == 0)
		return NULL;
	action = rot_cast(measurement_rules_at(measured, nr - 1)->action, &create_measurer_on_thread_action_class);
	return action ? action->measurer_set : NULL;
}

/* ---- what is measured: the kernels, or an action ---- */

/* The first one without a measurer set, or NULL. */
static struct measure_action_execution *
unmeasured_action(const struct measurement *measurement)
{
	for (size_t i = 0; i < measurement_nr_rules(measurement); i++) {
		struct action_base *action = measurement_rules_at(measurement, i)->action;
		struct measure_action_execution *found =
			action ? rot_cast(action, &measure_action_execution_class) : NULL;

		if (found && !found->measurer_set)
			return found;
	}
	return NULL;
}

const struct action_base *
measured_action(const struct measurement *measurement)
{
	const struct measure_action_execution *action = unmeasured_action(measurement);

	return action ? action->action : NULL;
}

struct measurement *
pass_measurement(const struct measurement *measurement, const struct architecture *architecture,
		 const struct pass *pass)
{
	struct measurement *copy = rot_graph_clone(measurement, NULL);
	struct measure_action_execution *action = unmeasured_action(copy);
	const struct machine *machine = architecture->stepping.caches.machine;

	if (action) {
		action->measurer_set = pass_set(architecture, pass, machine);
		return copy;
	}
	for (size_t i = 0; i < measurement_nr_workloads(copy); i++) {
		struct workload *workload = measurement_workloads_at(copy, i);
		struct machine own;

		if (workload_is_load(workload))
			continue;
		if (machine)
			own = machine_of_workload(machine, measurement, i);
		workload->measurer_set = pass_set(architecture, pass, machine ? &own : NULL);
		if (pass->is_stepped) {
			bool have_own_threads = measurement_has_own_threads(measurement);
			const struct kernel_base *kernel = workload->kernel;
			struct step_measurer *measurer =
				rot_cast(workload->measurer_set->main_measurer, &step_measurer_class);

			measurer->all_threads = have_own_threads;
			measurer->follows_warming = kernel && (kernel->warm_code || kernel->warm_data);
		}
	}
	if (needs_thread_rule(architecture, copy, pass))
		measurement_rules_add(copy, thread_rule(architecture, pass));
	return copy;
}

/* ---- when the runs of a pass were measured ---- */

json_t *
run_began_json(int64_t seconds, int32_t microseconds)
{
	return seconds > 0 ? json_integer(seconds * INT64_C(1000000) + microseconds) : json_null();
}

json_t *
pass_runs_new(const char *hash)
{
	return json_pack("{s:o, s:[], s:[]}", "hash", json_text(hash), "began", "starts");
}

void
pass_runs_add(json_t *pass, int64_t seconds, int32_t microseconds, size_t start)
{
	json_array_append_new(json_object_get(pass, "began"), run_began_json(seconds, microseconds));
	json_array_append_new(json_object_get(pass, "starts"), json_integer((json_int_t)start));
}

/* ---- what measurer sets of rules have measured ---- */

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

/* Also of actions in actions, and of rules that actions add. */
static void
name_sets(struct named_sets *sets, const struct action_base *action)
{
	while (action) {
		const struct measure_action_execution *measure =
			rot_cast((void *)action, &measure_action_execution_class);
		const struct add_rule_action *add = rot_cast((void *)action, &add_rule_action_class);

		const struct rot_field *field = rot_class_field(action->entity.class, "measurerSet");
		const struct measurer_set *set = field ? *(struct measurer_set **)rot_field_of(action, field) : NULL;

		if (set && number_of(sets, set->id) == 0)
			rot_add(sets->items, sets->nr) = set;
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
