/* SPDX-License-Identifier: MIT */
/*
 * Events that sample the counters of a thread in the kernel each time it comes to some place: members of its group of
 * counters (or a group of their own, where it has none), which write into a ring of each thread. The thread is not
 * stopped for it.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/regions/regions.h"

struct sampled;

/* Things that were sampled, besides those of a hit. raw: of tracepoints. */
struct sample {
	uint64_t address; /* of the instruction */
	const uint8_t *raw;
	size_t raw_bytes;
};

/* One backend in one run: the beginning of what its open returns, so that functions below can be the backend's. */
struct sampling {
	struct regions *regions;
	const struct region_backend *backend;

	/* Called with context. event: which one a thread needs for a point of this backend; false: none. key: of the
	 * event that made this sample; UINT64_MAX: it is not known, and the sample is dropped. hit: tells of a hit.
	 * lose: tells that so many hits of that event were lost. */
	void *context;
	bool (*event)(void *context, const struct region_point *point, struct perf_event_attr *attr, uint64_t *key);
	uint64_t (*key)(void *context, const struct sample *sample);
	void (*hit)(void *context, struct region_thread *thread, const struct sample *sample,
		    const struct region_hit *hit);
	void (*lose)(void *context, struct region_thread *thread, uint64_t key, uint64_t nr);

	/* the sampling's own: threads with a ring, and the largest ring that this user should ask for (0: any) */
	size_t nr, ring_limit;
};

/* Fills in what all such events have in common; type, config and the like are the caller's. */
void sampling_prepare(struct perf_event_attr *attr);

/*
 * Opens what a thread has not open yet of the events of its image's points. 0, or -1 with errno; a thread that is gone
 * is none of the failures. self is a struct sampling, here and below.
 */
int sampling_join(void *self, struct region_thread *thread, struct rot_error *err);

/* Tells what the thread's ring holds. */
void sampling_drain(void *self, struct region_thread *thread);

/* Tells what the thread's ring holds, and closes the events that no point of its image needs. */
void sampling_prune(void *self, struct region_thread *thread);

/* The thread comes to no places any more: tells the rest, and closes its events. */
void sampling_leave(void *self, struct region_thread *thread);
