/* SPDX-License-Identifier: MIT */
/*
 * See tracer.h. A new thread makes itself known by its own first stop, which may come before or after the clone event
 * of its creator, or without any (its creator was killed); so the clone event is not needed. Only who made a process is
 * known from it.
 */
#include "parent/tracer/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "memory.h"
#include "parent/tracer/refusal.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/restart.h"

enum event {
	EVENT_ENDED,      /* exited or was killed                                             */
	EVENT_PAUSED,     /* first stop of a thread, or the end of a group stop               */
	EVENT_GROUP_STOP, /* stopped with all its process                                     */
	EVENT_EXEC,       /* the program was replaced; the thread now has the program's id    */
	EVENT_REPORT,     /* inside a system call, with nothing to be done                    */
	EVENT_SIGNAL,     /* a signal is about to be delivered                                */
};

/* The signal of a stop at a system call, with PTRACE_O_TRACESYSGOOD. */
#define SYSTEM_STOP (SIGTRAP | 0x80)

/* How often 10 ms another tracer may take to let the program go. */
#define MAX_PAUSES 100

struct stop {
	struct thread *thread;
	int signal;
	enum event event;
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
	if (kind)
		return EVENT_REPORT;
	return WSTOPSIG(status) == SYSTEM_STOP ? EVENT_REPORT : EVENT_SIGNAL;
}

/* Requests that resume a thread fail only because it was killed; its end is reported next. Any stop takes the place of
 * one that was asked for. */
static void
let_run(struct thread *thread, int signal)
{
	if (thread->is_to_pause)
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	ptrace(thread->awaits_return ? PTRACE_SYSCALL : PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
	thread->state = THREAD_RUNNING;
}

static void
resume(struct tracer *tracer, struct stop *stop)
{
	(void)tracer;
	if (stop->thread->is_held) {
		stop->thread->state = THREAD_HELD;
		return;
	}
	let_run(stop->thread, 0);
}

static void
deliver(struct tracer *tracer, struct stop *stop)
{
	(void)tracer;
	let_run(stop->thread, stop->signal);
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
settle(struct tracer *tracer, struct thread *thread)
{
	tracer->nr_unsettled -= thread->is_unsettled;
	thread->is_unsettled = false;
}

static void
end_thread(struct tracer *tracer, struct thread *thread)
{
	settle(tracer, thread);
	tracer->exited(tracer->context, thread);
	threads_remove(&tracer->threads, thread->tid);
}

static void
let_go(struct tracer *tracer, struct thread *thread, int signal)
{
	const bool is_followed = !thread->is_bystander;
	pid_t tid = thread->tid;

	end_thread(tracer, thread);
	if (ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal) == 0)
		tracer->has_left |= is_followed;
}

/*
 * Whichever thread called exec is the main thread now; the old main thread is never reported. All others have ended and
 * were reported.
 */
static void
change_program(struct tracer *tracer, struct stop *stop)
{
	struct thread *thread = stop->thread, *caller = NULL;
	unsigned long message = 0;
	pid_t old_tid = thread->tid;

	if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message) == 0 && (pid_t)message != thread->tid)
		caller = threads_find(&tracer->threads, (pid_t)message);
	if (caller && caller->pid == thread->pid) {
		old_tid = caller->tid;
		end_thread(tracer, thread);
		threads_make_main(&tracer->threads, caller);
		stop->thread = thread = caller;
	}
	if (thread->is_bystander && tracer->may_go(tracer->context, thread)) {
		let_go(tracer, thread, 0);
		return;
	}
	if (tracer->executed && !thread->is_bystander)
		tracer->executed(tracer->context, thread, old_tid);
	resume(tracer, stop);
}

static void (*const reactions[])(struct tracer *, struct stop *) = {
	[EVENT_PAUSED] = resume, [EVENT_GROUP_STOP] = stay_stopped, [EVENT_EXEC] = change_program,
	[EVENT_REPORT] = resume, [EVENT_SIGNAL] = deliver,
};

