/* SPDX-License-Identifier: MIT */
/* From the beginning of a run to its end. */
#ifndef CHILD_RUN_PERFORM_H
#define CHILD_RUN_PERFORM_H

#include <sys/types.h>

#include "child/failure.h"
#include "entities.h"

struct service;

/*
 * Performs one run of the description on the calling (main) thread and threads of its own: hooks of the configurators,
 * events, overall measurer set, workloads. Adds the outputs of all measurer sets to output: workloads in their order,
 * then those of actions, then the overall set.
 *
 * service: attends to the threads that kernels create, if the measurement has rules that need it.
 * own_tids: nr workloads of the description elements, receives the ids of the workloads' threads.
 * 0, or -1 and the failure recorded; no thread of the run is left in either case.
 */
int run_perform(const struct measurement *description, struct service *service, struct failure *failure,
		struct measurement_run_output *output, pid_t *own_tids);

#endif
