/* SPDX-License-Identifier: MIT */
/* The measurer of disturbances: context switches, faults and CPU of the own thread, and the time stolen by a
 * hypervisor. */
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child/measurer.h"
#include "common/steal_time.h"
#include "memory.h"

struct snapshot {
	struct rusage usage;
	int cpu;
	char *stat; /* text of /proc/stat; NULL: not read */
};

/* fd: /proc/stat, kept open so that a snapshot costs one read; -1: not read. */
struct resource_usage_state {
	int fd;
	size_t room; /* of each text */
	struct snapshot start, stop;
};

static int
resource_usage_initialize(void *state, const void *description, struct rot_error *err)
{
	struct resource_usage_state *own = state;
	const struct resource_usage_measurer *measurer = description;

	(void)err;
	own->fd = measurer->read_steal_time ? steal_time_open() : -1;
	if (own->fd < 0)
		return 0;
	own->room = steal_time_room();
	own->start.stat = rot_calloc(own->room, 1);
	own->stop.stat = rot_calloc(own->room, 1);
	return 0;
}

static void
read_stat(struct resource_usage_state *own, struct snapshot *snapshot)
{
	if (snapshot->stat)
		steal_time_read(own->fd, snapshot->stat, own->room);
}

/* The snapshots are nested: usage is read last at the start and first at the stop. */
static void
resource_usage_start(void *state)
{
	struct resource_usage_state *own = state;

	read_stat(own, &own->start);
	own->start.cpu = sched_getcpu();
	getrusage(RUSAGE_THREAD, &own->start.usage);
}

static void
resource_usage_stop(void *state)
{
	struct resource_usage_state *own = state;

	getrusage(RUSAGE_THREAD, &own->stop.usage);
	own->stop.cpu = sched_getcpu();
	read_stat(own, &own->stop);
}

static int64_t
stolen_of(const struct resource_usage_state *own, int cpu)
{
	if (!own->start.stat)
		return -1;
	return steal_time_between(steal_time_of(own->start.stat, cpu), steal_time_of(own->stop.stat, cpu));
}

static void *
resource_usage_output(void *state, const void *description, struct rot_error *err)
{
	const struct resource_usage_state *own = state;
	const struct rusage *from = &own->start.usage, *to = &own->stop.usage;
	struct resource_usage_measurer_output *result = resource_usage_measurer_output_new();

	(void)description;
	(void)err;
	result->voluntary_context_switches = to->ru_nvcsw - from->ru_nvcsw;
	result->involuntary_context_switches = to->ru_nivcsw - from->ru_nivcsw;
	result->minor_faults = to->ru_minflt - from->ru_minflt;
	result->major_faults = to->ru_majflt - from->ru_majflt;
	result->start_cpu = own->start.cpu;
	result->stop_cpu = own->stop.cpu;
	result->steal_ticks = stolen_of(own, STEAL_TIME_ALL);
	if (own->start.cpu >= 0 && own->start.cpu == own->stop.cpu)
		result->own_steal_ticks = stolen_of(own, own->start.cpu);
	return result;
}

static void
resource_usage_dispose(void *state)
{
	struct resource_usage_state *own = state;

	free(own->start.stat);
	free(own->stop.stat);
	if (own->fd >= 0)
		close(own->fd);
}

const struct measurer_type resource_usage_measurer_type = {
	.class = &resource_usage_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct resource_usage_state),
	.initialize = resource_usage_initialize,
	.start = resource_usage_start,
	.stop = resource_usage_stop,
	.output = resource_usage_output,
	.dispose = resource_usage_dispose,
};
