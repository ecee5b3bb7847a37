/* SPDX-License-Identifier: MIT */
/*
 * System calls that are interrupted by a stop, and what the program sees of it. Most are begun anew by the kernel or
 * by themselves; others fail with EINTR although no signal came, or end early with a part of their work. Source:
 * signal(7), "Interruption of system calls and library functions by stop signals".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum restart_place {
	RESTART_ON_CPU,   /* it runs, or could, or has just been stopped in user code                   */
	RESTART_UNHARMED, /* it waits in a system call that goes on as if it had not been interrupted */
	RESTART_HARMED,   /* it waits in another one, or in one that is not known to be harmless      */
	RESTART_UNKNOWN,  /* the system does not tell                                                 */
};

/* Where a running thread is at this moment. */
enum restart_place restart_find(pid_t tid);

/* The time that a thread has been on a CPU, in ticks of the system's clock (10 ms). Zero: it is not there. */
struct restart_ticks {
	long user, system;
};

struct restart_ticks restart_ticks(pid_t tid);

/* How often the thread has given its CPU back in order to wait. Zero: that is not known. */
long restart_waits(pid_t tid);

/* True if a signal waits to be delivered to the thread, which does not block it. */
bool restart_has_signal(pid_t tid);

/* True if the thread does not let the signal through now, or that is not known. */
bool restart_blocks(pid_t tid, int signal);

/* A call that is made once more. Zeroed: none is. */
struct restart_again {
	bool is_pending; /* since the last stop of the thread */
	uint64_t rip, number;
};

/*
 * At a stop that should not have been noticed: a call that fails with EINTR because of it will be made again. Changes
 * registers only, which the caller writes back; false: there was no such call. A timeout of the call begins anew.
 */
bool restart_rewind(pid_t tid, struct user_regs_struct *registers, struct restart_again *again);

/* A signal is delivered before the call was made again: it fails with EINTR after all. As restart_rewind. */
bool restart_undo(const struct restart_again *again, struct user_regs_struct *registers);
