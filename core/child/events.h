/* SPDX-License-Identifier: MIT */
/* Events, and the predicates that they match. */
#ifndef CHILD_EVENTS_H
#define CHILD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "child/thread.h"
#include "entities.h"

enum event_kind {
	EVENT_RUN,        /* start, stop                          */
	EVENT_WORKLOAD,   /* start, kernelStart, kernelStop, stop */
	EVENT_THREAD,     /* started, exiting                     */
	EVENT_BREAKPOINT, /* reached, entered, left; see watches.h */
};

/*
 * name: as in the predicates.   workload: whose event it is; NULL for events of the run.   thread: of EVENT_THREAD.
 * place, hit: of EVENT_BREAKPOINT, as in the predicate, and which of the thread's hits there in this run it is.
 */
struct event {
	enum event_kind kind;
	const char *name;
	const struct workload *workload;
	const struct child_thread *thread;
	const char *place;
	int64_t hit;
};

bool event_is(const struct event *event, enum event_kind kind, const char *name);

/* Whether the predicate matches the event. */
bool predicate_matches(const struct event_predicate_base *predicate, const struct event *event);

#endif
