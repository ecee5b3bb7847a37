/* SPDX-License-Identifier: MIT */
/* What a process used, in the output of a run. */
#ifndef CORE_PARENT_PROCESS_USAGE_H
#define CORE_PARENT_PROCESS_USAGE_H

#include <sys/resource.h>
#include <sys/types.h>

#include "ProgramRunOutput.h"

/* Times, faults and memory of a running process, times in ticks of the system; nothing of one that is gone. */
void process_usage_read(pid_t pid, struct rusage *usage);

/* The usage between the two. */
void process_usage_fill(struct program_run_output *output, const struct rusage *before, const struct rusage *after);

#endif
