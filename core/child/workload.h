/* SPDX-License-Identifier: MIT */
/* Workloads: the thread that prepares a kernel, measures its run, and cleans up. */
#pragma once

#include "child/actions.h"
#include "child/run.h"

void workload_init(struct workload_run *work, struct run *run, struct workload *workload);
void workload_clear(struct workload_run *work);

/* Creates the thread, counted in run->nr_running until it is about to end. What fails is recorded. */
void workload_create(struct workload_run *work);

/* ---- the kernel, used from other threads while it runs ---- */

/*
 * Asks the kernel to return soon, if it can be asked. Before it is initialized this is remembered, after it is disposed
 * nothing is done. From any thread.
 */
void workload_stop_kernel(struct workload_run *work);

/*
 * The same in a thread that was interrupted anywhere. Busy: another thread uses the kernel, or this one does. A flush
 * is impossible where the kernel is not initialized.
 */
enum action_attempt workload_stop_kernel_inside(struct workload_run *work);
enum action_attempt workload_flush_buffers_inside(struct workload_run *work);

/* Flushes the buffers of the kernel. -1 and err if it is not initialized at present. From any thread. */
int workload_flush_buffers(struct workload_run *work, struct rot_error *err);
