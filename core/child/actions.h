/* SPDX-License-Identifier: MIT */
/* What the actions of rules do. */
#ifndef CHILD_ACTIONS_H
#define CHILD_ACTIONS_H

#include "child/run.h"

/* Executes action in the calling thread, whatever thread it names. 0, or -1 and the failure recorded. */
int action_execute(struct run *run, struct child_thread *thread, struct action_base *action);

/*
 * Executes action in the calling thread, which was interrupted anywhere: like a signal handler. False: that is not
 * possible for this kind, or now, since something is not ready or in use; then nothing was done.
 */
bool action_execute_inside(struct run *run, struct action_base *action);

/* Whether its kind permits that. */
bool action_is_executed_inside(const struct action_base *action);

/* See rule_check. */
int action_check(const struct action_base *action, const struct measurement *measurement, enum failure_kind *kind,
		 struct rot_error *err);

/* Whether it can be executed on behalf of a foreign thread, see event_raise. */
bool action_works_on_behalf(const struct action_base *action);

/* Whether it, or an action inside of it, concerns threads that kernels create. */
bool action_needs_service(const struct action_base *action);

bool measurement_has_workload(const struct measurement *measurement, const struct workload *workload);

#endif
