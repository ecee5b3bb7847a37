/* SPDX-License-Identifier: MIT */
/* See spans.h. */
#include "parent/symbols/spans.h"

#include <stdbool.h>
#include <stdlib.h>

#include "memory.h"

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
