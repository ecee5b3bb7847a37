/* SPDX-License-Identifier: MIT */
/*
 * Follows the threads of a program, and of the programs it starts, with ptrace: every stop is classified as an event, a
 * table says what it leads to. There are no stops at system calls but those somebody asks for; a thread stops once when
 * it is created, and for signals. Source: thesis, "Child Thread States".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "parent/tracer/loop.h"
#include "parent/tracer/thread.h"

/*
 * A stop that the tracer leaves to others: the thread is at a point where its registers are its own, unless it
 * is_inside a system call, or stopped with its process (only while leaving).
 */
struct tracer_stop {
	struct thread *thread;
	int signal; /* about to be delivered; 0: a pause (the first stop, after PTRACE_INTERRUPT, end of a group stop)
		     */
	bool is_inside;
	bool is_stopped; /* with its process; its registers are its own nevertheless */
};

enum tracer_answer {
	TRACER_DELIVER, /* none of mine: the thread goes on, with its signal if there is one */
	TRACER_RESUME,  /* it was mine: the thread goes on without it                        */
	TRACER_KEEP,    /* likewise, and the thread was resumed already, or will be with tracer_resume */
};

struct tracer {
	pid_t program;      /* its process id, which is the tid of its main thread */
	bool follows_forks; /* trace the processes it starts as well               */
	bool is_attached;   /* the program ran before, and runs on if this process ends */
	struct threads threads;

	/*
	 * Called with context. started: for any thread but the program's first, stopped before its first user
	 * instruction (or running, if it was attached to). executed: its process runs another program, also for the
	 * first time; the thread stands before its first instruction, is the only one of the process, and was called
	 * old_tid. exited: for every thread; it has ended, or is stopped and about to be let go. executed may be NULL.
	 */
	void (*started)(void *context, struct thread *thread);
	void (*executed)(void *context, struct thread *thread, pid_t old_tid);
	void (*exited)(void *context, struct thread *thread);
	void *context;

	/*
	 * Called with context when thread has made a process, which may have been announced before; may be NULL. Later
	 * its parent may be another: who has made it may have ended before its first stop is seen.
	 */
	void (*forked)(void *context, struct thread *thread, pid_t child);

	/*
	 * Called with context at pauses (after started), and before signals are delivered; may be NULL. Not while
	 * leaving. There are pauses that nobody asked for: an answer to PTRACE_INTERRUPT may be any stop, and come
	 * again later.
	 */
	enum tracer_answer (*stopped)(void *context, const struct tracer_stop *stop);

	/* Likewise for threads and processes alike, by whichever call; may be NULL. */
	void (*created)(void *context, struct thread *thread, pid_t child);

	/*
	 * Processes that are not followed (follows_forks is false) are let go at once where this is NULL. Else they are
	 * not announced as started, executed or stopped at pauses, but traced until this returns true: it is called
	 * with context at their first stop and after they executed a program.
	 */
	bool (*may_go)(void *context, struct thread *thread);

	/*
	 * Called with context before a thread is let go while leaving, at any stop; may be NULL. TRACER_RESUME: let it
	 * go without its signal. TRACER_KEEP: it goes on and will stop once more by itself.
	 */
	enum tracer_answer (*leaving)(void *context, const struct tracer_stop *stop);

	bool holds_new; /* threads that are announced as started wait for tracer_release */

	/* what it cost */
	int64_t nr_stops;
	uint64_t stopped_ns;   /* sum of the times between learning of a stop and ending it */
	uint64_t cost_from_ns; /* set in a stop: what it took until then was before the program began, and costs it
				  nothing */

	size_t nr_unsettled; /* threads that are */
	bool is_settling;
	bool is_leaderless; /* the first thread of the program has ended, which nobody will report */
	bool is_leaving;
	bool has_left; /* somebody who is followed was let go, and lives */
};

/*
 * Begins tracing tracer->program, a child of this thread that waits to be let go. It and all it traces dies with this
 * process. -1: the system does not allow it.
 */
int tracer_seize(struct tracer *tracer, struct rot_error *err);

/*
 * Begins tracing tracer->program, which is running, with all its threads; its first thread may have ended. Another
 * tracer has a second to let the program go. -1: not allowed, or it is not there.
 */
int tracer_attach(struct tracer *tracer, struct rot_error *err);

/*
 * A thread that was about to create another when it was attached to creates one that nobody traces. settle: all threads
 * are asked to stop; is_settled: they have, nobody else traces one, and each that was created meanwhile is known.
 * unsettled: one that has not stopped yet; 0: there is none.
 */
void tracer_settle(struct tracer *tracer);
bool tracer_is_settled(struct tracer *tracer);
pid_t tracer_unsettled(struct tracer *tracer);

/*
 * Handles a report on a traced thread. Never fails: a thread may be killed at any moment, and then its end is reported
 * next. Returns true when the program has ended, the report being its own.
 */
bool tracer_handle(struct tracer *tracer, const struct report *report);

/*
 * From now on every thread is let go at its next stop, which all are asked for; they run on as if they had never been
 * traced. It is done when there is nothing more to wait for.
 */
void tracer_leave(struct tracer *tracer);

/* Kills all processes. */
void tracer_kill(struct tracer *tracer);

/* Lets a thread go that waits since its start. One that does not wait, or is gone, is left as it is. */
void tracer_release(struct tracer *tracer, pid_t tid);

/* Holds no more threads, and lets all go. */
void tracer_release_all(struct tracer *tracer);

/* Ends a stop that was kept, delivering signal unless it is 0. */
void tracer_resume(struct tracer *tracer, struct thread *thread, int signal);

/* Its threads are traced with these (PTRACE_O_...). */
long tracer_options(const struct tracer *tracer);

/* True if the main thread waits for SIGCONT. */
bool tracer_is_stopped(const struct tracer *tracer);

void tracer_clear(struct tracer *tracer);
