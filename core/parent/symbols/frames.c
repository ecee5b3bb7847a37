/* SPDX-License-Identifier: MIT */
/* See frames.h. */
#include "parent/symbols/frames.h"

#include <stdlib.h>

#include "memory.h"

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
	for (size_t i = frames->nr_open; i-- > 0;) {
		if (frames->open[i].stack_pointer == stack_pointer)
			return i;
	}
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
frames_forget(struct frames *frames)
{
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
