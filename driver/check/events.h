/* SPDX-License-Identifier: MIT */
/* The events of this machine that can be named: asked of the measuring core, because only it knows libpfm4. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "entities.h"
#include "error.h"

struct pool;
struct rot;

/* Units of this machine (in pmus) with their events, which live as long as the pool. NULL on error. */
const struct list_events_measurer_output *events_read(struct rot *rot, struct pool *pool, struct rot_error *err);

/* Is the attribute a unit mask, which makes an event of its own? */
bool event_attribute_is_umask(const struct perf_event_attribute_description *attribute);

/* An event of rot.events/1: name, description, and unit masks and modifiers as attributes. New reference. */
json_t *event_json(const struct perf_event_description *event);

/* The units with their fields and events. New reference. */
json_t *events_json(const struct list_events_measurer_output *events);

/* The unit with those of its events whose name holds part, in any case of letters; how many these are. Nothing is
 * printed if there is none. */
size_t events_print_pmu(const struct pmu_description *pmu, const char *part, FILE *out);
