/* SPDX-License-Identifier: MIT */
/* See loop.h. */
#include "parent/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "parent/launch.h"

/* At once, so that threads without end cannot keep everything else waiting. */
#define BATCH 256

/* ---- statuses ---- */

void
thread_read_name(pid_t tid, char name[NAME_BYTES])
{
	char path[32];
	int fd;
	ssize_t bytes;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	bytes = read(fd, name, NAME_BYTES);
	name[bytes > 0 ? bytes - 1 : 0] = '\0';
	close(fd);
}

/*
 * Takes the status that info announces. False: it was a stop that is none any more, since the thread was killed, or its
 * process goes on after SIGCONT; or one of a child that is not traced, which is nobody's business here.
 */
static bool
take(const struct loop *loop, const siginfo_t *info, struct report *report)
{
	siginfo_t stop = {0};

	*report = (struct report){.tid = info->si_pid};
	if (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED) {
		if (waitid(P_PID, (id_t)info->si_pid, &stop, WSTOPPED | WNOHANG | __WALL) < 0 || stop.si_pid == 0 ||
		    stop.si_code != CLD_TRAPPED)
			return false;
		report->status = stop.si_status << 8 | 0x7f;
	} else {
		if (loop->wants_names)
			thread_read_name(report->tid, report->name);
		if (wait4(info->si_pid, &report->status, __WALL | WNOHANG, &report->usage) <= 0)
			return false;
	}
	report->time_ns = clock_raw_ns();
	return true;
}

/* Collects before it handles, so that a thread that stops over and over cannot keep the others waiting. */
static void
handle_children(struct loop *loop)
{
	struct report seen[BATCH];
	siginfo_t info;
	size_t nr = 0;
	int rc = 0;

	while (nr < BATCH) {
		info.si_pid = 0;
		rc = waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL);
		if (rc < 0 || info.si_pid == 0)
			break;
		nr += take(loop, &info, &seen[nr]);
	}
	for (size_t i = 0; i < nr; i++)
		loop->is_over |= loop->report(loop->context, &seen[i]);
	if (rc < 0 && nr == 0 && loop->is_draining)
		loop->no_children(loop->context);
	loop->has_more_children = nr == BATCH || (nr > 0 && loop->is_draining);
}

/* ---- signals and time ---- */

static void
on_signal(void *context)
{
	struct loop *loop = context;
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			loop->signal(loop->context, &info);
	}
	loop->has_more_children = true;
}

static void
on_timer(void *context)
{
	struct loop *loop = context;

	launch_close(&loop->timer_fd);
	loop->late(loop->context);
	loop->has_more_children = true;
}

static bool
is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int
loop_open(struct loop *loop, const int *signals, struct rot_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (; *signals; signals++) {
		if (!is_ignored(*signals))
			sigaddset(&set, *signals);
	}
	loop->old_pipe_handler = signal(SIGPIPE, SIG_IGN);
	loop->old_child_handler = signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &loop->old_mask);
	loop->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return loop->signal_fd < 0 ? rot_error_set(err, errno, "cannot wait for signals") : 0;
}

void
loop_restore_signals(const struct loop *loop)
{
	signal(SIGPIPE, loop->old_pipe_handler);
	signal(SIGCHLD, loop->old_child_handler);
	sigprocmask(SIG_SETMASK, &loop->old_mask, NULL);
}

int
loop_set_time_limit(struct loop *loop, double seconds, struct rot_error *err)
{
	struct itimerspec limit = {0};

	if (seconds <= 0)
		return 0;
	launch_close(&loop->timer_fd);
	limit.it_value.tv_sec = (time_t)seconds;
	limit.it_value.tv_nsec = (long)(fmod(seconds, 1) * 999999999) + 1;
	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (loop->timer_fd < 0 || timerfd_settime(loop->timer_fd, 0, &limit, NULL) < 0)
		return rot_error_set(err, errno, "cannot set the time limit to %g s", seconds);
	return 0;
}

/* ---- the loop ---- */

static void
turn(struct loop *loop, bool wait)
{
	const struct source own[] = {{&loop->signal_fd, 0, on_signal}, {&loop->timer_fd, 0, on_timer}};
	const size_t nr_own = sizeof(own) / sizeof(own[0]), nr = nr_own + loop->nr_sources;
	struct pollfd fds[sizeof(own) / sizeof(own[0]) + LOOP_MAX_SOURCES];

	for (size_t i = 0; i < nr; i++) {
		const struct source *source = i < nr_own ? &own[i] : &loop->sources[i - nr_own];

		fds[i] = (struct pollfd){.fd = *source->fd, .events = POLLIN | source->extra_events};
	}
	poll(fds, nr, wait ? -1 : 0);
	for (size_t i = 0; i < nr; i++) {
		const struct source *source = i < nr_own ? &own[i] : &loop->sources[i - nr_own];

		if (fds[i].revents && *source->fd >= 0)
			source->handle(i < nr_own ? loop : loop->context);
	}
	if (loop->has_more_children && !loop->is_over)
		handle_children(loop);
}

void
loop_run(struct loop *loop)
{
	loop->has_more_children = true;
	while (!loop->is_over)
		turn(loop, !loop->has_more_children);
}

void
loop_turn(struct loop *loop)
{
	turn(loop, false);
}

void
loop_close(struct loop *loop)
{
	if (loop->signal_fd >= 0)
		loop_restore_signals(loop);
	launch_close(&loop->signal_fd);
	launch_close(&loop->timer_fd);
}
