/* SPDX-License-Identifier: MIT */
/* See events.h. */
#include "child/events.h"

#include <fnmatch.h>
#include <string.h>

#include "child/notifier.h"
#include "common/watch.h"
#include "entity.h"
#include "program_rule_check.h"

bool
event_is(const struct event *event, enum event_kind kind, const char *name)
{
	return event->kind == kind && strcmp(event->name, name) == 0;
}

bool
measurement_has_workload(const struct measurement *measurement, const struct workload *workload)
{
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		if (measurement_workloads_at(measurement, i) == workload)
			return true;
	}
	return false;
}

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

int
predicate_check(const struct event_predicate_base *predicate, const struct measurement *measurement,
		struct rot_error *err)
{
	const struct workload_event_predicate *own = rot_cast((void *)predicate, &workload_event_predicate_class);
	const struct thread_event_predicate *thread = rot_cast((void *)predicate, &thread_event_predicate_class);
	const struct breakpoint_event_predicate *place = rot_cast((void *)predicate, &breakpoint_event_predicate_class);

	if (!predicate)
		return 0;
	if (!predicate_type_of(predicate)) {
		const char *name = ROT_ENTITY(predicate)->class->name;

		if (rot_is_a(predicate, &program_event_predicate_class))
			return rot_error_set(err, 0, "a %s is of programs, and this is a measurement of kernels", name);
		return rot_error_set(err, 0, "cannot answer events of a %s: the core does not know it", name);
	}
	if (place && strlen(place->place) >= WATCH_PLACE_BYTES)
		return rot_error_set(err, 0, "BreakpointEventPredicate: the place is longer than %d characters",
				     WATCH_PLACE_BYTES - 1);
	if (place && breakpoint_predicate_check(place, err) < 0)
		return -1;
	if (thread && *thread->name && strcmp(thread->event, "exiting") == 0) {
		rot_error_set(err, 0,
			      "a ThreadEventPredicate wants threads that exit with the name '%s', which is not known "
			      "any more",
			      thread->name);
		return rot_error_hint(err, "name the thread by its index");
	}
	if (!own || !own->workload || measurement_has_workload(measurement, own->workload))
		return 0;
	return rot_error_set(err, 0, "a WorkloadEventPredicate names workload %d, which is not in the measurement",
			     own->workload->id);
}
