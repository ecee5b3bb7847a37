/* SPDX-License-Identifier: MIT */
/*
 * Straight pieces of code that can be executed without a stop, because what each of their instructions does follows from
 * the registers before the first.
 */
#ifndef CORE_PARENT_STEPPING_BLOCK_H
#define CORE_PARENT_STEPPING_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/stepping/effect.h"
#include "parent/stepping/work.h"
#include "parent/symbols/instruction.h"

struct block_item {
	struct work work;
	struct effect effect;
};

/*
 * BLOCK_BRANCH:   the instruction at end is a branch, which is not executed but done in its stead.
 * BLOCK_CUT:      goes on with the instruction at end, whose accesses follow from registers there.
 * BLOCK_CALL:     likewise; its only instruction is a system call, which may take any time.
 * BLOCK_REPEATED: likewise; its only instruction is a repeated string instruction.
 * BLOCK_LOOP:     ends in a branch back to its first instruction, and is executed any number of times; end is behind the
 *                 branch. That number follows from the register counter.
 * BLOCK_UNKNOWN:  there is nothing before an instruction at end that is not known, or leads nobody knows where.
 */
enum block_kind { BLOCK_BRANCH, BLOCK_CUT, BLOCK_CALL, BLOCK_REPEATED, BLOCK_LOOP, BLOCK_UNKNOWN };

struct block {
	enum block_kind kind;
	uint64_t address, end, loop_branch;
	struct block_item *items; /* of BLOCK_LOOP with the branch */
	size_t nr_items;
	struct instruction branch; /* of BLOCK_BRANCH */
	struct work branch_work;   /* likewise        */
	/* of BLOCK_LOOP; loop_branch is where its branch is */
	struct block_counter {
		uint8_t word;
		bool is_narrow; /* of 32 bits */
		uint64_t step;  /* what each turn adds to it */
	} counter;
};

/* Reads up to INSTRUCTION_MAX_BYTES of code at address; returns how many there are. */
typedef size_t (*block_reader)(void *context, uint64_t address, uint8_t *bytes);

/* The block that begins at address. Free with block_clear. */
void block_decode(struct block *block, uint64_t address, block_reader read, void *context);
void block_clear(struct block *block);

/*
 * How many times a loop was executed that was entered and left with these registers; 0: that does not follow from them.
 */
uint64_t block_turns(const struct block *block, const struct user_regs_struct *before,
		     const struct user_regs_struct *after);

#endif
