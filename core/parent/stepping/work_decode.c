/* SPDX-License-Identifier: MIT */
/* See work.h; decodes an instruction once, for all executions. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/step_counts.h"
#include "parent/stepping/work.h"
#include "parent/stepping/xsave_area.h"

/* ---- what tables say of mnemonics ---- */

/* The operations that an instruction does in each lane; nr 0: a dot product, which depends on its immediate. */
struct work_operations {
	const char *name;
	enum step_count count;
	uint8_t lane_bytes; /* 0: there is but one lane */
	uint8_t nr;
};

enum work_kind {
	WORK_USUAL,
	WORK_NO_ACCESS, /* an operand in memory that is not accessed                     */
	WORK_UNKNOWN,
	WORK_WHOLE_LOAD, /* of what is loaded inactive lanes are part, which Zydis does not tell   */
	WORK_STREAMING,  /* what it stores is non-temporal                                */
	WORK_FRONT,      /* compress and expand: as many elements as there are lanes      */
	WORK_SIGN_MASK,  /* the second operand has a sign bit for each lane               */
	WORK_STREAMING_SIGN_MASK,
	WORK_GATHER_SCATTER,
	WORK_ENTER,
	WORK_XSAVE, /* components of the thread's state: xsave_area.h              */
	WORK_XSAVEC,
	WORK_XRSTOR,
	WORK_FLUSH_LINE, /* a line leaves the caches, without bytes                     */
	WORK_CLEAN_LINE, /* a line is written back                                      */
	WORK_ZERO_LINE,  /* the line that rax is in is stored, non-temporally: CLZERO   */
	WORK_TABLE,      /* al selects a byte behind rbx: XLAT                          */
	WORK_POP,        /* an address with rsp is computed when rsp has been incremented */
	WORK_BITS,       /* a register as the second operand selects a bit of all memory  */
};

/* name: * at its end stands for the rest of any name. lane_bytes: of an element in memory. */
struct work_special {
	const char *name;
	enum work_kind kind;
	uint8_t lane_bytes;
	uint8_t index_bytes; /* of WORK_GATHER_SCATTER */
};

#define NR(table) (sizeof(table) / sizeof((table)[0]))

#define PACKED(name, nr)                                                                                               \
	{name "ps", STEP_PACKED_SINGLE, 4, nr},                                                                        \
	{                                                                                                              \
		name "pd", STEP_PACKED_DOUBLE, 8, nr                                                                   \
	}
#define SCALAR(name, nr)                                                                                               \
	{name "ss", STEP_SCALAR_SINGLE, 0, nr},                                                                        \
	{                                                                                                              \
		name "sd", STEP_SCALAR_DOUBLE, 0, nr                                                                   \
	}
#define ONE(name) PACKED(name, 1), SCALAR(name, 1), PACKED("v" name, 1), SCALAR("v" name, 1)
#define ONE_PACKED(name) PACKED(name, 1), PACKED("v" name, 1)
/* In three orders of operands, and with four of them (FMA4). */
#define FUSED_PACKED(name) PACKED(name "132", 2), PACKED(name "213", 2), PACKED(name "231", 2), PACKED(name, 2)
#define FUSED(name)                                                                                                    \
	FUSED_PACKED(name), SCALAR(name "132", 2), SCALAR(name "213", 2), SCALAR(name "231", 2), SCALAR(name, 2)
#define X87(name)                                                                                                      \
	{                                                                                                              \
		name, STEP_X87, 0, 1                                                                                   \
	}

#define INTEGER(name)                                                                                                  \
	{                                                                                                              \
		name, STEP_SCALAR_INTEGER, 0, 1                                                                        \
	}
/* Elements of a vector: as the names of MMX and SSE, and of AVX. */
#define INTEGERS(name, bytes, nr)                                                                                      \
	{name, STEP_PACKED_INTEGER, bytes, nr},                                                                        \
	{                                                                                                              \
		"v" name, STEP_PACKED_INTEGER, bytes, nr                                                               \
	}
#define INTEGERS_OF_2(name) INTEGERS(name "b", 1, 1), INTEGERS(name "w", 2, 1)
#define INTEGERS_OF_4(name) INTEGERS_OF_2(name), INTEGERS(name "d", 4, 1), INTEGERS(name "q", 8, 1)
/* Products of four bytes, or of two words, are added to each element. */
#define DOT_PRODUCTS(name) INTEGERS(name, 4, 8), INTEGERS(name "s", 4, 8)
#define DOT_PRODUCTS_OF_2(name) INTEGERS(name, 4, 4), INTEGERS(name "s", 4, 4)

