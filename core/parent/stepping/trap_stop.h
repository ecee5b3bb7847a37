/* SPDX-License-Identifier: MIT */
/* Stops of threads at traps, waited for where a thread is stepped rather than in the tracer's loop. */
#ifndef CORE_PARENT_STEPPING_TRAP_STOP_H
#define CORE_PARENT_STEPPING_TRAP_STOP_H

#include <stdbool.h>
#include <sys/types.h>

#include "parent/tracer/thread.h"

/* Is the thread stopped at a trap? The stop is not taken. */
bool trap_stop_is_there(pid_t tid);

/* Likewise, but waits until it is, or something else is to be seen to, which the loop does: false. */
bool trap_stop_await(const struct thread *thread);

/*
 * What the SIGTRAP is of that a thread is stopped with: an int3 that it has executed, a single step of the tracer's or
 * the thread's own, somebody who has sent it (kill, tgkill, a timer); or something else.
 */
enum trap_cause { TRAP_CAUSE_INT3, TRAP_CAUSE_STEP, TRAP_CAUSE_SENT, TRAP_CAUSE_OTHER };
enum trap_cause trap_stop_cause(pid_t tid);

/* Takes the stop of a stopped thread: the loop will not tell of it. */
bool trap_stop_take(pid_t tid);

#endif
