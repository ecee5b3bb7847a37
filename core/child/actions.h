/* SPDX-License-Identifier: MIT */
/* The actions of rules. */
#pragma once

#include "child/run.h"

/* Executes action in the calling thread, whatever thread it names. 0, or -1 and the failure recorded. */
int action_execute(struct run *run, struct child_thread *thread, struct action_base *action);

enum action_attempt {
	ATTEMPT_DONE,
	ATTEMPT_BUSY,       /* another thread uses what it needs, or makes it ready: soon it may be possible */
	ATTEMPT_IMPOSSIBLE, /* for its kind, or before more has happened in the run                         */
};

/* Executes action in the calling thread, which was interrupted anywhere: like a signal handler. Or does nothing. */
enum action_attempt action_execute_inside(struct run *run, struct action_base *action);

/* True if its kind permits that. */
bool action_is_executed_inside(const struct action_base *action);

/* True if it can be executed on behalf of a foreign thread, see event_raise. */
bool action_works_on_behalf(const struct action_base *action);
