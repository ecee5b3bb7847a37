/* SPDX-License-Identifier: MIT */
/* See program_rule_check.h: one row for each class, with the reason where it cannot be. */
#include "program_rule_check.h"

#include "entities.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* Deepest nesting of actions that contain actions. */
#define MAX_DEPTH 16

/* Reasons; NULL: it can be. */
struct verdict {
	const struct rot_class *class;
	const char *reason, *hint;
};

static const struct verdict predicates[] = {
	{&measurement_run_event_predicate_class, NULL, NULL},
	{&program_event_predicate_class, NULL, NULL},
	{&thread_event_predicate_class, NULL, NULL},
	{&breakpoint_event_predicate_class, NULL, NULL},
	{&workload_event_predicate_class, "workloads run kernels, a program has none",
	 "use a MeasurementRunEventPredicate, ProgramEventPredicate, ThreadEventPredicate or BreakpointEventPredicate"},
};

static const struct verdict actions[] = {
	{&initialize_measurer_set_action_class, NULL, NULL},
	{&start_measurer_set_action_class, NULL, NULL},
	{&stop_measurer_set_action_class, NULL, NULL},
	{&read_measurer_set_action_class, NULL, NULL},
	{&dispose_measurer_set_action_class, NULL, NULL},
	{&create_measurer_on_thread_action_class, NULL, NULL},
	{&measure_action_execution_class, NULL, NULL},
	{&add_rule_action_class, NULL, NULL},
	{&stop_kernel_action_class, "a program has no kernel that could be asked to stop", NULL},
	{&flush_kernel_buffers_action_class, "a program has no kernel, and its buffers are not known", NULL},
	{&wait_for_workload_action_class, "a program has no workloads to wait for", NULL},
	{&wait_for_pressure_barrier_action_class,
	 "a thread of a program that waited there could hold a lock that the others need, and the program would hang",
	 NULL},
};

static const struct verdict measurers[] = {
	{&perf_event_measurer_class, NULL, NULL},
	{&tsc_measurer_class, NULL, NULL},
	{&execution_time_measurer_class, NULL, NULL},
	{&resource_usage_measurer_class, "what a thread used cannot be read from outside",
	 "a PerfEventMeasurer counts context switches, faults and migrations as well (perf::PERF_COUNT_SW_...)"},
	{&file_measurer_class, "a file is none of a thread's", NULL},
	{&list_events_measurer_class, "events are those of the machine, not of a thread", NULL},
};

static int
judge(const void *entity, const struct verdict *verdicts, size_t nr, const void **culprit, struct rot_error *err)
{
	const char *name = ROT_ENTITY(entity)->class->name;

	*culprit = entity;
	for (size_t i = 0; i < nr; i++) {
		if (!rot_is_a(entity, verdicts[i].class))
			continue;
		if (!verdicts[i].reason)
			return 0;
		rot_error_set(err, 0, "%s: %s", name, verdicts[i].reason);
		return verdicts[i].hint ? rot_error_hint(err, "%s", verdicts[i].hint) : -1;
	}
	return rot_error_set(err, 0, "%s: not known for programs", name);
}

/* ---- predicates ---- */

int
breakpoint_predicate_check(const struct breakpoint_event_predicate *predicate, struct rot_error *err)
{
	if (!*predicate->place) {
		rot_error_set(err, 0, "BreakpointEventPredicate: no place is named");
		return rot_error_hint(err, "place=\"FUNCTION\", \"0xADDRESS\" or \"FILE:LINE\"");
	}
	if (predicate->first_hit >= 1 && (predicate->last_hit == 0 || predicate->last_hit >= predicate->first_hit))
		return 0;
	return rot_error_set(
		err, 0, "BreakpointEventPredicate: hits %lld to %lld are none: the first is 1, lastHit 0 means all",
		(long long)predicate->first_hit, (long long)predicate->last_hit);
}

static int
check_predicate(const struct event_predicate_base *predicate, const void **culprit, struct rot_error *err)
{
	const struct breakpoint_event_predicate *place = rot_cast((void *)predicate, &breakpoint_event_predicate_class);

	if (!predicate)
		return 0;
	if (judge(predicate, predicates, NR_ELEMENTS(predicates), culprit, err) < 0)
		return -1;
	return place ? breakpoint_predicate_check(place, err) : 0;
}

/* ---- measurer sets ---- */

