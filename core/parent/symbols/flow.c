/* SPDX-License-Identifier: MIT */
#include "parent/symbols/flow.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/code.h"
#include "parent/symbols/instruction.h"
#include "parent/symbols/ordered.h"

#define NONE UINT32_MAX

/* The last instruction of a block. target: its block; NONE: outside of the function, or not known. */
struct block_end {
	enum flow flow;
	uint64_t address, target_address;
	uint32_t target;
	bool is_filling; /* the block does nothing: nops between others */
	bool is_led_to;  /* by the block before it, or by a jump */
	bool is_indexed; /* it jumps through a table of places in the function */
};

/* ---- blocks ---- */

static bool
is_filling(const struct instruction *instruction)
{
	return (instruction->map == 0 && (instruction->opcode == 0x90 || instruction->opcode == 0xcc)) ||
	       (instruction->map == 1 && instruction->opcode == 0x1f);
}

static bool
has_target(enum flow flow)
{
	return flow == FLOW_JUMP || flow == FLOW_BRANCH;
}

/* An instruction. at, target: from the beginning of the function. */
struct step {
	uint32_t at;
	enum flow flow;
	uint64_t target;
	bool is_filling;
};

/* One instruction after the other; a byte that begins none is passed over. leads: of each byte, whether a block begins
 * there. */
static struct step *
read_code(const uint8_t *bytes, size_t nr_bytes, uint8_t *leads, size_t *nr)
{
	struct step *steps = rot_calloc(nr_bytes + 1, sizeof(*steps));
	struct instruction instruction;

	*nr = 0;
	for (size_t at = 0; at < nr_bytes;) {
		struct step *step = &steps[*nr];
		size_t behind;

		if (!instruction_decode(bytes + at, nr_bytes - at, &instruction)) {
			at++;
			continue;
		}
		behind = at + instruction.length;
		*step = (struct step){.at = (uint32_t)at,
				      .flow = instruction.flow,
				      .target = behind + (uint64_t)instruction.relative,
				      .is_filling = is_filling(&instruction)};
		leads[at] |= ++*nr == 1;
		if (step->flow != FLOW_NEXT)
			leads[behind] = 1;
		if (has_target(step->flow) && step->target < nr_bytes)
			leads[step->target] = 1;
		at = behind;
	}
	return steps;
}

/* A jump that looks like an indirect tail call leads to no place in the function. */
static void
find_tables(struct block_end *ends, uint32_t nr, const uint8_t *bytes, size_t nr_bytes, uint64_t address)
{
	struct code_exits exits = {0};

	for (uint32_t i = 0; i < nr; i++) {
		if (ends[i].flow != FLOW_INDIRECT_JUMP)
			continue;
		if (!exits.exits)
			code_find_exits(bytes, nr_bytes, address, &exits);
		ends[i].is_indexed = true;
		for (size_t k = 0; k < exits.nr_exits; k++)
			ends[i].is_indexed &=
				exits.exits[k].address != ends[i].address || exits.exits[k].kind != CODE_INDIRECT;
	}
	code_exits_clear(&exits);
}

/* The first block begins with the function, whatever its first bytes are. */
static struct block_end *
make_blocks(struct code_flow *flow, const uint8_t *bytes, size_t nr_bytes, uint64_t address, uint8_t *leads)
{
	struct block_end *ends = NULL;
	size_t nr;
	autofree struct step *steps = read_code(bytes, nr_bytes, leads, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct step *step = &steps[i];
		struct block_end *end;

		if (leads[step->at]) {
			const uint64_t begin = flow->nr_blocks ? address + step->at : address;

			flow->blocks = rot_grow(flow->blocks, flow->nr_blocks, sizeof(*flow->blocks));
			ends = rot_grow(ends, flow->nr_blocks, sizeof(*ends));
			ends[flow->nr_blocks] = (struct block_end){.target = NONE, .is_filling = true};
			flow->blocks[flow->nr_blocks++] = (struct flow_block){.address = begin, .loop = FLOW_NO_LOOP};
		}
		end = &ends[flow->nr_blocks - 1];
		end->flow = step->flow;
		end->is_filling &= step->is_filling;
		end->address = address + step->at;
		end->target_address = address + step->target;
	}
	find_tables(ends, flow->nr_blocks, bytes, nr_bytes, address);
	return ends;
}

uint32_t
code_flow_block_at(const struct code_flow *flow, uint64_t address)
{
	const size_t behind = ORDERED_UP_TO(flow->blocks, flow->nr_blocks, address, address);

	return behind > 0 ? (uint32_t)behind - 1 : 0;
}

