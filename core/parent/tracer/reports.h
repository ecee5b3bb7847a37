/* SPDX-License-Identifier: MIT */
/*
 * Takes from the system what children and traced threads have to tell.
 *
 * To ask for any of them, the system walks through all: 2 ms with 20 000 idle threads. With many threads those are
 * asked that have just been heard of, by their numbers; since a second SIGCHLD is lost while one is pending, all are
 * asked when it gets quiet, and from time to time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/proc.h"
#include "parent/tracer/thread.h"

/* A status of a child or of a traced thread, taken from the system. */
struct report {
	pid_t tid;
	int status;       /* as of waitpid                                                       */
	uint64_t time_ns; /* clock_raw_ns when it was taken                                      */
	struct rusage
		usage; /* at the end of the process that usage_of names: of it, and of the children it waited for */
	char name[THREAD_NAME_BYTES]; /* of one that ended: its name, if it was wanted; else empty           */
};

/*
 * To ask for a name costs a third of what else is done for a thread. Of many threads (REPORTS_NAMES) those are asked
 * for that lived for a while.
 */
enum reports_names { REPORTS_NO_NAMES, REPORTS_NAMES, REPORTS_ALL_NAMES };

#define REPORTS_MANY_NAMES 1024
#define REPORTS_SHORT_LIFE_NS 10000000

#define REPORTS_NR_RECENT 8
#define REPORTS_NR_EXPECTED 64

/* Zeroed: ready. */
struct reports {
	enum reports_names names;
	pid_t usage_of;                /* 0: nobody. The system goes through all threads of a process for it */
	const struct threads *threads; /* those that have reported already; NULL: few. Borrowed */

	/* its own */
	pid_t recent[REPORTS_NR_RECENT];     /* heard of last; 0: nobody             */
	pid_t expected[REPORTS_NR_EXPECTED]; /* created, and not heard of; 0: nobody */
	size_t nr_expected;                  /* so far: the next goes to that modulo their number */
	uint64_t ask_all_ns;                 /* when that is due                     */
	size_t nr_names;                     /* so far                               */
	size_t nr_stops;                     /* among those taken last               */
};

/* More reports that are to be expected. */
enum reports_rest {
	REPORTS_NONE,        /* nothing, until SIGCHLD comes                    */
	REPORTS_MORE,        /* maybe more at once                              */
	REPORTS_LATER,       /* maybe something that no signal will tell of: ask again in REPORTS_LATER_MS */
	REPORTS_NO_CHILDREN, /* nothing ever: there is nobody left              */
};

#define REPORTS_LATER_MS 2

/* A SIGCHLD told of tid. */
void reports_announce(struct reports *reports, pid_t tid);

/*
 * Takes up to most reports without waiting. Those of one thread are in order; stops of children that are not traced are
 * nobody's business, and dropped. Returns how many.
 */
size_t reports_take(struct reports *reports, struct report *taken, size_t most, enum reports_rest *rest);

/* A stop of a thread that created another: it may be handled before all others of the same call. */
bool report_is_creation(const struct report *report);
