/* SPDX-License-Identifier: MIT */
/*
 * Where the host of a virtual machine has put two CPUs: near (one complex of cores, one cache) or far. It is not told,
 * it changes every few seconds, and the bandwidth that two threads get from memory follows it by a factor of two. A
 * cache line handed to and fro shows it.
 *
 *	placement_watch(measurement, 20);         before quantities_measure: a ping-pong before and after each run
 *	quantities_measure(rot, measurement, ..., values, ...);
 *	placement_add(&placement, &values[0]);    of all that was measured on these CPUs: the more, the surer
 *	placement_mode(&placement, &values[0], i) of sample i: PLACEMENT_NEAR, _FAR, or _MIXED: leave it out
 *
 * Two CPUs on one core are told by how much they slow each other down; their times belong to no group.
 *
 * No time is near or far by itself: the groups that the times fall into decide, with a gap of at least a factor of two
 * between them (seen on an EPYC 9005: 41 to 72 and 178 to 239 ns). One group only: PLACEMENT_ONE, nothing to tell
 * apart.
 */
#ifndef PEAKS_PLACEMENT_H
#define PEAKS_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "entities.h"
#include "quantities/quantity.h"

enum placement_mode {
	PLACEMENT_UNKNOWN, /* no ping-pong, or its time belongs to no group */
	PLACEMENT_ONE,     /* all that was seen is alike */
	PLACEMENT_NEAR,
	PLACEMENT_FAR,
	PLACEMENT_SHARED, /* both on one core */
	PLACEMENT_MIXED,  /* moved during the sample */
};

/* Times seen so far, ns. Zeroed: none. */
struct placement {
	double *ns;
	size_t nr;
};

/*
 * Puts a PingPongMeasurer for the CPUs of the first two workloads that are pinned to different CPUs into the overall
 * set, which it makes if there is none. It takes that long each time: 20 ms for times that are sure, 1 for whether they
 * share a core. Does nothing if there are no two. It becomes part of the description, thus of its hash.
 */
void placement_watch(struct measurement *measurement, int milli_seconds);

/* Adds the times of all samples that are not of a shared core, if the value has any. */
void placement_add(struct placement *placement, const struct quantity_value *value);

/* Of one sample of a value, after all were added. */
enum placement_mode
placement_mode(const struct placement *placement, const struct quantity_value *value, size_t sample);

/* Did the two CPUs share a core before or after the sample, as far as is known? */
bool placement_shares_core(const struct quantity_value *value, size_t sample);

/* The groups seen: their number, 0 to 2, and the median time of each, the near one first. */
size_t placement_groups(const struct placement *placement, double median_ns[2]);

/* "near", "far", "shared"; "" for the others: peak.mode. */
const char *placement_mode_name(enum placement_mode mode);

void placement_clear(struct placement *placement);

#endif
