/* SPDX-License-Identifier: MIT */
/* Events that rules answer, in the child and in the tracer of a program, and the predicates that they match. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entities.h"

/* Widest first. */
enum event_kind {
	EVENT_RUN,        /* start, stop                                        */
	EVENT_PROGRAM,    /* of programs: started, executed, exited             */
	EVENT_WORKLOAD,   /* of kernels: start, kernelStart, kernelStop, stop   */
	EVENT_THREAD,     /* started, exiting                                   */
	EVENT_BREAKPOINT, /* reached, entered, left                             */
};

/*
 * name: as in the predicates.   executable: of EVENT_PROGRAM, its path.   workload: of EVENT_WORKLOAD.
 * tid, index: of EVENT_THREAD, index as in the predicate.   thread_name: likewise, NULL: the system is asked.
 * place, hit: of EVENT_BREAKPOINT, as in the predicate, and which of the thread's hits there in this run it is.
 */
struct event {
	enum event_kind kind;
	const char *name;
	const char *executable;
	const struct workload *workload;
	pid_t tid;
	int index;
	const char *thread_name;
	const char *place;
	int64_t hit;
};

bool event_is(const struct event *event, enum event_kind kind, const char *name);

/* True if the predicate (NULL: none) matches the event. Signal handlers may call it for a breakpoint. */
bool predicate_matches(const struct event_predicate_base *predicate, const struct event *event);
