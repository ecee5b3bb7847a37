/* SPDX-License-Identifier: MIT */
/*
 * The wire between the two processes of the core: whole messages of one size over a socket pair.
 *
 * The parent owns both ends until the child is started; the child finds the number of its end behind "--wire". The
 * parent reads at all times, so the child may wait in a send. The child reads when it likes: the parent never waits for
 * it, only threads do that it holds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum wire_kind {
	/* child to parent */
	WIRE_STARTUP = 1,  /* argument: runs to come, of all measurements together; sent once, before the first run */
	WIRE_PINNED,       /* argument: a CPU that workloads are to have for themselves; before the first run       */
	WIRE_RUN_STARTED,  /* argument: number of the run, from 1                                                   */
	WIRE_RUN_FINISHED, /* argument: number of the run, from 1                                                   */

	/*
	 * parent to child, about any thread but the main one. STARTED is sent before the thread runs its first user
	 * instruction, EXITED after the last; per thread they come in this order. Without tracing neither is ever sent.
	 */
	WIRE_THREAD_STARTED, /* tid */
	WIRE_THREAD_EXITED,  /* tid */

	/*
	 * child to parent: whether threads shall wait, after STARTED and before their first user instruction, until
	 * READY tells to let them go. HOLDING answers HOLD, in order with STARTED: it stands between the threads that
	 * do not wait and those that do.
	 */
	WIRE_HOLD_THREADS, /* argument: 1 or 0 */
	WIRE_THREAD_READY, /* argument: tid    */
	/*
	 * child to parent: two functions of the child, and that a thread shall call the second by way of the first, at
	 * once, wherever it is (parent/injection/inject.h). Not answered; without tracing nothing comes of it.
	 */
	WIRE_TRAMPOLINE, /* argument: address */
	WIRE_HANDLER,    /* argument: address */
	WIRE_INTERRUPT,  /* argument: tid     */

	/*
	 * child to parent: threads that come to some places shall call a function (common/watch.h), from now on.
	 * WATCHING answers, once the places that are there already were found or not.
	 */
	WIRE_WATCH, /* argument: address of a struct watch_table */

	/*
	 * child to parent: where regions begin that are executed step by step (common/step_counts.h). Not answered;
	 * without tracing there are none.
	 */
	WIRE_STEP, /* argument: address */

	/* child to parent: what kernels have allocated (common/buffers.h), for messages. Not answered. */
	WIRE_BUFFERS, /* argument: address of a struct buffer_table */

	/* parent to child; argument: 1, or 0: the table cannot be read, or -1: nothing is traced */
	WIRE_WATCHING,

	WIRE_HOLDING, /* parent to child; argument: that of HOLD, or -1 if threads cannot be held: nothing is traced */
};

/* Members without a meaning for the kind are 0. */
struct wire_message {
	uint32_t kind; /* enum wire_kind        */
	int32_t tid;   /* thread it is about    */
	int64_t argument;
};

/* A connected pair, both close-on-exec. 0 or -1. */
int wire_open(int ends[2], struct rot_error *err);

/*
 * One message. wait: block until it could be done. 0, or -1 with errno set: EAGAIN (only without wait: no room, or no
 * message), EPIPE (the other process is gone; never raises SIGPIPE), EPROTO (received something that is no message).
 * Both are safe from several threads at once.
 */
int wire_send(int fd, const struct wire_message *message, bool wait);
int wire_receive(int fd, struct wire_message *message, bool wait);