/* A stopped process stays stopped, and a signal is not lost. */
static void
leave_thread(struct tracer *tracer, struct stop *stop)
{
	int signal = stop->event == EVENT_SIGNAL ? stop->signal : 0;
	const struct tracer_stop shown = {.thread = stop->thread,
					  .signal = signal,
					  .is_inside = stop->event != EVENT_PAUSED && stop->event != EVENT_SIGNAL,
					  .is_stopped = stop->event == EVENT_GROUP_STOP};
	enum tracer_answer answer = TRACER_DELIVER;

	if (tracer->leaving)
		answer = tracer->leaving(tracer->context, &shown);
	if (answer == TRACER_KEEP)
		reactions[stop->event](tracer, stop);
	else
		let_go(tracer, stop->thread, answer == TRACER_RESUME ? 0 : signal);
}

/* Users who have stopped the thread, or want something done in it, come first. */
static void
react(struct tracer *tracer, struct stop *stop)
{
	const struct tracer_stop shown = {.thread = stop->thread,
					  .signal = stop->event == EVENT_SIGNAL ? stop->signal : 0};
	enum tracer_answer answer = TRACER_DELIVER;

	if (tracer->stopped &&
	    ((stop->event == EVENT_PAUSED && !stop->thread->is_bystander) || stop->event == EVENT_SIGNAL))
		answer = tracer->stopped(tracer->context, &shown);
	if (answer == TRACER_DELIVER)
		reactions[stop->event](tracer, stop);
	else if (answer == TRACER_RESUME)
		resume(tracer, stop);
}

/* Where a system call begins, its result is this one already. */
static void
await_return(const struct stop *stop)
{
	struct user_regs_struct registers;

	if (!stop->thread->awaits_return || stop->event != EVENT_REPORT || stop->signal != SYSTEM_STOP ||
	    ptrace(PTRACE_GETREGS, stop->thread->tid, NULL, &registers) < 0 || registers.rax == (uint64_t)-ENOSYS)
		return;
	stop->thread->awaits_return = false;
	stop->thread->is_to_pause = true;
}

/*
 * A visitor's interruption would make some system calls fail as if a signal had come: they are made again, unless one
 * has.
 */
static void
hide_interruption(const struct tracer *tracer, const struct stop *stop)
{
	struct user_regs_struct registers;
	struct restart_again again;

	if (stop->event != EVENT_PAUSED || stop->thread->state != THREAD_RUNNING ||
	    !(tracer->is_attached || tracer->is_leaving))
		return;
	if (remote_get_registers(stop->thread->tid, &registers, NULL) == 0 &&
	    restart_rewind(stop->thread->tid, &registers, &again) && !restart_has_signal(stop->thread->tid))
		remote_set_registers(stop->thread->tid, &registers);
}

/* By fork or vfork a process is made, by clone a process or a thread. */
static void
tell_creation(const struct tracer *tracer, const struct stop *stop, int status)
{
	const int kind = status >> 16;
	const bool is_fork = kind == PTRACE_EVENT_FORK || kind == PTRACE_EVENT_VFORK;
	unsigned long child;

	if ((!is_fork && kind != PTRACE_EVENT_CLONE) || stop->thread->is_bystander ||
	    !(tracer->forked || tracer->created) || ptrace(PTRACE_GETEVENTMSG, stop->thread->tid, NULL, &child) < 0)
		return;
	if (tracer->created)
		tracer->created(tracer->context, stop->thread, (pid_t)child);
	if (is_fork && tracer->forked)
		tracer->forked(tracer->context, stop->thread, (pid_t)child);
}

/* ---- which thread ---- */

