/* SPDX-License-Identifier: MIT */
/* When something was going on, as spans of time, and how long it was in any of several threads. Pure. */
#ifndef CORE_PARENT_SYMBOLS_SPANS_H
#define CORE_PARENT_SYMBOLS_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* filled_ns: of it, in which nothing was going on. */
struct span {
	uint64_t begin_ns, end_ns;
	double filled_ns;
};

/*
 * Zeroed: none. Memory is bounded: of very many spans those become one that are less than gap_ns apart, and what was
 * between them is filled.
 */
struct spans {
	struct span *items; /* in order, apart from each other */
	size_t nr, room;
	uint64_t gap_ns;
};

/* It begins after all others have ended, or when they do. */
void spans_add(struct spans *spans, uint64_t begin_ns, uint64_t end_ns);

/* All that is in either. from may be cleared then. */
void spans_unite(struct spans *to, const struct spans *from);

/*
 * The time in them, without what was filled. Exact of one thread, and of all as long as nothing was filled; else as if
 * threads did not heed each other where several have filled.
 */
uint64_t spans_time_ns(const struct spans *spans);
void spans_clear(struct spans *spans);

#endif