static const struct work_operations all_operations[] = {
	ONE("add"),
	ONE("sub"),
	ONE("mul"),
	ONE("div"),
	ONE("sqrt"),
	ONE_PACKED("addsub"),
	ONE_PACKED("hadd"),
	ONE_PACKED("hsub"),
	FUSED("vfmadd"),
	FUSED("vfmsub"),
	FUSED("vfnmadd"),
	FUSED("vfnmsub"),
	FUSED_PACKED("vfmaddsub"),
	FUSED_PACKED("vfmsubadd"),
	PACKED("dp", 0),
	PACKED("vdp", 0),
	X87("fadd"),
	X87("faddp"),
	X87("fiadd"),
	X87("fsub"),
	X87("fsubp"),
	X87("fisub"),
	X87("fsubr"),
	X87("fsubrp"),
	X87("fisubr"),
	X87("fmul"),
	X87("fmulp"),
	X87("fimul"),
	X87("fdiv"),
	X87("fdivp"),
	X87("fidiv"),
	X87("fdivr"),
	X87("fdivrp"),
	X87("fidivr"),
	X87("fsqrt"),
	INTEGER("add"),
	INTEGER("adc"),
	INTEGER("adcx"),
	INTEGER("adox"),
	INTEGER("inc"),
	INTEGER("xadd"),
	INTEGER("sub"),
	INTEGER("sbb"),
	INTEGER("dec"),
	INTEGER("neg"),
	INTEGER("mul"),
	INTEGER("mulx"),
	INTEGER("imul"),
	INTEGER("div"),
	INTEGER("idiv"),
	INTEGERS_OF_4("padd"),
	INTEGERS_OF_4("psub"),
	INTEGERS_OF_2("padds"),
	INTEGERS_OF_2("paddus"),
	INTEGERS_OF_2("psubs"),
	INTEGERS_OF_2("psubus"),
	INTEGERS("phaddw", 2, 1),
	INTEGERS("phaddsw", 2, 1),
	INTEGERS("phaddd", 4, 1),
	INTEGERS("phsubw", 2, 1),
	INTEGERS("phsubsw", 2, 1),
	INTEGERS("phsubd", 4, 1),
	INTEGERS("pmullw", 2, 1),
	INTEGERS("pmulhw", 2, 1),
	INTEGERS("pmulhuw", 2, 1),
	INTEGERS("pmulhrsw", 2, 1),
	INTEGERS("pmulld", 4, 1),
	INTEGERS("pmullq", 8, 1),
	INTEGERS("pmuldq", 8, 1),
	INTEGERS("pmuludq", 8, 1),
	INTEGERS("pmaddwd", 4, 3),
	INTEGERS("pmaddubsw", 2, 3),
	INTEGERS("pmadd52luq", 8, 2),
	INTEGERS("pmadd52huq", 8, 2),
	DOT_PRODUCTS("pdpbusd"),
	DOT_PRODUCTS("pdpbssd"),
	DOT_PRODUCTS("pdpbsud"),
	DOT_PRODUCTS("pdpbuud"),
	DOT_PRODUCTS_OF_2("pdpwssd"),
	DOT_PRODUCTS_OF_2("pdpwsud"),
	DOT_PRODUCTS_OF_2("pdpwusd"),
	DOT_PRODUCTS_OF_2("pdpwuud"),
};

