/* SPDX-License-Identifier: MIT */
/* See events.h. */
#include "child/events.h"

#include <fnmatch.h>
#include <string.h>

#include "child/notifier.h"
#include "entity.h"

bool
event_is(const struct event *event, enum event_kind kind, const char *name)
{
	return event->kind == kind && strcmp(event->name, name) == 0;
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
