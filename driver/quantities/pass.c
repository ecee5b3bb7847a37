/* SPDX-License-Identifier: MIT */
/* See pass.h. */
#include "quantities/pass.h"

#include "memory.h"

bool
workload_is_load(const struct workload *workload)
{
	return workload->measurer_set && !workload->measurer_set->main_measurer;
}

/* ---- the measurers of a pass ---- */

struct perf_event_measurer *
pass_measurer(const struct architecture *architecture, const struct pass *pass)
{
	struct perf_event_measurer *measurer = perf_event_measurer_new();

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

/* Right around the kernel: the caches are prepared in a long time that is disturbed often, without harm. */
static struct measurer_base *
disturbance_measurer(void)
{
	struct resource_usage_measurer *measurer = resource_usage_measurer_new();

	measurer->read_steal_time = false;
	return &measurer->base;
}

static struct measurer_set *
pass_set(const struct architecture *architecture, const struct pass *pass)
{
	struct measurer_set *set = measurer_set_new();

	if (pass->probes_clock)
		measurer_set_additional_measurers_add(set, &clock_probe_measurer_new()->base);
	measurer_set_additional_measurers_add(set, disturbance_measurer());
	measurer_set_additional_measurers_add(set, &execution_time_measurer_new()->base);
	if (pass->nr_events) {
		measurer_set_additional_measurers_add(set, &tsc_measurer_new()->base);
		set->main_measurer = &pass_measurer(architecture, pass)->base;
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

const struct measurer_set *
pass_thread_set(const struct measurement *measured, const struct pass *pass)
{
	const struct create_measurer_on_thread_action *action;
	size_t nr = measurement_nr_rules(measured);

	if (!pass->nr_events || !measurement_has_own_threads(measured) || nr == 0)
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

	if (action) {
		action->measurer_set = pass_set(architecture, pass);
		return copy;
	}
	for (size_t i = 0; i < measurement_nr_workloads(copy); i++) {
		struct workload *workload = measurement_workloads_at(copy, i);

		if (!workload_is_load(workload))
			workload->measurer_set = pass_set(architecture, pass);
	}
	if (pass->nr_events && measurement_has_own_threads(copy))
		measurement_rules_add(copy, thread_rule(architecture, pass));
	return copy;
}
