/* SPDX-License-Identifier: MIT */
/* Decodes instructions with Zydis. */
#include "parent/symbols/instruction.h"

#include <string.h>

#include "parent/symbols/zydis_decode.h"

#define ANY_REG 0xff
#define MAP_OTHER 0xff
#define PREFIX_OPERAND_SIZE 0x66
#define PREFIX_ADDRESS_SIZE 0x67
#define PREFIX_NOTRACK 0x3e
#define REX_W 8

/* Legacy instructions that do not simply go on. Source: Intel SDM 2, appendix A; AMD 24594, appendix A. */
static const struct branch {
	uint8_t map, first, last;
	uint8_t reg; /* field of ModRM that belongs to the opcode */
	enum flow flow;
} branches[] = {
	{0, 0x70, 0x7f, ANY_REG, FLOW_BRANCH},  {1, 0x80, 0x8f, ANY_REG, FLOW_BRANCH},
	{0, 0xe0, 0xe3, ANY_REG, FLOW_BRANCH},  {0, 0xe8, 0xe8, ANY_REG, FLOW_CALL},
	{0, 0xe9, 0xe9, ANY_REG, FLOW_JUMP},    {0, 0xeb, 0xeb, ANY_REG, FLOW_JUMP},
	{0, 0xc2, 0xc3, ANY_REG, FLOW_RETURN},  {0, 0xff, 0xff, 2, FLOW_INDIRECT_CALL},
	{0, 0xff, 0xff, 4, FLOW_INDIRECT_JUMP}, {0, 0xff, 0xff, 3, FLOW_OTHER}, /* call far */
	{0, 0xff, 0xff, 5, FLOW_OTHER},                                         /* jmp far */
	{0, 0xca, 0xcb, ANY_REG, FLOW_OTHER},                                   /* ret far */
	{0, 0xcf, 0xcf, ANY_REG, FLOW_OTHER},                                   /* iret */
	{0, 0xc7, 0xc7, 7, FLOW_OTHER},                                         /* xbegin */
	{1, 0x07, 0x07, ANY_REG, FLOW_OTHER},                                   /* sysret */
	{1, 0x34, 0x35, ANY_REG, FLOW_OTHER},                                   /* sysenter, sysexit */
};

static uint8_t
opcode_map(const ZydisDecodedInstruction *decoded)
{
	if (decoded->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return MAP_OTHER;
	return decoded->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? 0
	       : decoded->opcode_map == ZYDIS_OPCODE_MAP_0F    ? 1
							       : MAP_OTHER;
}

static enum flow
flow(const struct instruction *instruction, bool has_operand_size)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		const struct branch *branch = &branches[i];

		if (branch->map != instruction->map || instruction->opcode < branch->first ||
		    instruction->opcode > branch->last || (branch->reg != ANY_REG && branch->reg != instruction->reg))
			continue;
		/* With another operand size than usual it goes on in some other way. */
		if (branch->flow != FLOW_NEXT && has_operand_size && !(instruction->rex & REX_W))
			return FLOW_OTHER;
		return branch->flow;
	}
	return FLOW_NEXT;
}

/* 0 to 15 as in the opcode of jcc; 16 loopne, 17 loope, 18 loop, 19 jrcxz, and 20 to 23 these with ecx. */
static uint8_t
condition(const struct instruction *instruction)
{
	if (instruction->map == 1 || (instruction->opcode & 0xf0) == 0x70)
		return instruction->opcode & 15;
	return (uint8_t)(16 + (instruction->opcode & 3) + (instruction->has_address_size ? 4 : 0));
}

bool
instruction_decode(const uint8_t *bytes, size_t nr_bytes, struct instruction *instruction)
{
	bool has_operand_size = false;
	ZydisDecodedInstruction decoded;

	if (!zydis_decode(bytes, nr_bytes, &decoded, NULL))
		return false;
	memset(instruction, 0, sizeof(*instruction));
	for (unsigned i = 0; i < decoded.raw.prefix_count; i++) {
		has_operand_size |= decoded.raw.prefixes[i].value == PREFIX_OPERAND_SIZE;
		instruction->has_address_size |= decoded.raw.prefixes[i].value == PREFIX_ADDRESS_SIZE;
		instruction->has_notrack |= decoded.raw.prefixes[i].value == PREFIX_NOTRACK;
	}
	instruction->length = decoded.length;
	instruction->map = opcode_map(&decoded);
	instruction->opcode = decoded.opcode;
	if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && (decoded.attributes & ZYDIS_ATTRIB_HAS_REX))
		instruction->rex = (uint8_t)(decoded.raw.rex.W << 3 | decoded.raw.rex.R << 2 | decoded.raw.rex.X << 1 |
					     decoded.raw.rex.B);
	if (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		instruction->has_modrm = true;
		instruction->mod = decoded.raw.modrm.mod;
		instruction->reg = decoded.raw.modrm.reg;
		instruction->rm = decoded.raw.modrm.rm;
		instruction->modrm_offset = decoded.raw.modrm.offset;
	}
	if (decoded.attributes & ZYDIS_ATTRIB_HAS_SIB) {
		instruction->has_sib = true;
		instruction->scale = decoded.raw.sib.scale;
		instruction->index = decoded.raw.sib.index;
		instruction->base = decoded.raw.sib.base;
	}
	instruction->displacement_offset = decoded.raw.disp.offset;
	instruction->displacement_bytes = decoded.raw.disp.size / 8;
	instruction->displacement = decoded.raw.disp.value;
	instruction->immediate = decoded.raw.imm[0].value.u;
	instruction->flow = flow(instruction, has_operand_size);
	if (instruction->flow == FLOW_BRANCH)
		instruction->condition = condition(instruction);
	if (instruction->flow == FLOW_BRANCH || instruction->flow == FLOW_JUMP || instruction->flow == FLOW_CALL)
		instruction->relative = decoded.raw.imm[0].value.s;
	return true;
}

bool
instruction_is_rip_relative(const struct instruction *instruction)
{
	return instruction->has_modrm && instruction->mod == 0 && instruction->rm == 5 &&
	       instruction->displacement_bytes == 4;
}
