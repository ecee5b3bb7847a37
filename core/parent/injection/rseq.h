/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: code that the system starts anew, or ends at its abort handler, when the thread was
 * interrupted in it. Source: linux/rseq.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum rseq_place {
	RSEQ_UNKNOWN, /* the thread has no restartable sequences, or the system does not tell */
	RSEQ_OUTSIDE,
	RSEQ_INSIDE,
};

/*
 * Looks whether a stopped thread would execute a restartable sequence at rip. *handler: where it goes when that is
 * ended, if inside; may be NULL.
 */
enum rseq_place rseq_find(pid_t tid, uint64_t rip, uint64_t *handler);

/* The stopped thread has been in one since the system looked last. */
bool rseq_is_used(pid_t tid);

/*
 * Takes registers of a stopped thread out of a restartable sequence, to where the system would let it go on since it
 * has stopped in it. True: they were changed.
 */
bool rseq_leave(pid_t tid, struct user_regs_struct *registers);
