/* SPDX-License-Identifier: MIT */
/* Runs a program under the tracer with images, for tests: everything between traced_begin and traced_run is its own. */
#pragma once

#include "parent/breakpoints/image.h"
#include "parent/tracer/tracer.h"

struct traced {
	struct tracer tracer;
	struct images images;
	int status; /* of the program, when it has ended */
	int nr_bystanders;
	bool leaves; /* lets everything go at the next stop */

	/* may be set before traced_run; context of the images is the struct */
	bool (*turn)(struct traced *traced);                           /* after each report; true: leave  */
	void (*stopped)(struct traced *traced, struct thread *thread); /* at every stop, before it is answered */
};

/* Starts a program, NULL-terminated arguments, that stands before its first instruction; output 2 is ours, 1 goes to
 * /dev/null. -1: ptrace is refused. */
int traced_begin(struct traced *traced, const char *const *arguments);

/* Traces a process that runs already. */
int traced_attach(struct traced *traced, pid_t pid);

/* Until nothing is left to wait for. */
void traced_run(struct traced *traced);

/* Suites of it need this: the machine lets processes be traced; else false, after a message. */
bool traced_probe(void);
