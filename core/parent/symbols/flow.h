/* SPDX-License-Identifier: MIT */
/* The basic blocks of a function and where they lead, its loops, and how often these were entered. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_NO_LOOP UINT32_MAX

/*
 * Blocks follow each other without a gap: each reaches to the next one, the last to the end of the function.
 * loop: the innermost one that it is in; FLOW_NO_LOOP: none
 * first_edge: of those that lead away from it; the next block's are behind its own
 * may_leave: it may also be left to what is not in the function: by a return, a call, a jump
 * calls: it ends with a call, which may return more or less often than it was made
 */
struct flow_block {
	uint64_t address;
	uint32_t loop, first_edge;
	bool may_leave, calls;
};

/*
 * header: the block where each turn begins; begin, end: addresses around all of its code, with that of inner loops
 * parent: the loop around it; always before it in the list
 * has_side_entries: code from outside jumps behind the header
 */
struct flow_loop {
	uint32_t header, parent;
	uint64_t begin, end;
	bool has_side_entries;
};

struct flow_edge {
	uint32_t from, to;
};

/* Behind the last block there is one more, without code: what jumps through a table comes from. */
struct code_flow {
	struct flow_block *blocks;
	struct flow_loop *loops;
	struct flow_edge *edges;
	uint32_t nr_blocks, nr_loops, nr_edges;
};

/*
 * Finds the flow in the nr_bytes of code of a function that stand at address. A block begins at each of the nr_splits
 * addresses (in any order, NULL: none) as well. Loops are natural ones; of one with several entries the header is the
 * entry that is reached first when jumps are followed from the first instruction on, and then those behind (Wei et al.,
 * "A new algorithm for identifying loops in decompilation", SAS 2007). A jump through a table may lead to all code that
 * no other instruction leads to. Clear in any case.
 */
void code_flow_find(const uint8_t *bytes, size_t nr_bytes, uint64_t address, const uint64_t *splits, size_t nr_splits,
		    struct code_flow *flow);
void code_flow_clear(struct code_flow *flow);

/* The block that an address of the function is in. */
uint32_t code_flow_block_at(const struct code_flow *flow, uint64_t address);

/* The address where turns of a loop begin, or of the innermost loop around an address; 0: there is none. */
uint64_t code_flow_header(const struct code_flow *flow, uint32_t loop);
uint64_t code_flow_header_at(const struct code_flow *flow, uint64_t address);

/* A block is in that loop, or in one within it. */
bool code_flow_is_in(const struct code_flow *flow, uint32_t block, uint32_t loop);

#define FLOW_NOT_KNOWN UINT64_MAX

/*
 * How often each loop was entered from outside, and how many turns it made: executions of its header; by the
 * executions of each block (as many as there are blocks). What leads to a block is as often as what leads away from it,
 * which tells how often most jumps were taken. FLOW_NOT_KNOWN: it does not tell, or executions contradict it, as where
 * a thread ended in the middle. Both have room for all loops.
 */
void code_flow_enter(const struct code_flow *flow, const int64_t *executions, uint64_t *entries, uint64_t *turns);
