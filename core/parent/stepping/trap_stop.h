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

/* Takes the stop of a stopped thread: the loop will not tell of it. */
bool trap_stop_take(pid_t tid);

#endif
