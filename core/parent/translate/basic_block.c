/* SPDX-License-Identifier: MIT */
#include "parent/translate/basic_block.h"

#include "parent/translate/edges.h"

#define FEW_ITEMS 16 /* of a block that checks itself */

bool
is_rip_relative(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) && instruction->raw.modrm.mod == 0 &&
	       instruction->raw.modrm.rm == 5;
}

/* ---- how it ends ---- */

/* Processors disagree about branches of 16 bits; with REX.W (calls of __tls_get_addr) they are of 64. */
static bool
is_narrow(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !instruction->raw.rex.W;
}

static enum basic_block_end
end_of_jump(const ZydisDecodedInstruction *instruction, bool is_call)
{
	const bool is_direct = instruction->raw.imm[0].size > 0;

	if (instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || is_narrow(instruction))
		return BLOCK_NATIVE;
	if (is_direct)
		return is_call ? BLOCK_CALLS : BLOCK_JUMPS;
	return is_call ? BLOCK_CALLS_INDIRECTLY : BLOCK_JUMPS_INDIRECTLY;
}

static enum basic_block_end
end_of(const ZydisDecodedInstruction *instruction)
{
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS)
		return BLOCK_NATIVE;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return end_of_jump(instruction, false);
	case ZYDIS_MNEMONIC_CALL:
		return end_of_jump(instruction, true);
	case ZYDIS_MNEMONIC_RET:
		return (instruction->opcode == 0xc3 || instruction->opcode == 0xc2) && !is_narrow(instruction)
			       ? BLOCK_RETURNS
			       : BLOCK_NATIVE;
	case ZYDIS_MNEMONIC_SYSCALL:
		return BLOCK_SYSTEM_CALL;
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return BLOCK_TRAPS;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	/* Their accesses depend on what registers are in use. */
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
		return BLOCK_NATIVE;
	default:
		break;
	}
	if (instruction->meta.category == ZYDIS_CATEGORY_COND_BR) {
		if (is_narrow(instruction))
			return BLOCK_NATIVE;
		return instruction->opcode >= 0xe0 && instruction->opcode <= 0xe3 &&
				       instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT
			       ? BLOCK_LOOPS
			       : BLOCK_BRANCHES;
	}
	return BLOCK_GOES_ON;
}

const struct code_range *
translate_find_range(const struct translation *translation, uint64_t address)
{
	for (size_t i = 0; i < translation->nr_ranges; i++) {
		if (address >= translation->ranges[i].start && address < translation->ranges[i].end)
			return &translation->ranges[i];
	}
	return NULL;
}

/* Writes to a segment register or a repeat with 32 bits of rcx are rare. */
static bool
is_odd(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_STRINGOP && instruction->address_width != 64;
}

#define READ_AT_ONCE 64

/* Most blocks are short. Code that may change is read at once, as it is now. *room: no more can be read. */
static size_t
read_more(const struct translation *translation, struct basic_block *block, size_t nr_read, size_t *room)
{
	const size_t left = *room - nr_read, nr = block->may_change || left < READ_AT_ONCE ? left : READ_AT_ONCE;
	const size_t done = code_cache_read(translation->cache, translation->tid, block->origin + nr_read,
					    block->bytes + nr_read, nr, block->may_change);

	if (done < nr)
		*room = nr_read + done;
	return done;
}

