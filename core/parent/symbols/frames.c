/* SPDX-License-Identifier: MIT */
#include "parent/symbols/frames.h"

#include <stdbool.h>
#include <stdlib.h>

#include "memory.h"

/* ---- spans ---- */

/* 1 MB. */
#define MAX_SPANS 65536

/* One that begins no earlier: they overlap, or are near each other. */
static void
join_spans(struct span *last, const struct span *span)
{
	const double of_last = (double)(last->end_ns - last->begin_ns),
		     of_span = (double)(span->end_ns - span->begin_ns);
	const uint64_t end_ns = span->end_ns < last->end_ns ? span->end_ns : last->end_ns;
	const double both = end_ns > span->begin_ns ? (double)(end_ns - span->begin_ns) : 0;
	const double gap = span->begin_ns > last->end_ns ? (double)(span->begin_ns - last->end_ns) : 0;
	const double empty = of_last > 0 ? last->filled_ns / of_last : 0,
		     empty_too = of_span > 0 ? span->filled_ns / of_span : 0;

	last->filled_ns = both > 0 ? empty * (of_last - both) + empty_too * (of_span - both) + empty * empty_too * both
				   : last->filled_ns + span->filled_ns + gap;
	last->end_ns = span->end_ns > last->end_ns ? span->end_ns : last->end_ns;
}

/* Adds one that begins no earlier than the last one. */
static void
append(struct spans *spans, struct span span)
{
	struct span *last = spans->nr > 0 ? &spans->items[spans->nr - 1] : NULL;

	if (last && span.begin_ns <= last->end_ns + spans->gap_ns) {
		join_spans(last, &span);
		return;
	}
	if (spans->nr == spans->room) {
		spans->room = spans->room ? 2 * spans->room : 16;
		spans->items = rot_realloc(spans->items, spans->room, sizeof(*spans->items));
	}
	spans->items[spans->nr++] = span;
}

/* Until half of the room is free. */
static void
make_room(struct spans *spans)
{
	while (spans->nr > MAX_SPANS / 2) {
		const size_t nr = spans->nr;

		spans->gap_ns = 2 * spans->gap_ns + 1;
		spans->nr = 0;
		for (size_t i = 0; i < nr; i++)
			append(spans, spans->items[i]);
	}
}

void
spans_add(struct spans *spans, uint64_t begin_ns, uint64_t end_ns)
{
	append(spans, (struct span){begin_ns, end_ns, 0});
	if (spans->nr == MAX_SPANS)
		make_room(spans);
}

void
spans_unite(struct spans *to, const struct spans *from)
{
	struct spans both = {.gap_ns = to->gap_ns > from->gap_ns ? to->gap_ns : from->gap_ns};

	for (size_t i = 0, k = 0; i < to->nr || k < from->nr;) {
		const bool is_first = k == from->nr || (i < to->nr && to->items[i].begin_ns <= from->items[k].begin_ns);

		append(&both, is_first ? to->items[i++] : from->items[k++]);
		if (both.nr == MAX_SPANS)
			make_room(&both);
	}
	spans_clear(to);
	*to = both;
}

uint64_t
spans_time_ns(const struct spans *spans)
{
	double sum = 0;

	for (size_t i = 0; i < spans->nr; i++)
		sum += (double)(spans->items[i].end_ns - spans->items[i].begin_ns) - spans->items[i].filled_ns;
	return (uint64_t)(sum + 0.5);
}

void
spans_clear(struct spans *spans)
{
	free(spans->items);
	*spans = (struct spans){.nr = 0};
}

#define NONE SIZE_MAX

/* It is not ended by what was seen: left otherwise, or its end was missed. */
static void
give_up(struct frames *frames, size_t i)
{
	if (frames->open[i].nr_lost > 0 && frames->nr_missing > 0) {
		frames->nr_missing--;
		frames->lost_hits++;
	} else {
		frames->abandoned_hits++;
	}
	frames->nr_open--;
	for (; i < frames->nr_open; i++)
		frames->open[i] = frames->open[i + 1];
}

static size_t
find_same(const struct frames *frames, uint64_t stack_pointer)
{
	for (size_t i = frames->nr_open; i-- > 0;)
		if (frames->open[i].stack_pointer == stack_pointer)
			return i;
	return NONE;
}

static size_t
find_latest(const struct frames *frames, uint64_t stack_pointer)
{
	size_t same = find_same(frames, stack_pointer);

	return same != NONE || frames->nr_open == 0 ? same : frames->nr_open - 1;
}

