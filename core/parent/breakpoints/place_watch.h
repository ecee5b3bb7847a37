/* SPDX-License-Identifier: MIT */
/* A place where rules want to know of threads (BreakpointEventPredicate), as breakpoints in processes that have it. */
#pragma once

#include "parent/breakpoints/breakpoints.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/symbols.h"

struct place_site;

/*
 * place, event: as in the predicate; borrowed. hit: a thread has come there; refused: it is not seen at that address
 * any more, and why. The rest is its own. It must stay where it is while there are breakpoints.
 */
struct place_watch {
	const char *place, *event;
	void (*hit)(struct place_watch *watch, const struct breakpoint_hit *hit);
	void (*refused)(struct place_watch *watch, uint64_t address, const struct rot_error *err);
	void *context;
	struct place_site *sites;
};

/*
 * Watches the place in the process of a stopped thread, in whose objects it is looked for. Whatever is watched there
 * already stays so. -1: it is not there, or not all of it can be watched.
 */
int place_watch_set(struct place_watch *watch, struct symbol_files *symbols, const struct objects *objects,
		    struct thread *thread, struct rot_error *err);

/* There are no breakpoints any more. */
void place_watch_clear(struct place_watch *watch);
