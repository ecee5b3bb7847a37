/* SPDX-License-Identifier: MIT */
/* One system call in a stopped process by a single step over an instruction that it has; a part of remote.h. */
#ifndef CORE_PARENT_TRACER_REMOTE_STEP_H
#define CORE_PARENT_TRACER_REMOTE_STEP_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* The address of a 64-bit system call instruction in the process' code; 0: none. */
uint64_t remote_find_syscall(pid_t tid);

/* As remote_call, with the instruction at that address; filters are not looked at. */
int remote_step_call(pid_t tid, uint64_t instruction, long number, const uint64_t arguments[6], int64_t *result,
		     struct rot_error *err);

#endif
