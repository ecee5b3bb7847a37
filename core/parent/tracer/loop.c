/* SPDX-License-Identifier: MIT */
#include "parent/tracer/loop.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "parent/tracer/launch.h"

/* At once, so that threads without end cannot keep everything else waiting. */
#define BATCH 256

/* One of each number can be pending. */
#define NR_SIGNALS 8

/* Once in so many turns the other sources are asked as well, even if signals come all the time. */
#define TURNS_OF_SIGNALS 8

/*
 * Collects before it handles, so that a thread that stops over and over cannot keep the others waiting. Those who
 * created a thread can go on at once, while much is to be done for the new one.
 */
static void
handle_children(struct loop *loop)
{
	struct report taken[BATCH];
	size_t nr = reports_take(&loop->reports, taken, BATCH, &loop->rest);

	loop->is_busy |= nr > 1;
	for (int is_creation = 1; is_creation >= 0; is_creation--) {
		for (size_t i = 0; i < nr; i++)
			if (report_is_creation(&taken[i]) == is_creation)
				loop->is_over |= loop->report(loop->context, &taken[i]);
	}
	if (!loop->is_draining)
		return;
	if (loop->rest == REPORTS_NO_CHILDREN)
		loop->no_children(loop->context);
	else if (nr > 0)
		loop->rest = REPORTS_MORE;
}

/* ---- signals and time ---- */

/* False: there was none. */
static bool
handle_signals(struct loop *loop)
{
	struct signalfd_siginfo infos[NR_SIGNALS];
	ssize_t bytes = read(loop->signal_fd, infos, sizeof(infos));

	if (bytes <= 0)
		return false;
	for (size_t i = 0; i < (size_t)bytes / sizeof(infos[0]); i++) {
		if (infos[i].ssi_signo != SIGCHLD) {
			loop->signal(loop->context, &infos[i]);
			continue;
		}
		reports_announce(&loop->reports, (pid_t)infos[i].ssi_pid);
		if (loop->child_signal)
			loop->child_signal(loop->context);
	}
	loop->rest = REPORTS_MORE;
	return true;
}

static void
on_signal(void *context)
{
	handle_signals(context);
}

void
loop_take_signals(struct loop *loop)
{
	while (handle_signals(loop))
		;
}

static void
on_timer(void *context)
{
	struct loop *loop = context;

	launch_close(&loop->timer_fd);
	loop->late(loop->context);
	loop->rest = REPORTS_MORE;
}

int
loop_open(struct loop *loop, const int *signals, struct rot_error *err)
{
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (; *signals; signals++)
		if (sigaction(*signals, NULL, &action) < 0 || action.sa_handler != SIG_IGN)
			sigaddset(&set, *signals);
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

static const int wait_ms[] = {
	[REPORTS_NONE] = -1, [REPORTS_MORE] = 0, [REPORTS_LATER] = REPORTS_LATER_MS, [REPORTS_NO_CHILDREN] = -1};

/* False: nothing came. */
static bool
turn(struct loop *loop, int timeout_ms)
{
	const struct source own[] = {{&loop->signal_fd, 0, on_signal}, {&loop->timer_fd, 0, on_timer}};
	const size_t nr_own = sizeof(own) / sizeof(own[0]), nr = nr_own + loop->nr_sources;
	struct pollfd fds[sizeof(own) / sizeof(own[0]) + LOOP_MAX_SOURCES];
	int nr_ready;

	for (size_t i = 0; i < nr; i++) {
		const struct source *source = i < nr_own ? &own[i] : &loop->sources[i - nr_own];

		fds[i] = (struct pollfd){.fd = *source->fd, .events = POLLIN | source->extra_events};
	}
	nr_ready = poll(fds, nr, timeout_ms);
	if (nr_ready == 0 && loop->rest == REPORTS_LATER)
		loop->rest = REPORTS_MORE;
	for (size_t i = 0; i < nr; i++) {
		const struct source *source = i < nr_own ? &own[i] : &loop->sources[i - nr_own];

		if (fds[i].revents && *source->fd >= 0)
			source->handle(i < nr_own ? loop : loop->context);
	}
	if (loop->rest == REPORTS_MORE && !loop->is_over)
		handle_children(loop);
	return nr_ready != 0;
}

/*
 * Where many threads report, the next SIGCHLD is there before what the last one told of is handled. To read it is one
 * system call, to wait for it first another. False: it is to be waited for.
 */
static bool
turn_of_signals(struct loop *loop)
{
	if (!loop->is_busy || ++loop->nr_turns % TURNS_OF_SIGNALS == 0)
		return false;
	loop->is_busy = handle_signals(loop);
	if (loop->is_busy && !loop->is_over)
		handle_children(loop);
	return loop->is_busy;
}

void
loop_run(struct loop *loop)
{
	bool has_work = true; /* there may be some for idle */

	loop->rest = REPORTS_MORE;
	while (!loop->is_over) {
		const bool is_idle = has_work && loop->idle && loop->rest == REPORTS_NONE;

		if (turn_of_signals(loop) || turn(loop, is_idle ? 0 : wait_ms[loop->rest]))
			has_work = true;
		else if (is_idle)
			has_work = loop->idle(loop->context);
	}
}

void
loop_turn(struct loop *loop)
{
	turn(loop, 0);
}

void
loop_close(struct loop *loop)
{
	if (loop->signal_fd >= 0)
		loop_restore_signals(loop);
	launch_close(&loop->signal_fd);
	launch_close(&loop->timer_fd);
}
