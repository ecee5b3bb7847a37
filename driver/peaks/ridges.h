/* SPDX-License-Identifier: MIT */
/*
 * Ridge points: the least operational intensity at which a performance can be reached when all bytes cross a border at
 * its bandwidth (Williams, Waterman and Patterson 2009). Pure.
 */
#ifndef PEAKS_RIDGES_H
#define PEAKS_RIDGES_H

#include "peaks/peak.h"

struct ridge {
	const struct peak *performance, *bandwidth; /* of the list */
	struct peak_estimate intensity;             /* flop/byte; the interval is that of the worst case of both */
};

/*
 * All pairs of a floating point performance and a bandwidth of as many threads, in the order of the list; a bandwidth
 * of several modes has a pair for each. The intensity is that per cycle where both clocks are known, so that a clock
 * that moved between the two does not matter. Caller frees the array.
 */
size_t peaks_ridges(const struct peak_list *list, struct ridge **ridges);

/* Does that border come closer to the core: "cpuL1" before "l1l2" before "l2l3" before "llcRam"? Others are last. */
int border_order(const char *border);

/* "L1", "L2", "L3", "memory". Borrowed. */
const char *border_level(const char *border);

#endif
