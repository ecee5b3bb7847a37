/* SPDX-License-Identifier: MIT */
/*
 * How bandwidths and performances grow with the number of threads, and where they stop: from that number on more
 * threads get no more of what they share. Pure.
 */
#pragma once

#include "roof/peak.h"

/* Fewer threads saturate a rate if they reach this share of its highest. */
#define SATURATION_SHARE 0.95

/* A rate that grows by less than that factor is saturated by the fewest threads. */
#define SATURATION_LEAST 1.1

/* One bandwidth or performance over numbers of threads. */
struct growth {
	const struct peak **peaks; /* of the list, by rising number of threads; two at least */
	size_t nr;
	const char *mode;   /* of those on several threads */
	double factor;      /* the highest, divided by that of the fewest threads */
	int saturated_from; /* threads; 0: the most threads get clearly more than fewer do, so more might get more */
};

/*
 * Of all peaks of that kind (no latencies) that are known on two numbers of threads at least, in the order of the list.
 * One on one thread, which has no mode, begins the growth of each mode.
 */
size_t peaks_growths(struct pool *pool, const struct peak_list *list, enum peak_kind kind, struct growth **growths);

/* The numbers of threads of all these, rising. */
size_t growths_threads(struct pool *pool, const struct growth *growths, size_t nr, int **threads);