/* A header from a table is no instruction: then the loop begins there. */
uint64_t
code_flow_header(const struct code_flow *flow, uint32_t loop)
{
	const uint32_t header = flow->loops[loop].header;

	return header < flow->nr_blocks ? flow->blocks[header].address : flow->loops[loop].begin;
}

uint64_t
code_flow_header_at(const struct code_flow *flow, uint64_t address)
{
	const uint32_t loop = flow->nr_loops > 0 ? flow->blocks[code_flow_block_at(flow, address)].loop : FLOW_NO_LOOP;

	return loop == FLOW_NO_LOOP ? 0 : code_flow_header(flow, loop);
}

/* ---- edges ---- */

static bool
goes_on(enum flow flow)
{
	return flow == FLOW_NEXT || flow == FLOW_BRANCH || flow == FLOW_CALL || flow == FLOW_INDIRECT_CALL;
}

static void
add_edge(struct code_flow *flow, uint32_t from, uint32_t to)
{
	flow->edges = rot_grow(flow->edges, flow->nr_edges, sizeof(*flow->edges));
	flow->edges[flow->nr_edges++] = (struct flow_edge){from, to};
}

static void
find_targets(const struct code_flow *flow, struct block_end *ends)
{
	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		struct block_end *end = &ends[i];

		if (has_target(end->flow)) {
			const uint32_t block = code_flow_block_at(flow, end->target_address);

			if (flow->blocks[block].address == end->target_address) {
				end->target = block;
				ends[block].is_led_to = true;
			}
		}
		if (i + 1 < flow->nr_blocks && goes_on(end->flow))
			ends[i + 1].is_led_to = true;
	}
	ends[0].is_led_to = true;
}

static void
make_edges(struct code_flow *flow, struct block_end *ends)
{
	const uint32_t table = flow->nr_blocks;

	find_targets(flow, ends);
	flow->blocks = rot_realloc(flow->blocks, flow->nr_blocks + 2, sizeof(*flow->blocks));
	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		const struct block_end *end = &ends[i];
		const bool has_next = goes_on(end->flow) && i + 1 < flow->nr_blocks;

		flow->blocks[i].first_edge = flow->nr_edges;
		flow->blocks[i].may_leave = end->flow != FLOW_NEXT && end->target == NONE && !end->is_indexed;
		flow->blocks[i].may_leave |= goes_on(end->flow) && !has_next;
		flow->blocks[i].calls = end->flow == FLOW_CALL || end->flow == FLOW_INDIRECT_CALL;
		if (end->target != NONE)
			add_edge(flow, i, end->target);
		if (has_next && end->target != i + 1)
			add_edge(flow, i, i + 1);
		if (end->is_indexed)
			add_edge(flow, i, table);
	}
	flow->blocks[table] = (struct flow_block){.loop = FLOW_NO_LOOP, .first_edge = flow->nr_edges};
	for (uint32_t i = 0; i < flow->nr_blocks; i++)
		if (!ends[i].is_led_to && !ends[i].is_filling)
			add_edge(flow, table, i);
	flow->blocks[table + 1] = (struct flow_block){.first_edge = flow->nr_edges};
}

/* ---- loops ---- */

/*
 * place: on the path that is followed at present, from 1 on; 0: it is not on it. header: of the innermost loop around
 * it; edge: which is followed next
 */
struct visit {
	uint32_t place, header, edge;
	bool was_visited, is_header, has_side_entries;
};

struct search {
	const struct code_flow *flow;
	struct visit *visits;
	uint32_t *path, *order;
	uint32_t nr_path, nr_order;
};

/* The loop with that header is around a block: put in its place among those that are known to be around it. */
static void
put_into_loop(struct search *search, uint32_t block, uint32_t header)
{
	struct visit *visits = search->visits;

	if (header == NONE || block == header)
		return;
	while (visits[block].header != NONE) {
		const uint32_t outer = visits[block].header;

		if (outer == header)
			return;
		if (visits[outer].place < visits[header].place) {
			visits[block].header = header;
			block = header;
			header = outer;
		} else {
			block = outer;
		}
	}
	visits[block].header = header;
}

/* An edge to a block that was visited before. */
static void
meet(struct search *search, uint32_t from, uint32_t to)
{
	struct visit *visits = search->visits;
	uint32_t header = visits[to].header;

	if (visits[to].place > 0) {
		visits[to].is_header = true;
		put_into_loop(search, from, to);
		return;
	}
	for (; header != NONE; header = visits[header].header) {
		if (visits[header].place > 0) {
			put_into_loop(search, from, header);
			return;
		}
		visits[header].has_side_entries = true;
	}
}

