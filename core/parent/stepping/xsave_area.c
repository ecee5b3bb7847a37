/* SPDX-License-Identifier: MIT */
#include "parent/stepping/xsave_area.h"

#include <cpuid.h>

#define LEAF_XSAVE 0xd
#define IS_ALIGNED 2 /* of ecx */
#define ALIGNMENT 64
#define COMPACTED (UINT64_C(1) << 63) /* of the second word of the header */

enum { X87 = 1, SSE = 2, AVX = 4 };
#define FIRST_EXTENDED 2

static void
read_components(struct xsave_component components[XSAVE_NR_COMPONENTS])
{
	unsigned low, high, supervisor_low, supervisor_high, bytes, offset, flags, unused;

	if (__get_cpuid_max(0, NULL) < LEAF_XSAVE)
		return;
	__cpuid_count(LEAF_XSAVE, 0, low, unused, unused, high);
	__cpuid_count(LEAF_XSAVE, 1, unused, unused, supervisor_low, supervisor_high);
	for (unsigned i = FIRST_EXTENDED; i < XSAVE_NR_COMPONENTS; i++) {
		if (!(((uint64_t)(high | supervisor_high) << 32 | low | supervisor_low) >> i & 1))
			continue;
		__cpuid_count(LEAF_XSAVE, i, bytes, offset, flags, unused);
		components[i] = (struct xsave_component){offset, bytes, flags & IS_ALIGNED};
	}
}

/* Asked once, and of those that there are: where a hypervisor answers, each question takes microseconds. */
const struct xsave_component *
xsave_component(unsigned number)
{
	static struct xsave_component components[XSAVE_NR_COMPONENTS];
	static bool is_known;

	if (!is_known)
		read_components(components);
	is_known = true;
	return &components[number];
}

struct spans {
	struct xsave_span *items;
	size_t nr;
	bool are_stores;
};

static void
add(struct spans *spans, uint32_t offset, uint32_t bytes)
{
	spans->items[spans->nr++] = (struct xsave_span){offset, bytes, spans->are_stores};
}

static void
add_standard(struct spans *spans, uint64_t components)
{
	for (unsigned i = FIRST_EXTENDED; i < XSAVE_NR_COMPONENTS; i++)
		if (components >> i & 1)
			add(spans, xsave_component(i)->offset, xsave_component(i)->bytes);
}

/* room: those that have their place in the area, accessed or not. */
static void
add_compacted(struct spans *spans, uint64_t components, uint64_t room)
{
	uint32_t offset = XSAVE_HEADER_AT + XSAVE_HEADER_BYTES;

	for (unsigned i = FIRST_EXTENDED; i < XSAVE_NR_COMPONENTS; i++) {
		const struct xsave_component *component = xsave_component(i);

		if (!(room >> i & 1))
			continue;
		if (component->is_aligned)
			offset = (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		if (components >> i & 1)
			add(spans, offset, component->bytes);
		offset += component->bytes;
	}
}

/* In the compacted format all of SSE is one; in the other its control word goes with AVX as well. */
static void
add_legacy(struct spans *spans, uint64_t components, bool has_mxcsr)
{
	if (components & X87) {
		/* Its control words; between them and the registers are those of SSE. */
		add(spans, 0, 24);
		add(spans, 32, 128);
	}
	if (has_mxcsr)
		add(spans, 24, 8);
	if (components & SSE)
		add(spans, 160, 256);
}

static void
save_all(const struct xsave_request *request, uint64_t wanted, struct spans *spans)
{
	(void)request;
	add(spans, XSAVE_HEADER_AT, 8);
	spans->are_stores = true;
	add_legacy(spans, wanted, wanted & (SSE | AVX));
	add(spans, XSAVE_HEADER_AT, 8);
	add_standard(spans, wanted);
}

static void
save_compacted(const struct xsave_request *request, uint64_t wanted, struct spans *spans)
{
	const uint64_t saved = wanted & request->in_use;

	spans->are_stores = true;
	add_legacy(spans, saved, saved & SSE);
	add(spans, XSAVE_HEADER_AT, 16);
	add_compacted(spans, saved, wanted);
}

static void
restore(const struct xsave_request *request, uint64_t wanted, struct spans *spans)
{
	const uint64_t held = wanted & request->held;
	const bool is_compacted = request->format & COMPACTED;

	add(spans, XSAVE_HEADER_AT, XSAVE_HEADER_BYTES);
	add_legacy(spans, held, is_compacted ? held & SSE : wanted & (SSE | AVX));
	if (is_compacted)
		add_compacted(spans, held, request->format);
	else
		add_standard(spans, held);
}

size_t
xsave_spans(const struct xsave_request *request, struct xsave_span spans[XSAVE_MAX_SPANS])
{
	static void (*const kinds[])(const struct xsave_request *, uint64_t, struct spans *) = {
		[XSAVE_ALL] = save_all, [XSAVE_COMPACT] = save_compacted, [XSAVE_RESTORE] = restore};
	struct spans all = {.items = spans};

	kinds[request->kind](request, request->asked_for & request->enabled, &all);
	return all.nr;
}
