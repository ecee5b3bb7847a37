/* SPDX-License-Identifier: MIT */
/*
 * Counts events of the whole machine, such as what crosses the memory controllers. Each unit is opened by itself on a
 * CPU that speaks for it, once for all threads, since it has few counters, and counts from then on: some cannot be
 * stopped (uncore_imc of client processors). They are read around the work, and once more around a time as long without
 * work, in which what is counted is of others.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "child/measurer.h"
#include "common/perf_event.h"
#include "memory.h"

#define LEAST_BACKGROUND_NS UINT64_C(10000000)
#define MOST_BACKGROUND_NS UINT64_C(1000000000)
/* While others are measured the background is not only background; they end soon after each other, if not stuck. */
#define WAIT_NS 1000000
#define MOST_WAITS 10000

/* The layout is the system's. */
struct machine_reading {
	uint64_t count, enabled_ns, running_ns;
};

struct machine_unit {
	int fd;
	struct machine_reading start, stop;
};

struct machine_event_state {
	struct machine_unit *units;
	size_t nr;
	bool is_counting;
	int error; /* of reading */
};

static atomic_int nr_counting; /* measurers between start and stop, in all threads */

/* The units that are open, each with those who use it. */
static struct open_unit {
	const struct machine_event_definition *event; /* of the first of them; the measurement outlives all */
	int fd, nr_users;
} * open_units;
static size_t nr_open_units;
static pthread_mutex_t open_units_lock = PTHREAD_MUTEX_INITIALIZER;

/* -1: refused. */
static int
open_unit(const struct machine_event_definition *event, struct rot_error *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)event->pmu_type,
		.config = event->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, event->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	const int error = errno;

	if (fd >= 0)
		return fd;
	rot_error_set(err, error, "cannot count '%s' (type %u, config 0x%llx) of the whole machine on CPU %d",
		      event->base.definition, attr.type, (unsigned long long)attr.config, (int)event->cpu);
	return perf_hint(err, error, PERF_PARANOID_MACHINE, 1);
}

/* Opens a unit, like open_unit, if nobody has it open. */
static int
take_unit(const struct machine_event_definition *event, struct rot_error *err)
{
	struct open_unit *unit = NULL;
	int fd;

	pthread_mutex_lock(&open_units_lock);
	for (size_t i = 0; i < nr_open_units && !unit; i++)
		if (open_units[i].event->pmu_type == event->pmu_type && open_units[i].event->config == event->config &&
		    open_units[i].event->cpu == event->cpu)
			unit = &open_units[i];
	fd = unit ? unit->fd : open_unit(event, err);
	if (!unit && fd >= 0) {
		unit = &rot_add(open_units, nr_open_units);
		*unit = (struct open_unit){.event = event, .fd = fd};
	}
	if (unit)
		unit->nr_users++;
	pthread_mutex_unlock(&open_units_lock);
	return fd;
}

static void
give_unit_back(int fd)
{
	size_t i = 0;

	pthread_mutex_lock(&open_units_lock);
	while (open_units[i].fd != fd)
		i++;
	if (--open_units[i].nr_users == 0) {
		close(fd);
		open_units[i] = open_units[--nr_open_units];
	}
	pthread_mutex_unlock(&open_units_lock);
}

static int
machine_event_initialize(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	struct machine_event_state *own = state;
	const size_t nr = perf_event_measurer_nr_events(measurer);

	own->units = rot_calloc(nr + 1, sizeof(*own->units));
	for (; own->nr < nr; own->nr++) {
		struct perf_event_definition *event = perf_event_measurer_events_at(measurer, own->nr);
		const struct machine_event_definition *unit = rot_cast(event, &machine_event_definition_class);

		if (!unit)
			return rot_error_set(err, 0, "event '%s' is none of the machine", event->name);
		own->units[own->nr].fd = take_unit(unit, err);
		if (own->units[own->nr].fd < 0)
			return -1;
	}
	return 0;
}

static void
read_unit(struct machine_event_state *own, const struct machine_unit *unit, struct machine_reading *reading)
{
	const ssize_t bytes = read(unit->fd, reading, sizeof(*reading));

	if (bytes != sizeof(*reading))
		own->error = bytes < 0 ? errno : EIO;
}

static void
read_starts(struct machine_event_state *own)
{
	for (size_t i = 0; i < own->nr; i++)
		read_unit(own, &own->units[i], &own->units[i].start);
}

/* In the same order, so that all count for as long. */
static void
read_stops(struct machine_event_state *own)
{
	for (size_t i = 0; i < own->nr; i++)
		read_unit(own, &own->units[i], &own->units[i].stop);
}

static void
machine_event_start(void *state)
{
	struct machine_event_state *own = state;

	own->is_counting = true;
	own->error = 0;
	atomic_fetch_add(&nr_counting, 1);
	read_starts(own);
}

static void
machine_event_stop(void *state)
{
	struct machine_event_state *own = state;

	read_stops(own);
	if (own->is_counting)
		atomic_fetch_sub(&nr_counting, 1);
	own->is_counting = false;
}

static void
sleep_ns(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* Counts again without work, for as long as that took. */
static void
read_background(struct machine_event_state *own)
{
	const uint64_t work_ns = own->nr ? own->units[0].stop.enabled_ns - own->units[0].start.enabled_ns : 0;

	for (int i = 0; atomic_load(&nr_counting) > 0 && i < MOST_WAITS; i++)
		sleep_ns(WAIT_NS);
	read_starts(own);
	sleep_ns(work_ns < LEAST_BACKGROUND_NS  ? LEAST_BACKGROUND_NS
		 : work_ns > MOST_BACKGROUND_NS ? MOST_BACKGROUND_NS
						: work_ns);
	read_stops(own);
}

static void *
machine_event_output(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	struct machine_event_state *own = state;
	struct perf_event_measurer_output *output = perf_event_measurer_output_new();

	for (size_t i = 0; i < own->nr; i++) {
		const struct perf_event_definition *event = perf_event_measurer_events_at(measurer, i);
		const struct machine_unit *unit = &own->units[i];
		struct machine_event_count *count = machine_event_count_new();

		rot_string_set(&count->base.name, event->name);
		rot_string_set(&count->base.definition, event->definition);
		count->base.raw_count = unit->stop.count - unit->start.count;
		count->base.time_enabled = unit->stop.enabled_ns - unit->start.enabled_ns;
		count->base.time_running = unit->stop.running_ns - unit->start.running_ns;
		perf_event_measurer_output_event_counts_add(output, &count->base);
	}
	read_background(own);
	for (size_t i = 0; i < own->nr; i++) {
		struct machine_event_count *count = (void *)perf_event_measurer_output_event_counts_at(output, i);

		count->background = own->units[i].stop.count - own->units[i].start.count;
		count->background_time = own->units[i].stop.running_ns - own->units[i].start.running_ns;
		if (own->error || !count->background_time) {
			rot_error_set(err, own->error, "cannot read the counts of '%s'", count->base.definition);
			rot_graph_delete(output);
			return NULL;
		}
	}
	return output;
}

static void
machine_event_dispose(void *state)
{
	struct machine_event_state *own = state;

	for (size_t i = 0; i < own->nr; i++)
		give_unit_back(own->units[i].fd);
	free(own->units);
}

const struct measurer_type machine_event_measurer_type = {
	.class = &machine_event_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct machine_event_state),
	.failure_kind = FAILURE_REFUSED,
	.initialize = machine_event_initialize,
	.start = machine_event_start,
	.stop = machine_event_stop,
	.output = machine_event_output,
	.dispose = machine_event_dispose,
};