long
tracer_options(const struct tracer *tracer)
{
	return PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	       (tracer->is_attached ? 0 : PTRACE_O_EXITKILL) |
	       (tracer->follows_forks || tracer->may_go ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
}

/* The process of a thread that exists. Without an open file to ask with, it counts as its own. */
static pid_t
process_of(const struct tracer *tracer, pid_t tid)
{
	uint64_t pid;

	if (syscall(SYS_tgkill, tracer->program, tid, 0) == 0)
		return tracer->program;
	return proc_status(tid, "Tgid", 10, &pid) ? (pid_t)pid : tid;
}

/* NULL: it is of no process that is followed (the clone system call can also make one), and was let go. */
static struct thread *
find_or_add_thread(struct tracer *tracer, pid_t tid)
{
	struct thread *thread = threads_find(&tracer->threads, tid);
	pid_t pid;

	if (thread)
		return thread;
	pid = process_of(tracer, tid);
	if (pid != tracer->program && !tracer->follows_forks && !tracer->may_go) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return NULL;
	}
	thread = threads_add(&tracer->threads, pid, tid);
	thread->is_bystander = pid != tracer->program && !tracer->follows_forks;
	return thread;
}

/* ---- beginning and end ---- */

static int
refused_to_trace(const struct tracer *tracer, int error, struct rot_error *err)
{
	return refusal_explain("/proc", tracer->program, !tracer->is_attached, error, err);
}

int
tracer_seize(struct tracer *tracer, struct rot_error *err)
{
	if (ptrace(PTRACE_SEIZE, tracer->program, NULL, (void *)tracer_options(tracer)) < 0)
		return refused_to_trace(tracer, errno, err);
	threads_add(&tracer->threads, tracer->program, tracer->program)->state = THREAD_RUNNING;
	return 0;
}

static void
interrupt_thread(void *context, struct thread *thread)
{
	(void)context;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
}

/* 0, or -1 and errno. */
static int
attach_to_thread(struct tracer *tracer, pid_t tid)
{
	struct thread *thread;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)tracer_options(tracer)) < 0)
		return -1;
	thread = threads_add(&tracer->threads, tracer->program, tid);
	thread->state = THREAD_RUNNING;
	thread->is_unsettled = true;
	tracer->nr_unsettled++;
	tracer->started(tracer->context, thread);
	if (tracer->is_settling)
		interrupt_thread(NULL, thread);
	return 0;
}

/*
 * Until there are no more. Those that are traced already were created by a thread that is, and will stop by themselves.
 * Returns 0 if there was any; else why there was none.
 */
static int
attach_to_new(struct tracer *tracer)
{
	autofree char *path = rot_format("/proc/%d/task", (int)tracer->program);
	DIR *tasks = opendir(path);
	int error = tasks || errno == ENOENT ? ESRCH : errno;
	size_t nr = 0, nr_before;

	do {
		struct dirent *task;

		nr_before = nr;
		if (tasks)
			rewinddir(tasks);
		while (tasks && (task = readdir(tasks))) {
			const pid_t tid = (pid_t)atoi(task->d_name);

			if (tid == 0 || threads_find(&tracer->threads, tid))
				continue;
			if (attach_to_thread(tracer, tid) == 0)
				nr++;
			else
				error = errno;
		}
	} while (nr > nr_before);
	if (tasks)
		closedir(tasks);
	return nr > 0 ? 0 : error;
}

/*
 * A thread that another process traces meets our breakpoints in that one's hands, which does not know them: it would
 * die of them. A rot that looked at the program before may just be letting it go.
 */
static bool
has_other_tracer(const struct tracer *tracer)
{
	return refusal_other_tracer("/proc", tracer->program) != 0;
}

int
tracer_attach(struct tracer *tracer, struct rot_error *err)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int error;

	tracer->is_attached = true;
	for (int i = 0; i < MAX_PAUSES && has_other_tracer(tracer); i++)
		nanosleep(&pause, NULL);
	if (has_other_tracer(tracer))
		return refused_to_trace(tracer, EPERM, err);
	error = attach_to_new(tracer);
	if (error)
		return refused_to_trace(tracer, error, err);
	tracer->is_leaderless = !threads_find(&tracer->threads, tracer->program);
	return 0;
}

void
tracer_settle(struct tracer *tracer)
{
	tracer->is_settling = true;
	threads_each(&tracer->threads, interrupt_thread, NULL);
}

