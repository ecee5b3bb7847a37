/* SPDX-License-Identifier: MIT */
/* Moves its thread to another CPU and reads there what was warm where it came from. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "CpuMigratingData.h"
#include "kernel.h"

#define LINE 64

struct cpu_migrating {
	struct cpu_migrating_data data;
	cpu_set_t source, target;
	char *buffer;
	uint64_t sum;
};

/* The CPUs that it starts on. */
static int
choose_source(struct cpu_migrating *migrating)
{
	int target = migrating->data.target_cpu, source = migrating->data.source_cpu;

	CPU_ZERO(&migrating->source);
	if (source >= 0) {
		CPU_SET((size_t)source, &migrating->source);
		return 0;
	}
	if (sched_getaffinity(0, sizeof(migrating->source), &migrating->source) < 0)
		return kernel_fail("cannot tell which CPUs there are: %s", strerror(errno));
	CPU_CLR((size_t)target, &migrating->source);
	if (CPU_COUNT(&migrating->source) == 0)
		return kernel_fail("there is no other CPU than %d to come from", target);
	return 0;
}

static int
initialize(void *kernel)
{
	struct cpu_migrating *migrating = kernel;
	size_t bytes = (size_t)migrating->data.buffer_size;

	CPU_ZERO(&migrating->target);
	CPU_SET((size_t)migrating->data.target_cpu, &migrating->target);
	if (choose_source(migrating) < 0)
		return -1;
	/* Tried now, when it can still be said that it does not work. */
	if (sched_setaffinity(0, sizeof(migrating->target), &migrating->target) < 0)
		return kernel_fail("cannot move to CPU %d: %s", migrating->data.target_cpu, strerror(errno));
	if (sched_setaffinity(0, sizeof(migrating->source), &migrating->source) < 0)
		return kernel_fail("cannot move to the CPU it starts on: %s", strerror(errno));
	if (bytes == 0)
		return 0;
	migrating->buffer = kernel_allocate(bytes, 1);
	if (!migrating->buffer)
		return -1;
	kernel_fill((double *)(void *)migrating->buffer, bytes / sizeof(double), 1);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct cpu_migrating *migrating = kernel;

	buffers[0] = (struct kernel_buffer){migrating->buffer, (size_t)migrating->data.buffer_size};
	return migrating->buffer ? 1 : 0;
}

static void
run(void *kernel)
{
	struct cpu_migrating *migrating = kernel;
	size_t bytes = (size_t)migrating->data.buffer_size;
	uint64_t sum = 0;

	sched_setaffinity(0, sizeof(migrating->target), &migrating->target);
	for (size_t at = 0; at < bytes; at += LINE)
		sum += *(const volatile uint64_t *)(const void *)&migrating->buffer[at];
	migrating->sum = sum;
}

/* Nothing: it would move before it is measured. */
static void
warm_code(void *kernel)
{
	(void)kernel;
}

static void
dispose(void *kernel)
{
	struct cpu_migrating *migrating = kernel;

	kernel_free(migrating->buffer);
	migrating->buffer = NULL;
}

KERNEL(cpu_migrating, "CpuMigrating", .initialize = initialize, .buffers = buffers, .run = run, .warm_code = warm_code,
       .dispose = dispose);
