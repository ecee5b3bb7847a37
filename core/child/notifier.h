/* SPDX-License-Identifier: MIT */
/* The child's end of the wire: tells the parent how far it is, hears of threads. */
#ifndef CHILD_NOTIFIER_H
#define CHILD_NOTIFIER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

/*
 * fd: the wire, or -1 without a parent; then nothing is sent and nothing is known of threads.
 * tids: threads alive that are not of workloads.   nr_started: such threads that started since the last
 * notifier_begin_run.
 */
struct notifier {
	int fd;
	pid_t *tids;
	size_t nr_tids;
	size_t nr_at_begin, nr_started;
};

void notifier_init(struct notifier *notifier, int fd);
void notifier_clear(struct notifier *notifier);

/* Sends one message about the runs (WIRE_STARTUP, WIRE_RUN_STARTED, WIRE_RUN_FINISHED). 0, or -1 if the parent is gone.
 */
int notifier_send(struct notifier *notifier, enum wire_kind kind, int64_t argument, struct rot_error *err);

/* Before the threads of a run are made. */
void notifier_begin_run(struct notifier *notifier);

/*
 * After they have ended: the number of threads that lived during the run (also only for a while, also before its kernel
 * ran) and were not one of own_tids.
 */
size_t notifier_end_run(struct notifier *notifier, const pid_t *own_tids, size_t nr_own_tids);

#endif
