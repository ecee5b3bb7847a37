/* SPDX-License-Identifier: MIT */
/* Workloads: the thread that prepares a kernel, measures its run, and cleans up. */
#ifndef CHILD_WORKLOAD_H
#define CHILD_WORKLOAD_H

#include "child/run.h"

void workload_init(struct workload_run *work, struct run *run, struct workload *workload);
void workload_clear(struct workload_run *work);

/* Creates the thread, counted in run->nr_running until it is about to end. What fails is recorded. */
void workload_create(struct workload_run *work);

#endif