static void
begin_visit(struct search *search, uint32_t block)
{
	search->path[search->nr_path++] = search->order[search->nr_order++] = block;
	search->visits[block].was_visited = true;
	search->visits[block].place = search->nr_path;
	search->visits[block].edge = search->flow->blocks[block].first_edge;
}

static void
follow(struct search *search, uint32_t root)
{
	begin_visit(search, root);
	while (search->nr_path > 0) {
		const uint32_t block = search->path[search->nr_path - 1];
		struct visit *visit = &search->visits[block];

		if (visit->edge < search->flow->blocks[block + 1].first_edge) {
			const uint32_t to = search->flow->edges[visit->edge++].to;

			if (search->visits[to].was_visited)
				meet(search, block, to);
			else
				begin_visit(search, to);
			continue;
		}
		visit->place = 0;
		if (--search->nr_path > 0)
			put_into_loop(search, search->path[search->nr_path - 1], visit->header);
	}
}

/* Headers were visited before what is in their loops, so outer loops come first. */
static void
make_loops(struct code_flow *flow, const struct search *search)
{
	for (uint32_t i = 0; i < search->nr_order; i++) {
		const uint32_t block = search->order[i];
		const struct visit *visit = &search->visits[block];
		const uint32_t around = visit->header == NONE ? FLOW_NO_LOOP : flow->blocks[visit->header].loop;

		flow->blocks[block].loop = around;
		if (!visit->is_header)
			continue;
		flow->loops = rot_grow(flow->loops, flow->nr_loops, sizeof(*flow->loops));
		flow->loops[flow->nr_loops] = (struct flow_loop){.header = block,
								 .parent = around,
								 .begin = UINT64_MAX,
								 .has_side_entries = visit->has_side_entries};
		flow->blocks[block].loop = flow->nr_loops++;
	}
}

static void
find_loops(struct code_flow *flow, const struct block_end *ends, uint64_t end)
{
	const size_t nr = (size_t)flow->nr_blocks + 1;
	struct search search = {.flow = flow,
				.visits = rot_calloc(nr, sizeof(*search.visits)),
				.path = rot_calloc(nr, sizeof(*search.path)),
				.order = rot_calloc(nr, sizeof(*search.order))};

	for (size_t i = 0; i < nr; i++)
		search.visits[i].header = NONE;
	for (uint32_t i = 0; i < flow->nr_blocks; i++)
		if (!search.visits[i].was_visited && (ends[i].is_led_to || !ends[i].is_filling))
			follow(&search, i);
	make_loops(flow, &search);
	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		const uint64_t behind = i + 1 < flow->nr_blocks ? flow->blocks[i + 1].address : end;

		for (uint32_t k = flow->blocks[i].loop; k != FLOW_NO_LOOP; k = flow->loops[k].parent) {
			struct flow_loop *loop = &flow->loops[k];

			loop->begin = flow->blocks[i].address < loop->begin ? flow->blocks[i].address : loop->begin;
			loop->end = behind > loop->end ? behind : loop->end;
		}
	}
	flow->blocks[flow->nr_blocks].address = end;
	free(search.visits);
	free(search.path);
	free(search.order);
}

void
code_flow_find(const uint8_t *bytes, size_t nr_bytes, uint64_t address, const uint64_t *splits, size_t nr_splits,
	       struct code_flow *flow)
{
	autofree uint8_t *leads = rot_calloc(nr_bytes + 1, 1);
	autofree struct block_end *ends = NULL;

	*flow = (struct code_flow){.nr_blocks = 0};
	for (size_t i = 0; i < nr_splits; i++)
		if (splits[i] - address < nr_bytes)
			leads[splits[i] - address] = 1;
	ends = make_blocks(flow, bytes, nr_bytes, address, leads);
	if (flow->nr_blocks > 0) {
		make_edges(flow, ends);
		find_loops(flow, ends, address + nr_bytes);
	}
}

void
code_flow_clear(struct code_flow *flow)
{
	free(flow->blocks);
	free(flow->loops);
	free(flow->edges);
	*flow = (struct code_flow){.nr_blocks = 0};
}

/* ---- how often ---- */

/* One side of a block: how many edges are not known yet, and how many of its executions are left for them. */
struct side {
	uint32_t nr_unknown;
	int64_t left;
};

