/* SPDX-License-Identifier: MIT */
/*
 * Frames of one thread in one region, out of the times it began and ended it: which end belongs to which beginning, and
 * what was never ended. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/perf_event.h"

/* ---- spans ---- */

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

/*
 * Kinds differ in the frame that an end ends. A frame is a beginning that has not been ended; a stack grows down, so
 * what was called later has a lower stack pointer.
 *
 * FUNCTION: from its first instruction to those that leave it. At both the stack pointer is the same, so an end ends
 * the frame with its own. LOOP: likewise, but code of the function jumps back to its first instruction: with the stack
 * pointer of a frame that is no beginning. SPAN: begin and end are named. An end ends the frame with its stack pointer,
 * or else the latest.
 *
 * A frame that is deeper than the one that is ended, or as deep as a new one or deeper, was abandoned: by an exception,
 * by longjmp, or since the end was passed by. A new one is not compared with frames that are FRAMES_STACK_BYTES or more
 * away: they are on other stacks (of a signal handler, of a coroutine).
 */
enum frames_kind {
	FRAMES_FUNCTION,
	FRAMES_LOOP,
	FRAMES_SPAN,
};

#define FRAMES_STACK_BYTES (UINT64_C(64) << 20)

/* Which are measured: outermost ones by their number among the outermost, from 1. last_hit 0: no last one. */
struct frames_rule {
	enum frames_kind kind;
	int64_t first_hit, last_hit;
};

/*
 * A thread at a place where the region begins or ends. counts: running totals of the thread; NULL: no counters.
 * is_team: what begins is a part of the region's function that every thread of an OpenMP team executes.
 * short_ns: hits that took less are short.
 */
struct frames_moment {
	uint64_t stack_pointer;
	uint64_t time_ns;
	const struct perf_counts *counts;
	bool is_team;
	uint64_t short_ns;
};

/* Told of each hit that is measured. counts: NULL without counters. */
struct frames_listener {
	void (*measured)(void *context, uint64_t time_ns, const struct perf_counts *counts);
	void *context;
};

struct frame {
	uint64_t stack_pointer;
	uint64_t time_ns;
	struct perf_counts counts;
	bool is_measured, is_team;
	uint64_t nr_lost; /* moments that were lost since; 2: its end, and another beginning, may be among them */
	int64_t nr_inner; /* of the outermost: beginnings since */
};

/*
 * Zeroed but for rule and listener (NULL: nobody): never entered.
 *
 * hits: beginnings that are known, recursion included.
 * measured_hits: outermost ones within the rule that were ended, or forgotten while they were open.
 * team_hits: outermost beginnings of parts for a team that were ended. They are in none of the other numbers of hits,
 * but for those that were abandoned or lost.
 * time_ns and counts are sums over the measured hits and the team's, spans when they were.
 * inner_hits: beginnings within these, also of parts for a team.
 * short_hits: any beginning that was ended after so short a time.
 * abandoned_hits: known never to have been ended.
 * lost_hits: the beginning or the end was missed, or may have been; those whose beginning was missed are not in hits.
 */
struct frames {
	struct frames_rule rule;
	const struct frames_listener *listener;
	int64_t hits, outermost_hits, measured_hits, team_hits, inner_hits, short_hits, abandoned_hits, lost_hits;
	uint64_t time_ns;
	struct perf_counts counts;
	struct spans spans;
	struct frame *open; /* innermost last */
	size_t nr_open, room;
	uint64_t nr_missing; /* moments that were lost and not accounted for yet */
};

void frames_enter(struct frames *frames, const struct frames_moment *moment);

/* An end without a beginning (it was before the measurement, or was lost) is no hit. */
void frames_leave(struct frames *frames, const struct frames_moment *moment);

/*
 * Between the last moment and the next one nr were lost: a frame that is open may have been ended, and another begun.
 * 0: nothing is changed.
 */
void frames_lose(struct frames *frames, uint64_t nr);

/* The thread, or its program, has ended: what is open was abandoned, and moments that are missing still were hits. */
void frames_end(struct frames *frames);

/*
 * The region is observed no more. Its outermost frame that is open is measured up to that time, without counts, unless
 * it begins later or its end may have been lost.
 */
void frames_forget(struct frames *frames, uint64_t time_ns);

/* Frees what is open, and the spans. The sums stay. */
void frames_clear(struct frames *frames);
