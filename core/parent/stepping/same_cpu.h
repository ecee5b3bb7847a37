/* SPDX-License-Identifier: MIT */
/* A thread and this process on one CPU: on two, each of their stops would wake a CPU that sleeps. */
#ifndef CORE_PARENT_STEPPING_SAME_CPU_H
#define CORE_PARENT_STEPPING_SAME_CPU_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#define SAME_CPU_MAX 8192

/* Zeroed: each where it was. */
struct same_cpu {
	bool is_on;
	pid_t tid;
	cpu_set_t ours[SAME_CPU_MAX / CPU_SETSIZE], its[SAME_CPU_MAX / CPU_SETSIZE], one[SAME_CPU_MAX / CPU_SETSIZE];
};

/* On a CPU that the thread may be on. What the system refuses is left as it is. */
void same_cpu_begin(struct same_cpu *self, pid_t tid);

/*
 * What that thread has started meanwhile is where it would be without. is_late: it may have been started before it was
 * put back.
 */
void same_cpu_spread(const struct same_cpu *self, pid_t tid, bool is_late);

/* Both where they might be before, unless somebody has moved them since. */
void same_cpu_end(struct same_cpu *self);

#endif
