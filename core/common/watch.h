/* SPDX-License-Identifier: MIT */
/*
 * Places in the code of the child at which rules want to know of threads: a table in the memory of the child, which the
 * parent reads, and writes what became of them. A thread that comes to one calls the handler itself, by way of the
 * trampoline (parent/injection/inject.h).
 */
#pragma once

#include <stdint.h>

#define WATCH_PLACE_BYTES 512
#define WATCH_EVENT_BYTES 16
#define WATCH_ERROR_BYTES 1024

/*
 * place, event: as in BreakpointEventPredicate.   first_hit, last_hit: of each thread's hits in a run, those that
 * anybody wants to know of; last_hit 0: all that follow.
 */
struct watch_entry {
	char place[WATCH_PLACE_BYTES];
	char event[WATCH_EVENT_BYTES];
	int64_t first_hit, last_hit;

	/* by the parent. error: why it is not observed; "" if it is */
	char error[WATCH_ERROR_BYTES];
};

/* handler: called with the index of the entry, and which of the thread's hits there it is, from 1. */
struct watch_table {
	uint64_t trampoline, handler;
	uint64_t entries; /* address of the first */
	uint64_t nr;
};
