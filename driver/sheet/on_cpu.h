/* SPDX-License-Identifier: MIT */
/* Processes of the driver itself that work on one CPU each, for what the data sheet asks of the system. */
#pragma once

#include <sys/types.h>

#include "error.h"

/* A process that does the work on the CPU alone, and ends with the driver. -1: errno. */
pid_t on_cpu_start(int cpu, void (*work)(void *argument), void *argument);

/* Waits until it has done its work, "looks at the clock"; an interruption ends it. -1: it was ended before. */
int on_cpu_await(pid_t pid, const char *work, struct rot_error *err);

/* Ends it now; nothing where there is none (0, -1). */
void on_cpu_end(pid_t pid);
