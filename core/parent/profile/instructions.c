/* SPDX-License-Identifier: MIT */
#include "parent/profile/instructions.h"

#include <stdlib.h>
#include <string.h>

#include "entity.h"
#include "memory.h"
#include "parent/symbols/instruction.h"
#include "parent/symbols/listing.h"

/* The facts of the instruction at an offset. counts: NULL: none. */
struct spot {
	uint64_t samples;
	int64_t executions;
	int64_t *counts;
};

/* spots: of each byte of the code. */
struct instructions {
	uint64_t address, size;
	const uint8_t *bytes;
	struct spot *spots;
};

struct instructions *
instructions_new(struct symbol_file *file, const struct program_place *place)
{
	const uint8_t *bytes = place->size > 0 ? symbols_bytes(file, place->address, place->size) : NULL;
	struct instructions *instructions;

	if (!bytes)
		return NULL;
	instructions = rot_calloc(1, sizeof(*instructions));
	*instructions = (struct instructions){place->address, place->size, bytes,
					      rot_calloc(place->size, sizeof(*instructions->spots))};
	return instructions;
}

void
instructions_delete(struct instructions *instructions)
{
	if (!instructions)
		return;
	for (uint64_t i = 0; i < instructions->size; i++)
		free(instructions->spots[i].counts);
	free(instructions->spots);
	free(instructions);
}

static void
add_counts(struct spot *spot, const int64_t counts[STEP_NR_COUNTS])
{
	for (size_t i = 0; i < STEP_NR_COUNTS; i++) {
		if (counts[i] != 0 && !spot->counts)
			spot->counts = rot_calloc(STEP_NR_COUNTS, sizeof(*spot->counts));
		if (counts[i] != 0)
			spot->counts[i] += counts[i];
	}
}

/* Each instruction counts for what its code says; what that leaves is the last one's. */
void
instructions_add(struct instructions *instructions, uint64_t address, const struct found *found, code_counts count)
{
	const uint64_t begin = address - instructions->address, size = instructions->size;
	const bool is_within = begin < size && found->nr_bytes <= size - begin;
	const uint64_t end = is_within ? begin + found->nr_bytes : size;
	struct instruction instruction;
	int64_t left[STEP_NR_COUNTS];
	uint64_t last = begin;

	if (begin >= size)
		return;
	instructions->spots[begin].samples += found->samples;
	if (!found->counts)
		return;
	memcpy(left, found->counts, sizeof(left));
	for (uint64_t at = begin; at < end && instruction_decode(instructions->bytes + at, size - at, &instruction);
	     at += instruction.length) {
		int64_t counts[STEP_NR_COUNTS] = {0};

		count(instructions->bytes + at, instruction.length, counts);
		for (size_t i = 0; i < STEP_NR_COUNTS; i++)
			left[i] -= counts[i] *= found->nr_begun;
		instructions->spots[at].executions += found->nr_begun;
		add_counts(&instructions->spots[at], counts);
		last = at;
	}
	if (is_within)
		add_counts(&instructions->spots[last], left);
}

void
instructions_take(const struct instructions *instructions, struct program_place *place,
		  const struct perf_event_measurer *measurer)
{
	static const int64_t none[STEP_NR_COUNTS];
	char *hash = listing_hash(instructions->bytes, instructions->size);

	rot_string_set(&place->code_hash, hash);
	free(hash);
	for (uint64_t i = 0; i < instructions->size; i++) {
		const struct spot *spot = &instructions->spots[i];
		const uint64_t head[] = {i, spot->samples, (uint64_t)spot->executions};
		struct rot_list counts = {0};

		if (spot->samples == 0 && spot->executions == 0 && !spot->counts)
			continue;
		for (size_t k = 0; k < sizeof(head) / sizeof(*head); k++)
			program_place_instructions_add(place, head[k]);
		if (measurer)
			part_counts_add(&counts, measurer, spot->counts ? spot->counts : none);
		for (size_t k = 0; k < counts.nr; k++)
			program_place_instructions_add(place, ((const uint64_t *)counts.items)[k]);
		free(counts.items);
	}
}
