/* SPDX-License-Identifier: MIT */
/* Runs the child from start to end: traces it, relays between it and the driver, keeps what it prints, ends it when it
 * must. */
#ifndef CORE_PARENT_SUPERVISOR_SUPERVISOR_H
#define CORE_PARENT_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/* What is to be run; strings are borrowed. */
struct request {
	const char *child; /* NULL: somebody else's program, which supervise cannot run */
	const char *command;
	const char *output;
	double time_limit_s;  /* for all runs together; 0: none           */
	int progress_fd;      /* one line "run I of N" per run; -1: none  */
	bool is_listing;      /* nothing is run: the code of a function is listed */
	bool leads_parent;    /* stops the parent when somebody else's program stops, and lets it go on with it */
	const char *foreseen; /* folder where it is kept what programs execute; NULL: nowhere     */
};

/* How it went. Zeroed: nothing there. */
struct outcome {
	int status;         /* as of waitpid                                                    */
	int exec_errno;     /* not 0: the child could not be started                            */
	int interrupted_by; /* SIGTERM, SIGINT or SIGHUP that this process got, for which the child was killed; or 0 */
	char *fault;        /* where it raised the signal that ended it, or NULL                */
	bool is_late;       /* the child was killed because of the time limit                   */
	bool was_stopped;   /* is_late, and it was waiting for SIGCONT                          */
	bool was_counting;  /* is_late, and a region was being counted without counters       */
	int64_t run;        /* number of the last run that began, from 1; 0: none did           */
	bool is_in_run;     /* that run did not finish                                          */
	int64_t nr_runs;    /* to be done; 0: the child never said                              */
	char *output;       /* what the child printed, the end of it; never NULL after success  */
	char *errors;
};

/*
 * Returns when the child and its process group are gone. A system that forbids tracing gets a warning on standard
 * error, and the child runs untraced. -1: could not even begin.
 */
int supervise(const struct request *request, struct outcome *outcome, struct rot_error *err);

void outcome_clear(struct outcome *outcome);

#endif