static const struct work_special specials[] = {
	{"nop", WORK_NO_ACCESS, 0, 0},
	{"prefetch*", WORK_NO_ACCESS, 0, 0},
	{"cldemote", WORK_NO_ACCESS, 0, 0},
	{"vgatherpf*", WORK_NO_ACCESS, 0, 0},
	{"vscatterpf*", WORK_NO_ACCESS, 0, 0},
	{"monitor*", WORK_NO_ACCESS, 0, 0},
	{"umonitor", WORK_NO_ACCESS, 0, 0},
	/* Not executed by any processor of today: MPX, whose instructions are nop without it. */
	{"bnd*", WORK_NO_ACCESS, 0, 0},
	/* How much they access depends on more than the instruction. */
	{"xsave", WORK_XSAVE, 0, 0},
	{"xsave64", WORK_XSAVE, 0, 0},
	{"xsavec", WORK_XSAVEC, 0, 0},
	{"xsavec64", WORK_XSAVEC, 0, 0},
	{"xrstor", WORK_XRSTOR, 0, 0},
	{"xrstor64", WORK_XRSTOR, 0, 0},
	{"xsave*", WORK_UNKNOWN, 0, 0},
	{"xrstor*", WORK_UNKNOWN, 0, 0},
	{"xstore*", WORK_UNKNOWN, 0, 0},
	{"xcrypt*", WORK_UNKNOWN, 0, 0},
	{"xsha*", WORK_UNKNOWN, 0, 0},
	{"montmul", WORK_UNKNOWN, 0, 0},
	{"tileload*", WORK_UNKNOWN, 0, 0},
	{"tilestore*", WORK_UNKNOWN, 0, 0},
	{"lwp*", WORK_UNKNOWN, 0, 0},
	{"llwpcb", WORK_UNKNOWN, 0, 0},
	{"slwpcb", WORK_UNKNOWN, 0, 0},
	/* Others do what these cause, not the thread. */
	{"int1", WORK_UNKNOWN, 0, 0},
	{"int3", WORK_NO_ACCESS, 0, 0},
	{"iret*", WORK_UNKNOWN, 0, 0},
	{"uiret", WORK_UNKNOWN, 0, 0},
	{"ud0", WORK_UNKNOWN, 0, 0},
	{"ud1", WORK_UNKNOWN, 0, 0},
	{"ud2", WORK_UNKNOWN, 0, 0},
	{"in", WORK_UNKNOWN, 0, 0},
	{"out", WORK_UNKNOWN, 0, 0},
	{"insb", WORK_UNKNOWN, 0, 0},
	{"insw", WORK_UNKNOWN, 0, 0},
	{"insd", WORK_UNKNOWN, 0, 0},
	{"outs*", WORK_UNKNOWN, 0, 0},
	{"enqcmd*", WORK_UNKNOWN, 0, 0},
	/* Done to caches; Intel SDM 2, AMD APM 3. */
	{"clflush*", WORK_FLUSH_LINE, 0, 0},
	{"clwb", WORK_CLEAN_LINE, 0, 0},
	{"clzero", WORK_ZERO_LINE, 0, 0},
	{"xlat*", WORK_TABLE, 0, 0},
	/* Zydis does not tell the address, or how often. */
	{"maskmovq", WORK_UNKNOWN, 0, 0},
	{"v4f*", WORK_UNKNOWN, 0, 0},
	{"vp4dp*", WORK_UNKNOWN, 0, 0},
	/* Zydis 4.0 has them in a class that suppresses faults; Zen 4 takes them, as the Intel SDM says (E4NF). */
	{"vcvtne2ps2bf16", WORK_WHOLE_LOAD, 0, 0},
	{"vdbpsadbw", WORK_WHOLE_LOAD, 0, 0},
	{"vgf2p8affine*", WORK_WHOLE_LOAD, 0, 0},
	{"enter", WORK_ENTER, 0, 0},
	{"pop", WORK_POP, 0, 0},
	{"bt", WORK_BITS, 0, 0},
	{"btc", WORK_BITS, 0, 0},
	{"btr", WORK_BITS, 0, 0},
	{"bts", WORK_BITS, 0, 0},
	{"movntdqa", WORK_USUAL, 0, 0}, /* a load */
	{"movnt*", WORK_STREAMING, 0, 0},
	{"vmovntdqa", WORK_USUAL, 0, 0},
	{"vmovnt*", WORK_STREAMING, 0, 0},
	{"movdir*", WORK_STREAMING, 0, 0},
	{"maskmovdqu", WORK_STREAMING_SIGN_MASK, 1, 0},
	{"vmaskmovdqu", WORK_STREAMING_SIGN_MASK, 1, 0},
	{"vmaskmovps", WORK_SIGN_MASK, 4, 0},
	{"vmaskmovpd", WORK_SIGN_MASK, 8, 0},
	{"vpmaskmovd", WORK_SIGN_MASK, 4, 0},
	{"vpmaskmovq", WORK_SIGN_MASK, 8, 0},
	{"vcompressps", WORK_FRONT, 4, 0},
	{"vcompresspd", WORK_FRONT, 8, 0},
	{"vpcompressb", WORK_FRONT, 1, 0},
	{"vpcompressw", WORK_FRONT, 2, 0},
	{"vpcompressd", WORK_FRONT, 4, 0},
	{"vpcompressq", WORK_FRONT, 8, 0},
	{"vexpandps", WORK_FRONT, 4, 0},
	{"vexpandpd", WORK_FRONT, 8, 0},
	{"vpexpandb", WORK_FRONT, 1, 0},
	{"vpexpandw", WORK_FRONT, 2, 0},
	{"vpexpandd", WORK_FRONT, 4, 0},
	{"vpexpandq", WORK_FRONT, 8, 0},
	{"vgatherdps", WORK_GATHER_SCATTER, 4, 4},
	{"vgatherdpd", WORK_GATHER_SCATTER, 8, 4},
	{"vgatherqps", WORK_GATHER_SCATTER, 4, 8},
	{"vgatherqpd", WORK_GATHER_SCATTER, 8, 8},
	{"vpgatherdd", WORK_GATHER_SCATTER, 4, 4},
	{"vpgatherdq", WORK_GATHER_SCATTER, 8, 4},
	{"vpgatherqd", WORK_GATHER_SCATTER, 4, 8},
	{"vpgatherqq", WORK_GATHER_SCATTER, 8, 8},
	{"vscatterdps", WORK_GATHER_SCATTER, 4, 4},
	{"vscatterdpd", WORK_GATHER_SCATTER, 8, 4},
	{"vscatterqps", WORK_GATHER_SCATTER, 4, 8},
	{"vscatterqpd", WORK_GATHER_SCATTER, 8, 8},
	{"vpscatterdd", WORK_GATHER_SCATTER, 4, 4},
	{"vpscatterdq", WORK_GATHER_SCATTER, 8, 4},
	{"vpscatterqd", WORK_GATHER_SCATTER, 4, 8},
	{"vpscatterqq", WORK_GATHER_SCATTER, 8, 8},
};

