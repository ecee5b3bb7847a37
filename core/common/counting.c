/* SPDX-License-Identifier: MIT */
#include "common/counting.h"

#include <stdlib.h>

#include "PerfEventCount.h"
#include "PerfEventDefinition.h"
#include "common/step_counts.h"
#include "entity.h"
#include "memory.h"

int
counting_open(struct counting *counting, const struct perf_event_measurer *measurer, struct rot_error *err)
{
	struct perf_modes modes = {.user = measurer->count_user, .kernel = measurer->count_kernel};
	size_t nr = perf_event_measurer_nr_events(measurer);
	const char **events;

	*counting = (struct counting){.measurer = measurer};
	counting->steps = rot_cast((void *)measurer, &step_measurer_class);
	if (counting->steps)
		return step_counts_check(measurer, err);
	if (nr == 0)
		return 0;
	if (*measurer->scrub_event && measurer->scrub_count > 0 &&
	    perf_scrub(measurer->scrub_event, (size_t)measurer->scrub_count, 0, err) < 0)
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
region_counts_output(const struct perf_counts *sum, const struct counting *counting)
{
	const struct perf_event_measurer *measurer = counting->measurer;
	struct perf_event_measurer_output *output;

	if (!counting->encoding && !counting->steps)
		return NULL;
	output = perf_event_measurer_output_new();
	output->base.measurer_id = measurer->base.id;
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		const struct perf_event_definition *event = perf_event_measurer_events_at(measurer, i);
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, event->name);
		rot_string_set(&count->definition,
			       counting->encoding ? perf_encoding_name(counting->encoding, i) : event->definition);
		count->raw_count = sum->values[i];
		count->time_enabled = sum->enabled_ns;
		count->time_running = sum->running_ns;
		perf_event_measurer_output_event_counts_add(output, count);
	}
	return output;
}

struct perf_event_measurer_output *
counts_output(const struct counts *counts, const struct counting *counting)
{
	return counting->encoding || counting->is_translated ? region_counts_output(&counts->sum, counting) : NULL;
}
