/* SPDX-License-Identifier: MIT */
#include "parent/profile/parts.h"

#include <stdlib.h>
#include <string.h>

#include "ProgramPart.h"
#include "entity.h"
#include "memory.h"
#include "parent/symbols/flow.h"
#include "parent/symbols/source_lines.h"

/* The findings in a block. counts: NULL: none. */
struct block_work {
	uint64_t samples;
	int64_t *counts;
};

#define SEVERAL UINT64_MAX

/* executions: of each block's first instruction. lines: NULL: they are not asked for, or not known. */
struct parts {
	struct symbol_file *file;
	uint64_t address, size;
	const uint8_t *bytes;
	struct code_flow flow;
	struct source_lines lines;
	bool has_lines;
	struct block_work *work;
	int64_t *executions;
	uint64_t *begins; /* of what was counted at once with each block; SEVERAL: as part of more than one such code */
	uint64_t (*trips)[FOUND_NR_TRIPS]; /* of each block that ends with a branch back; NULL: none is known */
};

struct parts *
parts_new(struct symbol_file *file, const struct program_place *place, bool has_lines)
{
	const uint8_t *bytes = place->size > 0 ? symbols_bytes(file, place->address, place->size) : NULL;
	uint64_t *splits = NULL;
	struct parts *parts;

	if (!bytes)
		return NULL;
	parts = rot_calloc(1, sizeof(*parts));
	*parts = (struct parts){
		.file = file, .address = place->address, .size = place->size, .bytes = bytes, .has_lines = has_lines};
	if (has_lines) {
		source_lines_read(file, place->address, place->size, &parts->lines);
		splits = rot_calloc(parts->lines.nr_rows + 1, sizeof(*splits));
		for (size_t i = 0; i < parts->lines.nr_rows; i++)
			splits[i] = parts->lines.rows[i].address;
	}
	code_flow_find(bytes, place->size, place->address, splits, parts->lines.nr_rows, &parts->flow);
	free(splits);
	if (parts->flow.nr_blocks == 0 || (!has_lines && parts->flow.nr_loops == 0)) {
		/* Then it is all one part, the function. */
		code_flow_clear(&parts->flow);
		return parts;
	}
	parts->work = rot_calloc(parts->flow.nr_blocks, sizeof(*parts->work));
	parts->executions = rot_calloc(parts->flow.nr_blocks, sizeof(*parts->executions));
	parts->begins = rot_calloc(parts->flow.nr_blocks, sizeof(*parts->begins));
	return parts;
}

void
parts_delete(struct parts *parts)
{
	if (!parts)
		return;
	for (uint32_t i = 0; i < parts->flow.nr_blocks; i++)
		free(parts->work[i].counts);
	free(parts->work);
	free(parts->executions);
	free(parts->begins);
	free(parts->trips);
	source_lines_clear(&parts->lines);
	code_flow_clear(&parts->flow);
	free(parts);
}

static void
add_to_block(struct parts *parts, uint32_t block, const struct found *found, const int64_t counts[STEP_NR_COUNTS])
{
	struct block_work *work = &parts->work[block];

	work->samples += found->samples;
	for (size_t i = 0; counts && i < STEP_NR_COUNTS; i++) {
		if (counts[i] != 0 && !work->counts)
			work->counts = rot_calloc(STEP_NR_COUNTS, sizeof(*work->counts));
		if (counts[i] != 0)
			work->counts[i] += counts[i];
	}
}

static void
add_executions(struct parts *parts, uint32_t block, uint64_t begin, int64_t nr)
{
	uint64_t *known = &parts->begins[block];

	parts->executions[block] += nr;
	*known = *known == 0 || *known == begin ? begin : SEVERAL;
}