void
frames_enter(struct frames *frames, const struct frames_moment *moment)
{
	struct frame *frame;

	if (frames->rule.kind == FRAMES_LOOP && find_same(frames, moment->stack_pointer) != NONE)
		return;
	for (size_t i = frames->nr_open; i-- > 0;) {
		uint64_t other = frames->open[i].stack_pointer;

		if (other <= moment->stack_pointer && moment->stack_pointer - other < FRAMES_STACK_BYTES)
			give_up(frames, i);
	}
	if (frames->nr_open == frames->room) {
		frames->room = frames->room ? 2 * frames->room : 4;
		frames->open = rot_realloc(frames->open, frames->room, sizeof(*frames->open));
	}
	frame = &frames->open[frames->nr_open++];
	*frame = (struct frame){
		.stack_pointer = moment->stack_pointer, .time_ns = moment->time_ns, .is_team = moment->is_team};
	if (moment->counts)
		frame->counts = *moment->counts;
	frames->hits += !moment->is_team;
	if (frames->nr_open > 1) {
		frames->open[0].nr_inner++;
		return;
	}
	frames->outermost_hits++;
	frame->is_measured = frames->outermost_hits >= frames->rule.first_hit &&
			     (frames->rule.last_hit == 0 || frames->outermost_hits <= frames->rule.last_hit);
}

static size_t (*const finders[])(const struct frames *, uint64_t) = {
	[FRAMES_FUNCTION] = find_same, [FRAMES_LOOP] = find_same, [FRAMES_SPAN] = find_latest};

static void
measure_frame(struct frames *frames, const struct frame *frame, const struct frames_moment *moment)
{
	uint64_t time_ns = moment->time_ns - frame->time_ns;
	struct perf_counts counts = {0};

	if (moment->counts) {
		counts.enabled_ns = moment->counts->enabled_ns - frame->counts.enabled_ns;
		counts.running_ns = moment->counts->running_ns - frame->counts.running_ns;
		for (size_t i = 0; i < PERF_MAX_EVENTS; i++)
			counts.values[i] = moment->counts->values[i] - frame->counts.values[i];
	}
	if (frame->is_team)
		frames->team_hits++;
	else
		frames->measured_hits++;
	frames->inner_hits += frame->nr_inner;
	frames->time_ns += time_ns;
	spans_add(&frames->spans, frame->time_ns, moment->time_ns);
	perf_counts_add(&frames->counts, &counts);
	if (frames->listener)
		frames->listener->measured(frames->listener->context, time_ns, moment->counts ? &counts : NULL);
}

void
frames_leave(struct frames *frames, const struct frames_moment *moment)
{
	size_t found = finders[frames->rule.kind](frames, moment->stack_pointer);
	const struct frame *frame;

	if (found == NONE) {
		/* Its beginning was before the measurement, or was missed. */
		if (frames->nr_missing > 0) {
			frames->nr_missing--;
			frames->lost_hits++;
		}
		return;
	}
	while (frames->nr_open > found + 1)
		give_up(frames, frames->nr_open - 1);
	frame = &frames->open[--frames->nr_open];
	frames->short_hits += moment->time_ns - frame->time_ns < moment->short_ns;
	if (frame->nr_lost >= 2)
		frames->lost_hits++;
	else if (frame->is_measured)
		measure_frame(frames, frame, moment);
}

void
frames_lose(struct frames *frames, uint64_t nr)
{
	frames->nr_missing += nr;
	for (size_t i = 0; i < frames->nr_open; i++)
		frames->open[i].nr_lost += nr;
}

void
frames_end(struct frames *frames)
{
	while (frames->nr_open > 0)
		give_up(frames, frames->nr_open - 1);
	frames->lost_hits += (int64_t)((frames->nr_missing + 1) / 2);
	frames->nr_missing = 0;
}

void
frames_forget(struct frames *frames, uint64_t time_ns)
{
	const struct frames_moment moment = {.time_ns = time_ns};
	const struct frame *outermost = frames->nr_open > 0 ? &frames->open[0] : NULL;

	if (outermost && outermost->is_measured && outermost->nr_lost == 0 && outermost->time_ns < time_ns)
		measure_frame(frames, outermost, &moment);
	frames->nr_open = 0;
	frames->nr_missing = 0;
}

void
frames_clear(struct frames *frames)
{
	spans_clear(&frames->spans);
	free(frames->open);
	frames->open = NULL;
	frames->nr_open = frames->room = 0;
}