bool
tracer_is_settled(struct tracer *tracer)
{
	if (tracer->is_settling && tracer->nr_unsettled == 0) {
		/* Looked for first: one that the other tracer lets go meanwhile is attached to, which takes a round
		 * more. */
		const bool has_other = has_other_tracer(tracer);

		attach_to_new(tracer);
		tracer->is_settling = has_other || tracer->nr_unsettled > 0;
	}
	return tracer->nr_unsettled == 0 && !tracer->is_settling;
}

static void
find_unsettled(void *context, struct thread *thread)
{
	pid_t *tid = context;

	if (thread->is_unsettled)
		*tid = thread->tid;
}

pid_t
tracer_unsettled(struct tracer *tracer)
{
	pid_t tid = 0;

	threads_each(&tracer->threads, find_unsettled, &tid);
	return tid;
}

void
tracer_leave(struct tracer *tracer)
{
	tracer->is_leaving = true;
	threads_each(&tracer->threads, interrupt_thread, NULL);
}

static void
kill_process(void *context, struct thread *thread)
{
	(void)context;
	kill(thread->pid, SIGKILL);
}

void
tracer_kill(struct tracer *tracer)
{
	threads_each(&tracer->threads, kill_process, NULL);
}

struct gone {
	struct tracer *tracer;
	pid_t pid;
};

/* Threads of a process that is gone: one executed a program and was killed before it could be asked its old name. */
static void
end_stray(void *context, struct thread *thread)
{
	const struct gone *gone = context;

	if (thread->pid == gone->pid)
		end_thread(gone->tracer, thread);
}

static void
find_of_program(void *context, struct thread *thread)
{
	pid_t *pid = context;

	if (thread->pid == *pid)
		*pid = 0;
}

/* Has it threads yet? */
static bool
has_program(struct tracer *tracer)
{
	pid_t pid = tracer->program;

	threads_each(&tracer->threads, find_of_program, &pid);
	return pid == 0;
}

static bool
handle_end(struct tracer *tracer, pid_t tid)
{
	struct thread *thread = threads_find(&tracer->threads, tid);

	if (thread) {
		bool is_process = thread->pid == tid;

		end_thread(tracer, thread);
		if (is_process)
			threads_each(&tracer->threads, end_stray, &(struct gone){tracer, tid});
	}
	return tid == tracer->program || (tracer->is_leaderless && !has_program(tracer));
}

bool
tracer_handle(struct tracer *tracer, const struct report *report)
{
	struct stop stop = {.signal = WSTOPSIG(report->status), .event = classify(report->status)};

	if (stop.event == EVENT_ENDED)
		return handle_end(tracer, report->tid);
	stop.thread = find_or_add_thread(tracer, report->tid);
	if (!stop.thread)
		return false;
	settle(tracer, stop.thread);
	tracer->nr_stops++;
	tracer->cost_from_ns = report->time_ns;
	if (stop.thread->state == THREAD_NEW) {
		if (stop.thread->is_bystander && tracer->may_go(tracer->context, stop.thread)) {
			let_go(tracer, stop.thread, 0);
			return false;
		}
		stop.thread->since_ns = report->time_ns;
		stop.thread->is_held =
			tracer->holds_new && report->tid != tracer->program && !stop.thread->is_bystander;
		if (!stop.thread->is_bystander)
			tracer->started(tracer->context, stop.thread);
	}
	tell_creation(tracer, &stop, report->status);
	hide_interruption(tracer, &stop);
	await_return(&stop);
	if (tracer->is_leaving)
		leave_thread(tracer, &stop);
	else
		react(tracer, &stop);
	if (stop.event != EVENT_GROUP_STOP)
		tracer->stopped_ns += clock_raw_ns() - tracer->cost_from_ns;
	return false;
}

static void
release(void *context, struct thread *thread)
{
	if (!thread->is_held)
		return;
	thread->is_held = false;
	if (thread->state == THREAD_HELD)
		resume(context, &(struct stop){.thread = thread});
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
	threads_each(&tracer->threads, release, tracer);
}

void
tracer_resume(struct tracer *tracer, struct thread *thread, int signal)
{
	struct stop stop = {.thread = thread, .signal = signal};

	if (signal)
		deliver(tracer, &stop);
	else
		resume(tracer, &stop);
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