/* The operations of an instruction with that name, in small letters. NULL: it does none. */
static const struct work_operations *
work_find_operations(const char *name)
{
	for (size_t i = 0; i < NR(all_operations); i++)
		if (strcmp(all_operations[i].name, name) == 0)
			return &all_operations[i];
	return NULL;
}

/* Never NULL. */
static const struct work_special *
work_find_special(const char *name)
{
	static const struct work_special usual = {"", WORK_USUAL, 0, 0};

	for (size_t i = 0; i < NR(specials); i++)
		if (zydis_name_is(name, specials[i].name))
			return &specials[i];
	return &usual;
}

#define NR(table) (sizeof(table) / sizeof((table)[0]))
#define WORD(member) (offsetof(struct user_regs_struct, member) / sizeof(unsigned long long))
#define BITS_OF_XMM 128
#define PREFIX_REPNE 0xf2
#define PREFIX_REP 0xf3
#define OPERAND_SIZE_16 16

/* Decoding goes by what Zydis knows, and by the tables. */
struct decoding {
	const ZydisDecodedInstruction *instruction;
	const ZydisDecodedOperand *operands;
	const struct work_special *special;
	struct work *work;
};

/* In the order of the encoding. */
static const uint8_t general_words[] = {WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp),
					WORD(rsi), WORD(rdi), WORD(r8),  WORD(r9),  WORD(r10), WORD(r11),
					WORD(r12), WORD(r13), WORD(r14), WORD(r15)};

/* EVEX instructions whose operand in memory is accessed as a whole, whatever the mask: those that do not suppress
 * faults of inactive lanes, as most that move elements between lanes. Source: Intel SDM 2, 2.7.5 and table 2-43. */
static const ZydisExceptionClass whole_loads[] = {
	ZYDIS_EXCEPTION_CLASS_E1NF, ZYDIS_EXCEPTION_CLASS_E2NF,  ZYDIS_EXCEPTION_CLASS_E3NF,
	ZYDIS_EXCEPTION_CLASS_E4NF, ZYDIS_EXCEPTION_CLASS_E5NF,  ZYDIS_EXCEPTION_CLASS_E6NF,
	ZYDIS_EXCEPTION_CLASS_E9NF, ZYDIS_EXCEPTION_CLASS_E10NF, ZYDIS_EXCEPTION_CLASS_E11NF,
};

static bool
is_vector(ZydisRegister reg)
{
	ZydisRegisterClass kind = ZydisRegisterGetClass(reg);

	return kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_ZMM;
}

static uint16_t
vector_bits(ZydisRegister reg)
{
	return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

/* The word of a register in an address; WORK_NO_REGISTER: none. */
static uint8_t
word_of(ZydisRegister reg)
{
	const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);

	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return WORD(rip);
	return kind == ZYDIS_REGCLASS_GPR64 || kind == ZYDIS_REGCLASS_GPR32 ? general_words[ZydisRegisterGetId(reg)]
									    : WORK_NO_REGISTER;
}

static bool
is_addressable(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_NONE || word_of(reg) != WORK_NO_REGISTER;
}

/* ---- masks and operations ---- */

static bool
has_mask(const ZydisDecodedInstruction *instruction)
{
	return instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	       instruction->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
	       instruction->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
}

