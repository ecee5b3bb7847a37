/* SPDX-License-Identifier: MIT */
/* See same_cpu.h. */
#include "parent/stepping/same_cpu.h"

#include <string.h>

#define SET_BYTES sizeof(((struct same_cpu *)0)->its)

void
same_cpu_begin(struct same_cpu *self, pid_t tid)
{
	cpu_set_t one[SAME_CPU_MAX / CPU_SETSIZE];
	size_t cpu = 0;

	if (self->is_on || sched_getaffinity(0, SET_BYTES, self->ours) < 0 ||
	    sched_getaffinity(tid, SET_BYTES, self->its) < 0)
		return;
	while (cpu < SAME_CPU_MAX && !CPU_ISSET_S(cpu, SET_BYTES, self->its))
		cpu++;
	memset(one, 0, SET_BYTES);
	CPU_SET_S(cpu, SET_BYTES, one);
	if (sched_setaffinity(0, SET_BYTES, one) < 0)
		return;
	sched_setaffinity(tid, SET_BYTES, one);
	self->tid = tid;
	self->is_on = true;
}

void
same_cpu_end(struct same_cpu *self)
{
	if (!self->is_on)
		return;
	sched_setaffinity(self->tid, SET_BYTES, self->its);
	sched_setaffinity(0, SET_BYTES, self->ours);
	self->is_on = false;
}
