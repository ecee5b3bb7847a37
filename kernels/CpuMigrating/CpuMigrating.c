/* SPDX-License-Identifier: MIT */
/* Moves its thread to another CPU, so that one can see that migrations are noticed. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "CpuMigratingData.h"
#include "kernel.h"

struct cpu_migrating {
	struct cpu_migrating_data data;
	cpu_set_t target;
};

static int
initialize(void *kernel)
{
	struct cpu_migrating *migrating = kernel;
	int cpu = migrating->data.target_cpu;
	cpu_set_t before;

	CPU_ZERO(&migrating->target);
	CPU_SET((size_t)cpu, &migrating->target);
	/* Tried now, when it can still be said that it does not work. */
	if (sched_getaffinity(0, sizeof(before), &before) < 0 ||
	    sched_setaffinity(0, sizeof(migrating->target), &migrating->target) < 0)
		return kernel_fail("cannot move to CPU %d: %s", cpu, strerror(errno));
	CPU_CLR((size_t)cpu, &before);
	if (CPU_COUNT(&before) == 0)
		return kernel_fail("there is no other CPU than %d to come from", cpu);
	if (sched_setaffinity(0, sizeof(before), &before) < 0)
		return kernel_fail("cannot leave CPU %d: %s", cpu, strerror(errno));
	return 0;
}

static void
run(void *kernel)
{
	struct cpu_migrating *migrating = kernel;

	sched_setaffinity(0, sizeof(migrating->target), &migrating->target);
}

/* Nothing: it would move before it is measured. */
static void
warm_code(void *kernel)
{
	(void)kernel;
}

KERNEL(cpu_migrating, "CpuMigrating", .initialize = initialize, .run = run, .warm_code = warm_code);
