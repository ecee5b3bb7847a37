/* SPDX-License-Identifier: MIT */
/* See random_code.h. */
#include "random_code.h"

#include <Zydis/Zydis.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NR_TRIES 4000
#define DISPLACEMENTS 0x1000  /* of random operands; with an index of 255 * 8 they end below 0x1840 */
#define COUNTER_OFFSET 0x2800 /* of loop counters, which nothing else reaches */
#define MAX_DEPTH 3

struct generator {
	const struct random_kind *kind;
	ZydisDecoder decoder;
	uint64_t random;
	unsigned char *at, *end;
	uint64_t nr_executed;
	int depth, nr_loops;
};

uint64_t
random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint32_t
random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)((random_next(state) >> 32) * bound >> 32);
}

static uint32_t
below(struct generator *g, uint32_t bound)
{
	return random_below(&g->random, bound);
}

static void
put(struct generator *g, const void *bytes, size_t nr)
{
	assert(g->at + nr <= g->end);
	memcpy(g->at, bytes, nr);
	g->at += nr;
}

/* An instruction given by its bytes. */
#define PUT(...)                                                                                                       \
	do {                                                                                                           \
		const unsigned char bytes_[] = {__VA_ARGS__};                                                          \
		put(g, bytes_, sizeof(bytes_));                                                                        \
		g->nr_executed++;                                                                                      \
	} while (0)

static void
put_32(struct generator *g, uint32_t value)
{
	put(g, &value, sizeof(value));
}

/* ---- single instructions: random bytes that the decoder permits ---- */

static const uint16_t unsafe_categories[] = {
	ZYDIS_CATEGORY_COND_BR,   ZYDIS_CATEGORY_UNCOND_BR,  ZYDIS_CATEGORY_CALL,    ZYDIS_CATEGORY_RET,
	ZYDIS_CATEGORY_SYSCALL,   ZYDIS_CATEGORY_SYSRET,     ZYDIS_CATEGORY_SYSTEM,  ZYDIS_CATEGORY_IO,
	ZYDIS_CATEGORY_INTERRUPT, ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_PUSH,    ZYDIS_CATEGORY_POP,
	ZYDIS_CATEGORY_XSAVE,     ZYDIS_CATEGORY_XSAVEOPT,   ZYDIS_CATEGORY_SEGOP,   ZYDIS_CATEGORY_RDRAND,
	ZYDIS_CATEGORY_RDSEED,    ZYDIS_CATEGORY_RDPID,      ZYDIS_CATEGORY_RDPRU,   ZYDIS_CATEGORY_RDWRFSGS,
	ZYDIS_CATEGORY_WAITPKG,   ZYDIS_CATEGORY_VTX,        ZYDIS_CATEGORY_SGX,     ZYDIS_CATEGORY_PKU,
	ZYDIS_CATEGORY_CET,       ZYDIS_CATEGORY_ENQCMD,     ZYDIS_CATEGORY_PCONFIG, ZYDIS_CATEGORY_UINTR,
	ZYDIS_CATEGORY_SMAP,      ZYDIS_CATEGORY_PADLOCK,    ZYDIS_CATEGORY_MPX,     ZYDIS_CATEGORY_CLZERO,
	ZYDIS_CATEGORY_AMX_TILE,  ZYDIS_CATEGORY_STRINGOP,   ZYDIS_CATEGORY_HRESET,  ZYDIS_CATEGORY_TSX_LDTRK,
	ZYDIS_CATEGORY_SERIALIZE};

