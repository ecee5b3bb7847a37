/* SPDX-License-Identifier: MIT */
/* What running a function does to a stopped thread, and how that is undone; a part of inject.h. */
#ifndef CORE_PARENT_INJECTION_INJECT_THREAD_H
#define CORE_PARENT_INJECTION_INJECT_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "parent/injection/inject.h"
#include "parent/tracer/restart.h"

/* A thread as it was. Zeroed: nothing is saved. kept: a signal that was sent to it while a function ran, or 0. */
struct injected_thread {
	struct user_regs_struct registers;
	uint64_t mask;
	void *vectors; /* NT_X86_XSTATE */
	size_t vectors_bytes, vectors_room;
	uint64_t done; /* the address behind the trampoline */
	int kept;
	siginfo_t kept_info;
};

enum injected_status { INJECTED_READY, INJECTED_IMPOSSIBLE, INJECTED_KILLED };

/*
 * Saves the thread, and holds up its signals. Out of a restartable sequence it goes on at the handler of that; again
 * as of restart_rewind.
 */
enum injected_status
injected_thread_save(struct injected_thread *thread, pid_t tid, struct restart_again *again, unsigned neglects);

/* It is to call the function when it is resumed. */
void
injected_thread_call(struct injected_thread *thread, pid_t tid, const struct injection *injection, unsigned neglects);

enum inside {
	INSIDE_DONE,    /* the function returned, outcome->value                           */
	INSIDE_FAULTED, /* it raised the signal, at outcome->address                       */
	INSIDE_KEPT,    /* it was sent to the thread, which will get it from _restore      */
	INSIDE_FOREIGN, /* to be delivered                                                 */
};

/* What a signal means that is about to be delivered while the function runs. */
enum inside
injected_thread_judge(struct injected_thread *thread, pid_t tid, int signal, struct injection_outcome *outcome);

/* In a stop for a signal: puts back what was saved. Returns the signal to deliver then, or 0. */
int injected_thread_restore(struct injected_thread *thread, pid_t tid, unsigned neglects);

/* Before a signal is delivered: the call that was to be made again fails. */
void injected_thread_fail(const struct restart_again *again, pid_t tid);

void injected_thread_clear(struct injected_thread *thread);

#endif
