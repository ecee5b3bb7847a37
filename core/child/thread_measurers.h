/* SPDX-License-Identifier: MIT */
/*
 * CreateMeasurerOnThread: copies of a measurer set on threads that are neither the main one nor a workload's. They are
 * started, stopped and read on behalf of their threads: nothing is executed in these.
 */
#pragma once

#include "child/run.h"
#include "common/events.h"

/*
 * Executes the action: every thread that has no copy of its set yet gets one, and from the next event on the run
 * answers events for it: threads that start get a copy, too, and the action's predicates start, stop, read and dispose
 * all copies (events of a thread: its own). event: in progress, or NULL; it may start the copies at once.
 *
 * A copy counts while more events of the start predicate have come than of the stop predicate, also if it is made in
 * the meantime. Without a stop predicate it counts until its thread ends, at the latest until the run does; without
 * one to read it is read then. What a copy measures adds up until it is read.
 * Copies that never counted give no output; those that count again after they were read
 * give one more. 0, or -1 and the failure recorded.
 */
int thread_measurers_execute(struct run *run, const struct create_measurer_on_thread_action *action,
			     const struct event *event);

/* Number of actions executed so far in the run: those that answer an event that is raised now. */
size_t thread_measurers_count(struct run *run);

/* Answers an event of thread for the first nr of them. */
int thread_measurers_answer(struct run *run, size_t nr, const struct child_thread *thread, const struct event *event);

/* At the end of the run: stops and reads what has not been. No event may be raised any more. */
void thread_measurers_finish(struct run *run);

void thread_measurers_clear(struct run *run);
