/* SPDX-License-Identifier: MIT */
/* See rules.h: events, predicates and the rule list. What actions do is in actions.c. */
#include "child/rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "child/actions.h"
#include "child/interruption.h"
#include "child/journal.h"
#include "child/notifier.h"
#include "child/thread_measurers.h"
#include "common/watch.h"
#include "program_rule_check.h"

/* ---- predicates ---- */

static bool
matches_run(const void *predicate, const struct event *event)
{
	const struct measurement_run_event_predicate *own = predicate;

	return event->kind == EVENT_RUN && strcmp(own->event, event->name) == 0;
}

static bool
matches_workload(const void *predicate, const struct event *event)
{
	const struct workload_event_predicate *own = predicate;

	return event->kind == EVENT_WORKLOAD && strcmp(own->event, event->name) == 0 &&
	       (!own->workload || own->workload == event->workload);
}

static bool
has_name(pid_t tid, const char *pattern)
{
	char name[THREAD_NAME_BYTES];

	if (!*pattern)
		return true;
	thread_read_name(tid, name);
	return fnmatch(pattern, name, 0) == 0;
}

static bool
matches_thread(const void *predicate, const struct event *event)
{
	const struct thread_event_predicate *own = predicate;

	return event->kind == EVENT_THREAD && strcmp(own->event, event->name) == 0 &&
	       (own->index < 0 || own->index == event->thread->index) && has_name(event->thread->tid, own->name);
}

static bool
matches_breakpoint(const void *predicate, const struct event *event)
{
	const struct breakpoint_event_predicate *own = predicate;

	return event->kind == EVENT_BREAKPOINT && strcmp(own->event, event->name) == 0 &&
	       strcmp(own->place, event->place) == 0 && own->first_hit <= event->hit &&
	       (own->last_hit == 0 || event->hit <= own->last_hit);
}

static const struct predicate_type {
	const struct rot_class *class;
	bool (*matches)(const void *predicate, const struct event *event);
} predicate_types[] = {
	{&measurement_run_event_predicate_class, matches_run},
	{&workload_event_predicate_class, matches_workload},
	{&thread_event_predicate_class, matches_thread},
	{&breakpoint_event_predicate_class, matches_breakpoint},
};

static const struct predicate_type *
predicate_type_of(const struct event_predicate_base *predicate)
{
	for (size_t i = 0; i < sizeof(predicate_types) / sizeof(predicate_types[0]); i++) {
		if (rot_is_a(predicate, predicate_types[i].class))
			return &predicate_types[i];
	}
	return NULL;
}

bool
predicate_matches(const struct event_predicate_base *predicate, const struct event *event)
{
	const struct predicate_type *type = predicate_type_of(predicate);

	return type && type->matches(predicate, event);
}

static int
check_class(const struct event_predicate_base *predicate, struct rot_error *err)
{
	const char *name = ROT_ENTITY(predicate)->class->name;

	if (predicate_type_of(predicate))
		return 0;
	if (rot_is_a(predicate, &program_event_predicate_class))
		return rot_error_set(err, 0, "a %s is of programs, and this is a measurement of kernels", name);
	return rot_error_set(err, 0, "cannot answer events of a %s: the core does not know it", name);
}

static int
check_thread(const struct thread_event_predicate *predicate, struct rot_error *err)
{
	if (!predicate || !*predicate->name || strcmp(predicate->event, "exiting") != 0)
		return 0;
	rot_error_set(err, 0,
		      "a ThreadEventPredicate wants threads that exit with the name '%s', which is not known "
		      "any more",
		      predicate->name);
	return rot_error_hint(err, "name the thread by its index");
}

static int
check_breakpoint(const struct breakpoint_event_predicate *predicate, struct rot_error *err)
{
	if (strlen(predicate->place) >= WATCH_PLACE_BYTES)
		return rot_error_set(err, 0, "BreakpointEventPredicate: the place is longer than %d characters",
				     WATCH_PLACE_BYTES - 1);
	return breakpoint_predicate_check(predicate, err);
}

int
predicate_check(const struct event_predicate_base *predicate, const struct measurement *measurement,
		struct rot_error *err)
{
	const struct workload_event_predicate *own = rot_cast((void *)predicate, &workload_event_predicate_class);
	const struct breakpoint_event_predicate *place = rot_cast((void *)predicate, &breakpoint_event_predicate_class);

	if (!predicate)
		return 0;
	if (check_class(predicate, err) < 0 || (place && check_breakpoint(place, err) < 0) ||
	    check_thread(rot_cast((void *)predicate, &thread_event_predicate_class), err) < 0)
		return -1;
	if (!own || !own->workload || measurement_has_workload(measurement, own->workload))
		return 0;
	return rot_error_set(err, 0, "a WorkloadEventPredicate names workload %d, which is not in the measurement",
			     own->workload->id);
}

/* ---- rules ---- */