/* An edge is known where it is the last one of its block that is not. */
static bool
solve(struct side *ins, struct side *outs, const struct flow_edge *edge, int64_t *value)
{
	struct side *out = &outs[edge->from], *in = &ins[edge->to];

	if (*value >= 0 || (out->nr_unknown > 1 && in->nr_unknown > 1 && out->left != 0 && in->left != 0))
		return false;
	*value = out->left == 0 || in->left == 0 ? 0 : out->nr_unknown == 1 ? out->left : in->left;
	if (*value < 0)
		*value = 0;
	out->nr_unknown--;
	in->nr_unknown--;
	out->left -= *value;
	in->left -= *value;
	return true;
}

/* False: executions contradict each other. values: of edges; negative where that is not known. */
static bool
solve_all(const struct code_flow *flow, const int64_t *executions, int64_t *values)
{
	const uint32_t nr = flow->nr_blocks + 1;
	autofree struct side *ins = rot_calloc(nr, sizeof(*ins)), *outs = rot_calloc(nr, sizeof(*outs));
	bool has_changed = true, is_consistent = true;

	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		ins[i].left = executions[i];
		outs[i].left = flow->blocks[i].calls ? INT64_MAX / 2 : executions[i];
		outs[i].nr_unknown = flow->blocks[i].may_leave;
	}
	ins[0].nr_unknown = 1; /* calls */
	for (uint32_t i = 0; i < flow->nr_edges; i++) {
		const struct flow_edge *edge = &flow->edges[i];

		values[i] = -1;
		ins[edge->to].nr_unknown++;
		outs[edge->from].nr_unknown++;
		if (edge->to == flow->nr_blocks) {
			ins[edge->to].left += executions[edge->from];
			outs[edge->to].left += executions[edge->from];
		}
	}
	for (uint32_t i = 1; i < flow->nr_blocks; i++)
		ins[i].nr_unknown += ins[i].nr_unknown == 0; /* as of what catches exceptions */
	while (has_changed) {
		has_changed = false;
		for (uint32_t i = 0; i < flow->nr_edges; i++)
			has_changed |= solve(ins, outs, &flow->edges[i], &values[i]);
	}
	for (uint32_t i = 0; i < nr; i++) {
		is_consistent &= ins[i].left >= 0 && outs[i].left >= 0;
		is_consistent &= (ins[i].nr_unknown > 0 || ins[i].left == 0);
		is_consistent &= (outs[i].nr_unknown > 0 || outs[i].left == 0);
	}
	return is_consistent;
}

bool
code_flow_is_in(const struct code_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t around = flow->blocks[block].loop;

	while (around != FLOW_NO_LOOP && around != loop)
		around = flow->loops[around].parent;
	return around == loop;
}

/* Turns that do not come from the loop itself, by the edges from there, or else by those from outside. */
static uint64_t
entries_of(const struct code_flow *flow, uint32_t loop, const int64_t *values, uint64_t turns)
{
	const uint32_t header = flow->loops[loop].header;
	uint64_t sums[2] = {0};
	bool are_known[2] = {header != 0, true};

	for (uint32_t i = 0; i < flow->nr_edges; i++) {
		const bool is_back = code_flow_is_in(flow, flow->edges[i].from, loop);

		if (flow->edges[i].to != header)
			continue;
		are_known[is_back] &= values[i] >= 0;
		sums[is_back] += (uint64_t)values[i];
	}
	return are_known[1] ? turns - sums[1] : are_known[0] ? sums[0] : FLOW_NOT_KNOWN;
}

void
code_flow_enter(const struct code_flow *flow, const int64_t *executions, uint64_t *entries, uint64_t *turns)
{
	autofree int64_t *values = rot_calloc(flow->nr_edges + 1, sizeof(*values));
	const bool is_consistent = flow->nr_loops > 0 && solve_all(flow, executions, values);

	memset(turns, 0, flow->nr_loops * sizeof(*turns));
	for (uint32_t i = 0; i < flow->nr_loops; i++) {
		const uint32_t header = flow->loops[i].header;

		if (header < flow->nr_blocks)
			turns[i] = (uint64_t)executions[header];
		entries[i] = FLOW_NOT_KNOWN;
	}
	for (uint32_t i = 0; i < flow->nr_edges; i++)
		if (flow->edges[i].to == flow->nr_blocks && flow->blocks[flow->nr_blocks].loop != FLOW_NO_LOOP &&
		    flow->loops[flow->blocks[flow->nr_blocks].loop].header == flow->nr_blocks)
			turns[flow->blocks[flow->nr_blocks].loop] += (uint64_t)executions[flow->edges[i].from];
	for (uint32_t i = 0; i < flow->nr_loops && is_consistent; i++)
		if (!flow->loops[i].has_side_entries)
			entries[i] = entries_of(flow, i, values, turns[i]);
}
