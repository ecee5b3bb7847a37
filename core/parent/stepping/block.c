/* SPDX-License-Identifier: MIT */
/* See block.h. */
#include "parent/stepping/block.h"

#include <stdlib.h>

#include "memory.h"

#define MAX_ITEMS 256
#define INT3 0xcc
#define ALL_REGISTERS UINT32_MAX

#define WORD_STACK (offsetof(struct user_regs_struct, rsp) / sizeof(unsigned long long))
#define NR_WORDS (sizeof(struct user_regs_struct) / sizeof(unsigned long long))

struct decoded {
	struct instruction instruction;
	struct block_item item;
	bool is_call; /* of the system */
	bool is_int3;
};

/* ---- one instruction ---- */

/* syscall, sysenter, int. Source: Intel SDM 2, appendix A. */
static bool
calls_system(const struct instruction *instruction)
{
	return (instruction->map == 1 && (instruction->opcode == 0x05 || instruction->opcode == 0x34)) ||
	       (instruction->map == 0 && instruction->opcode == 0xcd);
}

/* int1, into, hlt, ud2: they end in a stop of somebody else, or nowhere. */
static bool
traps(const struct instruction *instruction)
{
	static const uint8_t one_byte[] = {0xf1, 0xce, 0xf4};

	if (instruction->map == 1)
		return instruction->opcode == 0x0b;
	for (size_t i = 0; i < sizeof(one_byte) && instruction->map == 0; i++) {
		if (instruction->opcode == one_byte[i])
			return true;
	}
	return false;
}

static bool
decode_one(struct decoded *decoded, uint64_t address, block_reader read, void *context)
{
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	size_t nr = read(context, address, bytes);

	if (nr == 0 || !instruction_decode(bytes, nr, &decoded->instruction) ||
	    !work_decode(bytes, nr, &decoded->item.work) || !effect_decode(bytes, nr, &decoded->item.effect))
		return false;
	decoded->is_call = calls_system(&decoded->instruction);
	decoded->is_int3 = bytes[0] == INT3;
	return decoded->instruction.flow != FLOW_OTHER && !traps(&decoded->instruction);
}

static bool
is_register_known(uint8_t word, uint32_t known)
{
	return word >= NR_WORDS || (known & EFFECT_BIT(word)) != 0;
}

/* What vectors hold is known before the first instruction alone. */
static bool
follows(const struct work *work, uint32_t known, bool is_first)
{
	if (work->mask != WORK_ALL_LANES && !is_first)
		return false;
	for (size_t i = 0; i < work->nr_parts; i++) {
		const struct work_part *part = &work->parts[i];

		if (part->shape == WORK_INDEXED && !is_first)
			return false;
		if (!is_register_known(part->base, known) || !is_register_known(part->selector, known) ||
		    (part->shape != WORK_INDEXED && !is_register_known(part->index, known)))
			return false;
	}
	return true;
}

/* ---- loops ---- */

static uint32_t
known_after(const struct block *block, uint32_t known)
{
	for (size_t i = 0; i < block->nr_items; i++)
		known = effect_known(&block->items[i].effect, known);
	return known;
}

/* Do all addresses follow from the registers before the first turn? */
static bool
turns_follow(const struct block *block, uint32_t known)
{
	for (size_t i = 0; i < block->nr_items; i++) {
		const struct work *work = &block->items[i].work;

		if (!follows(work, known, false))
			return false;
		known = effect_known(&block->items[i].effect, known);
	}
	return true;
}

/* Whether each turn adds the same to that register. */
static bool
counts_turns(const struct block *block, uint8_t word, struct block_counter *counter)
{
	*counter = (struct block_counter){.word = word};
	for (size_t i = 0; i < block->nr_items; i++) {
		const struct effect *effect = &block->items[i].effect;

		if (effect->clobbered & EFFECT_BIT(word))
			return false;
		if (effect->target != word)
			continue;
		if (effect->base != word || effect->index != EFFECT_NO_REGISTER)
			return false;
		counter->step += effect->constant;
		counter->is_narrow |= effect->is_narrow;
	}
	return counter->is_narrow ? (uint32_t)counter->step != 0 : counter->step != 0;
}

