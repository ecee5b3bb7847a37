/* SPDX-License-Identifier: MIT */
/* Pages that drive another one out of the second level, by the time of accesses (x86: the time stamp counter). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

#include "conflicts.h"

/*
 * Lines of a page that are followed: where a set is chosen by few bits beside those within a page, pages that share the
 * set of one line share those of others. One after the other misses, so that the time says more than the steps in which
 * the counter of some processors advances.
 */
#define EVICTED_LINES 8
#define EVICTED_REPEATS 7
#define EVICTED_VICTIMS 15
#define EVICTED_MANY 200 /* pages, of which fewer walks are enough */
#define EVICTED_FEW 20   /* pages that drive one out of the first level, and not of the second */

struct evicted {
	char *pool;                     /* pages of 4 KiB */
	uint32_t pages[CONFLICTS_POOL]; /* in irregular order, so that nothing is foreseen */
	uint64_t least_ticks;           /* of a page that was driven out, or a part of its lines was */
};

/* In irregular order, and far from each other, as neighbours may be fetched together. */
static inline unsigned
evicted_offset(unsigned line)
{
	static const unsigned char order[EVICTED_LINES] = {0, 5, 2, 7, 4, 1, 6, 3};

	return order[line] * 512U + (line % 4 ? 192U : 64U);
}

static inline char *
evicted_page(const struct evicted *evicted, uint32_t page)
{
	return evicted->pool + 4096 * (uint64_t)evicted->pages[page];
}

static uint64_t
evicted_chase(char *at, unsigned nr)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	for (unsigned i = 0; i < nr; i++)
		at = *(char *volatile *)(void *)at;
	_mm_lfence();
	return __rdtsc() - ticks;
}

/* Several walks, as lines that are used once may be replaced first. */
static void
evicted_walk(const struct evicted *evicted, const uint32_t *pages, uint32_t nr)
{
	for (int walk = nr > EVICTED_MANY ? 2 : 0; walk < 4; walk++) {
		for (uint32_t i = 0; i < nr; i++)
			for (unsigned line = 0; line < EVICTED_LINES; line++)
				(void)*(volatile char *)(evicted_page(evicted, pages[i]) + evicted_offset(line));
	}
}

/* The median of the times that the lines of the victim take after walks over the pages. */
static uint64_t
evicted_ticks(const struct evicted *evicted, uint32_t victim, const uint32_t *pages, uint32_t nr)
{
	char *first = evicted_page(evicted, victim) + evicted_offset(0);
	uint64_t sorted[EVICTED_REPEATS];

	for (int i = 0; i < EVICTED_REPEATS; i++) {
		uint64_t ticks;
		int k = i;

		evicted_chase(first, EVICTED_LINES);
		evicted_walk(evicted, pages, nr);
		ticks = evicted_chase(first, EVICTED_LINES);
		for (; k > 0 && sorted[k - 1] > ticks; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = ticks;
	}
	return sorted[EVICTED_REPEATS / 2];
}

static bool
evicted_is(void *context, uint32_t victim, const uint32_t *pages, uint32_t nr)
{
	const struct evicted *evicted = context;

	return evicted_ticks(evicted, victim, pages, nr) >= evicted->least_ticks;
}

/* The median for several victims, as others disturb some. */
static uint64_t
evicted_usual(const struct evicted *evicted, const uint32_t *pages, uint32_t nr)
{
	uint64_t sorted[EVICTED_VICTIMS];

	for (uint32_t i = 0; i < EVICTED_VICTIMS; i++) {
		const uint64_t ticks = evicted_ticks(evicted, i, pages, nr);
		uint32_t k = i;

		for (; k > 0 && sorted[k - 1] > ticks; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = ticks;
	}
	return sorted[EVICTED_VICTIMS / 2];
}

/*
 * Three of eight lines: sets of one half of the lines may be chosen by other bits than those of the other half (Zen 5),
 * and single ones are driven out by chance. False: a hit in the second level takes as long as a miss.
 */
static bool
evicted_calibrate(struct evicted *evicted)
{
	uint32_t pages[CONFLICTS_POOL - CONFLICTS_ATTEMPTS];
	uint64_t hit, miss;

	for (uint32_t i = 0; i < CONFLICTS_POOL - CONFLICTS_ATTEMPTS; i++)
		pages[i] = CONFLICTS_ATTEMPTS + i;
	hit = evicted_usual(evicted, pages, EVICTED_FEW);
	miss = evicted_usual(evicted, pages, CONFLICTS_POOL - CONFLICTS_ATTEMPTS);
	evicted->least_ticks = hit + (miss - hit) * 3 / 8;
	return miss > hit + hit / 4;
}

/* Fills found, as conflicts_find. What others do for a moment spoils one attempt. */
static bool
evicted_find(struct evicted *evicted, uint32_t *found, uint32_t wanted)
{
	/* Each line has the address of the next one of its page, and the last one that of the first. */
	for (uint32_t page = 0; page < CONFLICTS_POOL; page++) {
		char *start = evicted_page(evicted, page);

		for (unsigned line = 0; line < EVICTED_LINES; line++)
			*(char **)(void *)(start + evicted_offset(line)) =
				start + evicted_offset((line + 1) % EVICTED_LINES);
	}
	return evicted_calibrate(evicted) && conflicts_find(evicted_is, evicted, found, wanted);
}
