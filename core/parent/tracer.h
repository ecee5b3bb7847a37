/* SPDX-License-Identifier: MIT */
/*
 * Follows the threads of one program with ptrace: every stop is classified as an event, a table says what it leads to.
 * There are no stops at system calls; a thread stops once when it is created, and for signals. Source: thesis, "Child
 * Thread States".
 */
#ifndef CORE_PARENT_TRACER_H
#define CORE_PARENT_TRACER_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "parent/thread.h"

struct tracer {
	pid_t program; /* its process id, which is the tid of its main thread */
	struct threads threads;

	/*
	 * Called with context, for any thread but the main one: before its first user instruction, and after its end.
	 */
	void (*started)(void *context, pid_t tid);
	void (*exited)(void *context, pid_t tid);
	void *context;

	bool holds_new; /* threads that are started wait for tracer_release */
};

/*
 * Begins tracing tracer->program, a child of this thread that waits to be let go. It and all it traces dies with this
 * process. -1: the system does not allow it.
 */
int tracer_seize(struct tracer *tracer, struct rot_error *err);

/*
 * Handles a status of waitpid(-1, , WNOHANG | __WALL) of a traced thread. Never fails: a thread may be killed at any
 * moment, and then its end is reported next. Returns false when the program has ended, status being its own.
 */
bool tracer_handle(struct tracer *tracer, pid_t tid, int status);

/* Lets a thread go that waits since its start. One that does not wait, or is gone, is left as it is. */
void tracer_release(struct tracer *tracer, pid_t tid);

/* Holds no more threads, and lets all go. */
void tracer_release_all(struct tracer *tracer);

/* True if the main thread waits for SIGCONT. */
bool tracer_is_stopped(const struct tracer *tracer);

void tracer_clear(struct tracer *tracer);

#endif
