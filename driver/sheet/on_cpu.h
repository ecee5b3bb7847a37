/* SPDX-License-Identifier: MIT */
/* Processes of the driver itself that work on one CPU each, for what the data sheet asks of the system. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A process that does the work on the CPU alone, and ends with the driver. -1: errno. */
pid_t on_cpu_start(int cpu, void (*work)(void *argument), void *argument);

/* Waits until it has done its work; an interruption ends it. False: it was ended before, or there is none. */
bool on_cpu_await(pid_t pid);

/* Ends it now; nothing where there is none (0, -1). */
void on_cpu_end(pid_t pid);
