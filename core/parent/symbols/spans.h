/* SPDX-License-Identifier: MIT */
/* When something was going on, as spans of time, and how long it was in any of several threads. Pure. */
#ifndef CORE_PARENT_SYMBOLS_SPANS_H
#define CORE_PARENT_SYMBOLS_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t begin_ns, end_ns;
};

/*
 * Zeroed: none. Memory is bounded: of very many spans those become one that are less than gap_ns apart, and filled_ns
 * is the sum of what was between them.
 */
struct spans {
	struct span *items; /* in order, apart from each other */
	size_t nr, room;
	uint64_t gap_ns, filled_ns;
};

/* It begins after all others have ended, or when they do. */
void spans_add(struct spans *spans, uint64_t begin_ns, uint64_t end_ns);

/* All that is in either. from may be cleared then. */
void spans_unite(struct spans *to, const struct spans *from);

/* The time in them, without what was filled; at most that much too little. */
uint64_t spans_time_ns(const struct spans *spans);
void spans_clear(struct spans *spans);

#endif
