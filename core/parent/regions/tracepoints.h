/* SPDX-License-Identifier: MIT */
/*
 * Probes at instructions of files, defined in tracefs as uprobe events of a group that carries the number of this
 * process. Nothing is mounted where others could see it. Linux (6.18) crashes when a probe is added to an event that is
 * in use, and its tracing hangs from then on: no name is ever used twice.
 */
#ifndef CORE_PARENT_REGIONS_TRACEPOINTS_H
#define CORE_PARENT_REGIONS_TRACEPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Closed: {.folder = -1, .events = -1}. */
struct tracepoints {
	int folder; /* of tracefs        */
	int events; /* its uprobe_events */
};

#define TRACEPOINTS_CLOSED ((struct tracepoints){.folder = -1, .events = -1})

/* An instruction at an offset in an open file; id is in the samples. */
struct tracepoint_probe {
	int file;
	uint64_t file_offset;
	uint32_t id;
};

/* One event, for any number of probes. */
struct tracepoint {
	char name[64];
	uint64_t type; /* config of a perf event of type PERF_TYPE_TRACEPOINT */
};

/* Where a sample of such an event has the id, in its raw data, and the bytes that must be there. */
#define TRACEPOINT_ID_OFFSET 16
#define TRACEPOINT_RAW_BYTES 20

/* Removes what processes that are gone have left there. 0, or -1: this user may not define events, or they hang. */
int tracepoints_open(struct tracepoints *tracepoints, struct rot_error *err);

/* 0, or -1 and nothing is defined. */
int tracepoints_define(struct tracepoints *tracepoints, struct tracepoint *tracepoint,
		       const struct tracepoint_probe *probes, size_t nr, struct rot_error *err);

/* No perf event may use it any more. */
void tracepoints_remove(struct tracepoints *tracepoints, const struct tracepoint *tracepoint);

/* Closing what is closed is allowed. */
void tracepoints_close(struct tracepoints *tracepoints);

#endif
