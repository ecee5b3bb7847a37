/* SPDX-License-Identifier: MIT */
/* See rule_check.h: one row for each class, with the reasons where it cannot be. Here kernels and programs differ. */
#include "rule_check.h"

#include <string.h>

#include "entities.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* Deepest nesting of actions that contain actions. */
#define MAX_DEPTH 16

#define IN_BOTH(reason) (reason), (reason)

/*
 * Why rules cannot have it; NULL: they can. Measurers: on a thread that another one measures. The first row that fits
 * counts: a StepMeasurer is a PerfEventMeasurer, too.
 */
static const struct {
	const struct rot_class *class;
	const char *in_kernels, *in_programs, *hint;
} verdicts[] = {
	{&measurement_run_event_predicate_class, NULL, NULL, NULL},
	{&thread_event_predicate_class, NULL, NULL, NULL},
	{&breakpoint_event_predicate_class, NULL, NULL, NULL},
	{&program_event_predicate_class, "it is of programs, and this is a measurement of kernels", NULL, NULL},
	{&workload_event_predicate_class, NULL, "workloads run kernels, a program has none",
	 "use a MeasurementRunEventPredicate, ProgramEventPredicate, ThreadEventPredicate or BreakpointEventPredicate"},

	{&initialize_measurer_set_action_class, NULL, NULL, NULL},
	{&start_measurer_set_action_class, NULL, NULL, NULL},
	{&stop_measurer_set_action_class, NULL, NULL, NULL},
	{&read_measurer_set_action_class, NULL, NULL, NULL},
	{&dispose_measurer_set_action_class, NULL, NULL, NULL},
	{&create_measurer_on_thread_action_class, NULL, NULL, NULL},
	{&measure_action_execution_class, NULL, NULL, NULL},
	{&add_rule_action_class, NULL, NULL, NULL},
	{&stop_kernel_action_class, NULL, "a program has no kernel that could be asked to stop", NULL},
	{&flush_kernel_buffers_action_class, NULL, "a program has no kernel, and its buffers are not known", NULL},
	{&wait_for_workload_action_class, NULL, "a program has no workloads to wait for", NULL},
	{&wait_for_pressure_barrier_action_class, NULL,
	 "a thread of a program that waited there could hold a lock that the others need, and the program would hang",
	 NULL},

	{&step_measurer_class, IN_BOTH("the thread that starts it is the one that is translated"), NULL},
	{&machine_event_measurer_class, IN_BOTH("its events are those of the machine, not of a thread"), NULL},
	{&perf_event_measurer_class, NULL, NULL, NULL},
	{&tsc_measurer_class, NULL, NULL, NULL},
	{&execution_time_measurer_class, NULL, NULL, NULL},
	{&resource_usage_measurer_class, IN_BOTH("what a thread used cannot be read from outside"),
	 "a PerfEventMeasurer counts context switches, faults and migrations as well (perf::PERF_COUNT_SW_...)"},
	{&file_measurer_class, IN_BOTH("a file is none of a thread's"), NULL},
	{&list_events_measurer_class, IN_BOTH("events are those of the machine, not of a thread"), NULL},
	{&clock_probe_measurer_class, IN_BOTH("it times instructions of the thread that starts it"), NULL},
	{&ping_pong_measurer_class, IN_BOTH("it is of two CPUs, not of a thread"), NULL},
};

/*
 * Fields that no action whose class has them may leave out. Only a MeasureActionExecution in kernels needs no set when
 * it is described: without one quantities are of that action.
 */
static const struct {
	const char *field, *text;
} needs[] = {
	{"measurerSet", "no measurer set is named"},
	{"action", "no action to be measured is named"},
	{"rule", "no rule is named"},
	{"kernel", "no kernel is named"},
	{"barrier", "no barrier is named"},
	{"waitForWorkload", "no workload to wait for is named"},
};

/* measurement, is_running, culprit, err: of rule_check. */
struct check {
	const struct measurement *measurement;
	bool is_running;
	const void *culprit;
	struct rot_error *err;
};

static int
judge(struct check *check, const void *entity)
{
	const char *name = ROT_ENTITY(entity)->class->name;

	check->culprit = entity;
	for (size_t i = 0; i < NR_ELEMENTS(verdicts); i++) {
		const char *reason = check->measurement ? verdicts[i].in_kernels : verdicts[i].in_programs;

		if (!rot_is_a(entity, verdicts[i].class))
			continue;
		if (!reason)
			return 0;
		rot_error_set(check->err, 0, "%s: %s", name, reason);
		return verdicts[i].hint ? rot_error_hint(check->err, "%s", verdicts[i].hint) : -1;
	}
	return rot_error_set(check->err, 0, "%s: rules cannot have it", name);
}

static bool
has_workload(const struct measurement *measurement, const struct workload *workload, const struct kernel_base *kernel)
{
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *own = measurement_workloads_at(measurement, i);

		if (workload ? own == workload : own->kernel == kernel)
			return true;
	}
	return false;
}

/* ---- predicates ---- */

static int
check_hits(const struct breakpoint_event_predicate *predicate, struct rot_error *err)
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
check_predicate(struct check *check, const struct event_predicate_base *predicate)
{
	const struct workload_event_predicate *own = rot_cast((void *)predicate, &workload_event_predicate_class);
	const struct thread_event_predicate *thread = rot_cast((void *)predicate, &thread_event_predicate_class);
	const struct breakpoint_event_predicate *place = rot_cast((void *)predicate, &breakpoint_event_predicate_class);

	if (!predicate)
		return 0;
	if (judge(check, predicate) < 0)
		return -1;
	if (own && own->workload && !has_workload(check->measurement, own->workload, NULL))
		return rot_error_set(check->err, 0,
				     "a WorkloadEventPredicate names workload %d, which is not in the measurement",
				     own->workload->id);
	if (check->measurement && thread && *thread->name && strcmp(thread->event, "exiting") == 0) {
		rot_error_set(check->err, 0,
			      "a ThreadEventPredicate wants threads that exit with the name '%s', which is not known "
			      "any more",
			      thread->name);
		return rot_error_hint(check->err, "name the thread by its index");
	}
	return place ? check_hits(place, check->err) : 0;
}

