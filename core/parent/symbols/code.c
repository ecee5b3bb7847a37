/* SPDX-License-Identifier: MIT */
/* Lengths of instructions, and where a range of code is left. */
#include "parent/symbols/code.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/instruction.h"

#define NR_LOOKED_BACK 8 /* instructions before an indirect jump in which compilers compute its target */
#define REX_R 4
#define REX_X 2
#define REX_B 1
#define NO_INDEX 4
#define SCALE_8 3

/* The instructions before the present one, the latest at nr - 1 (modulo the size). */
struct history {
	struct instruction past[NR_LOOKED_BACK];
	size_t nr;
};

static unsigned
rm_number(const struct instruction *instruction)
{
	return instruction->rm | (instruction->rex & REX_B ? 8U : 0U);
}

/* True if its memory operand is an element of a table of addresses: with 8 times a register, which may be r12. */
static bool
is_of_table(const struct instruction *instruction)
{
	const bool has_index = instruction->index != NO_INDEX || (instruction->rex & REX_X);

	return instruction->scale == SCALE_8 && has_index;
}

/* The effect of an instruction on a register, as far as it tells how the target of a jump came about. */
enum making { MAKES_NOTHING, MAKES_SUM, MAKES_INDEXED, MAKES_OTHER };

/* add, movsxd, mov, lea to reg (and add, mov to rm), as compilers use them. */
static enum making
making(const struct instruction *instruction, unsigned wanted)
{
	bool to_reg = (instruction->reg | (instruction->rex & REX_R ? 8U : 0U)) == wanted;
	bool to_rm = instruction->mod == 3 && rm_number(instruction) == wanted;

	if (instruction->map != 0)
		return MAKES_NOTHING;
	switch (instruction->opcode) {
	case 0x01:
		return to_rm ? MAKES_SUM : MAKES_NOTHING;
	case 0x03:
	case 0x63:
		return to_reg ? MAKES_SUM : MAKES_NOTHING;
	case 0x8b:
		if (!to_reg)
			return MAKES_NOTHING;
		return is_of_table(instruction) ? MAKES_INDEXED : MAKES_OTHER;
	case 0x89:
		return to_rm ? MAKES_OTHER : MAKES_NOTHING;
	case 0x8d:
		return to_reg ? MAKES_OTHER : MAKES_NOTHING;
	default:
		return MAKES_NOTHING;
	}
}

static enum making
made_by(const struct history *history, unsigned wanted)
{
	for (size_t back = 1; back <= history->nr && back <= NR_LOOKED_BACK; back++) {
		enum making made = making(&history->past[(history->nr - back) % NR_LOOKED_BACK], wanted);

		if (made != MAKES_NOTHING)
			return made;
	}
	return MAKES_OTHER;
}

/* An indirect jump as an exit; false: it stays within the function. */
static bool
indirect_exit(const struct instruction *instruction, const struct history *history, struct code_exit *found)
{
	const bool is_indexed = is_of_table(instruction);
	enum making made = instruction->mod == 3 ? made_by(history, rm_number(instruction)) : MAKES_OTHER;

	if (instruction->has_notrack || made == MAKES_SUM)
		return false;
	found->kind = is_indexed || made == MAKES_INDEXED ? CODE_INDEXED : CODE_INDIRECT;
	if (is_indexed && instruction->mod == 0) /* has a displacement only without a base */
		found->table = (uint64_t)instruction->displacement;
	return true;
}

/* How instruction, which stands at address, leaves the nr_bytes from begin on; false: it does not. */
static bool
find_exit(const struct instruction *instruction, const struct history *history, uint64_t address, uint64_t begin,
	  size_t nr_bytes, struct code_exit *found)
{
	*found = (struct code_exit){.address = address, .condition = CODE_ALWAYS};
	switch (instruction->flow) {
	case FLOW_RETURN:
		found->kind = CODE_RETURN;
		return true;
	case FLOW_JUMP:
	case FLOW_BRANCH:
		found->kind = CODE_JUMP;
		found->target = address + instruction->length + (uint64_t)instruction->relative;
		if (instruction->flow == FLOW_BRANCH)
			found->condition = instruction->condition;
		return found->target - begin >= nr_bytes;
	case FLOW_INDIRECT_JUMP:
		return indirect_exit(instruction, history, found);
	default:
		return false;
	}
}

