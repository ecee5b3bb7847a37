/* SPDX-License-Identifier: MIT */
/* System calls of threads that are stepped: they are made without a trap, and stop where they begin and end. */
#ifndef CORE_PARENT_STEPPING_STEPPED_CALL_H
#define CORE_PARENT_STEPPING_STEPPED_CALL_H

#include "parent/stepping/stepped.h"

/*
 * The thread is away, and stopped at a call. Is it its own, and over? A handler of a signal makes calls as well, and
 * one that is interrupted may be made again.
 */
bool stepped_call_is_over(const struct stepped *stepped);

/*
 * The thread is away, and has met a trap: the end of its region, since a handler that interrupted the call has not
 * returned to it. What it did meanwhile is not counted.
 */
bool stepped_call_is_left(struct stepped *stepped);

/* The kernel will make the call again that the thread has left with these registers. */
bool stepped_call_is_restarted(const struct user_regs_struct *registers);

#endif
