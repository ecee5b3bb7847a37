/* SPDX-License-Identifier: MIT */
/* One loop waits for everything that can happen to processes under control; nothing that it calls may block. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include "error.h"
#include "parent/tracer/reports.h"

/* Something to read from. The function may close *fd and set it to -1. */
struct source {
	int *fd;
	short extra_events; /* besides POLLIN */
	void (*handle)(void *context);
};

#define LOOP_MAX_SOURCES 8

struct loop {
	void *context; /* for all that follows; any but report may be NULL */

	/* Returns true if this was the last that matters. */
	bool (*report)(void *context, const struct report *report);

	/* While is_draining: nothing is left to wait for, neither children nor traced threads. */
	void (*no_children)(void *context);
	bool is_draining; /* may be set by any of these functions */

	void (*signal)(void *context, const struct signalfd_siginfo *info);
	void (*child_signal)(void *context); /* SIGCHLD came; may be NULL as well, where signals come */
	void (*late)(void *context);
	bool (*idle)(void *context); /* does a little that can wait, while nothing comes; true: there is more */
	struct source sources[LOOP_MAX_SOURCES];
	size_t nr_sources;

	/* Set it to leave the loop. */
	bool is_over;

	struct reports reports; /* its first part may be set */

	/* the loop's own */
	int signal_fd, timer_fd;
	enum reports_rest rest; /* of what no signal will tell of */
	bool is_busy;           /* several have reported at once, and SIGCHLD has come each time since then */
	unsigned nr_turns;
	sigset_t old_mask;
	void (*old_child_handler)(int), (*old_pipe_handler)(int);
};

#define LOOP_NONE ((struct loop){.signal_fd = -1, .timer_fd = -1})

/*
 * From now on SIGCHLD and the given signals (0-terminated) are handled by the loop, except those that whoever started
 * us wants to be ignored (nohup); SIGPIPE is ignored. 0 or -1.
 */
int loop_open(struct loop *loop, const int *signals, struct rot_error *err);

/* Signals in a new process as they were before loop_open. */
void loop_restore_signals(const struct loop *loop);

/* late is called once, that long from now. 0 or below: never. */
int loop_set_time_limit(struct loop *loop, double seconds, struct rot_error *err);

/* Hands the signals on that are pending. */
void loop_take_signals(struct loop *loop);

/* Until is_over. */
void loop_run(struct loop *loop);

/* Handles what is there, and does not wait. */
void loop_turn(struct loop *loop);

/* Signals are as they were before. */
void loop_close(struct loop *loop);
