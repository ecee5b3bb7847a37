/* SPDX-License-Identifier: MIT */
/*
 * Stops a thread in user code, and only there: a perf event that counts its time there and raises a signal. So no
 * system call is ever interrupted. It needs no hardware counter, but Linux 5.13.
 */
#ifndef CORE_PARENT_TRIGGER_H
#define CORE_PARENT_TRIGGER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Of one thread; its descriptor is kept for the next time. None: TRIGGER_NONE. */
struct trigger {
	int fd;
	bool is_armed;
};

#define TRIGGER_NONE ((struct trigger){.fd = -1})

/*
 * From now on the thread's next 10 us of user code end in a stop with SIGTRAP, once. It must not block that signal, or
 * would get it later from wherever it reads its signals. 0, or the errno of the refusal.
 */
int trigger_arm(struct trigger *trigger, pid_t tid);

/* Whether SIGTRAP, about to be delivered to thread tid, is a trigger's. It may still come after the trigger was closed.
 */
bool trigger_raised(const siginfo_t *signal, pid_t tid);

/* Without effect on one that is closed, as if it were never armed. */
void trigger_close(struct trigger *trigger);

#endif