/* ---- actions ---- */

static int
check_measurers(struct check *check, const struct measurer_set *set)
{
	const struct rot_list *lists[] = {&set->validation_measurers, &set->additional_measurers};

	for (size_t i = 0; i < NR_ELEMENTS(lists); i++) {
		for (size_t j = 0; j < lists[i]->nr; j++) {
			const void *measurer = ((void **)lists[i]->items)[j];

			if (measurer && judge(check, measurer) < 0)
				return -1;
		}
	}
	return set->main_measurer ? judge(check, set->main_measurer) : 0;
}

static int
check_create(struct check *check, const struct create_measurer_on_thread_action *action)
{
	const struct event_predicate_base *const own[] = {action->start_predicate, action->stop_predicate,
							  action->read_predicate, action->dispose_predicate};

	for (size_t i = 0; i < NR_ELEMENTS(own); i++) {
		if (check_predicate(check, own[i]) < 0)
			return -1;
		if (check->measurement && rot_is_a(own[i], &breakpoint_event_predicate_class))
			return rot_error_set(check->err, 0,
					     "CreateMeasurerOnThreadAction: breakpoints in kernels cannot start, stop "
					     "or read its measurers; rules for breakpoints can start and stop a "
					     "measurer set");
	}
	return 0;
}

/* The thread that an action is for. */
static int
check_thread(const struct check *check, const struct action_base *action)
{
	const char *name = ROT_ENTITY(action)->class->name;

	if (check->measurement) {
		if (!action->workload || has_workload(check->measurement, action->workload, NULL))
			return 0;
		return rot_error_set(check->err, 0, "%s: its workload is not in the measurement", name);
	}
	if (action->workload)
		return rot_error_set(check->err, 0, "%s: it names a workload, and a program has none", name);
	if (action->tid < 0 || check->is_running)
		return 0;
	rot_error_set(check->err, 0, "%s: the ids of a program's threads are not known before it runs", name);
	return rot_error_hint(check->err, "answer the events of that thread: a ThreadEventPredicate with its index");
}

static void *
part_of(const struct action_base *action, const char *name)
{
	const struct rot_field *field = rot_class_field(action->entity.class, name);

	return field ? *(void **)rot_field_of(action, field) : NULL;
}

static int
check_parts(struct check *check, const struct action_base *action)
{
	const char *name = ROT_ENTITY(action)->class->name;
	const struct measurer_set *set = part_of(action, "measurerSet");
	const struct action_base *measured = part_of(action, "action");
	const struct kernel_base *kernel = part_of(action, "kernel");
	const struct workload *awaited = part_of(action, "waitForWorkload");
	const struct create_measurer_on_thread_action *create =
		rot_cast((void *)action, &create_measurer_on_thread_action_class);

	for (size_t i = 0; i < NR_ELEMENTS(needs); i++) {
		if (!rot_class_field(action->entity.class, needs[i].field) || part_of(action, needs[i].field))
			continue;
		if (!(check->measurement && measured && strcmp(needs[i].field, "measurerSet") == 0))
			return rot_error_set(check->err, 0, "%s: %s", name, needs[i].text);
	}
	if (measured && (measured->workload || measured->tid >= 0))
		return rot_error_set(check->err, 0,
				     "%s: the action to be measured (%s) names a thread; name it in the outer action",
				     name, ROT_ENTITY(measured)->class->name);
	if (kernel && !has_workload(check->measurement, NULL, kernel))
		return rot_error_set(check->err, 0, "%s: the kernel is of no workload of the measurement", name);
	if (awaited && !has_workload(check->measurement, awaited, NULL))
		return rot_error_set(check->err, 0, "%s: the workload to wait for is not in the measurement", name);
	if (set && (create || !check->measurement) && check_measurers(check, set) < 0)
		return -1;
	check->culprit = action;
	return create ? check_create(check, create) : 0;
}

static int
check_head(struct check *check, const struct rule *rule)
{
	check->culprit = rule;
	if (!rule)
		return rot_error_set(check->err, 0, "a rule is missing");
	if (!rule->predicate || !rule->action)
		return rot_error_set(check->err, 0, "a rule has no %s", rule->predicate ? "action" : "predicate");
	return check_predicate(check, rule->predicate);
}

/* The rule, and the actions and rules within its action. */
static int
check_rule(struct check *check, const struct rule *rule)
{
	const struct action_base *action;

	if (check_head(check, rule) < 0)
		return -1;
	action = rule->action;
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct rule *added = part_of(action, "rule");

		if (judge(check, action) < 0 || check_thread(check, action) < 0 || check_parts(check, action) < 0 ||
		    (added && check_head(check, added) < 0))
			return -1;
		action = added ? added->action : part_of(action, "action");
		if (!action)
			return 0;
	}
	return rot_error_set(check->err, 0, "actions are nested more than %d deep", MAX_DEPTH);
}

int
rule_check(const struct rule *rule, const struct measurement *measurement, bool is_running, const void **culprit,
	   struct rot_error *err)
{
	struct check check = {.measurement = measurement, .is_running = is_running, .err = err};
	int rc = check_rule(&check, rule);

	*culprit = check.culprit;
	return rc;
}
