/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints of rules in the code of kernels and of libraries: the parent sets them, and a thread that comes to one
 * raises the event itself, by a function that the parent makes it call. The thread may hold any lock there, so only
 * actions are executed that a signal handler could.
 */
#pragma once

#include "child/notifier.h"
#include "child/run.h"

/* Has the parent set what rules of the command answer. 0, also without any; -1 and the failure recorded. */
int watches_open(const struct measurement_command *command, struct notifier *notifier, struct failure *failure);

/* From now on events are the run's; or (NULL) nobody's, and no thread is handling one any more. */
void watches_set_run(struct run *run);

/* When all kernels are initialized, and with them the libraries they load: -1 and the failure recorded if a place was
 * not found. */
int watches_check_places(struct run *run);

/* At the end of a run's workloads: likewise, and where an action was impossible. */
int watches_check(struct run *run);

void watches_close(void);
