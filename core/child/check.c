/* SPDX-License-Identifier: MIT */
/* See command.h: what can be seen to be wrong with a measurement before it runs. */
#include "child/actions.h"
#include "child/command.h"
#include "child/events.h"
#include "child/kernels.h"
#include "child/measurer.h"

static int
check_workload(const struct measurement *measurement, size_t i, struct rot_error *err)
{
	const struct workload *workload = measurement_workloads_at(measurement, i);
	const struct kernel_type *type;

	if (!workload)
		return rot_error_set(err, 0, "the workload at place %zu is missing", i);
	if (!workload->kernel)
		return rot_error_set(err, 0, "workload %d has no kernel", workload->id);
	type = kernel_type_of(workload->kernel);
	if (!type) {
		rot_error_set(err, 0, "workload %d wants kernel %s, which this core was built without", workload->id,
			      workload->kernel->entity.class->name);
		return rot_error_hint(err, "the name in the KERNEL line of its C file must be \"%s\"",
				      workload->kernel->entity.class->name);
	}
	if (!type->run) {
		rot_error_set(err, 0, "kernel %s of workload %d has no function run", type->class_name, workload->id);
		return rot_error_hint(err, "name it in the KERNEL line of its C file: .run = run");
	}
	if (workload->cpu < -1) {
		rot_error_set(err, 0, "workload %d cannot be pinned to CPU %d", workload->id, workload->cpu);
		return rot_error_hint(err, "CPUs count from 0; -1 means any");
	}
	for (size_t j = 0; j < i; j++) {
		const struct workload *earlier = measurement_workloads_at(measurement, j);

		if (earlier == workload || earlier->kernel == workload->kernel)
			return rot_error_set(
				err, 0, "the workloads at places %zu and %zu share a kernel; each needs its own", j, i);
	}
	return 0;
}

/* ---- rules ---- */

/* At a breakpoint an action is executed by the thread that comes there, whatever it is doing. */
static int
check_pair(const struct rule *rule, struct rot_error *err)
{
	const char *name = ROT_ENTITY(rule->action)->class->name;

	if (!rot_is_a(rule->predicate, &breakpoint_event_predicate_class))
		return 0;
	if (rule->action->workload || rule->action->tid >= 0)
		return rot_error_set(
			err, 0,
			"%s: it names another thread, and a thread at a breakpoint may hold the locks that "
			"this takes",
			name);
	if (action_is_executed_inside(rule->action))
		return 0;
	rot_error_set(err, 0,
		      "%s: it allocates memory or waits, and a thread at a breakpoint may hold the locks that this "
		      "takes",
		      name);
	return rot_error_hint(err, "answer a WorkloadEventPredicate with it; breakpoints start and stop measurer sets, "
				   "stop kernels and flush their buffers");
}

static int
check_head(const struct rule *rule, const struct measurement *measurement, struct rot_error *err)
{
	if (!rule->predicate || !rule->action)
		return rot_error_set(err, 0, "the rule has no %s", rule->predicate ? "action" : "predicate");
	return predicate_check(rule->predicate, measurement, err) < 0 ? -1 : check_pair(rule, err);
}

/* Deepest nesting of actions that contain actions. */
#define MAX_DEPTH 16

/* The rule, its action, and all that these contain. */
static int
check_rule(const struct rule *rule, const struct measurement *measurement, enum failure_kind *kind,
	   struct rot_error *err)
{
	const struct action_base *action = rule->action;

	if (check_head(rule, measurement, err) < 0)
		return -1;
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct add_rule_action *add = rot_cast((void *)action, &add_rule_action_class);

		if (action_check(action, measurement, kind, err) < 0)
			return -1;
		if (add && check_head(add->rule, measurement, err) < 0)
			return rot_error_prefix(err, "%s", ROT_ENTITY(action)->class->name);
		action = action_inner(action);
		if (!action)
			return 0;
	}
	return rot_error_set(err, 0, "actions are nested more than %d deep", MAX_DEPTH);
}

int
measurement_check(const struct measurement *measurement, enum failure_kind *kind, struct rot_error *err)
{
	*kind = FAILURE_ERROR;
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		if (check_workload(measurement, i, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < measurement_nr_rules(measurement); i++) {
		const struct rule *rule = measurement_rules_at(measurement, i);

		if (!rule)
			return rot_error_set(err, 0, "the rule at place %zu is missing", i);
		if (check_rule(rule, measurement, kind, err) < 0)
			return rot_error_prefix(err, "rule at place %zu", i);
	}
	return 0;
}