/* One that is as wide as addresses cannot have gone round. */
static bool
find_counter(struct block *block)
{
	struct block_counter counter;
	bool is_found = false;

	for (uint8_t word = 0; word < NR_WORDS; word++) {
		if (!counts_turns(block, word, &counter) || (is_found && counter.is_narrow))
			continue;
		block->counter = counter;
		is_found = true;
		if (!counter.is_narrow)
			break;
	}
	return is_found;
}

/* items has the branch already. */
static bool
is_loop(struct block *block)
{
	uint32_t known = ALL_REGISTERS, after;

	while ((after = known & known_after(block, known)) != known)
		known = after;
	return turns_follow(block, known) && find_counter(block);
}

static uint64_t
word_of(const struct user_regs_struct *registers, uint8_t word)
{
	return ((const unsigned long long *)registers)[word];
}

uint64_t
block_turns(const struct block *block, const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	const struct block_counter *counter = &block->counter;
	uint64_t moved = word_of(after, counter->word) - word_of(before, counter->word), step = counter->step;
	bool is_down = counter->is_narrow ? (int32_t)step < 0 : (int64_t)step < 0;

	if (is_down) {
		moved = -moved;
		step = -step;
	}
	if (counter->is_narrow) {
		moved = (uint32_t)moved;
		step = (uint32_t)step;
	}
	return moved % step == 0 ? moved / step : 0;
}

/* ---- the whole ---- */

static void
add_item(struct block *block, const struct block_item *item)
{
	block->items = rot_realloc(block->items, block->nr_items + 1, sizeof(*block->items));
	block->items[block->nr_items++] = *item;
}

static void
end_at_branch(struct block *block, const struct decoded *decoded, uint64_t at)
{
	const uint64_t next = at + decoded->instruction.length;

	block->end = at;
	block->kind = BLOCK_BRANCH;
	block->branch = decoded->instruction;
	block->branch_work = decoded->item.work;
	if (decoded->instruction.flow != FLOW_BRANCH || block->calls_system ||
	    next + (uint64_t)decoded->instruction.relative != block->address)
		return;
	add_item(block, &decoded->item);
	if (is_loop(block)) {
		block->kind = BLOCK_LOOP;
		block->loop_branch = at;
		block->end = next;
	} else {
		block->nr_items--;
	}
}

static void
find_stack_change(struct block *block)
{
	block->is_stack_known = true;
	for (size_t i = 0; i < block->nr_items; i++) {
		const struct effect *effect = &block->items[i].effect;

		block->is_stack_known &= (effect->clobbered & EFFECT_BIT(WORD_STACK)) == 0;
		if (effect->target != WORD_STACK)
			continue;
		block->is_stack_known &= effect->base == WORD_STACK && effect->index == EFFECT_NO_REGISTER;
		block->stack_change += effect->constant;
	}
	if (block->kind == BLOCK_LOOP)
		block->is_stack_known &= block->stack_change == 0;
}

/* Nothing is before it. */
static bool
is_first_only(const struct decoded *decoded)
{
	return decoded->is_call || decoded->item.work.is_repeated;
}

static void
decode(struct block *block, uint64_t address, block_reader read, void *context)
{
	uint32_t known = ALL_REGISTERS;
	struct decoded decoded;

	*block = (struct block){.kind = BLOCK_CUT, .address = address, .end = address};
	while (block->nr_items < MAX_ITEMS) {
		bool is_first = block->nr_items == 0;

		if (!decode_one(&decoded, block->end, read, context)) {
			block->kind = is_first ? BLOCK_UNKNOWN : BLOCK_CUT;
			return;
		}
		if (decoded.is_int3) {
			block->kind = is_first ? BLOCK_TRAP : BLOCK_CUT;
			return;
		}
		if (decoded.instruction.flow != FLOW_NEXT) {
			end_at_branch(block, &decoded, block->end);
			return;
		}
		if (!is_first && (is_first_only(&decoded) || !follows(&decoded.item.work, known, false)))
			return;
		add_item(block, &decoded.item);
		known = effect_known(&decoded.item.effect, known);
		block->end += decoded.instruction.length;
		block->calls_system |= decoded.is_call;
		if (decoded.item.work.is_repeated) {
			block->kind = BLOCK_REPEATED;
			return;
		}
	}
}

void
block_decode(struct block *block, uint64_t address, block_reader read, void *context)
{
	decode(block, address, read, context);
	find_stack_change(block);
}

void
block_clear(struct block *block)
{
	free(block->items);
	*block = (struct block){.kind = BLOCK_UNKNOWN};
}
