/* SPDX-License-Identifier: MIT */
/* Runs the child from start to end: traces it, relays between it and the driver, keeps what it prints, ends it when it
 * must. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire.h"
#include "error.h"

/* Strings are borrowed. */
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

/* ---- messages to the child ---- */

/* Zeroed: empty. */
struct outbox {
	struct wire_message *messages;
	size_t first, end, room; /* waiting are [first, end) */
};

void outbox_add(struct outbox *outbox, const struct wire_message *message);

/* Sends what the wire takes, in order. A child that is gone reads nothing: everything is dropped then. */
void outbox_flush(struct outbox *outbox, int wire);

bool outbox_is_empty(const struct outbox *outbox);

void outbox_clear(struct outbox *outbox);

/* ---- what a child prints ---- */

#define TAIL_BYTES 16384

/* Zeroed: nothing was seen. */
struct tail {
	size_t seen; /* bytes; the last TAIL_BYTES of them are kept */
	char bytes[TAIL_BYTES];
};

/*
 * Takes all that can be read from fd, which must not block, up to a limit that leaves time for other things. Returns
 * false when fd has ended.
 */
bool tail_read(struct tail *tail, int fd);

/*
 * The kept bytes as text in fresh memory: NUL bytes become '?'; where the beginning is missing, a first line says so.
 */
char *tail_text(const struct tail *tail);
