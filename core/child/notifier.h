/* SPDX-License-Identifier: MIT */
/* The child's end of the wire: tells the parent how far it is, hears of threads. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

/* The next step where the parent may not trace. */
#define PTRACE_HINT                                                                                                    \
	"it needs ptrace: /proc/sys/kernel/yama/ptrace_scope below 3, in a container --cap-add=SYS_PTRACE, and no "    \
	"debugger around rot"

/* covered: a measurer covers it in this run.   index: among those that started in this run, from 0; else -1. */
struct known_thread {
	pid_t tid;
	int index;
	bool is_covered;
};

/*
 * fd: the wire, or -1 without a parent; then nothing is sent and nothing is known of threads.
 * is_read_by_service: the news are read by the service thread (service.h), else at the begin and the end of runs.
 * lock: of the rest.   threads: alive, not of workloads.   nr_started: in this run.   ended: those that ended during
 * this run, and nothing covered.
 */
struct notifier {
	int fd;
	bool is_read_by_service;
	pthread_mutex_t lock;
	struct known_thread *threads;
	size_t nr_threads;
	int nr_started;
	pid_t *ended;
	size_t nr_ended;
};

void notifier_init(struct notifier *notifier, int fd);
void notifier_clear(struct notifier *notifier);

/* Sends one message about the runs (WIRE_STARTUP, WIRE_RUN_STARTED, WIRE_RUN_FINISHED). 0, or -1 if the parent is gone.
 */
int notifier_send(struct notifier *notifier, enum wire_kind kind, int64_t argument, struct rot_error *err);

/* Waits for the parent's answer of that kind, while nobody else reads the wire. 0, or -1 if the parent is gone. */
int notifier_await(struct notifier *notifier, enum wire_kind kind, int64_t *argument, struct rot_error *err);

/* Before the threads of a run are made. */
void notifier_begin_run(struct notifier *notifier);

/* Everything is there that is to measure the run: threads of earlier runs that ended until now have no part in it. */
void notifier_run_is_prepared(struct notifier *notifier);

/*
 * After they have ended: the number of threads that lived during the run (also only for a while, also before its kernel
 * ran), were not one of own_tids, and were covered by no measurer.
 */
size_t notifier_end_run(struct notifier *notifier, const pid_t *own_tids, size_t nr_own_tids);

/* News of a thread that is not a workload's. From any thread, as all below. exited: false if it was not known. */
void notifier_thread_started(struct notifier *notifier, pid_t tid);
bool notifier_thread_exited(struct notifier *notifier, pid_t tid);

/* A measurer covers the thread in this run; the thread may have ended meanwhile. */
void notifier_cover(struct notifier *notifier, pid_t tid);

/* The ids of the threads alive that are not of workloads, nr of them, in fresh memory. */
pid_t *notifier_tids(struct notifier *notifier, size_t *nr);

/* Which of the threads that started in this run it is; -1: none of them, or it has ended. */
int notifier_index(struct notifier *notifier, pid_t tid);

/* True while a thread of this process still executes. */
bool thread_is_alive(pid_t tid);