/* Several blocks that were counted at once each get what their code counts for; the last one gets the rest. */
void
parts_add(struct parts *parts, uint64_t address, const struct found *found, code_counts count)
{
	const struct code_flow *flow = &parts->flow;
	const uint64_t behind = address + found->nr_bytes;
	uint32_t block = code_flow_block_at(flow, address);
	int64_t left[STEP_NR_COUNTS];

	if (flow->nr_blocks == 0)
		return;
	if (found->nr_bytes >= FOUND_TRIPS) {
		if (!parts->trips)
			parts->trips = rot_calloc(flow->nr_blocks, sizeof(*parts->trips));
		parts->trips[block][found->nr_bytes - FOUND_TRIPS] += (uint64_t)found->nr_begun;
		return;
	}
	if (found->nr_bytes > 0 && flow->blocks[block].address == address)
		add_executions(parts, block, address, found->nr_begun);
	if (!found->counts || block + 1 == flow->nr_blocks || behind <= flow->blocks[block + 1].address) {
		add_to_block(parts, block, found, found->counts);
		return;
	}
	memcpy(left, found->counts, sizeof(left));
	for (uint64_t at = address; at < behind; block++) {
		const uint64_t next = flow->blocks[block + 1].address;
		int64_t counts[STEP_NR_COUNTS] = {0};

		if (at != address)
			add_executions(parts, block, address, found->nr_begun);
		if (block + 1 == flow->nr_blocks || next >= behind) {
			add_to_block(parts, block, found, left);
			return;
		}
		count(parts->bytes + (at - parts->address), next - at, counts);
		for (size_t i = 0; i < STEP_NR_COUNTS; i++)
			left[i] -= counts[i] *= found->nr_begun;
		add_to_block(parts, block, found, counts);
		at = next;
	}
}

void
part_counts_add(struct rot_list *list, const struct perf_event_measurer *measurer, const int64_t counts[STEP_NR_COUNTS])
{
	const size_t nr = perf_event_measurer_nr_events(measurer);
	const uint64_t none = 0;
	uint64_t all[STEP_NR_COUNTS];

	memcpy(all, counts, sizeof(all));
	while (list->nr < nr)
		rot_list_add(list, ROT_ULONG, &none);
	for (size_t i = 0; i < nr; i++)
		((uint64_t *)list->items)[i] += step_counts_of_event(measurer, i, all);
}

static void
add_block_to_part(struct program_part *part, const struct block_work *work, const struct perf_event_measurer *measurer)
{
	part->samples += work->samples;
	if (work->counts)
		part_counts_add(&part->counts, measurer, work->counts);
}

static bool
is_found(const struct block_work *work)
{
	return work->samples > 0 || work->counts;
}

/* ---- loops ---- */

static void
add_source(const struct parts *parts, uint32_t loop, struct program_part *part)
{
	const struct code_flow *flow = &parts->flow;
	bool *marks = rot_calloc(parts->lines.nr_rows + 1, sizeof(*marks));
	struct source_span span;

	for (uint32_t i = 0; i < flow->nr_blocks; i++)
		if (code_flow_is_in(flow, i, loop))
			source_lines_mark(&parts->lines, flow->blocks[i].address, flow->blocks[i + 1].address, marks);
	if (source_lines_span(&parts->lines, marks, &span)) {
		rot_string_set(&part->source, span.source);
		rot_string_set(&part->inlined, span.inlined);
		part->line = span.first;
		part->last_line = span.last;
	}
	free(marks);
}

static struct program_part *
describe_loop(const struct parts *parts, uint32_t number)
{
	const struct code_flow *flow = &parts->flow;
	const struct flow_loop *loop = &flow->loops[number];
	struct program_part *part = program_part_new();

	part->header = code_flow_header(flow, number);
	part->around = loop->parent == FLOW_NO_LOOP ? 0 : code_flow_header(flow, loop->parent);
	for (uint32_t i = number; i != FLOW_NO_LOOP; i = flow->loops[i].parent)
		part->depth++;
	part->address = loop->begin;
	part->size = loop->end - loop->begin;
	return part;
}