/* Told apart by more than their state, or changing how others work, or telling where code stands. */
static const uint16_t unsafe_mnemonics[] = {
	ZYDIS_MNEMONIC_CPUID,     ZYDIS_MNEMONIC_XGETBV,    ZYDIS_MNEMONIC_RDTSC,    ZYDIS_MNEMONIC_RDTSCP,
	ZYDIS_MNEMONIC_RDPMC,     ZYDIS_MNEMONIC_FNSTENV,   ZYDIS_MNEMONIC_FLDENV,   ZYDIS_MNEMONIC_FNSAVE,
	ZYDIS_MNEMONIC_FRSTOR,    ZYDIS_MNEMONIC_FXSAVE,    ZYDIS_MNEMONIC_FXSAVE64, ZYDIS_MNEMONIC_FXRSTOR,
	ZYDIS_MNEMONIC_FXRSTOR64, ZYDIS_MNEMONIC_LDMXCSR,   ZYDIS_MNEMONIC_VLDMXCSR, ZYDIS_MNEMONIC_FLDCW,
	ZYDIS_MNEMONIC_ENTER,     ZYDIS_MNEMONIC_LEAVE,     ZYDIS_MNEMONIC_UD0,      ZYDIS_MNEMONIC_UD1,
	ZYDIS_MNEMONIC_UD2,       ZYDIS_MNEMONIC_MONITOR,   ZYDIS_MNEMONIC_MONITORX, ZYDIS_MNEMONIC_MWAIT,
	ZYDIS_MNEMONIC_MWAITX,    ZYDIS_MNEMONIC_MOVDIR64B, ZYDIS_MNEMONIC_DIV,      ZYDIS_MNEMONIC_IDIV,
	ZYDIS_MNEMONIC_SMSW,      ZYDIS_MNEMONIC_STR,       ZYDIS_MNEMONIC_SLDT,     ZYDIS_MNEMONIC_LAR,
	ZYDIS_MNEMONIC_LSL,       ZYDIS_MNEMONIC_VERR,      ZYDIS_MNEMONIC_VERW,     ZYDIS_MNEMONIC_SGDT,
	ZYDIS_MNEMONIC_SIDT,      ZYDIS_MNEMONIC_PTWRITE,   ZYDIS_MNEMONIC_CLI,      ZYDIS_MNEMONIC_STI};

static bool
contains(const uint16_t *values, size_t nr, uint16_t value)
{
	for (size_t i = 0; i < nr; i++) {
		if (values[i] == value)
			return true;
	}
	return false;
}

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *memory; /* NULL: none */
};

static bool
is_kept(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole == ZYDIS_REGISTER_RSP || whole == ZYDIS_REGISTER_RBP || whole == ZYDIS_REGISTER_R13;
}

static bool
operand_is_safe(const ZydisDecodedOperand *operand)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		switch (ZydisRegisterGetClass(operand->reg.value)) {
		case ZYDIS_REGCLASS_SEGMENT:
		case ZYDIS_REGCLASS_CONTROL:
		case ZYDIS_REGCLASS_DEBUG:
		case ZYDIS_REGCLASS_TEST:
			return false;
		default:
			return !((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && is_kept(operand->reg.value));
		}
	}
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return true;
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT && operand->mem.segment != ZYDIS_REGISTER_FS &&
	       operand->mem.segment != ZYDIS_REGISTER_GS;
}

/*
 * EVEX.X is ignored beside a general register, or so it is documented. With the stack pointer and X = 0, Zen 5 misses
 * what pushes and pops before it have changed. No assembler writes that.
 */
static bool
has_stale_stack_pointer(const unsigned char *bytes, const struct decoded *decoded)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	    (bytes[instruction->raw.evex.offset + 1] & 0x40))
		return false;
	for (int i = 0; i < instruction->operand_count; i++) {
		if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, decoded->operands[i].reg.value) ==
			    ZYDIS_REGISTER_RSP)
			return true;
	}
	return false;
}

/* Are bytes at that address one instruction that may be executed wherever its memory operand leads? */
static bool
decode(struct generator *g, const unsigned char *bytes, struct decoded *decoded)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g->decoder, bytes, 15, &decoded->instruction, decoded->operands)))
		return false;
	if (contains(unsafe_categories, sizeof(unsafe_categories) / 2, (uint16_t)instruction->meta.category) ||
	    contains(unsafe_mnemonics, sizeof(unsafe_mnemonics) / 2, (uint16_t)instruction->mnemonic) ||
	    (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) || has_stale_stack_pointer(bytes, decoded))
		return false;
	decoded->memory = NULL;
	for (int i = 0; i < instruction->operand_count; i++) {
		if (!operand_is_safe(&decoded->operands[i]))
			return false;
		if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			decoded->memory = &decoded->operands[i];
	}
	/* Bit strings in memory reach as far as the register says. */
	if (instruction->meta.category == ZYDIS_CATEGORY_BITBYTE && decoded->memory &&
	    instruction->operand_width > 16 && decoded->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	return true;
}

