/* SPDX-License-Identifier: MIT */
/* Instructions of a fragment count for this (common/step_counts.h), each time that it is executed. */
#pragma once

#include "common/step_counts.h"
#include "parent/translate/basic_block.h"
#include "parent/translate/code_cache.h"

/*
 * counts: those that need no addresses. nr_unknown: instructions of which it is not known what they do, unknown_at: the
 * first of them, from the fragment's origin
 */
#define CONTENTS_NR_COUNTS STEP_L1_FILLS
struct contents {
	uint32_t counts[CONTENTS_NR_COUNTS];
	uint16_t nr_unknown, unknown_at;
};

/* Looks at a fragment whose block is understood. */
void contents_of_block(struct code_cache *cache, struct fragment *fragment, const struct basic_block *block);

/* Contents of the whole fragment; looked at once. Its original code must have been read (code_cache_read). */
const struct contents *contents_of(struct code_cache *cache, struct fragment *fragment);

/*
 * For times when nothing else is to be done: looks at some of the fragments that a thread with that area has executed.
 * True if there may be more.
 */
bool contents_ahead(struct code_cache *cache, int64_t area);

/* Contents of its first instructions, up to that offset from its origin. */
struct contents contents_before(struct code_cache *cache, const struct fragment *fragment, uint32_t origin_offset);

/* Adds that of code which stands in a file, as code_counts of profile/parts.h. */
void contents_count(const uint8_t *bytes, size_t nr_bytes, int64_t counts[STEP_NR_COUNTS]);

/* True if the work depends on values: then a counter of that kind is kept, and contents leave out what it says. */
bool contents_are_dynamic(const struct work *work, enum dynamic_kind *kind);

/* Adds what a dynamic counter stands for. */
void contents_add_dynamic(struct code_cache *cache, const struct dynamic *dynamic, int64_t value,
			  int64_t counts[STEP_NR_COUNTS]);