uint64_t
parts_header_at(const struct parts *parts, uint64_t address)
{
	return code_flow_header_at(&parts->flow, address);
}

static void
read_lines(struct parts *parts)
{
	if (parts->lines.nr_rows == 0)
		source_lines_read(parts->file, parts->address, parts->size, &parts->lines);
}

struct program_part *
parts_describe(struct parts *parts, uint64_t header)
{
	struct program_part *part;
	uint32_t loop = 0;

	while (code_flow_header(&parts->flow, loop) != header)
		loop++;
	read_lines(parts);
	part = describe_loop(parts, loop);
	add_source(parts, loop, part);
	return part;
}

static bool
function_at(void *context, uint64_t address, struct chain_code *code)
{
	const struct parts *parts = context;
	struct symbol_range range;

	if (!symbols_function_at(parts->file, address, &range) || range.address != address || range.size == 0)
		return false;
	*code = (struct chain_code){
		.bytes = symbols_bytes(parts->file, address, range.size), .address = address, .nr_bytes = range.size};
	return code->bytes != NULL;
}

static void
add_chain(struct parts *parts, uint32_t loop, const struct chain_latencies *latencies, struct program_part *part)
{
	const struct chain_code code = {parts->bytes, parts->address, parts->size, function_at, parts};
	struct chain chain;
	char *text;

	for (uint32_t i = loop + 1; i < parts->flow.nr_loops; i++)
		if (parts->flow.loops[i].parent == loop)
			return;
	if (!chain_find(&parts->flow, loop, parts->executions, &code, latencies, &chain))
		return;
	text = chain_text(&chain);
	rot_string_set(&part->chain, text);
	part->chain_time = chain.ns;
	part->leaf = chain.leaf;
	free(text);
}

/*
 * The block of a loop itself that each turn executes, and whose branch back was counted, always as the same code;
 * nr_blocks: there is none.
 */
static uint32_t
block_of_trips(const struct parts *parts, uint32_t loop, uint64_t turns)
{
	const struct code_flow *flow = &parts->flow;
	uint32_t found = flow->nr_blocks;

	for (uint32_t i = 0; parts->trips && i < flow->nr_blocks; i++) {
		bool has_trips = false;

		for (uint32_t k = 0; k < FOUND_NR_TRIPS; k++)
			has_trips |= parts->trips[i][k] > 0;
		if (!has_trips || flow->blocks[i].loop != loop || (uint64_t)parts->executions[i] != turns)
			continue;
		if (found < flow->nr_blocks || parts->begins[i] == SEVERAL)
			return flow->nr_blocks;
		found = i;
	}
	return found;
}

/* A loop that is left there and nowhere else has these entries alone. */
static void
add_trips(const struct parts *parts, uint32_t loop, uint64_t turns, struct program_part *part)
{
	const uint32_t block = block_of_trips(parts, loop, turns);
	const uint64_t *trips = block < parts->flow.nr_blocks ? parts->trips[block] : NULL;
	uint64_t nr = 0, least = 0, most = 0;

	for (uint32_t i = 0; trips && i < FOUND_NR_TRIPS; i++) {
		nr += trips[i];
		least += trips[i] << i;
		most += trips[i] * ((UINT64_C(2) << i) - 1);
	}
	if (nr == 0 || nr != part->entries || turns < least || (turns > most && trips[FOUND_NR_TRIPS - 1] == 0))
		return;
	for (uint32_t i = 0; nr > 0; nr -= trips[i++])
		program_part_trips_add(part, trips[i]);
}

