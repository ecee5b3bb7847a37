/* SPDX-License-Identifier: MIT */
#include "parent/translate/contents.h"

#include <string.h>

#include "memory.h"
#include "parent/symbols/instruction.h"

/* Original bytes of a fragment from that offset on, at most nr; 0: they are gone. */
static size_t
bytes_of(struct code_cache *cache, const struct fragment *fragment, uint32_t offset, uint8_t *bytes, size_t nr)
{
	const uint32_t left = fragment->nr_origin_bytes - offset;
	const size_t n = left < nr ? left : nr;

	if (!fragment->is_kept)
		return code_cache_read(cache, -1, fragment->origin + offset, bytes, n, false);
	memcpy(bytes, cache->bytes + fragment->bytes + offset, n);
	return n;
}

bool
contents_are_dynamic(const struct work *work, enum dynamic_kind *kind)
{
	*kind = work->is_repeated ? DYNAMIC_TURNS : DYNAMIC_LANES;
	return work->is_repeated || work->mask == WORK_MASK_REGISTER || work->mask == WORK_SIGNS;
}

/* An operand of which each active lane, or turn, accesses its part. */
static bool
is_part_dynamic(const struct work *work, const struct work_part *part)
{
	return work->is_repeated || (part->shape == WORK_LANES && part->nr_elements == work->nr_lanes) ||
	       part->shape == WORK_PACKED || part->shape == WORK_INDEXED;
}

static void
add(struct contents *contents, const struct work *work, uint32_t offset)
{
	enum dynamic_kind kind;
	const bool is_dynamic = contents_are_dynamic(work, &kind);

	contents->counts[STEP_INSTRUCTIONS]++;
	if (work->is_unknown || work->mask == WORK_COMPONENTS) {
		if (contents->nr_unknown++ == 0)
			contents->unknown_at = (uint16_t)offset;
		return;
	}
	/* Contents take every lane for masked; contents_add_dynamic subtracts those that are active. */
	if (work->operation != STEP_INSTRUCTIONS && !is_dynamic)
		WORK_ADD_OPERATIONS(work, (uint32_t)work->nr_lanes * work->nr_operations, contents->counts);
	else if (work_may_mask_flops(work))
		contents->counts[STEP_MASKED_FLOP] += (uint32_t)work->nr_lanes * work->nr_operations;
	contents->counts[STEP_CONVERSIONS] += work->nr_converted;
	for (unsigned i = 0; i < work->nr_parts; i++) {
		const struct work_part *part = &work->parts[i];

		if (!part->flush && !(is_dynamic && is_part_dynamic(work, part)))
			contents->counts[part->is_store ? STEP_STORED_BYTES : STEP_LOADED_BYTES] +=
				part->shape == WORK_WHOLE ? part->bytes : part->bytes * part->nr_elements;
	}
}

static struct contents
contents_of_bytes(const uint8_t *bytes, size_t nr_bytes)
{
	struct contents contents = {.nr_unknown = 0};
	struct work work;

	for (uint32_t at = 0; at < nr_bytes && work_decode(bytes + at, nr_bytes - at, &work); at += work.length)
		add(&contents, &work, at);
	return contents;
}

struct contents
contents_before(struct code_cache *cache, const struct fragment *fragment, uint32_t origin_offset)
{
	uint8_t bytes[BLOCK_MAX_ITEMS * INSTRUCTION_MAX_BYTES];
	const size_t nr = bytes_of(cache, fragment, 0, bytes, sizeof(bytes));

	return contents_of_bytes(bytes, nr < origin_offset ? nr : origin_offset);
}

void
contents_count(const uint8_t *bytes, size_t nr_bytes, int64_t counts[STEP_NR_COUNTS])
{
	const struct contents contents = contents_of_bytes(bytes, nr_bytes);

	for (size_t i = 0; i < CONTENTS_NR_COUNTS; i++)
		counts[i] += contents.counts[i];
}

static void
set(struct code_cache *cache, struct fragment *fragment, const struct contents *contents)
{
	if (cache->nr_contents == cache->contents_room)
		cache->contents = rot_realloc(cache->contents, cache->contents_room = 2 * cache->nr_contents + 256,
					      sizeof(*cache->contents));
	cache->contents[cache->nr_contents++] = *contents;
	fragment->contents = cache->nr_contents;
}

void
contents_of_block(struct code_cache *cache, struct fragment *fragment, const struct basic_block *block)
{
	struct contents contents = {.nr_unknown = 0};

	for (size_t i = 0; i < block->nr; i++)
		add(&contents, &block->items[i].work, block->items[i].at);
	set(cache, fragment, &contents);
}

const struct contents *
contents_of(struct code_cache *cache, struct fragment *fragment)
{
	if (fragment->contents == 0) {
		const struct contents contents = contents_before(cache, fragment, fragment->nr_origin_bytes);

		set(cache, fragment, &contents);
	}
	return &cache->contents[fragment->contents - 1];
}

/*
 * How many fragments are looked at at once, and how many must be new before all are looked through once more: so many,
 * and a share of those that there are.
 */
#define AHEAD_AT_ONCE 16
#define AHEAD_AFTER(nr_fragments) (2000 + (nr_fragments) / 8)

bool
contents_ahead(struct code_cache *cache, int64_t area)
{
	uint64_t values[PAGE_COUNTERS];
	unsigned nr_made = 0;

	if (cache->nr_contents == cache->nr_fragments ||
	    (cache->next_counter == 0 && cache->nr_fragments < cache->look_again_at))
		return false;
	if (!code_cache_read_counters(cache, area, cache->next_counter / PAGE_COUNTERS * PAGE_COUNTERS, values))
		return false;
	for (uint32_t *i = &cache->next_counter; *i < cache->nr_counters && nr_made < AHEAD_AT_ONCE;) {
		const uint32_t owner = cache->owners[*i];

		if (values[*i % PAGE_COUNTERS] && !(owner & OWNER_DYNAMIC) && !cache->fragments[owner].contents) {
			contents_of(cache, &cache->fragments[owner]);
			nr_made++;
		}
		if (++*i % PAGE_COUNTERS == 0)
			return true;
	}
	if (cache->next_counter < cache->nr_counters)
		return true;
	cache->next_counter = 0;
	cache->look_again_at = cache->nr_fragments + AHEAD_AFTER(cache->nr_fragments);
	return false;
}

void
contents_add_dynamic(struct code_cache *cache, const struct dynamic *dynamic, int64_t value,
		     int64_t counts[STEP_NR_COUNTS])
{
	const struct fragment *fragment = &cache->fragments[dynamic->fragment];
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	struct work work;

	if (!work_decode(bytes, bytes_of(cache, fragment, dynamic->origin, bytes, sizeof(bytes)), &work) ||
	    work.is_unknown)
		return;
	if (dynamic->kind == DYNAMIC_LANES && work.operation != STEP_INSTRUCTIONS)
		WORK_ADD_OPERATIONS(&work, value * work.nr_operations, counts);
	if (dynamic->kind == DYNAMIC_LANES && work_may_mask_flops(&work))
		counts[STEP_MASKED_FLOP] -= value * work.nr_operations;
	for (unsigned i = 0; i < work.nr_parts; i++) {
		const struct work_part *part = &work.parts[i];

		if (!part->flush && is_part_dynamic(&work, part))
			counts[part->is_store ? STEP_STORED_BYTES : STEP_LOADED_BYTES] += value * part->bytes;
		if (part->shape == WORK_INDEXED)
			counts[STEP_GATHERED_BYTES] += value * part->bytes;
	}
}
