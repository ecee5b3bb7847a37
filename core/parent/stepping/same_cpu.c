/* SPDX-License-Identifier: MIT */
/* See same_cpu.h. */
#include "parent/stepping/same_cpu.h"

#include <string.h>

#define SET_BYTES sizeof(((struct same_cpu *)0)->its)

void
same_cpu_begin(struct same_cpu *self, pid_t tid)
{
	size_t cpu = 0;

	if (self->is_on || sched_getaffinity(0, SET_BYTES, self->ours) < 0 ||
	    sched_getaffinity(tid, SET_BYTES, self->its) < 0)
		return;
	while (cpu < SAME_CPU_MAX && !CPU_ISSET_S(cpu, SET_BYTES, self->its))
		cpu++;
	memset(self->one, 0, SET_BYTES);
	CPU_SET_S(cpu, SET_BYTES, self->one);
	if (sched_setaffinity(0, SET_BYTES, self->one) < 0)
		return;
	sched_setaffinity(tid, SET_BYTES, self->one);
	self->tid = tid;
	self->is_on = true;
}

static void
put_back(const struct same_cpu *self, pid_t tid, const cpu_set_t *cpus)
{
	cpu_set_t now[SAME_CPU_MAX / CPU_SETSIZE];

	memset(now, 0, SET_BYTES);
	if (sched_getaffinity(tid, SET_BYTES, now) >= 0 && CPU_EQUAL_S(SET_BYTES, now, self->one))
		sched_setaffinity(tid, SET_BYTES, cpus);
}

void
same_cpu_spread(const struct same_cpu *self, pid_t tid, bool is_late)
{
	if (self->is_on || (is_late && self->tid != 0))
		put_back(self, tid, self->its);
}

void
same_cpu_end(struct same_cpu *self)
{
	if (!self->is_on)
		return;
	put_back(self, self->tid, self->its);
	put_back(self, 0, self->ours);
	self->is_on = false;
}
