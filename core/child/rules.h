/* SPDX-License-Identifier: MIT */
/* Events, and the rules that answer them. */
#ifndef CHILD_RULES_H
#define CHILD_RULES_H

#include <stdbool.h>

#include "child/run.h"

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

/* Whether the predicate matches the event. */
bool predicate_matches(const struct event_predicate_base *predicate, const struct event *event);

/*
 * Executes action, or queues it to the thread that it names. As event_raise.
 */
int action_perform(struct run *run, struct child_thread *thread, struct action_base *action);

/*
 * Whether the core can follow the rule, before anything runs: known classes, nothing missing, kernels and workloads of
 * this measurement. 0, or -1; *kind, set to FAILURE_ERROR before, becomes refused where this version of the core is the
 * reason.
 */
int rule_check(const struct rule *rule, const struct measurement *measurement, enum failure_kind *kind,
	       struct rot_error *err);

/* As rule_check, of everything but what the action needs; its class is one that actions have. */
int rule_head_check(const struct rule *rule, const struct measurement *measurement, struct rot_error *err);

/* As rule_check, for a predicate; NULL is fine. */
int predicate_check(const struct event_predicate_base *predicate, const struct measurement *measurement,
		    struct rot_error *err);

/* Adds a rule of the run's measurement to its rule list, unless it is there. From any thread. */
void rule_add(struct run *run, struct rule *rule);

/* Whether rules of the measurement concern threads that are not its workloads'. */
bool measurement_needs_service(const struct measurement *measurement);

#endif
