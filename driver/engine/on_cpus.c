/* SPDX-License-Identifier: MIT */
#include "engine/on_cpus.h"

/* At the event that comes right before the measurers of the kernel start. */
static struct rule *
start_together(size_t nr)
{
	struct wait_for_pressure_barrier_action *action = wait_for_pressure_barrier_action_new();
	struct workload_event_predicate *predicate = workload_event_predicate_new();
	struct rule *rule = rule_new();

	action->barrier = pressure_barrier_new();
	action->barrier->threshold = (int32_t)nr;
	rot_string_set(&predicate->event, "kernelStart");
	rule->predicate = &predicate->base;
	rule->action = &action->base;
	return rule;
}

struct measurement *
measurement_on_cpus(const struct measurement *measurement, const int *cpus, size_t nr)
{
	struct measurement *copy = rot_graph_clone(measurement, NULL);

	measurement_workloads_at(copy, 0)->cpu = cpus[0];
	for (size_t i = 1; i < nr; i++) {
		struct workload *workload = rot_graph_clone(measurement_workloads_at(measurement, 0), NULL);

		workload->cpu = cpus[i];
		measurement_workloads_add(copy, workload);
	}
	if (nr > 1)
		measurement_rules_add(copy, start_together(nr));
	return copy;
}
