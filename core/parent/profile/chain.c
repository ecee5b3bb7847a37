/* SPDX-License-Identifier: MIT */
#include "parent/profile/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "memory.h"
#include "parent/symbols/instruction.h"
#include "parent/symbols/zydis_decode.h"

/* ---- latencies ---- */

#define PER_TURN 64
#define NR_TURNS 128
#define NR_TRIES 8

/* ns that one instruction of a chain of them takes. An interruption only makes it longer, so the fastest one counts. */
#define DEFINE_CHAIN(name, type, constraint, first, instruction)                                                       \
	static double name(void)                                                                                       \
	{                                                                                                              \
		uint64_t best = UINT64_MAX;                                                                            \
                                                                                                                       \
		for (int i = 0; i < NR_TRIES; i++) {                                                                   \
			uint64_t turns = NR_TURNS, start = clock_raw_ns(), ns;                                         \
			char places[2 * sizeof(uint64_t)], *memory = places;                                           \
			type value = first;                                                                            \
                                                                                                                       \
			__asm__ volatile("1:\n\t"                                                                      \
					 ".rept %c[times]\n\t" instruction "\n\t"                                      \
					 ".endr\n\t"                                                                   \
					 "dec %[turns]\n\t"                                                            \
					 "jnz 1b"                                                                      \
					 : [value] "+" constraint(value), [turns] "+r"(turns), [memory] "+r"(memory)   \
					 : [times] "i"(PER_TURN)                                                       \
					 : "rdx", "cc", "memory");                                                     \
			ns = clock_raw_ns() - start;                                                                   \
			best = ns < best ? ns : best;                                                                  \
		}                                                                                                      \
		return (double)best / (PER_TURN * NR_TURNS);                                                           \
	}

static void *self = &self;

/* All numbers stay 1 or 0, as few processors take longer for these than for others. */
DEFINE_CHAIN(time_add, double, "x", 0, "addsd %[value], %[value]")
DEFINE_CHAIN(time_multiply, double, "x", 1, "mulsd %[value], %[value]")
DEFINE_CHAIN(time_fused, double, "x", 0, "vfmadd213sd %[value], %[value], %[value]")
DEFINE_CHAIN(time_divide, double, "x", 1, "divsd %[value], %[value]")
DEFINE_CHAIN(time_root, double, "x", 1, "sqrtsd %[value], %[value]")
DEFINE_CHAIN(time_extreme, double, "x", 1, "maxsd %[value], %[value]")
DEFINE_CHAIN(time_conversions, double, "x", 1, "cvtsd2ss %[value], %[value]\n\tcvtss2sd %[value], %[value]")
DEFINE_CHAIN(time_integer_multiply, uint64_t, "r", 1, "imul %[value], %[value]")
DEFINE_CHAIN(time_integer_divide, uint32_t, "a", 1, "xor %%edx, %%edx\n\tdiv %[value]")
DEFINE_CHAIN(time_load, void *, "r", self, "mov (%[value]), %[value]")
DEFINE_CHAIN(time_passes, uint64_t, "r", 1,
	     "mov %[value], (%[memory])\n\tadd $8, %[memory]\n\tmov -8(%[memory]), %[value]\n\t"
	     "mov %[value], (%[memory])\n\tsub $8, %[memory]\n\tmov 8(%[memory]), %[value]")
DEFINE_CHAIN(time_pass_fixed, uint64_t, "r", 1, "mov %[value], (%[memory])\n\tmov (%[memory]), %[value]")
DEFINE_CHAIN(time_other, uint64_t, "r", 1, "add %[value], %[value]")

struct chain_latencies
chain_latencies_measure(void)
{
	return (struct chain_latencies){{
		[CHAIN_ADD] = time_add(),
		[CHAIN_MULTIPLY] = time_multiply(),
		[CHAIN_FUSED] = __builtin_cpu_supports("fma") ? time_fused() : 0,
		[CHAIN_DIVIDE] = time_divide(),
		[CHAIN_ROOT] = time_root(),
		[CHAIN_EXTREME] = time_extreme(),
		[CHAIN_CONVERT] = time_conversions() / 2,
		[CHAIN_INTEGER_MULTIPLY] = time_integer_multiply(),
		[CHAIN_INTEGER_DIVIDE] = time_integer_divide(),
		[CHAIN_LOAD] = time_load(),
		[CHAIN_PASS] = time_passes() / 2,
		[CHAIN_PASS_FIXED] = time_pass_fixed(),
		[CHAIN_OTHER] = time_other(),
		[CHAIN_FREE] = 0,
	}};
}