/* Lanes are as the bits or bytes of that register as a mask. */
static void
set_sign_mask(struct decoding *decoding, unsigned operand, uint8_t lane_bytes, unsigned nr_lanes)
{
	struct work *work = decoding->work;

	work->mask = WORK_SIGNS;
	work->mask_register = (uint8_t)ZydisRegisterGetId(decoding->operands[operand].reg.value);
	work->mask_bytes = lane_bytes;
	work->nr_lanes = (uint8_t)nr_lanes;
}

/* The vectors that operations on floating-point numbers are in, if these are not the shortest ones; and divisions. */
static void
set_also(struct decoding *decoding, const struct work_operations *operations)
{
	struct work *work = decoding->work;
	const char *name = operations->name + (*operations->name == 'v');
	const uint16_t bits = operations->lane_bytes ? vector_bits(decoding->operands[0].reg.value) : 0;
	size_t nr = 0;

	if (work->operation == STEP_SCALAR_INTEGER && (strcmp(name, "div") == 0 || strcmp(name, "idiv") == 0))
		work->also[nr++] = STEP_INTEGER_DIVISIONS;
	if (work->operation < STEP_SCALAR_DOUBLE || work->operation > STEP_PACKED_SINGLE)
		return;
	if (bits > BITS_OF_XMM)
		work->also[nr++] = bits > 2 * BITS_OF_XMM ? STEP_FLOP_512 : STEP_FLOP_256;
	if (strncmp(name, "div", strlen("div")) == 0 || strncmp(name, "sqrt", strlen("sqrt")) == 0)
		work->also[nr++] = STEP_DIVISIONS;
}

static void
set_operations(struct decoding *decoding, const struct work_operations *operations)
{
	struct work *work = decoding->work;

	if (!operations)
		return;
	work->operation = (uint8_t)operations->count;
	work->nr_operations = operations->nr;
	work->nr_lanes = 1;
	if (operations->lane_bytes)
		work->nr_lanes =
			(uint8_t)(vector_bits(decoding->operands[0].reg.value) / CHAR_BIT / operations->lane_bytes);
	if (operations->nr == 0) {
		unsigned lanes_each = BITS_OF_XMM / CHAR_BIT / operations->lane_bytes;
		uint64_t selected = decoding->instruction->raw.imm[0].value.u >> 4 & ((1U << lanes_each) - 1);
		unsigned nr = (unsigned)__builtin_popcountll(selected);

		/* n products and n - 1 sums, each 128 bits. */
		decoding->work->nr_lanes = (uint8_t)(work->nr_lanes / lanes_each);
		decoding->work->nr_operations = (uint8_t)(nr > 0 ? 2 * nr - 1 : 0);
	}
	set_also(decoding, operations);
}

/* Takes as many numbers as the result has, or as its source has if these are fewer. */
static void
set_conversions(struct decoding *decoding)
{
	const char *name = decoding->work->name + (*decoding->work->name == 'v');
	const ZydisDecodedOperand *operand = decoding->operands;
	uint16_t nr = UINT8_MAX;

	if (strncmp(name, "cvt", strlen("cvt")) != 0)
		return;
	for (unsigned i = 0; i < decoding->instruction->operand_count_visible; i++, operand++)
		if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->element_count > 0 &&
		    ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_MASK && operand->element_count < nr)
			nr = operand->element_count;
	decoding->work->nr_converted = (uint8_t)nr;
}

/* ---- operands in memory ---- */

static bool
is_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
	       operand->mem.type != ZYDIS_MEMOP_TYPE_MIB &&
	       (operand->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_MASK_WRITE));
}

static void
set_unknown(struct decoding *decoding)
{
	decoding->work->is_unknown = true;
}

static void
add_part(struct decoding *decoding, const struct work_part *part)
{
	struct work *work = decoding->work;

	if (work->nr_parts == WORK_MAX_PARTS)
		set_unknown(decoding);
	else
		work->parts[work->nr_parts++] = *part;
}

/* A value is pushed below rsp; the address that one is popped to is computed with the new rsp. */
static uint64_t
displacement_of(const struct decoding *decoding, const ZydisDecodedOperand *operand)
{
	uint64_t bytes = operand->size / CHAR_BIT, displacement = (uint64_t)operand->mem.disp.value;

	if (word_of(operand->mem.base) == WORD(rip))
		return displacement + decoding->instruction->length;
	if (word_of(operand->mem.base) != WORD(rsp))
		return displacement;
	if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? -bytes : 0;
	return decoding->special->kind == WORK_POP ? displacement + bytes : displacement;
}