bool
basic_block_decode(const struct translation *translation, uint64_t origin, struct basic_block *block)
{
	const struct code_range *range = translate_find_range(translation, origin);
	const bool is_apart = edges_at(translation->cache, origin).ends;
	const uint64_t next_edge = edges_next(translation->cache, origin + 1);
	size_t room = sizeof(block->bytes), nr_read = 0, most;

	if (!range)
		return false;
	block->origin = origin;
	block->may_change = range->may_change;
	block->nr = block->nr_bytes = 0;
	block->is_behind_known = false;
	block->end = BLOCK_GOES_ON;
	most = is_apart ? 1 : block->may_change ? FEW_ITEMS : BLOCK_MAX_ITEMS;
	if (room > range->end - origin)
		room = range->end - origin;
	if (block->may_change && room > FEW_ITEMS * INSTRUCTION_MAX_BYTES)
		room = FEW_ITEMS * INSTRUCTION_MAX_BYTES;
	while (block->nr < most && block->end == BLOCK_GOES_ON && origin + block->nr_bytes < next_edge) {
		struct basic_block_item *item = &block->items[block->nr];

		if (nr_read < block->nr_bytes + INSTRUCTION_MAX_BYTES && nr_read < room)
			nr_read += read_more(translation, block, nr_read, &room);
		if (!zydis_begin(block->bytes + block->nr_bytes, nr_read - block->nr_bytes, &item->instruction,
				 &item->context)) {
			/* A thread that comes there shows what the processor makes of it; ahead, more may be there
			 * then. */
			block->end = BLOCK_NATIVE;
			return nr_read > 0 && translation->tid != CODE_CACHE_RUNNING;
		}
		item->at = (uint16_t)block->nr_bytes;
		block->end = is_odd(&item->instruction) ? BLOCK_NATIVE : end_of(&item->instruction);
		if (block->end == BLOCK_NATIVE)
			return true;
		block->nr++;
		block->nr_bytes += item->instruction.length;
		if (block->end == BLOCK_JUMPS || block->end == BLOCK_BRANCHES || block->end == BLOCK_LOOPS ||
		    block->end == BLOCK_CALLS)
			block->target = origin + block->nr_bytes + (uint64_t)item->instruction.raw.imm[0].value.s;
	}
	return true;
}

void
basic_block_understand(struct basic_block *block)
{
	for (size_t i = 0; i < block->nr; i++) {
		struct basic_block_item *item = &block->items[i];

		if (zydis_operands(&item->instruction, &item->context, item->operands))
			work_of(&item->instruction, item->operands, &item->work);
		else
			item->work = (struct work){.is_unknown = true};
	}
}

/* ---- where it counts ---- */

/* It sets all flags in any case but the carry, which inc leaves alone, and reads none of them. */
static bool
sets_flags(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_XADD:
	case ZYDIS_MNEMONIC_CMPXCHG:
	case ZYDIS_MNEMONIC_POPCNT:
	case ZYDIS_MNEMONIC_COMISD:
	case ZYDIS_MNEMONIC_COMISS:
	case ZYDIS_MNEMONIC_UCOMISD:
	case ZYDIS_MNEMONIC_UCOMISS:
	case ZYDIS_MNEMONIC_VCOMISD:
	case ZYDIS_MNEMONIC_VCOMISS:
	case ZYDIS_MNEMONIC_VUCOMISD:
	case ZYDIS_MNEMONIC_VUCOMISS:
	case ZYDIS_MNEMONIC_PTEST:
	case ZYDIS_MNEMONIC_VPTEST:
		return true;
	default:
		return false;
	}
}

/* A register that it sets without reading it; -1: none that is seen at once. */
static int
sets_register(const ZydisDecodedInstruction *instruction)
{
	const bool is_wide = instruction->operand_width >= 32,
		   is_short = instruction->opcode_map == ZYDIS_OPCODE_MAP_0F;
	const unsigned rex_r = instruction->raw.rex.R ? 8 : 0, rex_b = instruction->raw.rex.B ? 8 : 0;
	const unsigned rex_x = instruction->raw.rex.X ? 8 : 0, opcode = instruction->opcode;
	const unsigned reg = instruction->raw.modrm.reg | rex_r, rm = instruction->raw.modrm.rm | rex_b;

	if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    instruction->opcode_map > ZYDIS_OPCODE_MAP_0F || !is_wide)
		return -1;
	if (!is_short && ((opcode & 0xf8) == 0x58 || (opcode & 0xf8) == 0xb8))
		return (int)((opcode & 7) | rex_b);
	if (is_short ? opcode != 0xb6 && opcode != 0xb7 && opcode != 0xbe && opcode != 0xbf
		     : opcode != 0x8b && opcode != 0x8d && opcode != 0x63)
		return -1;
	if (instruction->raw.modrm.mod == 3)
		return rm == reg || (rm & 3) == (reg & 3) ? -1 : (int)reg;
	if (instruction->raw.modrm.rm == 4) {
		if ((instruction->raw.sib.base | rex_b) == reg || (instruction->raw.sib.index | rex_x) == reg)
			return -1;
	} else if (rm == reg) {
		return -1;
	}
	return (int)reg;
}

/* Its operand in memory is none, or [rsp + n]. */
static bool
is_without_fault(const ZydisDecodedInstruction *instruction)
{
	const bool has_memory = (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) && instruction->raw.modrm.mod != 3 &&
				instruction->mnemonic != ZYDIS_MNEMONIC_LEA;

	return !has_memory || (instruction->raw.modrm.rm == 4 && instruction->raw.sib.base == 4 &&
			       !instruction->raw.rex.B && instruction->raw.sib.index == 4 && !instruction->raw.rex.X);
}

