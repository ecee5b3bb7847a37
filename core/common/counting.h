/* SPDX-License-Identifier: MIT */
/* Counts the events of one pass on other threads. */
#pragma once

#include "PerfEventMeasurer.h"
#include "PerfEventMeasurerOutput.h"
#include "StepMeasurer.h"
#include "common/perf_event.h"

/* The events of a pass, encoded. Zeroed: none. */
struct counting {
	const struct perf_event_measurer *measurer;
	struct perf_encoding *encoding;    /* NULL: there are no events, or steps count them */
	const struct step_measurer *steps; /* the measurer, if instructions are counted without events; else NULL */
	bool is_translated;                /* and whole threads are, not regions alone */
};

/* Counts of one thread, in pieces: the system ends a group when a set-uid program is executed. Zeroed: no counts. */
struct counts {
	struct perf_group group; /* of the piece that is being counted    */
	struct perf_counts sum;  /* of the pieces that are complete       */
};

/* Clears poisoned counters if the measurer says so, and encodes its events. measurer is borrowed. 0 or -1. */
int counting_open(struct counting *counting, const struct perf_event_measurer *measurer, struct rot_error *err);

void counting_close(struct counting *counting);

/* 0, or -1 with errno as of perf_event_open. Without events nothing is done. */
int counts_begin(struct counts *counts, const struct counting *counting, enum perf_heirs heirs, enum perf_begin begin,
		 pid_t tid, struct rot_error *err);

/* Completes the piece; counting goes on with counts_begin. 0 or -1; nothing open: 0. */
int counts_end(struct counts *counts, struct rot_error *err);

/* Adds from to counts. */
void counts_add(struct counts *counts, const struct counts *from);

/* NULL without hardware's events. */
struct perf_event_measurer_output *counts_output(const struct counts *counts, const struct counting *counting);

/* The output of a region; NULL without events. */
struct perf_event_measurer_output *region_counts_output(const struct perf_counts *sum, const struct counting *counting);
