/* SPDX-License-Identifier: MIT */
/* Which running processes translated code would harm. */
#pragma once

#include <sys/types.h>

#include "error.h"

/*
 * 0: the process of the stopped thread may go on in translated code. -1: it would not do the same there, or not
 * afterwards:
 * - memory that it maps is locked at once, as mlockall can ask for, and the code cache is large;
 * - its address space is limited, and the code cache would take room that it needs;
 * - it ignores SIGTRAP, which the system ends at the first int3;
 * - returns are checked by a shadow stack, which translated calls leave as it is;
 * - a file that it executes has restartable sequences (section __rseq_cs). The system does not find a thread in the
 *   copy of one, and would not restart it.
 */
int attachable_check(pid_t tid, struct rot_error *err);
