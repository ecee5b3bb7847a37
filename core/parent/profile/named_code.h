/* SPDX-License-Identifier: MIT */
/* Names that a process gave to the code that it made at run time, in /tmp/perf-PID.map as the tool perf reads them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct named_process;

/* Zeroed: nothing was read yet. */
struct named_code {
	struct named_process *processes;
	size_t nr_processes;
};

/* The name lives until named_code_clear; NULL: there is none. */
const char *named_code_find(struct named_code *named, pid_t pid, uint64_t address);
void named_code_clear(struct named_code *named);