/* ---- instructions ---- */

/* name: without the v of AVX; * at its end stands for the rest of any name. The first one that matches counts. */
static const struct {
	const char *name;
	enum chain_link link;
} names[] = {
	{"addss", CHAIN_ADD},
	{"addsd", CHAIN_ADD},
	{"addp*", CHAIN_ADD},
	{"addsubp*", CHAIN_ADD},
	{"subss", CHAIN_ADD},
	{"subsd", CHAIN_ADD},
	{"subp*", CHAIN_ADD},
	{"mulss", CHAIN_MULTIPLY},
	{"mulsd", CHAIN_MULTIPLY},
	{"mulp*", CHAIN_MULTIPLY},
	{"fmadd*", CHAIN_FUSED},
	{"fmsub*", CHAIN_FUSED},
	{"fnmadd*", CHAIN_FUSED},
	{"fnmsub*", CHAIN_FUSED},
	/* Divisions and roots of single precision may be faster, so they count as long as products. */
	{"divsd", CHAIN_DIVIDE},
	{"divpd", CHAIN_DIVIDE},
	{"divs*", CHAIN_MULTIPLY},
	{"divp*", CHAIN_MULTIPLY},
	{"sqrtsd", CHAIN_ROOT},
	{"sqrtpd", CHAIN_ROOT},
	{"sqrt*", CHAIN_MULTIPLY},
	{"mins*", CHAIN_EXTREME},
	{"minp*", CHAIN_EXTREME},
	{"maxs*", CHAIN_EXTREME},
	{"maxp*", CHAIN_EXTREME},
	{"cvt*", CHAIN_CONVERT},
	{"imul", CHAIN_INTEGER_MULTIPLY},
	{"mul", CHAIN_INTEGER_MULTIPLY},
	{"mulx", CHAIN_INTEGER_MULTIPLY},
	{"div", CHAIN_INTEGER_DIVIDE},
	{"idiv", CHAIN_INTEGER_DIVIDE},
	{"mov", CHAIN_FREE},
	{"movzx", CHAIN_FREE},
	{"mova*", CHAIN_FREE},
	{"movu*", CHAIN_FREE},
	{"movdq*", CHAIN_FREE},
	{"push", CHAIN_FREE},
	{"pop", CHAIN_FREE},
};

/* These do not need the value of a register that they have twice. */
static const char *const clearing[] = {"xor",   "sub",   "pxor",  "pxord", "pxorq",   "xorps",   "xorpd",
				       "psubb", "psubw", "psubd", "psubq", "pcmpeq*", "pcmpgt*", "sbb"};

/* Memory at base + (index << scale) + displacement. bytes 0: none. */
struct place {
	uint16_t base, index, bytes;
	uint8_t scale;
	int64_t displacement;
};

/*
 * sources: registers that it computes with; address: of what it loads; results: what it writes. Registers are the
 * largest that they are part of.
 * from: a register; the result is its value plus added; 0: the result is not known so
 */
#define MAX_REGISTERS 8
struct link {
	enum chain_link kind;
	uint8_t nr_sources, nr_address, nr_results;
	uint16_t sources[MAX_REGISTERS], address[MAX_REGISTERS], results[MAX_REGISTERS];
	struct place loaded, stored;
	uint16_t from;
	int64_t added;
};

/* Registers of other classes, such as segments, are no part of chains. */
static void
put(ZydisRegister name, uint16_t *list, uint8_t *nr)
{
	uint16_t whole = (uint16_t)name;

	switch (ZydisRegisterGetClass(name)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		whole = (uint16_t)ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
		break;
	case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_MASK:
	case ZYDIS_REGCLASS_MMX:
		break;
	default:
		return;
	}
	if (*nr < MAX_REGISTERS)
		list[(*nr)++] = whole;
}

