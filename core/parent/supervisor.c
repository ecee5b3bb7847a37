/* SPDX-License-Identifier: MIT */
/* See supervisor.h. One loop waits for everything that can happen; nothing in it blocks elsewhere. */
#include "parent/supervisor.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/wire.h"
#include "memory.h"
#include "parent/launch.h"
#include "parent/outbox.h"
#include "parent/tail.h"
#include "parent/tracer.h"

struct supervisor {
	const struct request *request;
	struct outcome *outcome;
	struct launch launch;
	struct tracer tracer;
	bool is_traced;
	bool is_over;
	bool has_more_children; /* that no signal will tell of */
	struct outbox outbox;
	struct tail output, errors;
	int signal_fd;
	int timer_fd;
};

static const int stop_signals[] = {SIGTERM, SIGINT, SIGHUP};

/* ---- threads: tracer to wire ---- */

static void
notify(struct supervisor *self, enum wire_kind kind, pid_t tid)
{
	struct wire_message message = {.kind = kind, .tid = tid};

	if (self->launch.wire < 0)
		return;
	outbox_add(&self->outbox, &message);
	outbox_flush(&self->outbox, self->launch.wire);
}

static void
thread_started(void *self, pid_t tid)
{
	notify(self, WIRE_THREAD_STARTED, tid);
}

static void
thread_exited(void *self, pid_t tid)
{
	notify(self, WIRE_THREAD_EXITED, tid);
}

/* Answered in order with the threads that start. */
static void
on_hold_threads(struct supervisor *self, int64_t is_wanted)
{
	struct wire_message answer = {.kind = WIRE_HOLDING, .argument = self->is_traced ? is_wanted : -1};

	self->tracer.holds_new = self->is_traced && is_wanted;
	outbox_add(&self->outbox, &answer);
	outbox_flush(&self->outbox, self->launch.wire);
}

static void
on_thread_ready(struct supervisor *self, int64_t tid)
{
	tracer_release(&self->tracer, (pid_t)tid);
}

static bool
handle_status(struct supervisor *self, pid_t tid, int status)
{
	if (self->is_traced)
		return tracer_handle(&self->tracer, tid, status);
	return tid != self->launch.pid;
}

/*
 * Collects before it handles, so that a thread that stops over and over cannot keep the others waiting, and returns
 * after one batch, so that threads without end cannot keep everything else waiting.
 */
static void
handle_children(struct supervisor *self)
{
	struct {
		pid_t tid;
		int status;
	} seen[1024];
	const size_t room = sizeof(seen) / sizeof(seen[0]);
	size_t nr;

	for (nr = 0; nr < room; nr++) {
		seen[nr].tid = waitpid(-1, &seen[nr].status, __WALL | WNOHANG);
		if (seen[nr].tid <= 0)
			break;
	}
	self->has_more_children = nr == room;
	for (size_t i = 0; i < nr; i++) {
		if (!handle_status(self, seen[i].tid, seen[i].status)) {
			self->outcome->status = seen[i].status;
			self->is_over = true;
		}
	}
}

/* ---- what can happen ---- */