static uint64_t
address_mask(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand)
{
	bool is_narrow = instruction->address_width == 32 &&
			 ZydisRegisterGetClass(operand->mem.base) != ZYDIS_REGCLASS_GPR64 &&
			 operand->mem.base != ZYDIS_REGISTER_RIP;

	return is_narrow ? UINT32_MAX : UINT64_MAX;
}

/* Where the operand is, and how much of it as a whole. */
static struct work_part
locate(const struct decoding *decoding, const ZydisDecodedOperand *operand)
{
	struct work_part part = {
		.displacement = displacement_of(decoding, operand),
		.address_mask = address_mask(decoding->instruction, operand),
		.index_mask = UINT64_MAX,
		.selector = WORK_NO_REGISTER,
		.bytes = operand->size / CHAR_BIT,
		.shape = WORK_WHOLE,
		.base = word_of(operand->mem.base),
		.index = word_of(operand->mem.index),
		.segment = operand->mem.segment == ZYDIS_REGISTER_FS   ? WORD(fs_base)
			   : operand->mem.segment == ZYDIS_REGISTER_GS ? WORD(gs_base)
								       : WORK_NO_REGISTER,
	};

	if (operand->mem.scale > 1)
		part.scale = (uint8_t)__builtin_ctz(operand->mem.scale);
	return part;
}

/* A load is of all lanes, in spite of a mask; a store is of active lanes in any case. */
static bool
is_whole(const struct decoding *decoding, const ZydisDecodedOperand *operand)
{
	if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
		return false;
	for (size_t i = 0; i < NR(whole_loads); i++)
		if (whole_loads[i] == decoding->instruction->meta.exception_class)
			return true;
	return decoding->special->kind == WORK_WHOLE_LOAD;
}

/*
 * The lanes of a mask, and the elements in memory that they stand for. There are fewer elements if they are broadcast;
 * what Zydis calls elements may be parts of those that the mask selects.
 */
static void
set_lanes(struct decoding *decoding, const ZydisDecodedOperand *operand, struct work_part *part)
{
	const ZydisDecodedInstruction *instruction = decoding->instruction;
	const ZydisDecodedOperand *result = &decoding->operands[0];
	unsigned nr_elements = operand->element_count, nr_lanes = nr_elements;

	if (instruction->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && operand->element_size)
		nr_lanes = instruction->avx.vector_length / operand->element_size;
	if (result->type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector(result->reg.value) &&
	    result->element_count < nr_lanes)
		nr_lanes = result->element_count;
	if (nr_elements > nr_lanes)
		nr_elements = nr_lanes;
	if (nr_elements == 0 || nr_lanes > 64 || part->bytes % nr_elements) {
		set_unknown(decoding);
		return;
	}
	part->shape = WORK_LANES;
	part->nr_elements = (uint8_t)nr_elements;
	part->bytes /= nr_elements;
	decoding->work->nr_lanes = (uint8_t)nr_lanes;
}

static void
set_indexed(struct decoding *decoding, const ZydisDecodedOperand *operand, struct work_part *part)
{
	const struct work_special *special = decoding->special;
	/* The vector that is not the index: the result of a gather, the last operand of a scatter. */
	const bool is_gather = decoding->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
	const ZydisRegister vector = decoding->operands[is_gather ? 0 : 2].reg.value;
	unsigned nr_indices = vector_bits(operand->mem.index) / CHAR_BIT / special->index_bytes;
	unsigned nr_lanes = vector_bits(vector) / CHAR_BIT / special->lane_bytes;

	if (nr_indices < nr_lanes)
		nr_lanes = nr_indices;
	part->shape = WORK_INDEXED;
	part->index = (uint8_t)ZydisRegisterGetId(operand->mem.index);
	part->index_bytes = special->index_bytes;
	part->bytes = special->lane_bytes;
	decoding->work->nr_lanes = (uint8_t)nr_lanes;
	if (!has_mask(decoding->instruction))
		set_sign_mask(decoding, 2, special->lane_bytes, nr_lanes);
}

static bool
is_located(const struct decoding *decoding, const ZydisDecodedOperand *operand)
{
	bool is_indexed = decoding->special->kind == WORK_GATHER_SCATTER && is_vector(operand->mem.index);

	return operand->size >= CHAR_BIT && is_addressable(operand->mem.base) &&
	       (is_indexed || is_addressable(operand->mem.index));
}

