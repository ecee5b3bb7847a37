/* SPDX-License-Identifier: MIT */
/* The threads of the child as objects: who they are, and what others want them to do. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "entities.h"

struct event;
struct run;

/*
 * A thread: the main one, or that of a workload. Made by the main thread before the thread itself is, so that actions
 * can be queued to a workload that has not started.
 *
 * Or a thread that a kernel or a library made: then this is only there while the service thread raises an event on its
 * behalf, and nothing can be queued to it.
 *
 * tid: 0 until the thread runs.   workload: NULL for the main thread.   queue: actions to execute, oldest first.
 * event: that it is raising, or NULL.
 * run: NULL for a foreign thread.   is_raising: it executes actions, and may not be interrupted to execute others.
 */
struct child_thread {
	atomic_int tid;
	const struct workload *workload;
	struct run *run;
	bool is_foreign;
	atomic_bool is_raising;
	const struct event *event;
	pthread_mutex_t lock;
	struct action_base **queue;
	size_t nr_queued;
	bool is_over;
};

void child_thread_init(struct child_thread *thread, const struct workload *workload);
void child_thread_clear(struct child_thread *thread);

/* Called by the thread itself when it begins, and before thread goes away if it lives on. */
void child_thread_attach(struct child_thread *thread);
void child_thread_detach(void);

/* The calling thread, between attach and detach; else NULL. */
struct child_thread *child_thread_current(void);

/*
 * Leaves action (borrowed) to the thread, which executes it when it raises its next event, or before it ends; or
 * sooner, when it is interrupted (interruption.h). False if the thread is over.
 */
bool child_thread_queue(struct child_thread *thread, struct action_base *action);

/* The oldest queued action, taken out; NULL if there is none. With end: the thread is over when there is none. */
struct action_base *child_thread_take(struct child_thread *thread, bool end);

/* Pins the calling thread to one CPU. */
int child_thread_pin(int cpu, struct rot_error *err);