/* behind: the address of the next instruction. fs and gs are left out. */
static struct place
place_of(const ZydisDecodedOperand *operand, uint64_t behind)
{
	const bool is_relative = operand->mem.base == ZYDIS_REGISTER_RIP;

	if (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
		return (struct place){.bytes = 0};
	return (struct place){.base = (uint16_t)operand->mem.base,
			      .index = (uint16_t)operand->mem.index,
			      .bytes = operand->size / 8,
			      .scale = operand->mem.scale,
			      .displacement = operand->mem.disp.value + (is_relative ? (int64_t)behind : 0)};
}

static void
set_operand(struct link *link, const ZydisDecodedOperand *operand, uint64_t behind)
{
	const bool is_read = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	const bool is_written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	const bool is_register = operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
	const bool is_memory = operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
	const bool is_computed = is_memory && operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN;

	if (is_computed) {
		put(operand->mem.base, link->sources, &link->nr_sources);
		put(operand->mem.index, link->sources, &link->nr_sources);
	} else if (is_memory && is_read) {
		put(operand->mem.base, link->address, &link->nr_address);
		put(operand->mem.index, link->address, &link->nr_address);
		link->loaded = place_of(operand, behind);
	}
	if (is_memory && !is_computed && is_written)
		link->stored = place_of(operand, behind);
	/* Where a register may keep its value, as of CMOV, that value is needed. */
	if (is_register && (is_read || ((operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) &&
					ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_FLAGS)))
		put(operand->reg.value, link->sources, &link->nr_sources);
	if (is_register && is_written)
		put(operand->reg.value, link->results, &link->nr_results);
}

/* Knows additions of constants, and copies, if they have 64 bits. */
static void
set_from(struct link *link, const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *to = &operands[0], *with = &operands[1];
	const bool is_constant = with->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (to->type != ZYDIS_OPERAND_TYPE_REGISTER || ZydisRegisterGetClass(to->reg.value) != ZYDIS_REGCLASS_GPR64)
		return;
	if (decoded->mnemonic == ZYDIS_MNEMONIC_INC || decoded->mnemonic == ZYDIS_MNEMONIC_DEC) {
		link->from = (uint16_t)to->reg.value;
		link->added = decoded->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
	} else if ((decoded->mnemonic == ZYDIS_MNEMONIC_ADD || decoded->mnemonic == ZYDIS_MNEMONIC_SUB) &&
		   is_constant) {
		link->from = (uint16_t)to->reg.value;
		link->added = decoded->mnemonic == ZYDIS_MNEMONIC_ADD ? with->imm.value.s : -with->imm.value.s;
	} else if (decoded->mnemonic == ZYDIS_MNEMONIC_LEA && with->mem.index == ZYDIS_REGISTER_NONE &&
		   ZydisRegisterGetClass(with->mem.base) == ZYDIS_REGCLASS_GPR64) {
		link->from = (uint16_t)with->mem.base;
		link->added = with->mem.disp.value;
	} else if (decoded->mnemonic == ZYDIS_MNEMONIC_MOV && with->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		link->from = (uint16_t)with->reg.value;
	}
}

static bool
is_clearing(const char *name, const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *last = &operands[decoded->operand_count_visible - 1], *other = last - 1;
	bool is_listed = false;

	for (size_t i = 0; i < sizeof(clearing) / sizeof(*clearing); i++)
		is_listed |= zydis_name_is(name, clearing[i]);
	return is_listed && decoded->operand_count_visible >= 2 && last->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       other->type == ZYDIS_OPERAND_TYPE_REGISTER && last->reg.value == other->reg.value;
}

/* The instruction at an address before end. False: it is not known what it depends on. */
static bool
read_link(const struct chain_code *code, uint64_t at, uint64_t end, struct link *link)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	const char *name;

	*link = (struct link){.kind = CHAIN_OTHER};
	if (!zydis_decode(code->bytes + (at - code->address), end - at, &decoded, operands) ||
	    (decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) || decoded.meta.category == ZYDIS_CATEGORY_X87_ALU ||
	    decoded.meta.category == ZYDIS_CATEGORY_FCMOV || decoded.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    decoded.mnemonic == ZYDIS_MNEMONIC_XCHG)
		return false;
	name = ZydisMnemonicGetString(decoded.mnemonic);
	name += *name == 'v';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!zydis_name_is(name, names[i].name))
			continue;
		link->kind = names[i].link;
		break;
	}
	for (unsigned i = 0; i < decoded.operand_count; i++)
		set_operand(link, &operands[i], at + decoded.length);
	if (is_clearing(name, &decoded, operands))
		link->nr_sources = 0;
	set_from(link, &decoded, operands);
	if ((link->loaded.bytes > 0 || link->stored.bytes > 0 || link->nr_address > 0) &&
	    strncmp(name, "mov", strlen("mov")) == 0)
		link->kind = CHAIN_FREE;
	return true;
}