static void
add_operand(struct decoding *decoding, const ZydisDecodedOperand *operand, bool is_store)
{
	struct work_part part;
	const ZydisDecodedOperand *bit;

	if (!is_located(decoding, operand)) {
		set_unknown(decoding);
		return;
	}
	part = locate(decoding, operand);
	part.is_store = is_store;
	part.is_streaming = is_store && (decoding->special->kind == WORK_STREAMING ||
					 decoding->special->kind == WORK_STREAMING_SIGN_MASK);
	/* The bytes of it that are accessed. */
	if (decoding->special->kind == WORK_GATHER_SCATTER) {
		set_indexed(decoding, operand, &part);
	} else if (decoding->special->kind == WORK_SIGN_MASK || decoding->special->kind == WORK_STREAMING_SIGN_MASK) {
		uint8_t lane_bytes = decoding->special->lane_bytes;
		unsigned nr_lanes = operand->size / CHAR_BIT / lane_bytes;

		part.shape = WORK_LANES;
		part.nr_elements = (uint8_t)nr_lanes;
		part.bytes = lane_bytes;
		set_sign_mask(decoding, 1, lane_bytes, nr_lanes);
	} else if (!has_mask(decoding->instruction) || is_whole(decoding, operand)) {
		part.shape = WORK_WHOLE;
	} else if (decoding->special->kind == WORK_FRONT) {
		part.shape = WORK_PACKED;
		part.bytes = decoding->special->lane_bytes;
		decoding->work->nr_lanes = (uint8_t)(operand->size / CHAR_BIT / part.bytes);
	} else {
		set_lanes(decoding, operand, &part);
	}
	/* The bit of BT and its like. */
	bit = &decoding->operands[1];
	if (decoding->special->kind == WORK_BITS && bit->type == ZYDIS_OPERAND_TYPE_REGISTER)
		part.selector = word_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, bit->reg.value));
	add_part(decoding, &part);
}

/* Adds the operands in memory that are accessed in this way. */
static void
add_operands(struct decoding *decoding, bool is_store)
{
	uint8_t actions = is_store ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;

	for (unsigned i = 0; i < decoding->instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoding->operands[i];

		if (is_memory(operand) && (operand->actions & actions))
			add_operand(decoding, operand, is_store);
	}
}

/* ---- instructions ---- */

/* bytes below what the register points to. */
static struct work_part
below(uint8_t base, uint64_t bytes, bool is_store)
{
	return (struct work_part){.displacement = -bytes,
				  .address_mask = UINT64_MAX,
				  .index_mask = UINT64_MAX,
				  .bytes = (uint32_t)bytes,
				  .shape = WORK_WHOLE,
				  .base = base,
				  .index = WORK_NO_REGISTER,
				  .segment = WORK_NO_REGISTER,
				  .selector = WORK_NO_REGISTER,
				  .is_store = is_store};
}

#define ENTER_LEVELS 32

/* Pushes rbp; with a level the frame pointers of those below, which rbp points to, and its own. */
static void
add_enter(struct decoding *decoding)
{
	const uint64_t level = decoding->instruction->raw.imm[1].value.u % ENTER_LEVELS, word = sizeof(uint64_t);
	const struct work_part loaded = below(WORD(rbp), (level - 1) * word, false),
			       pushed = below(WORD(rsp), (level + 1) * word, true);

	if (decoding->instruction->operand_width == OPERAND_SIZE_16) {
		set_unknown(decoding);
		return;
	}
	if (level > 1)
		add_part(decoding, &loaded);
	add_part(decoding, &pushed);
}

/* The first operand in memory, as a whole, whatever is done with it. False: it cannot be located. */
static bool
locate_memory(struct decoding *decoding, struct work_part *part)
{
	for (unsigned i = 0; i < decoding->instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoding->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || !is_addressable(operand->mem.base))
			continue;
		*part = locate(decoding, operand);
		return true;
	}
	set_unknown(decoding);
	return false;
}

static void
add_components(struct decoding *decoding)
{
	static const uint8_t kinds[] = {
		[WORK_XSAVE] = XSAVE_ALL, [WORK_XSAVEC] = XSAVE_COMPACT, [WORK_XRSTOR] = XSAVE_RESTORE};
	struct work_part area;

	if (!locate_memory(decoding, &area))
		return;
	add_part(decoding, &area);
	decoding->work->mask = WORK_COMPONENTS;
	decoding->work->mask_register = kinds[decoding->special->kind];
}

static void
add_flush(struct decoding *decoding)
{
	struct work_part part;

	if (!locate_memory(decoding, &part))
		return;
	part.bytes = 1;
	part.flush = decoding->special->kind == WORK_CLEAN_LINE ? WORK_CLEAN : WORK_EVICT;
	add_part(decoding, &part);
}

#define CLZERO_BYTES 64