static void
on_signal(struct supervisor *self)
{
	struct signalfd_siginfo info;

	while (read(self->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		self->outcome->interrupted_by = (int)info.ssi_signo;
		kill(self->launch.pid, SIGKILL);
	}
	self->has_more_children = true;
}

static void
on_timer(struct supervisor *self)
{
	launch_close(&self->timer_fd);
	self->outcome->is_late = true;
	self->outcome->was_stopped = self->is_traced && tracer_is_stopped(&self->tracer);
	kill(self->launch.pid, SIGKILL);
}

static void
on_startup(struct supervisor *self, int64_t nr_runs)
{
	self->outcome->nr_runs = nr_runs;
}

static void
on_run_started(struct supervisor *self, int64_t run)
{
	self->outcome->run = run;
	self->outcome->is_in_run = true;
}

/* A driver that does not read, or is gone, misses progress and nothing else. */
static void
on_run_finished(struct supervisor *self, int64_t run)
{
	struct pollfd progress = {.fd = self->request->progress_fd, .events = POLLOUT};
	char line[64];
	int length =
		snprintf(line, sizeof(line), "run %lld of %lld\n", (long long)run, (long long)self->outcome->nr_runs);

	self->outcome->is_in_run = false;
	if (poll(&progress, 1, 0) == 1 && (progress.revents & POLLOUT) && write(progress.fd, line, (size_t)length) < 0)
		return;
}

static void (*const wire_handlers[])(struct supervisor *, int64_t) = {
	[WIRE_STARTUP] = on_startup,           [WIRE_RUN_STARTED] = on_run_started,
	[WIRE_RUN_FINISHED] = on_run_finished, [WIRE_HOLD_THREADS] = on_hold_threads,
	[WIRE_THREAD_READY] = on_thread_ready,
};

static void
on_wire(struct supervisor *self)
{
	const size_t nr_handlers = sizeof(wire_handlers) / sizeof(wire_handlers[0]);
	struct wire_message message;

	outbox_flush(&self->outbox, self->launch.wire);
	while (wire_receive(self->launch.wire, &message, false) == 0) {
		if (message.kind < nr_handlers && wire_handlers[message.kind])
			wire_handlers[message.kind](self, message.argument);
	}
	if (errno != EAGAIN) {
		launch_close(&self->launch.wire);
		tracer_release_all(&self->tracer);
	}
}

static void
on_output(struct supervisor *self)
{
	if (!tail_read(&self->output, self->launch.output))
		launch_close(&self->launch.output);
}

static void
on_errors(struct supervisor *self)
{
	if (!tail_read(&self->errors, self->launch.errors))
		launch_close(&self->launch.errors);
}

static void
on_exec(struct supervisor *self)
{
	int reason;

	if (read(self->launch.exec_fd, &reason, sizeof(reason)) == (ssize_t)sizeof(reason))
		self->outcome->exec_errno = reason;
	launch_close(&self->launch.exec_fd);
}

/* ---- from start to end ---- */

static bool
is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Signals become readable, except those that whoever started us wants to be ignored (nohup). */
static int
open_signals(struct supervisor *self, struct rot_error *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++) {
		if (!is_ignored(stop_signals[i]))
			sigaddset(&set, stop_signals[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	self->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return self->signal_fd < 0 ? rot_error_set(err, errno, "cannot wait for signals") : 0;
}

static int
open_timer(struct supervisor *self, struct rot_error *err)
{
	double seconds = self->request->time_limit_s;
	struct itimerspec limit = {0};

	if (seconds <= 0)
		return 0;
	limit.it_value.tv_sec = (time_t)seconds;
	limit.it_value.tv_nsec = (long)(fmod(seconds, 1) * 999999999) + 1;
	self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (self->timer_fd < 0 || timerfd_settime(self->timer_fd, 0, &limit, NULL) < 0)
		return rot_error_set(err, errno, "cannot set the time limit to %g s", seconds);
	return 0;
}

static int
start(struct supervisor *self, struct rot_error *err)
{
	const struct request *request = self->request;
	struct rot_error refused = {0};

	if (open_signals(self, err) < 0 ||
	    launch_prepare(&self->launch, request->child, request->command, request->output, err) < 0)
		return -1;
	self->tracer = (struct tracer){
		.program = self->launch.pid, .started = thread_started, .exited = thread_exited, .context = self};
	self->is_traced = tracer_seize(&self->tracer, &refused) == 0;
	if (!self->is_traced)
		fprintf(stderr,
			"rot-core: warning: %s; measuring without tracing: threads that nobody measures stay unknown\n"
			"rot-core: hint: %s\n",
			refused.text, refused.hint);
	if (open_timer(self, err) < 0)
		return -1;
	launch_go(&self->launch);
	return 0;
}

/* Waits for anything to happen, or looks only, and handles it. */
static void
turn(struct supervisor *self, bool wait)
{
	struct {
		int *fd;
		short extra_events;
		void (*handle)(struct supervisor *);
	} sources[] = {
		{&self->signal_fd, 0, on_signal},
		{&self->timer_fd, 0, on_timer},
		{&self->launch.wire, outbox_is_empty(&self->outbox) ? 0 : POLLOUT, on_wire},
		{&self->launch.output, 0, on_output},
		{&self->launch.errors, 0, on_errors},
		{&self->launch.exec_fd, 0, on_exec},
	};
	const size_t nr = sizeof(sources) / sizeof(sources[0]);
	struct pollfd fds[sizeof(sources) / sizeof(sources[0])];

	for (size_t i = 0; i < nr; i++)
		fds[i] = (struct pollfd){.fd = *sources[i].fd, .events = POLLIN | sources[i].extra_events};
	poll(fds, nr, wait ? -1 : 0);
	for (size_t i = 0; i < nr; i++) {
		if (fds[i].revents && *sources[i].fd >= 0)
			sources[i].handle(self);
	}
	if (self->has_more_children && !self->is_over)
		handle_children(self);
}

/* Kills what is left of the child and what it started, also when it never got to run. */
static void
finish(struct supervisor *self)
{
	if (self->launch.pid > 0) {
		kill(-self->launch.pid, SIGKILL);
		while (!self->is_over && waitpid(self->launch.pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	launch_clear(&self->launch);
	launch_close(&self->timer_fd);
	launch_close(&self->signal_fd);
	tracer_clear(&self->tracer);
	outbox_clear(&self->outbox);
}

int
supervise(const struct request *request, struct outcome *outcome, struct rot_error *err)
{
	struct supervisor *self = rot_calloc(1, sizeof(*self));
	int rc;

	*outcome = (struct outcome){0};
	*self = (struct supervisor){
		.request = request, .outcome = outcome, .launch = LAUNCH_NONE, .signal_fd = -1, .timer_fd = -1};
	rc = start(self, err);
	if (rc == 0) {
		while (!self->is_over)
			turn(self, !self->has_more_children);
		turn(self, false); /* its last words */
		outcome->output = tail_text(&self->output);
		outcome->errors = tail_text(&self->errors);
	}
	finish(self);
	free(self);
	return rc;
}

void
outcome_clear(struct outcome *outcome)
{
	free(outcome->output);
	free(outcome->errors);
	*outcome = (struct outcome){0};
}
