/* SPDX-License-Identifier: MIT */
/* The resources that a process used, in the output of a run. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "ProgramRunOutput.h"

/*
 * Times, faults and the most memory of a running process, times in ticks of the system; nothing of one that is gone.
 * Context switches become -1: the system does not tell those of threads that have ended.
 */
void process_usage_read(pid_t pid, struct rusage *usage);

/* CPU time that all threads of a process have used until now, user and system, exactly; 0: it is gone. */
uint64_t process_usage_cpu_ns(pid_t pid);

/*
 * Takes off what a process used before its program began: of the system's time first, since it was made and executed
 * the program then, and did next to nothing of its own.
 */
void process_usage_take_off(struct rusage *usage, uint64_t cpu_ns);

/* The usage between the two; what is not known in both is -1. */
void process_usage_fill(struct program_run_output *output, const struct rusage *before, const struct rusage *after);

/* ---- descendants ---- */

/*
 * Kills all of them, but not the process itself, until there are none that run, for a second at most: some may start
 * others meanwhile. A process whose parent has ended is found only if this process adopts it (PR_SET_CHILD_SUBREAPER).
 */
void descendants_kill(pid_t pid);
