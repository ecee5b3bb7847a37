/* SPDX-License-Identifier: MIT */
/* Events are raised, and rules answer them. */
#pragma once

#include <stdbool.h>

#include "child/run.h"
#include "common/events.h"

/*
 * Raises an event in the calling thread: executes the actions queued to the thread, then searches the rule list in
 * order, as it is now, and executes the action of every rule whose predicate matches. An action that names another
 * thread is queued to it (child_thread_queue) and not waited for; if its kind permits, the thread is interrupted and
 * executes it at once. 0, or -1 when the run has failed, here or in another thread.
 *
 * For a foreign thread the service thread does this on its behalf. Then only actions are executed that do not depend on
 * the thread they are executed in and wait for nothing: CreateMeasurerOnThread, AddRule, StopKernel and
 * FlushKernelBuffers.
 */
int event_raise(struct run *run, struct child_thread *thread, const struct event *event);

/* Executes what is queued to the calling thread; afterwards nothing can be queued to it. As event_raise. */
int thread_end(struct run *run, struct child_thread *thread);

/* True if rules of the measurement concern threads that are not its workloads'. */
bool measurement_needs_service(const struct measurement *measurement);