int
basic_block_sets_register(const ZydisDecodedInstruction *instruction)
{
	const int reg = is_without_fault(instruction) ? sets_register(instruction) : -1;

	return reg == 4 ? -1 : reg;
}

int
basic_block_loads_register(const ZydisDecodedInstruction *instruction)
{
	const int reg = is_without_fault(instruction) ? -1 : sets_register(instruction);

	return reg == 4 ? -1 : reg;
}

#if HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
#define LOOK_AHEAD 8
#define FLAGS                                                                                                          \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |                \
	 ZYDIS_CPUFLAG_OF)

static bool
reads_flags(const ZydisDecodedInstruction *instruction)
{
	return !instruction->cpu_flags || (instruction->cpu_flags->tested & FLAGS) != 0;
}

static bool
sets_all_flags(const ZydisDecodedInstruction *instruction)
{
	return sets_flags(instruction) && instruction->mnemonic != ZYDIS_MNEMONIC_INC &&
	       instruction->mnemonic != ZYDIS_MNEMONIC_DEC;
}

/* At that address no flag is needed. */
static bool
flags_are_dead(const struct translation *translation, uint64_t address)
{
	const struct code_range *range = translate_find_range(translation, address);
	uint8_t bytes[LOOK_AHEAD * INSTRUCTION_MAX_BYTES];
	size_t nr, at = 0;

	if (!range || range->may_change)
		return false;
	nr = range->end - address < sizeof(bytes) ? range->end - address : sizeof(bytes);
	nr = code_cache_read(translation->cache, translation->tid, address, bytes, nr, false);
	for (int i = 0; i < LOOK_AHEAD; i++) {
		ZydisDecodedInstruction instruction;

		if (!zydis_decode(bytes + at, nr - at, &instruction, NULL))
			return false;
		if (reads_flags(&instruction))
			return false;
		if (sets_all_flags(&instruction))
			return true;
		if (end_of(&instruction) != BLOCK_GOES_ON)
			return false;
		at += instruction.length;
	}
	return false;
}

/* Where it goes next there is one way, and no flag is needed there. */
static bool
flags_are_dead_behind(const struct translation *translation, const struct basic_block *block)
{
	if (block->may_change)
		return false;
	if (block->end == BLOCK_JUMPS || block->end == BLOCK_CALLS)
		return flags_are_dead(translation, block->target);
	return block->end == BLOCK_GOES_ON && flags_are_dead(translation, block->origin + block->nr_bytes);
}

bool
basic_block_needs_no_flags(const struct translation *translation, struct basic_block *block, size_t from)
{
	for (size_t i = from; i < block->nr; i++) {
		if (reads_flags(&block->items[i].instruction))
			return false;
		if (sets_all_flags(&block->items[i].instruction))
			return true;
	}
	if (!block->is_behind_known)
		block->needs_no_flags_behind = flags_are_dead_behind(translation, block);
	block->is_behind_known = true;
	return block->needs_no_flags_behind;
}
#else
bool
basic_block_needs_no_flags(const struct translation *translation, struct basic_block *block, size_t from)
{
	(void)translation;
	(void)block;
	(void)from;
	return false;
}
#endif

struct count_place
basic_block_count_place(const struct translation *translation, struct basic_block *block)
{
	const bool has_last = block->end != BLOCK_GOES_ON && block->end != BLOCK_NATIVE;

	for (size_t i = 0; i < block->nr; i++) {
		if (sets_flags(&block->items[i].instruction))
			return (struct count_place){i, COUNT_CHANGING_FLAGS, 0};
	}
	if (basic_block_needs_no_flags(translation, block, block->nr - has_last))
		return (struct count_place){block->nr - has_last, COUNT_CHANGING_FLAGS, 0};
	for (size_t i = 0; i < block->nr; i++) {
		const int reg = basic_block_sets_register(&block->items[i].instruction);

		if (reg >= 0)
			return (struct count_place){i, COUNT_BY_REGISTER, (unsigned)reg};
	}
	if (block->end == BLOCK_RETURNS || block->end == BLOCK_JUMPS_INDIRECTLY || block->end == BLOCK_CALLS_INDIRECTLY)
		return (struct count_place){SIZE_MAX, COUNT_LOOKING_UP, 0};
	return (struct count_place){0, COUNT_SAVING, 0};
}