/* ---- the way of a turn ---- */

/* A block is on the usual way if this share of the turns takes it; the others together make no difference. */
#define USUAL_SHARE 0.9

static bool
is_usual(const struct code_flow *flow, uint32_t loop, const int64_t *executions, uint32_t block)
{
	return (double)executions[block] >= USUAL_SHARE * (double)executions[flow->loops[loop].header];
}

/*
 * The block behind that one on the usual way, the first one if it may lead to several; the header: the turn ends;
 * FLOW_NO_LOOP: there is none.
 */
static uint32_t
next_block(const struct code_flow *flow, uint32_t loop, const int64_t *executions, uint32_t block)
{
	const uint32_t header = flow->loops[loop].header;
	uint32_t next = FLOW_NO_LOOP;
	bool ends = false;

	for (uint32_t i = flow->blocks[block].first_edge; i < flow->blocks[block + 1].first_edge; i++) {
		const uint32_t to = flow->edges[i].to;

		ends |= to == header;
		if (to < flow->nr_blocks && to != header && flow->blocks[to].loop == loop && to < next &&
		    is_usual(flow, loop, executions, to))
			next = to;
	}
	return next == FLOW_NO_LOOP && ends ? header : next;
}

/* The way has all blocks that are usually executed (as many as nr), and no other block is executed often. */
static bool
is_only_way(const struct code_flow *flow, uint32_t loop, const int64_t *executions, uint32_t nr)
{
	const double most = (1 - USUAL_SHARE) * (double)executions[flow->loops[loop].header];
	uint32_t nr_usual = 0;
	bool is_only = true;

	for (uint32_t i = 0; i < flow->nr_blocks; i++) {
		const bool is_in = flow->blocks[i].loop == loop;

		nr_usual += is_in && is_usual(flow, loop, executions, i);
		is_only &= !is_in || is_usual(flow, loop, executions, i) || (double)executions[i] <= most;
	}
	return is_only && nr_usual == nr;
}

/* The instructions of a turn, in their order. leaf: the function that it calls; 0: none. */
struct turn {
	struct link *links;
	size_t nr;
	uint64_t leaf;
};

/* Adds the instruction at an address before end. False: what it does is not known. */
static bool
read_instruction(const struct chain_code *code, uint64_t at, uint64_t end, struct turn *turn,
		 struct instruction *instruction)
{
	struct link *link;

	turn->links = rot_grow(turn->links, turn->nr, sizeof(*turn->links));
	link = &turn->links[turn->nr++];
	if (!instruction_decode(code->bytes + (at - code->address), end - at, instruction) ||
	    instruction->flow == FLOW_INDIRECT_CALL)
		return false;
	if (instruction->flow != FLOW_CALL && instruction->flow != FLOW_RETURN)
		return read_link(code, at, end, link);
	/* A call or a return changes the stack pointer. What it stores or loads is no data. */
	*link = (struct link){
		.kind = CHAIN_FREE,
		.from = ZYDIS_REGISTER_RSP,
		.added = (instruction->flow == FLOW_CALL ? -(int64_t)sizeof(uint64_t) : (int64_t)sizeof(uint64_t))};
	put(ZYDIS_REGISTER_RSP, link->sources, &link->nr_sources);
	put(ZYDIS_REGISTER_RSP, link->results, &link->nr_results);
	return true;
}

/* Adds a function that executes one instruction after the other up to its return. False: this one does not. */
static bool
read_leaf(const struct chain_code *code, uint64_t address, struct turn *turn)
{
	struct instruction instruction = {.flow = FLOW_NEXT};
	struct chain_code leaf;

	if ((turn->leaf && turn->leaf != address) || !code->function_at(code->context, address, &leaf))
		return false;
	turn->leaf = address;
	for (uint64_t at = address, end = address + leaf.nr_bytes; instruction.flow == FLOW_NEXT;
	     at += instruction.length)
		if (!read_instruction(&leaf, at, end, turn, &instruction))
			return false;
	return instruction.flow == FLOW_RETURN;
}

