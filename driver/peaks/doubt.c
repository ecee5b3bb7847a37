/* SPDX-License-Identifier: MIT */
/* See doubt.h. */
#include "peaks/doubt.h"

#include <math.h>
#include <string.h>

/* Far more than peaks of one machine differ by for a reason: loads and copies by 1.4, searches in turns by 1.1. */
#define FAR_BELOW 0.5

static const char *const borders[] = {"cpuL1", "l1l2", "l2l3", "llcRam"};

/* Index in borders; -1: none of them. */
static int
distance(const struct peak *peak)
{
	for (int i = 0; i < (int)(sizeof(borders) / sizeof(*borders)); i++)
		if (strcmp(peak->border, borders[i]) == 0)
			return i;
	return -1;
}

/* What other shows must be in the reach of peak. */
static bool
is_bound_for(const struct peak *peak, const struct peak *other)
{
	if (other->kind != PEAK_BANDWIDTH || other->nr_threads != peak->nr_threads || distance(other) < 0)
		return false;
	if (strcmp(other->access, peak->access) == 0)
		return distance(other) > distance(peak);
	return strcmp(peak->access, "load") == 0 && distance(other) == distance(peak);
}

bool
peak_is_doubtful(const struct peak_list *list, const struct peak *peak)
{
	const double reached = peak->per_cycle.value;

	if (peak->kind == PEAK_LATENCY)
		return false;
	if ((peak->nr_tainted > 0 && peak->nr_tainted >= peak->nr_samples && isnan(peak->per_cycle.low)) ||
	    reached < FAR_BELOW * peak->limit_per_cycle)
		return true;
	if (peak->kind != PEAK_BANDWIDTH || distance(peak) < 0)
		return false;
	for (size_t i = 0; i < list->nr; i++)
		if (is_bound_for(peak, &list->peaks[i]) && reached < FAR_BELOW * list->peaks[i].per_cycle.value)
			return true;
	return false;
}
