/* SPDX-License-Identifier: MIT */
/* Starts a program in two steps, so that it can be traced before its first instruction. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/* This process' ends, all close-on-exec; a number is -1 when closed. Nothing there: LAUNCH_NONE. */
struct launch {
	pid_t pid; /* 0: not started, or reaped */
	int wire;
	int output;  /* the child's standard output, does not block */
	int errors;  /* the child's standard error, does not block  */
	int exec_fd; /* ends when the child was started; before that comes a launch_failure, if it could not be */
	int go_fd;   /* the child waits for a byte on it, and gives up at its end */
};

#define LAUNCH_NONE ((struct launch){.wire = -1, .output = -1, .errors = -1, .exec_fd = -1, .go_fd = -1})

/* Why the child could not be started. */
struct launch_failure {
	int step;   /* 0: to execute it; others are known to whoever asked for the process */
	int reason; /* errno */
};

/*
 * Makes a process that waits for launch_go, is killed when this process ends, however that happens, and then calls
 * become, which executes the program or returns why it could not. Its signals are those of this process. 0 or -1: then
 * nothing is there. The ends wire, output and errors are left as they are.
 */
int launch_fork(struct launch *launch, struct launch_failure (*become)(void *context), void *context,
		struct rot_error *err);

/*
 * After exec_fd became readable: true if the program could not be started. exec_fd is closed.
 */
bool launch_failed(struct launch *launch, struct launch_failure *failure);

/*
 * Makes the process of a measuring core, which waits for launch_go and is killed when this process ends, however that
 * happens. It leads a process group of its own, reads nothing, and will run "PROGRAM --command COMMAND --output OUTPUT
 * --wire N". 0 or -1.
 */
int launch_prepare(struct launch *launch, const char *program, const char *command, const char *output,
		   struct rot_error *err);

void launch_go(struct launch *launch);

/* Closes the ends. The process is left to itself. */
void launch_clear(struct launch *launch);

/* Closes *fd unless it is closed, and says so in it. */
void launch_close(int *fd);
