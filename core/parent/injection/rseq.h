/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences: code that the system starts anew, or ends at its abort handler, when the thread was
 * interrupted in it. Source: linux/rseq.h.
 */
#ifndef CORE_PARENT_INJECTION_RSEQ_H
#define CORE_PARENT_INJECTION_RSEQ_H

#include <stdint.h>
#include <sys/types.h>

enum rseq_place {
	RSEQ_UNKNOWN, /* the thread has no restartable sequences, or the system does not tell */
	RSEQ_OUTSIDE,
	RSEQ_INSIDE,
};

/*
 * Whether a stopped thread would execute a restartable sequence at rip. *handler: where it goes when that is ended, if
 * inside; may be NULL.
 */
enum rseq_place rseq_find(pid_t tid, uint64_t rip, uint64_t *handler);

#endif
