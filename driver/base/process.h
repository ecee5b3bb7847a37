/* SPDX-License-Identifier: MIT */
/* Running another program to its end: make, a compiler, gnuplot. It dies with us, and what it prints is kept. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/* How a program ended. Zeroed: nothing ran. */
struct process_result {
	int status;   /* exit status, or -1 when a signal ended it */
	int signal;   /* 0, or the signal                          */
	char *output; /* standard output and error as they came, at most the last 64 KiB; never NULL after process_run
		       */
};

/*
 * Runs argv (NULL-terminated; argv[0] is searched in PATH) in folder (NULL: the current one) with an empty standard
 * input, and waits. The program is killed when this process dies (PR_SET_PDEATHSIG), and gets SIGTERM when
 * rot_interrupted() becomes true. One that is started after an interruption runs to its end: somebody still wants the
 * plots of what is finished. 0 when it ran, however it ended; -1 when it could not be started (not found: *not_found is
 * set, may be NULL) or we were interrupted.
 */
int process_run(const char *const *argv, const char *folder, struct process_result *result, bool *not_found,
		struct rot_error *err);
void process_result_clear(struct process_result *result);

/* A program to run. argv and folder (as above) must stay until it has ended. */
struct process_job {
	const char *const *argv;
	const char *folder;
	bool is_not_found;
	struct process_result result; /* of ended's reader, who clears it */
};

/*
 * Where programs come from. next: the next one, NULL when there are no more. ended: rc as of process_run; err says why
 * it is -1.
 */
struct process_source {
	void *context;
	struct process_job *(*next)(void *context);
	void (*ended)(void *context, struct process_job *job, int rc, const struct rot_error *err);
};

/*
 * Runs all programs of the source, up to nr_at_once at a time, each as process_run does. An interruption stops those
 * that run, and no other is asked for.
 */
void process_run_all(const struct process_source *source, size_t nr_at_once);

/* Characters of output without white space at its end. */
size_t process_output_length(const struct process_result *result);

/*
 * A reader who leaves must not end us before the files are written, and a limit of their size is an error as any other:
 * ignores SIGPIPE and SIGXFSZ. What is started gets them as this process got them: process_restore_signals in its child
 * of fork.
 */
void process_ignore_signals(void);
void process_restore_signals(void);

/*
 * In a fresh child of fork, before exec: makes it die with its parent, whose id before fork is given, and undoes what
 * this process did to signals.
 */
void process_settle_child(pid_t parent);

/* Full path of a program as PATH finds it, or NULL. Fresh memory. */
char *process_find(const char *program);
