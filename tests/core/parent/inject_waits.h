/* SPDX-License-Identifier: MIT */
/* System calls that wait, and what ends the waiting. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * wait: makes the call once; true if it did all that it should. Many calls wait for a whole while.
 * wake: called by another thread, again and again, with the waiting thread's id; NULL: time ends it.
 */
struct wait {
	const char *name;
	bool (*wait)(void);
	void (*wake)(pid_t tid);
};

/* semaphores: of System V, to be removed by whoever ends last. 0 or -1. */
int waits_open(int *semaphores);

/* NULL: there is none of that name. */
const struct wait *waits_find(const char *name);
