/* SPDX-License-Identifier: MIT */
/*
 * Straight pieces of code that can be executed without a stop, because what each of their instructions does follows
 * from the registers before the first.
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

/* How a block ends, and where end is. */
enum block_kind {
	BLOCK_BRANCH,   /* at a branch, which is not executed but done in its stead                              */
	BLOCK_CUT,      /* at an instruction whose accesses follow from registers there                          */
	BLOCK_REPEATED, /* behind its only instruction, a repeated string instruction                            */
	BLOCK_LOOP,     /* behind a branch back to its first instruction: it is executed any number of times     */
	BLOCK_TRAP,     /* at its first instruction, a trap of somebody else                                     */
	BLOCK_UNKNOWN,  /* at its first instruction, which is not known, or leads nobody knows where             */
};

/* Of a loop: a register that each turn adds step to. */
struct block_counter {
	uint8_t word;
	bool is_narrow; /* of 32 bits */
	uint64_t step;
};

/*
 * calls_system: its first instruction is a system call, which may take any time; it goes on behind it, since threads
 *               that come to a branch can be helped over a trap there, however long it stays
 */
struct block {
	enum block_kind kind;
	bool calls_system;
	uint64_t address, end;
	struct block_item *items; /* of BLOCK_LOOP with the branch */
	size_t nr_items;
	struct instruction branch; /* of BLOCK_BRANCH */
	struct work branch_work;   /* likewise        */
	uint64_t loop_branch;      /* of BLOCK_LOOP: where its branch is */
	bool is_stack_known;       /* it moves the stack pointer by stack_change, a loop not at all */
	uint64_t stack_change;
	struct block_counter counter;
};

/* Reads up to INSTRUCTION_MAX_BYTES of code at address; returns how many there are. */
typedef size_t (*block_reader)(void *context, uint64_t address, uint8_t *bytes);

/* The block that begins at address. Free with block_clear. */
void block_decode(struct block *block, uint64_t address, block_reader read, void *context);
void block_clear(struct block *block);

/*
 * How many times a loop was executed that was entered and left with these registers; 0: that does not follow from them.
 */
uint64_t
block_turns(const struct block *block, const struct user_regs_struct *before, const struct user_regs_struct *after);

#endif
