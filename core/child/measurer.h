/* SPDX-License-Identifier: MIT */
/* Measurers: what each class of the descriptions does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "child/failure.h"
#include "entities.h"

/*
 * One row per class. A measurer's state is state_size bytes, zeroed before initialize, and belongs to the measurer; the
 * description is only read.
 *
 * is_ahead: as an additional measurer it is started before the event kernelStart, so that workloads which wait for each
 * other at this event begin at the same time, however long this takes; and stopped after the other additional ones.
 * is_signal_safe: start and stop may be called in a thread that was interrupted anywhere, like a signal handler.
 * initialize: everything that can be done ahead, to measure the calling thread. failure_kind says what a
 * failure of it is, output_failure_kind one of output.
 * start_warming, stop_warming: around what warms the caches of the calling thread, for one that follows what they hold;
 * NULL: it does not. start_warming: does it, as described?
 * start, stop: nothing but the reading of the counter, as close to the caller as possible. What fails is kept in the
 * state. Called several times; the last pair counts. output:     a fresh output entity (without measurerId), or NULL
 * and err. dispose:    frees what initialize made; called after every initialize, also a failed one. NULL: nothing to
 * free.
 */
struct measurer_type {
	const struct rot_class *class;
	size_t state_size;
	enum failure_kind failure_kind, output_failure_kind;
	bool is_ahead;
	bool is_signal_safe;
	int (*initialize)(void *state, const void *description, struct rot_error *err);
	bool (*start_warming)(void *state);
	void (*stop_warming)(void *state);
	void (*start)(void *state);
	void (*stop)(void *state);
	void *(*output)(void *state, const void *description, struct rot_error *err);
	void (*dispose)(void *state);
};

extern const struct measurer_type step_measurer_type;
extern const struct measurer_type machine_event_measurer_type;
extern const struct measurer_type perf_event_measurer_type;
extern const struct measurer_type tsc_measurer_type;
extern const struct measurer_type execution_time_measurer_type;
extern const struct measurer_type clock_probe_measurer_type;
extern const struct measurer_type resource_usage_measurer_type;
extern const struct measurer_type file_measurer_type;
extern const struct measurer_type list_events_measurer_type;
extern const struct measurer_type ping_pong_measurer_type;

/* The row of a description's class, or NULL. */
const struct measurer_type *measurer_type_of(const struct measurer_base *description);

/* Where regions begin that the parent executes instruction by instruction (common/step_counts.h), for WIRE_STEP. */
int64_t steps_place(void);
