/* SPDX-License-Identifier: MIT */
/*
 * See tracer.h. A new thread makes itself known by its own first stop, which may come before or after the clone event
 * of its creator, or without any (its creator was killed); so the clone event is not needed and its message is never
 * read.
 */
#include "parent/tracer.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum event {
	EVENT_ENDED,      /* exited or was killed                                             */
	EVENT_PAUSED,     /* first stop of a thread, or the end of a group stop               */
	EVENT_GROUP_STOP, /* stopped with all its process                                     */
	EVENT_EXEC,       /* the program was replaced; the thread now has the program's id    */
	EVENT_REPORT,     /* inside a system call, with nothing to be done                    */
	EVENT_SIGNAL,     /* a signal is about to be delivered                                */
};

struct stop {
	struct thread *thread;
	int signal;
};

static enum event
classify(int status)
{
	int kind = status >> 16;

	if (!WIFSTOPPED(status))
		return EVENT_ENDED;
	if (kind == PTRACE_EVENT_STOP)
		return WSTOPSIG(status) == SIGTRAP ? EVENT_PAUSED : EVENT_GROUP_STOP;
	if (kind == PTRACE_EVENT_EXEC)
		return EVENT_EXEC;
	return kind ? EVENT_REPORT : EVENT_SIGNAL;
}

/* Requests that resume a thread fail only because it was killed; its end is reported next. */
static void
resume(struct tracer *tracer, struct stop *stop)
{
	(void)tracer;
	if (stop->thread->is_held) {
		stop->thread->state = THREAD_HELD;
		return;
	}
	ptrace(PTRACE_CONT, stop->thread->tid, NULL, NULL);
	stop->thread->state = THREAD_RUNNING;
}

static void
deliver(struct tracer *tracer, struct stop *stop)
{
	(void)tracer;
	ptrace(PTRACE_CONT, stop->thread->tid, NULL, (void *)(long)stop->signal);
	stop->thread->state = THREAD_RUNNING;
}

/* PTRACE_CONT would let a stopped thread run. */
static void
stay_stopped(struct tracer *tracer, struct stop *stop)
{
	(void)tracer;
	ptrace(PTRACE_LISTEN, stop->thread->tid, NULL, NULL);
	stop->thread->state = THREAD_STOPPED;
}

static void
forget(struct tracer *tracer, pid_t tid)
{
	if (!threads_find(&tracer->threads, tid))
		return;
	threads_remove(&tracer->threads, tid);
	if (tid != tracer->program)
		tracer->exited(tracer->context, tid);
}

/* Whichever thread called exec is the main thread now. All others have ended and were reported, the old main thread
 * never is. */
static void
change_program(struct tracer *tracer, struct stop *stop)
{
	unsigned long old_tid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, stop->thread->tid, NULL, &old_tid) == 0 && (pid_t)old_tid != tracer->program)
		forget(tracer, (pid_t)old_tid);
	resume(tracer, stop);
}

static void (*const reactions[])(struct tracer *, struct stop *) = {
	[EVENT_PAUSED] = resume, [EVENT_GROUP_STOP] = stay_stopped, [EVENT_EXEC] = change_program,
	[EVENT_REPORT] = resume, [EVENT_SIGNAL] = deliver,
};

int
tracer_seize(struct tracer *tracer, struct rot_error *err)
{
	long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

	if (ptrace(PTRACE_SEIZE, tracer->program, NULL, (void *)options) < 0) {
		rot_error_set(err, errno, "cannot trace process %d", (int)tracer->program);
		return rot_error_hint(err, "allow ptrace: /proc/sys/kernel/yama/ptrace_scope below 3, in a container "
					   "--cap-add=SYS_PTRACE, and no debugger around rot");
	}
	threads_add(&tracer->threads, tracer->program)->state = THREAD_RUNNING;
	return 0;
}

bool
tracer_handle(struct tracer *tracer, pid_t tid, int status)
{
	enum event event = classify(status);
	struct stop stop = {.thread = threads_find(&tracer->threads, tid), .signal = WSTOPSIG(status)};

	if (event == EVENT_ENDED) {
		forget(tracer, tid);
		return tid != tracer->program;
	}
	/* The clone system call can also make a process; of those we follow none. */
	if (!stop.thread && syscall(SYS_tgkill, tracer->program, tid, 0) < 0) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return true;
	}
	if (!stop.thread)
		stop.thread = threads_add(&tracer->threads, tid);
	if (stop.thread->state == THREAD_NEW) {
		stop.thread->is_held = tracer->holds_new && tid != tracer->program;
		tracer->started(tracer->context, tid);
	}
	reactions[event](tracer, &stop);
	return true;
}

static void
release(struct tracer *tracer, struct thread *thread)
{
	if (!thread->is_held)
		return;
	thread->is_held = false;
	if (thread->state == THREAD_HELD)
		resume(tracer, &(struct stop){.thread = thread});
}

void
tracer_release(struct tracer *tracer, pid_t tid)
{
	struct thread *thread = threads_find(&tracer->threads, tid);

	if (thread)
		release(tracer, thread);
}

void
tracer_release_all(struct tracer *tracer)
{
	tracer->holds_new = false;
	for (size_t i = 0; i < THREAD_BUCKETS; i++) {
		for (struct thread *thread = tracer->threads.buckets[i]; thread; thread = thread->next)
			release(tracer, thread);
	}
}

bool
tracer_is_stopped(const struct tracer *tracer)
{
	const struct thread *main_thread = threads_find(&tracer->threads, tracer->program);

	return main_thread && main_thread->state == THREAD_STOPPED;
}

void
tracer_clear(struct tracer *tracer)
{
	threads_clear(&tracer->threads);
}