/* Adds the instructions from an address to another one. False: what one of them does is not known. */
static bool
read_block(const struct chain_code *code, uint64_t at, uint64_t end, struct turn *turn)
{
	struct instruction instruction;

	for (; at < end; at += instruction.length)
		if (!read_instruction(code, at, end, turn, &instruction) ||
		    (instruction.flow == FLOW_CALL &&
		     !read_leaf(code, at + instruction.length + (uint64_t)instruction.relative, turn)))
			return false;
	return true;
}

/* False: they are not known. */
static bool
read_turn(const struct code_flow *flow, uint32_t loop, const int64_t *executions, const struct chain_code *code,
	  struct turn *turn)
{
	const uint32_t header = flow->loops[loop].header;
	uint32_t block = header, nr_blocks = 0;

	do {
		if (block >= flow->nr_blocks || nr_blocks++ == flow->nr_blocks ||
		    !read_block(code, flow->blocks[block].address, flow->blocks[block + 1].address, turn))
			return false;
		block = next_block(flow, loop, executions, block);
	} while (block != header);
	return is_only_way(flow, loop, executions, nr_blocks);
}

/* ---- the longest chain ---- */

/*
 * Turns are executed as if only latencies limited them. A chain repeats itself after few turns, one for each register
 * that hands its values on, so it is looked at in the middle.
 */
#define MAX_LINKS 4096
#define TURNS 48
#define FIRST_TURN 12
#define TURNS_SEEN 24

/*
 * An instruction of a turn: when its result is there, which one it waited for last (-1: none), and what link is between
 * them (CHAIN_FREE: a register).
 */
struct event {
	double ns;
	int32_t before;
	enum chain_link by;
};

/* A value is known as another one with a constant added. */
struct value {
	uint32_t number;
	int64_t added;
};

/* An address: two values, of which index is scaled, and a constant. */
struct address {
	uint32_t base, index;
	int64_t added;
	uint16_t bytes;
	uint8_t scale;
};

struct store {
	struct address address;
	int32_t event;
};

/*
 * producers: of each register the event that wrote it last; -1: none
 * values: of each register; nr_values: numbers that are used up
 */
struct turns {
	const struct link *links;
	size_t nr_links;
	const struct chain_latencies *latencies;
	struct event *events;
	struct store *stores;
	size_t nr_stores;
	int32_t producers[ZYDIS_REGISTER_MAX_VALUE + 1];
	struct value values[ZYDIS_REGISTER_MAX_VALUE + 1];
	uint32_t nr_values;
};

static void
wait_for(const struct turns *turns, struct event *event, int32_t before, enum chain_link by)
{
	const double ns = (before < 0 ? 0 : turns->events[before].ns) + turns->latencies->ns[by];

	if (before >= 0 && (ns > event->ns || event->before < 0))
		*event = (struct event){ns, before, by};
}

static struct address
address_of(const struct turns *turns, const struct place *place)
{
	const struct value *base = &turns->values[place->base], *index = &turns->values[place->index];

	return (struct address){.base = base->number,
				.index = index->number,
				.added = base->added + index->added * place->scale + place->displacement,
				.bytes = place->bytes,
				.scale = place->scale};
}

/* The last stores are looked through, the last one first. Only one whose address is certainly the same counts. */
#define STORES_SEEN 64

static void
wait_for_store(const struct turns *turns, struct event *event, const struct link *link)
{
	const struct address address = address_of(turns, &link->loaded);
	/* The stack is the same in each turn. */
	const bool is_fixed = link->loaded.index == ZYDIS_REGISTER_NONE &&
			      (link->loaded.base == ZYDIS_REGISTER_RSP || turns->values[link->loaded.base].added == 0);

	for (size_t i = turns->nr_stores; i-- > 0 && turns->nr_stores - i <= STORES_SEEN;) {
		const struct address *stored = &turns->stores[i].address;

		if (stored->base != address.base || stored->index != address.index || stored->added != address.added ||
		    stored->bytes != address.bytes || stored->scale != address.scale)
			continue;
		wait_for(turns, event, turns->stores[i].event, is_fixed ? CHAIN_PASS_FIXED : CHAIN_PASS);
		break;
	}
}