/* Prefixes, opcode, and random bytes for the rest. form: of the encoding, below 9. */
static void
random_bytes(struct generator *g, uint32_t form, unsigned char *bytes)
{
	static const unsigned char prefixes[] = {0x66, 0x66, 0x66, 0xf2, 0xf2, 0xf3, 0xf3, 0xf0, 0x2e, 0x3e};
	unsigned char *at = bytes;
	uint64_t first = random_next(&g->random), second = random_next(&g->random);

	memcpy(bytes, &first, 8);
	memcpy(bytes + 8, &second, 8);
	switch (form) {
	case 0: /* two bytes of VEX */
		*at = 0xc5;
		return;
	case 1:
		*at++ = 0xc4;
		*at = (unsigned char)((*at & 0xe0) | (1 + below(g, 3)));
		return;
	case 2:
	case 3: /* EVEX */
		*at++ = 0x62;
		*at = (unsigned char)((*at & 0xf0) | (1 + below(g, 3)));
		at++;
		*at |= below(g, 3) ? 0x7c : 4; /* often without a second source */
		return;
	}
	while (below(g, 3) == 0 && at < bytes + 3)
		*at++ = prefixes[below(g, sizeof(prefixes))];
	if (below(g, 2))
		*at++ = (unsigned char)(0x40 | below(g, 16));
	if (form > 6)
		return;
	*at++ = 0x0f;
	if (form == 4)
		*at = below(g, 2) ? 0x38 : 0x3a;
}

/* Replaces the memory operand by one within the data, of a random form. *index becomes the number of its general
 * register, or -1. */
static bool
redirect(struct generator *g, unsigned char *bytes, struct decoded *decoded, const unsigned char *code_at, int *index)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;
	const bool is_vsib = decoded->memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	const int operand_bytes = decoded->memory->size / 8, start = instruction->raw.modrm.offset;
	const int old_end =
		start + 1 + (instruction->attributes & ZYDIS_ATTRIB_HAS_SIB ? 1 : 0) + instruction->raw.disp.size / 8;
	const int nr_tail = instruction->length - old_end;
	unsigned char tail[8], *at = bytes + start;
	int32_t displacement = (int32_t)below(g, DISPLACEMENTS) & ~(operand_bytes > 8 || operand_bytes == 0 ? 63 : 0);
	uint32_t form = is_vsib ? 3 : below(g, 6);

	if (!(instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) || nr_tail < 0 || nr_tail > 8 || operand_bytes > 64)
		return false;
	memcpy(tail, bytes + old_end, (size_t)nr_tail);
	*index = -1;
	if (form == 0) { /* rip-relative */
		const unsigned char *next = code_at + start + 5 + nr_tail;

		*at = (unsigned char)((*at & 0x38) | 5);
		displacement += (int32_t)(g->kind->data - next);
	} else if (form < 3) { /* rbp or r13 */
		*at = (unsigned char)((*at & 0x38) | 0x85);
	} else if (form < 5) { /* with an index */
		*at = (unsigned char)((*at & 0x38) | 0x84);
		*++at = (unsigned char)((bytes[start + 1] & 0xf8) | 5);
		if (operand_bytes > 8 && !is_vsib)
			*at = (unsigned char)((*at & 0x3f) | 0xc0); /* times 8; the index is a multiple of 8 */
	} else {                                                    /* below the stack pointer */
		if (operand_bytes > 8 || operand_bytes == 0)
			return false;
		*at = (unsigned char)((*at & 0x38) | 0x84);
		*++at = 0x24;
		displacement = (int32_t)below(g, 248) - 256;
	}
	at++;
	memcpy(at, &displacement, 4);
	memcpy(at + 4, tail, (size_t)nr_tail);
	if (!decode(g, bytes, decoded) || !decoded->memory)
		return false;
	if (decoded->instruction.address_width != 64 ||
	    (decoded->memory->mem.base != ZYDIS_REGISTER_RIP && !is_kept(decoded->memory->mem.base)))
		return false;
	if (!is_vsib && decoded->memory->mem.index != ZYDIS_REGISTER_NONE) {
		if (is_kept(decoded->memory->mem.index) || decoded->memory->mem.base == ZYDIS_REGISTER_RSP)
			return false;
		*index = ZydisRegisterGetId(decoded->memory->mem.index);
	}
	return true;
}

