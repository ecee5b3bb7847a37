/* SPDX-License-Identifier: MIT */
/* Why the system does not let a process be traced, as far as it can be found out. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/*
 * Fills err for PTRACE_SEIZE of process pid, which failed with error (an errno). is_own: it is a child of this process.
 * proc: where the system shows processes: "/proc", but for tests. Returns -1.
 */
int refusal_explain(const char *proc, pid_t pid, bool is_own, int error, struct rot_error *err);

/* Another process that traces a thread of process pid; 0: there is none. proc: as above. */
pid_t refusal_other_tracer(const char *proc, pid_t pid);