static void
take_loops(struct parts *parts, struct program_place *place, const struct perf_event_measurer *measurer,
	   bool with_source, const struct chain_latencies *latencies)
{
	const struct code_flow *flow = &parts->flow;
	struct program_part **loops = rot_calloc(flow->nr_loops + 1, sizeof(struct program_part *)), *none;
	bool *are_found = rot_calloc(flow->nr_loops + 1, sizeof(*are_found));
	uint64_t *entries = rot_calloc(flow->nr_loops + 1, sizeof(*entries));
	uint64_t *turns = rot_calloc(flow->nr_loops + 1, sizeof(*turns));

	none = loops[flow->nr_loops] = program_part_new();
	none->address = place->address;
	none->size = place->size;
	for (uint32_t i = 0; i < flow->nr_loops; i++)
		loops[i] = describe_loop(parts, i);
	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		const uint32_t loop = flow->blocks[i].loop == FLOW_NO_LOOP ? flow->nr_loops : flow->blocks[i].loop;

		add_block_to_part(loops[loop], &parts->work[i], measurer);
		are_found[loop] |= is_found(&parts->work[i]);
	}
	code_flow_enter(flow, parts->executions, entries, turns);
	for (uint32_t i = flow->nr_loops; i-- > 0;)
		if (are_found[i] && flow->loops[i].parent != FLOW_NO_LOOP)
			are_found[flow->loops[i].parent] = true;
	program_place_loops_add(place, none);
	for (uint32_t i = 0; i < flow->nr_loops; i++) {
		if (!are_found[i]) {
			program_part_delete(loops[i]);
			continue;
		}
		loops[i]->turns = measurer ? turns[i] : 0;
		loops[i]->entries = measurer && entries[i] != FLOW_NOT_KNOWN ? entries[i] : 0;
		if (measurer)
			add_trips(parts, i, turns[i], loops[i]);
		/* Turns of a loop that begins with the function are no calls. */
		if (loops[i]->entries > 0 && loops[i]->header == place->address)
			place->entries = loops[i]->entries;
		if (with_source)
			add_source(parts, i, loops[i]);
		if (latencies && turns[i] > 0)
			add_chain(parts, i, latencies, loops[i]);
		program_place_loops_add(place, loops[i]);
	}
	free(turns);
	free(entries);
	free(are_found);
	free(loops);
}

/* ---- lines ---- */

/* The part of the same line in the same inlined function, or NULL. Looks through all lines of the function. */
static struct program_part *
find_line(struct program_place *place, const struct source_row *row, const char *inlined)
{
	const char *source = row ? row->source : "";
	struct program_part *part;

	for (size_t i = 0; i < program_place_nr_lines(place); i++) {
		part = program_place_lines_at(place, i);
		if (part->line == (row ? row->line : 0) && strcmp(part->source, source) == 0 &&
		    strcmp(part->inlined, inlined) == 0)
			return part;
	}
	part = program_part_new();
	rot_string_set(&part->source, source);
	rot_string_set(&part->inlined, inlined);
	part->line = part->last_line = row ? row->line : 0;
	program_place_lines_add(place, part);
	return part;
}

static void
take_lines(struct parts *parts, struct program_place *place, const struct perf_event_measurer *measurer)
{
	const struct code_flow *flow = &parts->flow;

	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		const uint64_t begin = flow->blocks[i].address, end = flow->blocks[i + 1].address;
		const struct source_row *row = source_lines_at(&parts->lines, begin);
		const char *inlined = row && row->scope ? parts->lines.scopes[row->scope].name : NULL;
		struct program_part *part;

		if (!is_found(&parts->work[i]))
			continue;
		part = find_line(place, row, inlined ? inlined : "");
		if (part->size == 0)
			part->address = begin;
		part->size = end - part->address;
		add_block_to_part(part, &parts->work[i], measurer);
	}
}

void
parts_take(struct parts *parts, struct program_place *place, const struct perf_event_measurer *measurer,
	   bool with_source, const struct chain_latencies *latencies)
{
	if (parts->flow.nr_loops > 0 && with_source)
		read_lines(parts);
	if (parts->flow.nr_loops > 0)
		take_loops(parts, place, measurer, with_source || parts->has_lines, latencies);
	if (parts->has_lines && parts->flow.nr_blocks > 0)
		take_lines(parts, place, measurer);
}
