/* SPDX-License-Identifier: MIT */
/* See counting.h. */
#include "parent/tracer/counting.h"

#include <stdlib.h>

#include "PerfEventCount.h"
#include "PerfEventDefinition.h"
#include "entity.h"
#include "memory.h"

int
counting_open(struct counting *counting, const struct perf_event_measurer *measurer, struct rot_error *err)
{
	struct perf_modes modes = {.user = measurer->count_user, .kernel = measurer->count_kernel};
	size_t nr = perf_event_measurer_nr_events(measurer);
	const char **events;

	*counting = (struct counting){.measurer = measurer};
	if (nr == 0)
		return 0;
	if (*measurer->scrub_event && measurer->scrub_count > 0 &&
	    perf_scrub(measurer->scrub_event, (size_t)measurer->scrub_count, err) < 0)
		return -1;
	events = rot_calloc(nr, sizeof(*events));
	for (size_t i = 0; i < nr; i++)
		events[i] = perf_event_measurer_events_at(measurer, i)->definition;
	counting->encoding = perf_encoding_new(events, nr, modes, err);
	free(events);
	return counting->encoding ? 0 : -1;
}

void
counting_close(struct counting *counting)
{
	perf_encoding_delete(counting->encoding);
	*counting = (struct counting){0};
}

int
counts_begin(struct counts *counts, const struct counting *counting, enum perf_heirs heirs, enum perf_begin begin,
	     pid_t tid, struct rot_error *err)
{
	if (!counting->encoding)
		return 0;
	return perf_group_open_encoded(&counts->group, counting->encoding, heirs, begin, tid, err);
}

int
counts_end(struct counts *counts, struct rot_error *err)
{
	struct perf_counts piece = {0};
	int rc = 0;

	if (counts->group.nr == 0)
		return 0;
	rc = perf_group_read(&counts->group, &piece, err);
	perf_counts_add(&counts->sum, &piece);
	perf_group_close(&counts->group);
	return rc;
}

void
counts_add(struct counts *counts, const struct counts *from)
{
	perf_counts_add(&counts->sum, &from->sum);
}

struct perf_event_measurer_output *
counts_output(const struct counts *counts, const struct counting *counting)
{
	const struct perf_event_measurer *measurer = counting->measurer;
	struct perf_event_measurer_output *output;

	if (!counting->encoding)
		return NULL;
	output = perf_event_measurer_output_new();
	output->base.measurer_id = measurer->base.id;
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, perf_event_measurer_events_at(measurer, i)->name);
		rot_string_set(&count->definition, perf_encoding_name(counting->encoding, i));
		count->raw_count = counts->sum.values[i];
		count->time_enabled = counts->sum.enabled_ns;
		count->time_running = counts->sum.running_ns;
		perf_event_measurer_output_event_counts_add(output, count);
	}
	return output;
}
