/* SPDX-License-Identifier: MIT */
/* The measurer of perf events: a group on one thread. */
#include <unistd.h>

#include "child/measurer.h"
#include "child/thread.h"
#include "common/perf_event.h"
#include "memory.h"

struct perf_event_state {
	struct perf_group group;
	int start_error, stop_error;
};

/*
 * Whose CPUs are cleared: the calling thread's, which may be pinned; but where its kernel has threads of its own, which
 * may be anywhere, those of the process, whose first thread nobody pins.
 */
static pid_t
whose_cpus(void)
{
	const struct child_thread *thread = child_thread_current();
	const struct kernel_base *kernel = thread && thread->workload ? thread->workload->kernel : NULL;

	return kernel && kernel->num_threads > 1 ? getpid() : 0;
}

/*
 * The scrub comes before the group is made, long before the caches are prepared: it would disturb them. Starting and
 * stopping the same group again and again does not poison its counters (threads switched in and out count exactly).
 */
static int
perf_event_initialize(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	struct perf_modes modes = {.user = measurer->count_user, .kernel = measurer->count_kernel};
	struct perf_event_state *own = state;
	size_t nr = perf_event_measurer_nr_events(measurer);
	autofree const char **events = rot_calloc(nr + 1, sizeof(*events));
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		events[i] = perf_event_measurer_events_at(measurer, i)->definition;
	if (measurer->scrub_event[0] && measurer->scrub_count > 0)
		rc = perf_scrub(measurer->scrub_event, (size_t)measurer->scrub_count, whose_cpus(), err);
	if (rc == 0)
		rc = perf_group_open(&own->group, events, nr, modes, 0, err);
	return rc;
}

static void
perf_event_start(void *state)
{
	struct perf_event_state *own = state;

	own->start_error = perf_group_start(&own->group);
}

static void
perf_event_stop(void *state)
{
	struct perf_event_state *own = state;

	own->stop_error = perf_group_stop(&own->group);
}

static void *
perf_event_output(void *state, const void *description, struct rot_error *err)
{
	const struct perf_event_measurer *measurer = description;
	struct perf_event_state *own = state;
	int error = own->start_error ? own->start_error : own->stop_error;
	struct perf_event_measurer_output *result;
	struct perf_counts counts;

	if (error) {
		rot_error_set(err, error, "cannot %s counting '%s' and its group", own->start_error ? "start" : "stop",
			      own->group.names[0]);
		return NULL;
	}
	if (perf_group_read(&own->group, &counts, err) < 0)
		return NULL;
	result = perf_event_measurer_output_new();
	for (size_t i = 0; i < own->group.nr; i++) {
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, perf_event_measurer_events_at(measurer, i)->name);
		rot_string_set(&count->definition, own->group.names[i]);
		count->raw_count = counts.values[i];
		count->time_enabled = counts.enabled_ns;
		count->time_running = counts.running_ns;
		perf_event_measurer_output_event_counts_add(result, count);
	}
	return result;
}

static void
perf_event_dispose(void *state)
{
	struct perf_event_state *own = state;

	perf_group_close(&own->group);
}

const struct measurer_type perf_event_measurer_type = {
	.class = &perf_event_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct perf_event_state),
	.failure_kind = FAILURE_REFUSED,
	.initialize = perf_event_initialize,
	.start = perf_event_start,
	.stop = perf_event_stop,
	.output = perf_event_output,
	.dispose = perf_event_dispose,
};
