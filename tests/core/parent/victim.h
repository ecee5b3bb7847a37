/* SPDX-License-Identifier: MIT */
/*
 * A child of rot-core that does what the first word of its command file says: well behaved, and not at all. It is built
 * without sanitizers, so that it dies by the signals it earns.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/wire.h"

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);                       \
			exit(9);                                                                                       \
		}                                                                                                      \
	} while (0)

/* The end of the wire to rot-core. */
extern int victim_wire;

/* Where the result is to be written. */
extern const char *victim_output;

void say(enum wire_kind kind, int64_t argument);

/* The next message, which must be of that kind. */
struct wire_message hear(enum wire_kind kind);

void write_output(const char *text);

/* A child's ordinary life: three runs and a result. */
void result(void);

/* Threads that start threads, 64 at a time, without end. */
void breed(void);

/* Never returns. */
void hang(void);

struct act {
	const char *name;
	void (*act)(void);
};

/* Each is ended by an act without a name. */
extern const struct act thread_acts[], signal_acts[];
