/* SPDX-License-Identifier: MIT */
/* A basic block of original code, decoded: instructions up to the first that goes elsewhere. */
#pragma once

#include "parent/stepping/work.h"
#include "parent/symbols/instruction.h"
#include "parent/symbols/zydis_decode.h"
#include "parent/translate/translate.h"

#define BLOCK_MAX_ITEMS 64

/* How a block ends. */
enum basic_block_end {
	BLOCK_GOES_ON,  /* the next instruction begins another block  */
	BLOCK_JUMPS,    /* to target                                  */
	BLOCK_BRANCHES, /* jcc: to target, or behind it               */
	BLOCK_LOOPS,    /* loop, jrcxz: likewise                      */
	BLOCK_CALLS,    /* target                                     */
	BLOCK_RETURNS,
	BLOCK_JUMPS_INDIRECTLY,
	BLOCK_CALLS_INDIRECTLY,
	BLOCK_SYSTEM_CALL,
	BLOCK_TRAPS,  /* with a signal, by an instruction that is copied                            */
	BLOCK_NATIVE, /* at an instruction that is not copied: the processor executes the original  */
};

/* at: from the beginning of the block. operands, work: of basic_block_understand, by way of context */
struct basic_block_item {
	ZydisDecodedInstruction instruction;
	ZydisDecoderContext context;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct work work;
	uint16_t at;
};

/* The last item is what ends it, but of BLOCK_GOES_ON; of BLOCK_NATIVE it is none of the block's bytes. */
struct basic_block {
	uint64_t origin, target;
	enum basic_block_end end;
	struct basic_block_item items[BLOCK_MAX_ITEMS];
	size_t nr;
	uint32_t nr_bytes;
	bool may_change, is_behind_known, needs_no_flags_behind; /* the latter if the former */
	uint8_t bytes[BLOCK_MAX_ITEMS * INSTRUCTION_MAX_BYTES];
};

/* False: there is no code. */
bool basic_block_decode(const struct translation *translation, uint64_t origin, struct basic_block *block);

/* Decodes operands, and with them what the instructions do. */
void basic_block_understand(struct basic_block *block);

/*
 * Where the block counts itself: before an item (nr: there is none to stand before), and how: flags may be changed
 * there, or a register, or neither. COUNT_LOOKING_UP: by a register that is saved where the block looks up its target.
 */
enum count_way { COUNT_CHANGING_FLAGS, COUNT_BY_REGISTER, COUNT_SAVING, COUNT_LOOKING_UP };
struct count_place {
	size_t before;
	enum count_way way;
	unsigned reg;
};
struct count_place basic_block_count_place(const struct translation *translation, struct basic_block *block);

/* Before that item no flag is needed any more, as all are set before any is read; nr: behind the last item. */
bool basic_block_needs_no_flags(const struct translation *translation, struct basic_block *block, size_t item);

/*
 * The register that an instruction sets without reading it; -1: none that is seen at once. sets: of those that do not
 * fault, as what a handler would see is not what the program has; loads from the stack are among them. loads: of others
 */
int basic_block_sets_register(const ZydisDecodedInstruction *instruction);
int basic_block_loads_register(const ZydisDecodedInstruction *instruction);

/* True if the instruction's memory operand is relative to the next instruction. */
bool is_rip_relative(const ZydisDecodedInstruction *instruction);
