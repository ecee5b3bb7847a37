/* SPDX-License-Identifier: MIT */
/* The processes that a process started, and those that these started. */
#ifndef CORE_PARENT_PROGRAM_DESCENDANTS_H
#define CORE_PARENT_PROGRAM_DESCENDANTS_H

#include <sys/types.h>

/*
 * Kills all of them, but not the process itself, until there are none that run, for a second at most: some may start
 * others meanwhile. Those whose parent has ended are found only if it is this process that adopts them
 * (PR_SET_CHILD_SUBREAPER).
 */
void descendants_kill(pid_t pid);

#endif
