/* SPDX-License-Identifier: MIT */
/* See measurer.h: the table of measurers. */
#include "child/measurer.h"

/* A class before the one that it is derived from. */
static const struct measurer_type *const types[] = {
	&step_measurer_type,      &machine_event_measurer_type,  &perf_event_measurer_type,
	&tsc_measurer_type,       &execution_time_measurer_type, &resource_usage_measurer_type,
	&file_measurer_type,      &list_events_measurer_type,    &clock_probe_measurer_type,
	&ping_pong_measurer_type,
};

const struct measurer_type *
measurer_type_of(const struct measurer_base *description)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (rot_is_a(description, types[i]->class))
			return types[i];
	return NULL;
}