/* The only prefix that would mean something is the one for the size of addresses. */
static void
add_zero_line(struct decoding *decoding)
{
	struct work_part part = below(WORD(rax), CLZERO_BYTES, true);

	part.displacement = 0;
	part.address_mask =
		(decoding->instruction->address_width == 32 ? UINT32_MAX : UINT64_MAX) & -(uint64_t)CLZERO_BYTES;
	part.is_streaming = true;
	add_part(decoding, &part);
}

static void
add_table(struct decoding *decoding)
{
	struct work_part part;

	if (!locate_memory(decoding, &part))
		return;
	part.index = WORD(rax);
	part.index_mask = UINT8_MAX;
	part.scale = 0;
	part.bytes = 1;
	add_part(decoding, &part);
}

/* The processor repeats with either prefix; Zydis takes only the one that is meant. */
static void
set_repeated(struct decoding *decoding)
{
	const ZydisDecodedInstruction *instruction = decoding->instruction;

	if (instruction->meta.category != ZYDIS_CATEGORY_STRINGOP)
		return;
	for (unsigned i = 0; i < instruction->raw.prefix_count; i++)
		decoding->work->is_repeated |= instruction->raw.prefixes[i].value == PREFIX_REP ||
					       instruction->raw.prefixes[i].value == PREFIX_REPNE;
	decoding->work->counter_mask = instruction->address_width == 32 ? UINT32_MAX : UINT64_MAX;
}

static bool
is_unknown(const struct decoding *decoding)
{
	const ZydisDecodedInstruction *instruction = decoding->instruction;

	return decoding->special->kind == WORK_UNKNOWN || (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) ||
	       instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	       instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW ||
	       instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

static void
add_nothing(struct decoding *decoding)
{
	(void)decoding;
}

static void
add_accesses(struct decoding *decoding)
{
	static const struct {
		enum work_kind kind;
		void (*add)(struct decoding *decoding);
	} own[] = {
		{WORK_NO_ACCESS, add_nothing}, {WORK_ENTER, add_enter},         {WORK_XSAVE, add_components},
		{WORK_XSAVEC, add_components}, {WORK_XRSTOR, add_components},   {WORK_FLUSH_LINE, add_flush},
		{WORK_CLEAN_LINE, add_flush},  {WORK_ZERO_LINE, add_zero_line}, {WORK_TABLE, add_table},
	};

	for (size_t i = 0; i < NR(own); i++) {
		if (own[i].kind != decoding->special->kind)
			continue;
		own[i].add(decoding);
		return;
	}
	add_operands(decoding, false);
	add_operands(decoding, true);
}

/* Rows of the tables for a mnemonic, looked up once. */
struct known {
	const char *name;
	const struct work_special *special;
	const struct work_operations *operations;
};

static const struct known *
find_known(ZydisMnemonic mnemonic)
{
	static struct known all[ZYDIS_MNEMONIC_MAX_VALUE + 1];
	struct known *known = &all[mnemonic];

	if (!known->name) {
		const char *name = ZydisMnemonicGetString(mnemonic);

		known->name = name ? name : "";
		known->special = work_find_special(known->name);
		known->operations = work_find_operations(known->name);
	}
	return known;
}

static void
set_work(struct decoding *decoding)
{
	const struct known *known = find_known(decoding->instruction->mnemonic);
	struct work *work = decoding->work;
	bool needs_mask;

	work->name = known->name;
	decoding->special = known->special;
	if (is_unknown(decoding)) {
		set_unknown(decoding);
		return;
	}
	if (has_mask(decoding->instruction)) {
		work->mask = WORK_MASK_REGISTER;
		work->mask_register = (uint8_t)ZydisRegisterGetId(decoding->instruction->avx.mask.reg);
	}
	set_repeated(decoding);
	add_accesses(decoding);
	set_operations(decoding, known->operations);
	set_conversions(decoding);
	needs_mask = work->operation != STEP_INSTRUCTIONS || work->mask == WORK_COMPONENTS;
	for (unsigned i = 0; i < work->nr_parts; i++)
		needs_mask |= work->parts[i].shape != WORK_WHOLE;
	if (!needs_mask)
		work->mask = WORK_ALL_LANES;
}

void
work_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct work *work)
{
	struct decoding decoding = {decoded, operands, NULL, work};

	memset(work, 0, sizeof(*work));
	work->length = decoded->length;
	set_work(&decoding);
}

bool
work_decode(const uint8_t *bytes, size_t nr_bytes, struct work *work)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!zydis_decode(bytes, nr_bytes, &instruction, operands))
		return false;
	work_of(&instruction, operands, work);
	return true;
}