/* One after the other: false at the end. Bytes that begin no instruction are passed over. */
static bool
next_instruction(const uint8_t *bytes, size_t nr_bytes, size_t *at, struct instruction *instruction)
{
	while (*at < nr_bytes && !instruction_decode(bytes + *at, nr_bytes - *at, instruction))
		++*at;
	return *at < nr_bytes;
}

void
code_exits_add(struct code_exits *exits, const struct code_exit *exit)
{
	exits->exits = rot_grow(exits->exits, exits->nr_exits, sizeof(*exits->exits));
	exits->exits[exits->nr_exits++] = *exit;
}

void
code_find_exits(const uint8_t *bytes, size_t nr_bytes, uint64_t address, struct code_exits *exits)
{
	struct history history = {0};
	struct instruction instruction;

	*exits = (struct code_exits){0};
	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length) {
		struct code_exit found;

		if (find_exit(&instruction, &history, address + at, address, nr_bytes, &found))
			code_exits_add(exits, &found);
		history.past[history.nr++ % NR_LOOKED_BACK] = instruction;
	}
}

uint64_t
code_instruction_at(const uint8_t *bytes, size_t nr_bytes, uint64_t address, uint64_t target)
{
	struct instruction instruction;

	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length)
		if (target - (address + at) < instruction.length)
			return address + at;
	return target;
}

/* int3, hlt and ud2 fill what is never reached. */
bool
code_runs_on(const uint8_t *bytes, size_t nr_bytes)
{
	struct instruction instruction, last = {.flow = FLOW_OTHER};

	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length)
		last = instruction;
	if (last.map == 0 && (last.opcode == 0xcc || last.opcode == 0xf4))
		return false;
	if (last.map == 1 && last.opcode == 0x0b)
		return false;
	return last.flow == FLOW_NEXT || last.flow == FLOW_BRANCH;
}

bool
code_jumps_to(const uint8_t *bytes, size_t nr_bytes, uint64_t address, uint64_t target)
{
	struct instruction instruction;

	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length)
		if ((instruction.flow == FLOW_JUMP || instruction.flow == FLOW_BRANCH) &&
		    address + at + instruction.length + (uint64_t)instruction.relative == target)
			return true;
	return false;
}

void
code_find_constants(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
		    void (*found)(void *context, uint64_t constant), void *context)
{
	struct instruction instruction;

	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length) {
		bool is_lea = instruction.opcode == 0x8d, is_mov = (instruction.opcode & 0xf8) == 0xb8;

		if (instruction.map != 0)
			continue;
		if (is_lea && instruction_is_rip_relative(&instruction))
			found(context, address + at + instruction.length + (uint64_t)instruction.displacement);
		else if (is_mov || instruction.opcode == 0xc7)
			found(context, instruction.immediate);
	}
}

void
code_find_targets(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
		  void (*found)(void *context, uint64_t target), void *context)
{
	struct instruction instruction;

	for (size_t at = 0; next_instruction(bytes, nr_bytes, &at, &instruction); at += instruction.length)
		if (instruction.flow == FLOW_CALL || instruction.flow == FLOW_JUMP || instruction.flow == FLOW_BRANCH)
			found(context, address + at + instruction.length + (uint64_t)instruction.relative);
}

void
code_exits_clear(struct code_exits *exits)
{
	free(exits->exits);
	*exits = (struct code_exits){0};
}

/* Bits of eflags. Source: Intel SDM 1, 3.4.3. */
enum { CARRY = 1U << 0, PARITY = 1U << 2, ZERO = 1U << 6, SIGN = 1U << 7, OVERFLOW = 1U << 11 };

bool
code_is_taken(uint8_t condition, uint64_t eflags, uint64_t rcx)
{
	const bool is_zero = eflags & ZERO, is_less = !(eflags & SIGN) != !(eflags & OVERFLOW);
	const bool holds[] = {
		eflags & OVERFLOW, eflags & CARRY,  is_zero, eflags & (CARRY | ZERO),
		eflags & SIGN,     eflags & PARITY, is_less, is_less || is_zero,
	};
	const unsigned which = condition & 3;
	const uint64_t counter = condition & 4 ? (uint32_t)rcx : rcx;

	if (condition == CODE_ALWAYS)
		return true;
	/* The eight conditions of jcc; the lowest bit of its opcode turns one round. Source: Intel SDM 2, B.1.4.7. */
	if (condition < 16)
		return holds[condition >> 1] != (condition & 1);
	/* loopne, loope, loop, jrcxz: the first three count down. */
	if (which == 3)
		return counter == 0;
	return counter != 1 && (which == 2 || is_zero == (which == 1));
}
