/* SPDX-License-Identifier: MIT */
/* The measurer of disturbances: context switches, faults and CPU of the own thread, and the time stolen by a
 * hypervisor. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child/measurer.h"

/* Field of the line "cpu " of /proc/stat that holds the stolen time, from 1 (proc_pid_stat(5)). */
#define STEAL_FIELD 8

struct snapshot {
	struct rusage usage;
	int cpu;
	long steal_ticks; /* -1: cannot be read */
};

/* fd: /proc/stat, kept open so that a snapshot costs one read; -1: not read. */
struct state {
	int fd;
	struct snapshot start, stop;
};

static long
read_steal_ticks(int fd)
{
	char line[256];
	ssize_t bytes = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);
	char *at = line;

	if (bytes <= 0)
		return -1;
	line[bytes] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (int field = 0; field < STEAL_FIELD; field++) {
		at = strchr(at, ' ');
		if (!at)
			return -1;
		at += strspn(at, " ");
	}
	return strtol(at, NULL, 10);
}

static int
initialize(void *state, const void *description, pid_t tid, struct rot_error *err)
{
	struct state *own = state;
	const struct resource_usage_measurer *measurer = description;

	(void)tid;
	(void)err;
	own->fd = measurer->read_steal_time ? open("/proc/stat", O_RDONLY | O_CLOEXEC) : -1;
	return 0;
}

/* The snapshots are nested: usage is read last at the start and first at the stop. */
static void
start(void *state)
{
	struct state *own = state;

	own->start.steal_ticks = read_steal_ticks(own->fd);
	own->start.cpu = sched_getcpu();
	getrusage(RUSAGE_THREAD, &own->start.usage);
}

static void
stop(void *state)
{
	struct state *own = state;

	getrusage(RUSAGE_THREAD, &own->stop.usage);
	own->stop.cpu = sched_getcpu();
	own->stop.steal_ticks = read_steal_ticks(own->fd);
}

static void *
output(void *state, const void *description, struct rot_error *err)
{
	const struct state *own = state;
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
	result->steal_ticks = own->start.steal_ticks < 0 || own->stop.steal_ticks < 0
				      ? -1
				      : own->stop.steal_ticks - own->start.steal_ticks;
	return result;
}

static void
dispose(void *state)
{
	struct state *own = state;

	if (own->fd >= 0)
		close(own->fd);
}

const struct measurer_type resource_usage_measurer_type = {
	.class = &resource_usage_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct state),
	.not_foreign = "what a thread used cannot be read any more once it has ended; software events of a "
		       "PerfEventMeasurer can",
	.initialize = initialize,
	.start = start,
	.stop = stop,
	.output = output,
	.dispose = dispose,
};