bool
measurement_needs_service(const struct measurement *measurement)
{
	for (size_t i = 0; i < measurement_nr_rules(measurement); i++) {
		if (action_needs_service(measurement_rules_at(measurement, i)->action))
			return true;
	}
	return false;
}

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

int
rule_head_check(const struct rule *rule, const struct measurement *measurement, struct rot_error *err)
{
	if (!rule->predicate || !rule->action)
		return rot_error_set(err, 0, "the rule has no %s", rule->predicate ? "action" : "predicate");
	return predicate_check(rule->predicate, measurement, err) < 0 ? -1 : check_pair(rule, err);
}

int
rule_check(const struct rule *rule, const struct measurement *measurement, enum failure_kind *kind,
	   struct rot_error *err)
{
	if (rule_head_check(rule, measurement, err) < 0)
		return -1;
	return action_check(rule->action, measurement, kind, err);
}

/* ---- events ---- */

bool
event_is(const struct event *event, enum event_kind kind, const char *name)
{
	return event->kind == kind && strcmp(event->name, name) == 0;
}

static const char *const journal_texts[][4] = {
	[EVENT_RUN] = {"event run start", "event run stop"},
	[EVENT_WORKLOAD] = {"event workload start", "event workload kernelStart", "event workload kernelStop",
			    "event workload stop"},
	[EVENT_THREAD] = {"event thread started", "event thread exiting"},
};

static void
journal_event(const struct event *event)
{
	for (size_t i = 0; i < 4 && journal_texts[event->kind][i]; i++) {
		const char *text = journal_texts[event->kind][i];

		if (strcmp(strrchr(text, ' ') + 1, event->name) == 0)
			journal_add(text, -1);
	}
}

static int
execute_queued(struct run *run, struct child_thread *thread, bool end)
{
	struct action_base *action;

	while (!run_has_failed(run) && (action = child_thread_take(thread, end)) != NULL)
		action_execute(run, thread, action);
	return run_has_failed(run) ? -1 : 0;
}

static size_t
nr_rules(struct run *run)
{
	size_t nr;

	pthread_mutex_lock(&run->lock);
	nr = measurement_nr_rules(run->measurement);
	pthread_mutex_unlock(&run->lock);
	return nr;
}

/* Rules are only ever added, at the end. */
static struct rule *
rule_at(struct run *run, size_t i)
{
	struct rule *rule;

	pthread_mutex_lock(&run->lock);
	rule = measurement_rules_at(run->measurement, i);
	pthread_mutex_unlock(&run->lock);
	return rule;
}

void
rule_add(struct run *run, struct rule *rule)
{
	size_t nr, i = 0;

	pthread_mutex_lock(&run->lock);
	nr = measurement_nr_rules(run->measurement);
	while (i < nr && measurement_rules_at(run->measurement, i) != rule)
		i++;
	if (i == nr)
		measurement_rules_add(run->measurement, rule);
	pthread_mutex_unlock(&run->lock);
}

static void
follow_rules(struct run *run, struct child_thread *thread, const struct event *event, size_t nr)
{
	for (size_t i = 0; i < nr && !run_has_failed(run); i++) {
		struct rule *rule = rule_at(run, i);

		if (predicate_matches(rule->predicate, event) &&
		    (!thread->is_foreign || action_works_on_behalf(rule->action)))
			action_perform(run, thread, rule->action);
	}
}

int
event_raise(struct run *run, struct child_thread *thread, const struct event *event)
{
	size_t nr_thread_measurers = thread_measurers_count(run), nr = nr_rules(run);

	journal_event(event);
	thread->is_raising = true;
	thread->event = event;
	if (execute_queued(run, thread, false) == 0) {
		follow_rules(run, thread, event, nr);
		thread_measurers_answer(run, nr_thread_measurers, thread, event);
	}
	thread->event = NULL;
	thread->is_raising = false;
	interruption_catch_up();
	return run_has_failed(run) ? -1 : 0;
}

int
thread_end(struct run *run, struct child_thread *thread)
{
	thread->is_raising = true;
	return execute_queued(run, thread, true);
}

int
action_perform(struct run *run, struct child_thread *thread, struct action_base *action)
{
	struct child_thread *target = thread;
	struct rot_error error;

	if (action->workload) {
		struct workload_run *work = run_find_workload(run, action->workload);

		target = work ? &work->thread : NULL;
	} else if (action->tid >= 0) {
		target = run_find_thread(run, action->tid);
	}
	if (target == thread)
		return action_execute(run, thread, action);
	if (!target) {
		rot_error_set(&error, 0, "cannot execute a %s in thread %d: it is not a thread of this run",
			      ROT_ENTITY(action)->class->name, action->tid);
		return run_fail(run, &error);
	}
	if (!child_thread_queue(target, action)) {
		rot_error_set(&error, 0, "cannot execute a %s in thread %d: it has ended",
			      ROT_ENTITY(action)->class->name, (int)target->tid);
		return run_fail(run, &error);
	}
	if (action_is_executed_inside(action))
		interruption_ask(target);
	return 0;
}
