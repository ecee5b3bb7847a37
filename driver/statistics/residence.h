/* SPDX-License-Identifier: MIT */
/*
 * How much of a buffer stays in the caches, from times of random loads in parts of it that grow. Pure.
 *
 * The next load does not depend on what the caches hold. So if a cache holds R bytes of a part of S bytes, the share
 * R/S of loads hits, whatever it replaces, however it hashes addresses, and whether others have some of it. A hit
 * takes as long as in the smallest part. Times of the largest parts, over 1/S, lead to that of a miss.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define RESIDENCE_NR_PARTS 17
#define RESIDENCE_MAX_VISITS 40

/* Fewer, a third of them in each third, have no best tenth. */
#define RESIDENCE_LEAST_VISITS 12

/* Parts in 64ths of the buffer. */
extern const unsigned residence_parts[RESIDENCE_NR_PARTS];

/* All parts are visited in turn, again and again: what changes with time changes all of them. */
struct residence_times {
	double buffer_bytes;
	double ns[RESIDENCE_MAX_VISITS][RESIDENCE_NR_PARTS]; /* of a load */
	size_t nr_visits;
	double begun_s, seconds; /* by the clock; from the first visit to the last one */
};

struct residence {
	double bytes;                          /* the most that stays, in the best tenth of visits */
	double low, high;                      /* nine of ten single visits are above low, nine below high */
	double fitting;                        /* the largest part of which a tenth of loads misses at most; 0: none */
	double hit_ns, miss_ns;                /* of a load */
	double staying[2][RESIDENCE_NR_PARTS]; /* bytes of each part, of either half of the visits */
	const char *doubt;                     /* why bytes is not sure; NULL: it is */
	bool is_lower_bound;                   /* no other doubt than that it changed during the visits */
};

/* Thirds of the visits, and runs, agree by this share where an answer is sure. */
#define RESIDENCE_AGREEMENT 0.15

void residence_conclude(const struct residence_times *times, struct residence *residence);

struct residence_size {
	size_t most;        /* the run that saw most */
	size_t nr_agreeing; /* runs that saw as much, that one among them */
	const char *doubt;  /* NULL: two runs agree, or that run agrees with what was told */
};

/*
 * The size that runs at different times say together, one at least. Others can only take away from a cache, so it has
 * what was seen at most. told: its size, 0: nobody tells it.
 */
struct residence_size residence_of_runs(const double *bytes, size_t nr, double told);