/*
 * Makes the index register small without a change of flags: a number below 256; for wide operands, which need
 * alignment, a multiple of 8 that is known.
 */
static void
put_small_index(struct generator *g, int number, bool is_wide)
{
	if (is_wide) {
		PUT((unsigned char)(0x40 | number >> 3), (unsigned char)(0xb8 | (number & 7)),
		    (unsigned char)(8 * below(g, 32)), 0, 0, 0);
		return;
	}
	PUT((unsigned char)(0x40 | (number >> 3) * 5), 0x0f, 0xb6,
	    (unsigned char)(0xc0 | (number & 7) * 9)); /* movzx, the lowest byte */
}

/* Makes each element of the index of a gather or scatter small: vpsrld or vpsrlq by all but eight bits. */
static void
put_small_elements(struct generator *g, const struct decoded *decoded)
{
	const int number = ZydisRegisterGetId(decoded->memory->mem.index), low = number & 7;
	const char *name = ZydisMnemonicGetString(decoded->instruction.mnemonic);
	const char *verb = strstr(name, "gather") ? strstr(name, "gather") + 6 : strstr(name, "scatter") + 7;
	const bool is_quad = *verb == 'q'; /* vgatherqps: the letter behind the verb is the width of the index */
	const unsigned char opcode = is_quad ? 0x73 : 0x72, shift = is_quad ? 56 : 24;
	const unsigned char not_vvvv = (unsigned char)((~number & 15) << 3), not_b = number & 8 ? 0 : 0x20;

	if (decoded->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		PUT(0x62, (unsigned char)(0x91 | not_b | (number & 16 ? 0 : 0x40)),
		    (unsigned char)((is_quad ? 0x85 : 5) | not_vvvv), number & 16 ? 0x40 : 0x48, opcode,
		    (unsigned char)(0xd0 | low), shift);
	else
		PUT(0xc4, (unsigned char)(0xc1 | not_b), (unsigned char)(5 | not_vvvv), opcode,
		    (unsigned char)(0xd0 | low), shift);
}

/* cmp of two registers: defines all flags. */
static void
put_compare(struct generator *g)
{
	PUT((unsigned char)(0x48 | below(g, 2) | below(g, 2) << 2), 0x39, (unsigned char)(0xc0 | below(g, 64)));
}

/* True if the bytes were an instruction that may stand here; then it does, with what it needs in front. */
static bool
try_instruction(struct generator *g, unsigned char *bytes)
{
	struct decoded decoded;
	int index = -1;
	uint32_t kind;

	if (!decode(g, bytes, &decoded) || (decoded.memory && !redirect(g, bytes, &decoded, g->at, &index)))
		return false;
	kind = ((uint32_t)decoded.instruction.mnemonic * 8 + (uint32_t)decoded.instruction.encoding) * 4 +
	       decoded.instruction.avx.vector_length / 256U;
	if (!g->kind->can_execute(kind, bytes, decoded.instruction.length))
		return false;
	if (decoded.memory && decoded.memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		put_small_elements(g, &decoded);
	else if (index >= 0)
		put_small_index(g, index, decoded.memory->size > 64 || decoded.memory->size == 0);
	put(g, bytes, decoded.instruction.length);
	g->nr_executed++;
	if (decoded.instruction.cpu_flags && decoded.instruction.cpu_flags->undefined)
		put_compare(g);
	return true;
}

static void
put_instruction(struct generator *g)
{
	const uint32_t form = below(g, 9);

	for (int i = 0; i < NR_TRIES; i++) {
		unsigned char bytes[32] = {0};

		random_bytes(g, form, bytes);
		if (try_instruction(g, bytes))
			return;
	}
	PUT(0x90);
}

/* ---- branches, calls, loops, stack, strings ---- */

static void put_pieces(struct generator *g, int nr);

/* A general register that may be written. */
static unsigned char
any_register(struct generator *g)
{
	static const unsigned char numbers[] = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 14, 15};

	return numbers[below(g, sizeof(numbers))];
}

/* Four bytes that become the distance from behind them to where patch is called. */
static unsigned char *
put_distance(struct generator *g)
{
	put_32(g, 0);
	return g->at;
}

static void
patch(struct generator *g, unsigned char *behind)
{
	const int32_t distance = (int32_t)(g->at - behind);

	memcpy(behind - 4, &distance, 4);
}

/* Puts bytes that are not executed, and may be no instruction. */
static void
put_nonsense(struct generator *g)
{
	for (uint32_t nr = below(g, 8); nr > 0; nr--)
		*g->at++ = (unsigned char)below(g, 256);
}

static void
put_jump(struct generator *g)
{
	unsigned char *behind;

	PUT(0xe9);
	behind = put_distance(g);
	put_nonsense(g);
	patch(g, behind);
}

static void
put_conditional(struct generator *g)
{
	unsigned char *behind;

	if (below(g, 5) == 0) { /* jrcxz over an addition */
		PUT(0xe3, 3);
		PUT(0x48, 0x01, 0xc8);
		return;
	}
	PUT(0x0f, (unsigned char)(0x80 | below(g, 16)));
	behind = put_distance(g);
	put_pieces(g, 1 + (int)below(g, 4));
	patch(g, behind);
}

/* lea of a place that is patched later */
static unsigned char *
put_address(struct generator *g, unsigned char number)
{
	PUT((unsigned char)(0x48 | (number >> 3) << 2), 0x8d, (unsigned char)(5 | (number & 7) << 3));
	return put_distance(g);
}

static void
put_push(struct generator *g, unsigned char number)
{
	PUT((unsigned char)(0x40 | number >> 3), (unsigned char)(0x50 | (number & 7)));
}

static void
put_pop(struct generator *g, unsigned char number)
{
	PUT((unsigned char)(0x40 | number >> 3), (unsigned char)(0x58 | (number & 7)));
}

/* mov of a register into the data, beyond what others reach; then an instruction FF with that operand. */
static void
put_through_memory(struct generator *g, unsigned char number, unsigned char operation)
{
	const uint32_t offset = COUNTER_OFFSET + 0x400 + 8 * below(g, 16);

	PUT((unsigned char)(0x48 | (number >> 3) << 2), 0x89, (unsigned char)(0x85 | (number & 7) << 3));
	put_32(g, offset);
	PUT(0xff, (unsigned char)(0x85 | operation << 3));
	put_32(g, offset);
}

static void
put_indirect_jump(struct generator *g)
{
	const unsigned char number = any_register(g);
	unsigned char *behind = put_address(g, number);

	switch (below(g, 3)) {
	case 0:
		PUT((unsigned char)(0x40 | number >> 3), 0xff, (unsigned char)(0xe0 | (number & 7)));
		break;
	case 1:
		put_through_memory(g, number, 4);
		break;
	default:
		put_push(g, number);
		PUT(0xc3);
	}
	put_nonsense(g);
	patch(g, behind);
}

static void
put_call(struct generator *g)
{
	const unsigned char number = any_register(g);
	const uint32_t form = below(g, 4);
	unsigned char *target, *end;
	bool has_arguments = below(g, 3) == 0;

	if (has_arguments) {
		put_push(g, any_register(g));
		PUT(0x6a, (unsigned char)below(g, 256));
	}
	if (form < 2) {
		PUT(0xe8);
		target = put_distance(g);
	} else {
		target = put_address(g, number);
		if (form == 2)
			PUT((unsigned char)(0x40 | number >> 3), 0xff, (unsigned char)(0xd0 | (number & 7)));
		else
			put_through_memory(g, number, 2);
	}
	PUT(0xe9);
	end = put_distance(g);
	put_nonsense(g);
	patch(g, target);
	put_pieces(g, (int)below(g, 4));
	if (has_arguments)
		PUT(0xc2, 16, 0);
	else if (below(g, 4) == 0)
		PUT(0xf3, 0xc3);
	else
		PUT(0xc3);
	patch(g, end);
}

/* A counter in memory; the body may do anything. */
static void
put_loop(struct generator *g)
{
	const uint32_t nr_turns = 1 + below(g, 5), counter = COUNTER_OFFSET + 4 * (uint32_t)(g->nr_loops++ % 128);
	const uint64_t nr_before = g->nr_executed + 1;
	unsigned char *start, *behind;
	int32_t distance;

	PUT(0xc7, 0x85);
	put_32(g, counter);
	put_32(g, nr_turns);
	start = g->at;
	put_pieces(g, 1 + (int)below(g, 4));
	PUT(0xff, 0x8d);
	put_32(g, counter);
	PUT(0x0f, 0x85);
	behind = put_distance(g);
	distance = (int32_t)(start - behind);
	memcpy(behind - 4, &distance, 4);
	g->nr_executed = nr_before + nr_turns * (g->nr_executed - nr_before);
}

/* loop by rcx, with a small body that keeps the flags or uses them. */
static void
put_short_loop(struct generator *g)
{
	const unsigned char nr_turns = (unsigned char)(1 + below(g, 9));
	const bool is_lea = below(g, 2);

	PUT(0xb9, nr_turns, 0, 0, 0);
	if (is_lea)
		PUT(0x48, 0x8d, 0x40, 3); /* lea 3(%rax), %rax */
	else
		PUT(0x48, 0x11, 0xd0); /* adc %rdx, %rax */
	PUT(0xe2, is_lea ? 0xfa : 0xfb);
	g->nr_executed += 2 * (uint64_t)(nr_turns - 1);
}

static void
put_pushes_and_pops(struct generator *g)
{
	const uint32_t nr = 1 + below(g, 3);

	for (uint32_t i = 0; i < nr; i++) {
		switch (below(g, 4)) {
		case 0:
			PUT(0x68, (unsigned char)below(g, 256), 1, 2, (unsigned char)below(g, 256));
			break;
		case 1: /* push of memory */
			PUT(0xff, 0xb5);
			put_32(g, below(g, DISPLACEMENTS));
			break;
		case 2: /* of what lies on top */
			PUT(0xff, 0x34, 0x24);
			break;
		default:
			put_push(g, (unsigned char)below(g, 16));
		}
	}
	put_pieces(g, (int)below(g, 3));
	for (uint32_t i = 0; i < nr; i++) {
		if (below(g, 3) == 0) {
			PUT(0x8f, 0x85);
			put_32(g, below(g, DISPLACEMENTS));
		} else {
			put_pop(g, any_register(g));
		}
	}
}

static void
put_string(struct generator *g)
{
	static const unsigned char opcodes[] = {0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};
	static const unsigned char repeats[] = {0xf3, 0xf2};
	const bool is_backwards = below(g, 4) == 0;
	unsigned char bytes[4], *at = bytes;

	PUT(0x48, 0x8d, 0xb5); /* lea (%rbp), %rsi */
	put_32(g, 0x400 + below(g, 0x800));
	PUT(0x48, 0x8d, 0xbd);
	put_32(g, 0x400 + below(g, 0x800));
	PUT(0xb9, (unsigned char)below(g, 41), 0, 0, 0);
	if (is_backwards)
		PUT(0xfd);
	if (!g->kind->is_counted && below(g, 3))
		*at++ = repeats[below(g, 2)];
	if (below(g, 3) == 0)
		*at++ = below(g, 2) ? 0x66 : 0x48;
	*at++ = opcodes[below(g, sizeof(opcodes))];
	put(g, bytes, (size_t)(at - bytes));
	g->nr_executed++;
	if (is_backwards)
		PUT(0xfc);
}

/* The dividend is small and positive, the divisor odd. */
static void
put_division(struct generator *g)
{
	static const unsigned char divisors[] = {1, 3, 6, 7};
	const unsigned char divisor = divisors[below(g, 4)], is_wide = below(g, 2) ? 0x48 : 0x40;

	PUT(0xb8, (unsigned char)below(g, 256), (unsigned char)below(g, 256), (unsigned char)below(g, 256),
	    (unsigned char)below(g, 128));
	PUT(0x31, 0xd2);
	PUT(is_wide, 0x83, (unsigned char)(0xc8 | divisor), 1);
	PUT(is_wide, 0xf7, (unsigned char)((below(g, 2) ? 0xf8 : 0xf0) | divisor));
	put_compare(g);
}

static void
put_flags(struct generator *g)
{
	const uint32_t flags = 0x202 | (below(g, 0x1000) & 0x8d5);

	if (below(g, 2)) {
		PUT(0x9c);
		put_pop(g, any_register(g));
	} else {
		PUT(0x68);
		put_32(g, flags);
		PUT(0x9d);
	}
}

/* Ends the code, with all registers in the frame of a signal. */
static void
put_fault(struct generator *g)
{
	switch (below(g, 3)) {
	case 0:
		PUT(0x0f, 0x0b);
		break;
	case 1: /* what is loaded from is not canonical */
		PUT(0x48, 0xb8, 0, 1, 2, 3, 4, 5, 6, 0x70);
		PUT(0x48, 0x8b, 0x08);
		break;
	default:
		PUT(0xcc);
	}
}

static void
put_piece(struct generator *g)
{
	static void (*const pieces[])(struct generator * g) = {
		put_jump,   put_indirect_jump,   put_call,  put_call,     put_loop,        put_short_loop,
		put_string, put_pushes_and_pops, put_flags, put_division, put_conditional, put_conditional};
	const uint32_t nr = (uint32_t)(sizeof(pieces) / sizeof(*pieces)) - (g->kind->is_counted ? 2 : 0);

	if (g->depth > MAX_DEPTH || below(g, 100) < 70) {
		put_instruction(g);
		return;
	}
	switch (below(g, 60)) {
	case 0: /* xlat */
		PUT(0x48, 0x8d, 0x9d);
		put_32(g, below(g, DISPLACEMENTS));
		PUT(0xd7);
		break;
	case 1: /* a system call that there is not */
		PUT(0xb8, 0x0f, 0x27, 0, 0);
		PUT(0x0f, 0x05);
		break;
	case 2:
		if (!g->kind->is_counted && below(g, 8) == 0)
			put_fault(g);
		break;
	default:
		pieces[below(g, nr)](g);
	}
}

static void
put_pieces(struct generator *g, int nr)
{
	g->depth++;
	for (int i = 0; i < nr; i++)
		put_piece(g);
	g->depth--;
}

unsigned char *
random_code(const struct random_kind *kind, uint64_t seed, int nr_pieces, unsigned char *code, size_t max_bytes,
	    uint64_t *nr_executed)
{
	struct generator own = {.kind = kind, .random = seed, .at = code, .end = code + max_bytes}, *g = &own;

	ZydisDecoderInit(&own.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (int i = 0; i < nr_pieces; i++)
		put_piece(g);
	PUT(0xc3);
	*nr_executed = own.nr_executed;
	return own.at;
}

void
random_code_print(const unsigned char *code, const unsigned char *end)
{
	ZydisDisassembledInstruction instruction;

	while (code < end) {
		int length = 1;
		const char *text = "(no instruction)";

		if (ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, (uintptr_t)code, code,
						       (size_t)(end - code), &instruction))) {
			length = instruction.info.length;
			text = instruction.text;
		}
		printf("%p ", (const void *)code);
		for (int i = 0; i < length; i++)
			printf("%02x", code[i]);
		printf(" %s\n", text);
		code += length;
	}
}
