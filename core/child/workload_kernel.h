/* SPDX-License-Identifier: MIT */
/* The kernel of a workload, used from other threads while it runs. */
#ifndef CHILD_WORKLOAD_KERNEL_H
#define CHILD_WORKLOAD_KERNEL_H

#include "child/run.h"

/*
 * Asks the kernel to return soon, if it can be asked. Before it is initialized this is remembered, after it is disposed
 * nothing is done. From any thread.
 */
void workload_stop_kernel(struct workload_run *work);

/*
 * The same in a thread that was interrupted anywhere. False: not now, as the kernel is in use by another thread, or by
 * this one; or (flush) it is not initialized.
 */
bool workload_stop_kernel_inside(struct workload_run *work);
bool workload_flush_buffers_inside(struct workload_run *work);

/* Flushes the buffers of the kernel. -1 and err if it is not initialized at present. From any thread. */
int workload_flush_buffers(struct workload_run *work, struct rot_error *err);

#endif
