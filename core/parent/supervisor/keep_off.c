/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/keep_off.h"

/* An affinity that cannot be asked or had is left as it is: it is only better without the others. */
static bool
begin_keeping_off(struct keep_off *self)
{
	if (!self->is_kept)
		self->is_kept = sched_getaffinity(0, sizeof(self->own), self->own.sets) == 0;
	return self->is_kept;
}

static void
stay_off(struct keep_off *self, const struct cpus *others)
{
	struct cpus of_both, free_ones;

	CPU_AND_S(sizeof(of_both), of_both.sets, others->sets, self->own.sets);
	CPU_OR_S(sizeof(of_both), self->taken.sets, self->taken.sets, of_both.sets);
	CPU_XOR_S(sizeof(free_ones), free_ones.sets, self->own.sets, self->taken.sets);
	if (CPU_COUNT_S(sizeof(free_ones), free_ones.sets) == 0)
		free_ones = self->own;
	sched_setaffinity(0, sizeof(free_ones), free_ones.sets);
}

void
keep_off_cpu(struct keep_off *self, int cpu)
{
	struct cpus others = {0};

	CPU_SET_S((size_t)cpu, sizeof(others), others.sets);
	if (begin_keeping_off(self))
		stay_off(self, &others);
}

void
keep_off_process(struct keep_off *self, pid_t pid)
{
	struct cpus others = {0}, of_both;

	if (!begin_keeping_off(self) || sched_getaffinity(pid, sizeof(others), others.sets) < 0)
		return;
	CPU_AND_S(sizeof(of_both), of_both.sets, others.sets, self->own.sets);
	if (!CPU_EQUAL_S(sizeof(of_both), of_both.sets, self->own.sets))
		stay_off(self, &others);
}

void
keep_off_end(struct keep_off *self)
{
	if (self->is_kept)
		sched_setaffinity(0, sizeof(self->own), self->own.sets);
	*self = (struct keep_off){.is_kept = false};
}