static int
check_measurers(const struct rot_list *list, const void **culprit, struct rot_error *err)
{
	for (size_t i = 0; i < list->nr; i++) {
		const void *measurer = ((void **)list->items)[i];

		if (measurer && judge(measurer, measurers, NR_ELEMENTS(measurers), culprit, err) < 0)
			return -1;
	}
	return 0;
}

static int
check_set(const struct measurer_set *set, const void *action, const void **culprit, struct rot_error *err)
{
	if (!set) {
		*culprit = action;
		return rot_error_set(err, 0, "%s: no measurer set is named", ROT_ENTITY(action)->class->name);
	}
	if (check_measurers(&set->validation_measurers, culprit, err) < 0 ||
	    check_measurers(&set->additional_measurers, culprit, err) < 0)
		return -1;
	return set->main_measurer ? judge(set->main_measurer, measurers, NR_ELEMENTS(measurers), culprit, err) : 0;
}

/* ---- actions ---- */

static int
check_thread(const struct action_base *action, bool is_running, struct rot_error *err)
{
	const char *name = ROT_ENTITY(action)->class->name;

	if (action->workload)
		return rot_error_set(err, 0, "%s: it names a workload, and a program has none", name);
	if (action->tid < 0 || is_running)
		return 0;
	rot_error_set(err, 0, "%s: the ids of a program's threads are not known before it runs", name);
	return rot_error_hint(err, "answer the events of that thread: a ThreadEventPredicate with its index");
}

static int
check_create(const struct create_measurer_on_thread_action *action, const void **culprit, struct rot_error *err)
{
	const struct event_predicate_base *const own[] = {action->start_predicate, action->stop_predicate,
							  action->read_predicate, action->dispose_predicate};

	for (size_t i = 0; i < NR_ELEMENTS(own); i++) {
		if (check_predicate(own[i], culprit, err) < 0)
			return -1;
	}
	return 0;
}

static int
check_parts(const struct action_base *action, const void **culprit, struct rot_error *err)
{
	const struct rot_field *field = rot_class_field(action->entity.class, "measurerSet");
	const struct create_measurer_on_thread_action *create =
		rot_cast((void *)action, &create_measurer_on_thread_action_class);
	const struct measure_action_execution *measure = rot_cast((void *)action, &measure_action_execution_class);

	if (field && check_set(*(struct measurer_set **)rot_field_of(action, field), action, culprit, err) < 0)
		return -1;
	*culprit = action;
	if (measure && !measure->action)
		return rot_error_set(err, 0, "MeasureActionExecution: no action to be measured is named");
	if (measure && measure->action->tid >= 0)
		return rot_error_set(err, 0,
				     "MeasureActionExecution: the action to be measured (%s) names a thread; "
				     "name it in the outer action",
				     ROT_ENTITY(measure->action)->class->name);
	return create ? check_create(create, culprit, err) : 0;
}

static int check_rule(const struct rule *rule, bool is_running, int depth, const void **culprit, struct rot_error *err);

static int
check_action(const struct action_base *action, bool is_running, int depth, const void **culprit, struct rot_error *err)
{
	const struct measure_action_execution *measure = rot_cast((void *)action, &measure_action_execution_class);
	const struct add_rule_action *add = rot_cast((void *)action, &add_rule_action_class);

	*culprit = action;
	if (depth == MAX_DEPTH)
		return rot_error_set(err, 0, "actions are nested more than %d deep", MAX_DEPTH);
	if (judge(action, actions, NR_ELEMENTS(actions), culprit, err) < 0 ||
	    check_thread(action, is_running, err) < 0 || check_parts(action, culprit, err) < 0)
		return -1;
	if (measure)
		return check_action(measure->action, is_running, depth + 1, culprit, err);
	if (add && !add->rule)
		return rot_error_set(err, 0, "AddRuleAction: no rule is named");
	return add ? check_rule(add->rule, is_running, depth + 1, culprit, err) : 0;
}

static int
check_rule(const struct rule *rule, bool is_running, int depth, const void **culprit, struct rot_error *err)
{
	*culprit = rule;
	if (!rule)
		return rot_error_set(err, 0, "a rule is missing");
	if (!rule->predicate || !rule->action)
		return rot_error_set(err, 0, "a rule has no %s", rule->predicate ? "action" : "predicate");
	if (check_predicate(rule->predicate, culprit, err) < 0)
		return -1;
	return check_action(rule->action, is_running, depth, culprit, err);
}

int
program_rule_check(const struct rule *rule, bool is_running, const void **culprit, struct rot_error *err)
{
	return check_rule(rule, is_running, 0, culprit, err);
}