static void
execute(struct turns *turns, int32_t number, const struct link *link)
{
	struct event *event = &turns->events[number];
	const struct value from = turns->values[link->from];

	*event = (struct event){0, -1, CHAIN_FREE};
	for (uint8_t i = 0; i < link->nr_sources; i++)
		wait_for(turns, event, turns->producers[link->sources[i]], CHAIN_FREE);
	for (uint8_t i = 0; i < link->nr_address; i++)
		wait_for(turns, event, turns->producers[link->address[i]], CHAIN_LOAD);
	if (link->loaded.bytes > 0)
		wait_for_store(turns, event, link);
	event->ns += turns->latencies->ns[link->kind];
	if (link->stored.bytes > 0)
		turns->stores[turns->nr_stores++] = (struct store){address_of(turns, &link->stored), number};
	for (uint8_t i = 0; i < link->nr_results; i++) {
		turns->producers[link->results[i]] = number;
		turns->values[link->results[i]] = (struct value){turns->nr_values++, 0};
	}
	if (link->from != ZYDIS_REGISTER_NONE)
		turns->values[link->results[0]] = (struct value){from.number, from.added + link->added};
}

/* Executes all turns. The result is the event that ends last. */
static int32_t
follow(struct turns *turns)
{
	int32_t last = -1;

	memset(turns->producers, -1, sizeof(turns->producers));
	for (uint32_t i = 0; i <= ZYDIS_REGISTER_MAX_VALUE; i++)
		turns->values[i] = (struct value){turns->nr_values++, 0};
	for (int32_t i = 0; i < (int32_t)(TURNS * turns->nr_links); i++) {
		execute(turns, i, &turns->links[(size_t)i % turns->nr_links]);
		if (last < 0 || turns->events[i].ns > turns->events[last].ns)
			last = i;
	}
	return last;
}

bool
chain_find(const struct code_flow *flow, uint32_t loop, const int64_t *executions, const struct chain_code *code,
	   const struct chain_latencies *latencies, struct chain *chain)
{
	struct turn one = {.nr = 0};
	const bool is_known = read_turn(flow, loop, executions, code, &one);
	autofree struct link *links = one.links;
	const size_t nr_links = one.nr;
	struct turns turns = {.links = links, .nr_links = nr_links, .latencies = latencies};
	size_t nr_others = 0;

	*chain = (struct chain){.leaf = one.leaf};
	if (!is_known || nr_links > MAX_LINKS)
		return false;
	turns.events = rot_calloc(TURNS * nr_links, sizeof(*turns.events));
	turns.stores = rot_calloc(TURNS * nr_links, sizeof(*turns.stores));
	for (int32_t i = follow(&turns); i >= 0; i = turns.events[i].before) {
		const size_t of_turn = (size_t)i / nr_links;

		if (of_turn < FIRST_TURN || of_turn >= FIRST_TURN + TURNS_SEEN)
			continue;
		chain->links[links[(size_t)i % nr_links].kind] += 1. / TURNS_SEEN;
		chain->links[turns.events[i].by] += 1. / TURNS_SEEN;
	}
	free(turns.events);
	free(turns.stores);
	for (size_t i = 0; i < CHAIN_NR_LINKS; i++) {
		chain->ns += chain->links[i] > 0 ? chain->links[i] * latencies->ns[i] : 0;
		nr_others += i != CHAIN_OTHER && i != CHAIN_FREE && i != CHAIN_PASS_FIXED && chain->links[i] > 0;
	}
	return nr_others > 0 || chain->links[CHAIN_OTHER] > 1 + 1e-6;
}

char *
chain_text(const struct chain *chain)
{
	static const char *const words[CHAIN_NR_LINKS][2] = {
#define CHAIN_LINK_WORDS(name, one, several) {one, several},
		CHAIN_LINKS(CHAIN_LINK_WORDS)
#undef CHAIN_LINK_WORDS
	};
	char *text = rot_strdup("");
	size_t nr = 0, nr_told = 0;

	for (size_t i = 0; i < CHAIN_FREE; i++)
		nr += chain->links[i] > 0;
	for (size_t i = 0; i < CHAIN_FREE; i++) {
		const char *between = nr_told == 0 ? "" : nr_told + 1 == nr ? " and " : ", ";

		if (!(chain->links[i] > 0))
			continue;
		rot_append(&text, "%s%.3g %s", between, chain->links[i], words[i][fabs(chain->links[i] - 1) > 1e-6]);
		nr_told++;
	}
	return text;
}
