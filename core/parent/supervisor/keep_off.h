/* SPDX-License-Identifier: MIT */
/* Keeps this process off the CPUs that others were given for themselves, as long as there are more. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Room for as many as Linux knows (NR_CPUS_RANGE_END of x86-64). */
struct cpus {
	cpu_set_t sets[8192 / CPU_SETSIZE];
};

/* Zeroed: this process may be anywhere. own: where it may be at first; taken: what others have of these. */
struct keep_off {
	bool is_kept;
	struct cpus own, taken;
};

/* A thread is pinned to that CPU. */
void keep_off_cpu(struct keep_off *keep_off, int cpu);

/* A process that may not use all CPUs which this one may is on those alone. */
void keep_off_process(struct keep_off *keep_off, pid_t pid);

/* Anywhere again, as are processes that are made from now on. */
void keep_off_end(struct keep_off *keep_off);
