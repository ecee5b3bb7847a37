/* SPDX-License-Identifier: MIT */
/* See events.h: one row for each class of predicates. */
#include "common/events.h"

#include <fnmatch.h>
#include <string.h>

#include "common/proc.h"

bool
event_is(const struct event *event, enum event_kind kind, const char *name)
{
	return event->kind == kind && strcmp(event->name, name) == 0;
}

static bool
matches_run(const void *predicate, const struct event *event)
{
	const struct measurement_run_event_predicate *own = predicate;

	return event_is(event, EVENT_RUN, own->event);
}

static bool
matches_program(const void *predicate, const struct event *event)
{
	const struct program_event_predicate *own = predicate;
	const char *path = event->executable, *end = own->executable;
	size_t nr, nr_end = strlen(end);

	if (!event_is(event, EVENT_PROGRAM, own->event))
		return false;
	if (nr_end == 0)
		return true;
	/* Whole components from the end of the path. */
	nr = strlen(path);
	return nr >= nr_end && strcmp(path + nr - nr_end, end) == 0 &&
	       (nr == nr_end || *end == '/' || path[nr - nr_end - 1] == '/');
}

static bool
matches_workload(const void *predicate, const struct event *event)
{
	const struct workload_event_predicate *own = predicate;

	return event_is(event, EVENT_WORKLOAD, own->event) && (!own->workload || own->workload == event->workload);
}

static bool
matches_thread(const void *predicate, const struct event *event)
{
	const struct thread_event_predicate *own = predicate;
	char name[THREAD_NAME_BYTES];

	if (!event_is(event, EVENT_THREAD, own->event) || (own->index >= 0 && own->index != event->index))
		return false;
	if (!*own->name)
		return true;
	if (!event->thread_name)
		thread_read_name(event->tid, name);
	return fnmatch(own->name, event->thread_name ? event->thread_name : name, 0) == 0;
}

static bool
matches_breakpoint(const void *predicate, const struct event *event)
{
	const struct breakpoint_event_predicate *own = predicate;

	return event_is(event, EVENT_BREAKPOINT, own->event) && strcmp(own->place, event->place) == 0 &&
	       own->first_hit <= event->hit && (own->last_hit == 0 || event->hit <= own->last_hit);
}

static const struct {
	const struct rot_class *class;
	bool (*matches)(const void *predicate, const struct event *event);
} predicate_types[] = {
	{&measurement_run_event_predicate_class, matches_run},   {&program_event_predicate_class, matches_program},
	{&workload_event_predicate_class, matches_workload},     {&thread_event_predicate_class, matches_thread},
	{&breakpoint_event_predicate_class, matches_breakpoint},
};

bool
predicate_matches(const struct event_predicate_base *predicate, const struct event *event)
{
	for (size_t i = 0; predicate && i < sizeof(predicate_types) / sizeof(predicate_types[0]); i++)
		if (rot_is_a(predicate, predicate_types[i].class))
			return predicate_types[i].matches(predicate, event);
	return false;
}
