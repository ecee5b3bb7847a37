/* SPDX-License-Identifier: MIT */
/*
 * Times of random loads in growing parts of a buffer (statistics/residence.h), by the driver itself on one CPU. They
 * are kept in the cache folder, so that answers stay the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "machine/measured.h"
#include "statistics/residence.h"

struct rot;

struct visits {
	bool takes_kept; /* those that are kept, unless something has changed since */
	bool are_kept;
	struct residence_times times;
	struct measured_when when;
};

/*
 * The buffer is eight times as large as a last level of that many bytes, or as large as memory permits. Goes on until
 * there are nr visits, so that some come before other work. RESIDENCE_MAX_VISITS take 6 to 25 seconds, and are kept.
 * visits: zeros before, but for takes_kept. -1: no memory, or interrupted.
 */
int
visits_make(const struct rot *rot, int64_t last_level_bytes, size_t nr, struct visits *visits, struct rot_error *err);

/*
 * A part has as many lines in each page of the buffer as it has 64ths of it. So all parts need the same translations,
 * and what these cost is the same in all of them. The lines are other ones in each page, so that they lie in all sets
 * of a cache alike. Bytes from the begin of the buffer; number: of a line of a page, less than those of the part.
 */
#define VISITS_PAGE_BYTES 4096
#define VISITS_LINE_BYTES 64
static inline uint64_t
visits_place(uint64_t number, uint64_t page)
{
	return VISITS_PAGE_BYTES * page + VISITS_LINE_BYTES * ((number + 37 * (page + (page >> 6) + (page >> 9))) % 64);
}

/* Text as in the files. -1: it says something else. */
char *visits_text(const struct residence_times *times, const struct measured_when *when);
int visits_parse(const char *text, struct residence_times *times, struct measured_when *when);
