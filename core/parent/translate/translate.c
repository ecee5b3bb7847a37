/* SPDX-License-Identifier: MIT */
#include "parent/translate/translate.h"

#include <string.h>

#include "memory.h"
#include "parent/profile/parts.h"
#include "parent/translate/basic_block.h"
#include "parent/translate/contents.h"
#include "parent/translate/edges.h"
#include "parent/translate/emit.h"
#include "parent/translate/foreseen.h"
#include "parent/translate/recording.h"

/* Fragments that a stop makes at once, and those that are made after it, while the program runs. */
#define MOST_AT_ONCE 100
#define MOST_AHEAD 200

/* Frames that are written aside, of fragments that follow each other. */
#define MOST_ASIDES 2048

#define CACHE_LINE 64
#define PAGE_BYTES UINT64_C(4096)

struct work_in_progress {
	const struct translation *translation;
	struct code_cache *cache;
	uint32_t arena;
	struct emitter to;
	struct code_queue *queue;                /* of addresses that blocks lead to; NULL: they are left out */
	const struct code_range *foreseen_range; /* only what is foreseen there is made; NULL: whatever follows */
	uint32_t first_unlinked;                 /* fragment from which on nothing leads to them yet */
	unsigned nr_made, most;
	uint64_t slots_address; /* of a page of slots with targets; 0: none was read */
	uint8_t slots[PAGE_BYTES];
	uint32_t most_targets; /* of a jump by a table in the block that is next; 0: unknown */
	struct basic_block block;
	struct count_place place; /* of the block */
	bool has_edges;           /* at the beginning of the block */
	bool has_loaded;          /* the register that the next item loads is in its slot */
	struct recording recordings[RECORDING_MAX];
	size_t nr_recordings;
	struct aside asides[MOST_ASIDES]; /* of fragments that are not published */
	size_t nr_asides;
};

static struct arena *
arena_of(const struct work_in_progress *work)
{
	return &work->cache->arenas[work->arena];
}

/* No thread is stopped. */
static bool
is_ahead(const struct work_in_progress *work)
{
	return work->translation->tid == CODE_CACHE_RUNNING;
}

/* At a place where all registers are the program's. Behind an edge only a fault takes it back to the same address. */
static void
add_mark(struct work_in_progress *work, uint32_t index, uint32_t origin)
{
	if (work->has_edges && (origin & MARK_ORIGIN) == 0)
		origin |= MARK_PASSED;
	code_cache_add_mark(work->cache, &work->cache->fragments[index], work->to.at, origin);
}

static uint64_t
here(const struct work_in_progress *work)
{
	return arena_of(work)->address + work->to.at;
}

static void
enqueue(struct work_in_progress *work, uint64_t origin, bool has_entry)
{
	struct code_queue *queue = work->queue;

	if (!queue)
		return;
	if (queue->nr == CODE_QUEUE_ROOM && queue->first > 0) {
		queue->nr -= queue->first;
		memmove(queue->entries, queue->entries + queue->first, queue->nr * sizeof(*queue->entries));
		queue->first = 0;
	}
	if (queue->nr < CODE_QUEUE_ROOM)
		queue->entries[queue->nr++] = (struct queued){origin, has_entry};
}

/* ---- branches ---- */

/* A displacement of 4 bytes that is set later lies in one cache line, so that it is seen as a whole. */
static void
align_displacement(struct work_in_progress *work, uint32_t opcode_bytes)
{
	static const uint8_t nops[][3] = {{0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0x00}};
	const uint32_t first = (work->to.at + opcode_bytes) % CACHE_LINE;

	if (first + 4 > CACHE_LINE)
		emit_bytes(&work->to, nops[CACHE_LINE - first - 1], CACHE_LINE - first);
}

/* Compilers put code that they take for rarely executed far away: it is translated when somebody comes there. */
#define FAR_BYTES 65536

/* A jump or branch with these bytes of opcode. */
static void
emit_link(struct work_in_progress *work, const void *opcode, size_t opcode_bytes, uint64_t target)
{
	const struct fragment *fragment = code_cache_find(work->cache, target);
	int64_t relative = 0;
	uint32_t gap;

	align_displacement(work, (uint32_t)opcode_bytes);
	emit_bytes(&work->to, opcode, opcode_bytes);
	if (fragment)
		relative = (int64_t)(fragment_address(work->cache, fragment) - (here(work) + 4));
	if (fragment && relative == (int32_t)relative) {
		emit_32(&work->to, (uint32_t)relative);
		return;
	}
	gap = code_cache_add_gap(work->cache, work->arena,
				 &(struct gap){.kind = GAP_LINK, .target = target, .site = work->to.at});
	emit_32(&work->to, gap - (work->to.at + 4));
	if (work->block.end != BLOCK_BRANCHES || target - work->block.origin + FAR_BYTES <= 2 * FAR_BYTES)
		enqueue(work, target, false);
}

static void
emit_jump(struct work_in_progress *work, uint64_t target)
{
	emit_link(work, "\xe9", 1, target);
}

static void
emit_jump_to_gap(struct work_in_progress *work, const struct gap *gap)
{
	emit_8(&work->to, 0xe9);
	emit_32(&work->to, code_cache_add_gap(work->cache, work->arena, gap) - (work->to.at + 4));
}

/* ---- entries of the look-up table ---- */

/*
 * Compares the target in rcx with the origin; if it is another one, goes on to the next entry of the chain, whose
 * address is in front. The table leads here when publish_entry has set both.
 */
static uint32_t
emit_entry(struct work_in_progress *work, uint64_t origin)
{
	struct emitter *to = &work->to;
	uint32_t entry, jump;

	emit_64(to, 0);
	entry = to->at;
	emit_constant(to, RDX, -origin);
	EMIT(to, 0x48, 0x8d, 0x0c, 0x11, 0xe3, 0); /* lea rcx, [rcx + rdx]; jrcxz */
	jump = to->at;
	emit_constant(to, RDX, origin);
	EMIT(to, 0x48, 0x8d, 0x0c, 0x11, 0xff, 0x25); /* lea rcx, [rcx + rdx]; jmp [the next] */
	emit_32(to, entry - 8 - (to->at + 4));
	to->bytes[jump - 1] = (uint8_t)(to->at - jump);
	emit_load(to, RCX, AREA_RCX);
	emit_load(to, RDX, AREA_RDX);
	return entry;
}

static void
publish_entry(struct code_cache *cache, uint32_t arena, uint64_t origin, uint32_t entry)
{
	uint64_t *head = (uint64_t *)(void *)(cache->low + LOW_TABLE + 8 * (origin % LOW_TABLE_ENTRIES));

	memcpy(cache->arenas[arena].bytes + entry - sizeof(*head), head, sizeof(*head));
	__atomic_store_n(head, cache->arenas[arena].address + entry, __ATOMIC_RELEASE);
}

/* ---- copies ---- */

static void
copy(struct work_in_progress *work, const struct basic_block_item *item)
{
	const ZydisDecodedInstruction *instruction = &item->instruction;
	const uint8_t *bytes = work->block.bytes + item->at;
	const uint32_t at = work->to.at;

	emit_bytes(&work->to, bytes, instruction->length);
	if (is_rip_relative(instruction)) {
		const uint64_t target =
			work->block.origin + item->at + instruction->length + (uint64_t)instruction->raw.disp.value;
		const uint32_t relative = (uint32_t)(target - here(work));

		memcpy(work->to.bytes + at + instruction->raw.disp.offset, &relative, sizeof(relative));
	}
}

/* mov rcx, OPERAND of an indirect branch */
static void
emit_target_of(struct work_in_progress *work, const struct basic_block_item *item)
{
	const ZydisDecodedInstruction *instruction = &item->instruction;
	const uint8_t *bytes = work->block.bytes + item->at;
	const unsigned modrm = instruction->raw.modrm.offset;
	const unsigned rex =
		instruction->raw.rex.W || instruction->raw.rex.B || instruction->raw.rex.X || instruction->raw.rex.R
			? bytes[instruction->raw.rex.offset] & 3
			: 0;

	if (instruction->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		emit_8(&work->to, 0x64);
	if (instruction->address_width == 32)
		emit_8(&work->to, 0x67);
	emit_8(&work->to, 0x48 | rex);
	emit_8(&work->to, 0x8b);
	emit_8(&work->to, (bytes[modrm] & 0xc7) | RCX << 3);
	emit_bytes(&work->to, bytes + modrm + 1, instruction->length - modrm - 1);
	if (is_rip_relative(instruction)) {
		const uint64_t target =
			work->block.origin + item->at + instruction->length + (uint64_t)instruction->raw.disp.value;

		work->to.at -= 4;
		emit_32(&work->to, (uint32_t)(target - (here(work) + 4)));
	}
}

/* ---- what a fragment counts ---- */

static void
emit_count(struct work_in_progress *work, struct fragment *fragment)
{
	switch (work->place.way) {
	case COUNT_CHANGING_FLAGS:
		emit_count_flags(&work->to, fragment->counter);
		break;
	case COUNT_BY_REGISTER:
		emit_count_register(&work->to, work->place.reg, fragment->counter);
		break;
	case COUNT_SAVING:
		emit_count_saving(&work->to, fragment->counter);
		break;
	case COUNT_LOOKING_UP:
		emit_count_register(&work->to, RDX, fragment->counter);
		break;
	}
	fragment->counted_at = (uint16_t)(work->to.at - fragment->body);
}

/* So much as rcx is when they begin, less what it is when they end. */
static void
emit_turns(struct work_in_progress *work, uint32_t counter, bool is_end)
{
	struct emitter *to = &work->to;

	emit_save(to, RAX, AREA_RAX);
	emit_save(to, RDX, AREA_RDX);
	EMIT(to, 0x48, 0x89, 0xc8); /* mov rax, rcx */
	if (is_end)
		EMIT(to, 0x48, 0xf7, 0xd0, 0x48, 0x8d, 0x40, 0x01); /* not rax; lea rax, [rax + 1] */
	emit_add_rax(to, counter);
	emit_load(to, RDX, AREA_RDX);
	emit_load(to, RAX, AREA_RAX);
}

static void
emit_lanes(struct work_in_progress *work, uint32_t counter, const struct work *what)
{
	const unsigned table = what->nr_lanes <= 1 ? 0 : what->nr_lanes <= 2 ? 1 : what->nr_lanes <= 4 ? 2 : 3;
	struct emitter *to = &work->to;

	emit_save(to, RAX, AREA_RAX);
	emit_save(to, RDX, AREA_RDX);
	emit_load(to, RDX, counter_offset(counter));
	for (unsigned lane = 0; lane < what->nr_lanes; lane += 8) {
		emit_mask(to, what);
		if (lane > 0) {
			EMIT(to, 0xc4, 0xe3, 0xfb, 0xf0, 0xc0); /* rorx rax, rax, lane */
			emit_8(to, lane);
		}
		/* movzx eax, al; movzx eax, byte [rax + ones of so many bits] */
		EMIT(to, 0x0f, 0xb6, 0xc0, 0x0f, 0xb6, 0x80);
		emit_32(to, (uint32_t)work->cache->low_address + LOW_ONES + 256 * table);
		EMIT(to, 0x48, 0x8d, 0x14, 0x02); /* lea rdx, [rdx + rax] */
	}
	emit_save(to, RDX, counter_offset(counter));
	emit_load(to, RDX, AREA_RDX);
	emit_load(to, RAX, AREA_RAX);
}

static bool
may_be_dynamic(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) ||
	       (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
		instruction->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
		instruction->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED) ||
	       instruction->meta.category == ZYDIS_CATEGORY_AVX2GATHER ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_VMASKMOVPS ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_VMASKMOVPD ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_VPMASKMOVD || instruction->mnemonic == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

/* The code that looks at a frame before that item may change this; nothing where more stands between both. */
static struct recording_free
find_free(struct work_in_progress *work, size_t item)
{
	const ZydisDecodedInstruction *instruction = &work->block.items[item].instruction;
	const bool is_next = work->place.before != item && !work->has_edges;
	const int set = is_next ? basic_block_sets_register(instruction) : -1;
	const int loaded = is_next ? basic_block_loads_register(instruction) : -1;

	return (struct recording_free){.flags = basic_block_needs_no_flags(work->translation, &work->block, item),
				       .is_loaded = loaded >= 0,
				       .reg = loaded >= 0 ? loaded : set};
}

static void
emit_recording(struct work_in_progress *work, const struct recording *recording)
{
	const struct sites *sites = work->translation->sites;
	struct aside *aside = &work->asides[work->nr_asides];
	struct recording_free may_change = {.reg = -1};

	if (sites->leaves_out)
		may_change = find_free(work, recording->item);
	aside->site = recording->site;
	if (recording_emit_filter(&work->to, sites, &may_change, work->cache->low_address, aside)) {
		work->nr_asides++;
		work->has_loaded = aside->is_loaded;
	} else {
		recording_emit(&work->to, sites, recording->site);
	}
}

/* Recordings before that item of the block, or behind it. */
static void
emit_recordings(struct work_in_progress *work, size_t item, bool is_behind)
{
	for (size_t i = 0; i < work->nr_recordings; i++) {
		const struct recording *recording = &work->recordings[i];
		const bool is_end = sites_at(work->translation->sites, recording->site)->kind == SITE_TURNS_END;

		if (recording->item == item && is_end == is_behind)
			emit_recording(work, recording);
	}
}

/*
 * A copied instruction, with what it counts by itself. Arithmetic leaves its mask as it is, so its lanes are counted
 * behind it, once it has been executed.
 */
static void
emit_item(struct work_in_progress *work, uint32_t index, const struct basic_block_item *item)
{
	struct fragment *fragment = &work->cache->fragments[index];
	struct work what;
	enum dynamic_kind kind;
	uint32_t counter = 0;
	bool is_dynamic = false;

	if (may_be_dynamic(&item->instruction) &&
	    work_decode(work->block.bytes + item->at, item->instruction.length, &what) && !what.is_unknown)
		is_dynamic = contents_are_dynamic(&what, &kind);
	if (is_dynamic)
		counter = code_cache_add_dynamic(work->cache, fragment, (uint8_t)kind, item->at);
	if (is_dynamic && kind == DYNAMIC_TURNS)
		emit_turns(work, counter, false);
	else if (is_dynamic && !work_may_mask_flops(&what))
		emit_lanes(work, counter, &what);
	add_mark(work, index, item->at | (work->has_loaded ? MARK_LOADS : 0));
	work->has_loaded = false;
	copy(work, item);
	if (is_dynamic && kind == DYNAMIC_TURNS)
		emit_turns(work, counter, true);
	else if (is_dynamic && work_may_mask_flops(&what))
		emit_lanes(work, counter, &what);
}

/* ---- code that may change ---- */

/* Compares n bytes of the original, 1, 2, 4 or 8, with what they were. */
static void
emit_check(struct work_in_progress *work, uint64_t address, const uint8_t *bytes, unsigned n, uint32_t fragment)
{
	static const struct {
		uint8_t nr, bytes[3];
	} loads[] = {[1] = {3, {0x0f, 0xb6, 0x09}},
		     [2] = {3, {0x0f, 0xb7, 0x09}},
		     [4] = {2, {0x8b, 0x09}},
		     [8] = {3, {0x48, 0x8b, 0x09}}}; /* RCX = [RCX] */
	struct emitter *to = &work->to;
	uint64_t value = 0;

	memcpy(&value, bytes, n);
	emit_constant(to, RCX, address);
	emit_bytes(to, loads[n].bytes, loads[n].nr);
	emit_constant(to, RDX, -value);
	EMIT(to, 0x48, 0x8d, 0x0c, 0x11, 0xe3, 0x05); /* lea rcx, [rcx + rdx]; jrcxz over the jump */
	emit_jump_to_gap(work, &(struct gap){.kind = GAP_STALE, .fragment = fragment});
}

/* Loads are aligned: the program may have set the flag that wants them so. */
static void
emit_checks(struct work_in_progress *work, uint32_t index)
{
	const struct basic_block *block = &work->block;
	const uint64_t end = block->origin + block->nr_bytes;

	emit_save(&work->to, RCX, AREA_RCX);
	emit_save(&work->to, RDX, AREA_RDX);
	for (uint64_t at = block->origin; at < end;) {
		unsigned n = 8;

		while (at % n != 0 || at + n > end)
			n /= 2;
		emit_check(work, at, block->bytes + (at - block->origin), n, index);
		at += n;
	}
	emit_load(&work->to, RDX, AREA_RDX);
	emit_load(&work->to, RCX, AREA_RCX);
}

/* ---- ends of blocks ---- */

/* movzx ecx, byte [rcx + table] of the low part */
static void
emit_low(struct work_in_progress *work, uint32_t table)
{
	EMIT(&work->to, 0x0f, 0xb6, 0x89);
	emit_32(&work->to, (uint32_t)work->cache->low_address + table);
}

/*
 * Decides whether it stops before the call. The call itself changes rcx, and nothing reads it before; flags stay as
 * they are.
 */
static void
emit_system_call(struct work_in_progress *work, uint32_t index, uint32_t origin_at)
{
	struct code_cache *cache = work->cache;
	struct emitter *to = &work->to;
	uint32_t plain, plain_if, none, plain_set, stop, stop_if, stop_set, of_protection, not_blocked;
	struct gap gap = {.kind = GAP_CALL, .fragment = index, .target = work->block.origin + origin_at};

	code_cache_add_mark(cache, &cache->fragments[index], to->at, origin_at);
	EMIT(to, 0x0f, 0xb7, 0xc8); /* movzx ecx, ax */
	emit_low(work, LOW_CALL_CLASSES);
	plain = emit_short(to, JRCXZ);
	EMIT(to, 0x48, 0x8d, 0x49, 0xff); /* lea rcx, [rcx - 1] */
	stop = emit_short(to, JRCXZ);
	EMIT(to, 0x48, 0x8d, 0x49, 0xff);
	of_protection = emit_short(to, JRCXZ);

	emit_load(to, RCX, AREA_BLOCKS_TRAPS);
	not_blocked = emit_short(to, JRCXZ);
	stop_if = emit_short(to, JMP);
	land(to, not_blocked);
	EMIT(to, 0x48, 0x89, 0xf1); /* mov rcx, rsi: the set, if any */
	none = emit_short(to, JRCXZ);
	EMIT(to, 0x0f, 0xb6, 0x09); /* movzx ecx, byte [rcx] */
	emit_low(work, LOW_TRAPS);
	plain_set = emit_short(to, JRCXZ);
	stop_set = emit_short(to, JMP);

	land(to, of_protection);
	EMIT(to, 0x0f, 0xb6, 0xca); /* movzx ecx, dl */
	emit_low(work, LOW_PROTECTIONS);
	plain_if = emit_short(to, JRCXZ);
	land(to, stop);
	land(to, stop_if);
	land(to, stop_set);
	gap.site = to->at + 5;
	emit_jump_to_gap(work, &gap);
	land(to, plain);
	land(to, none);
	land(to, plain_set);
	land(to, plain_if);
	code_cache_add_mark(cache, &cache->fragments[index], to->at, origin_at);
	EMIT(to, 0x0f, 0x05);
	code_cache_add_mark(cache, &cache->fragments[index], to->at, work->block.nr_bytes | MARK_AFTER_CALL);
	EMIT(to, 0x48, 0xb9);
	emit_64(to, work->block.origin + work->block.nr_bytes);
}

/* push the address behind the block: at once, or the constant that stands behind the jump which follows. */
static bool
emit_push_return(struct work_in_progress *work, uint32_t bytes_between)
{
	const uint64_t address = work->block.origin + work->block.nr_bytes;

	if (address < 0x80000000) {
		emit_8(&work->to, 0x68);
		emit_32(&work->to, (uint32_t)address);
		return false;
	}
	EMIT(&work->to, 0xff, 0x35);
	emit_32(&work->to, bytes_between);
	return true;
}

static void
emit_call(struct work_in_progress *work, uint32_t index, const struct basic_block_item *item)
{
	const uint64_t back = work->block.origin + work->block.nr_bytes;
	const uint32_t push_bytes = back < 0x80000000 ? 5 : 6;
	bool has_constant;

	/* The constant stands right behind the jump, whose displacement must not need padding any more. */
	align_displacement(work, push_bytes + 1);
	add_mark(work, index, item->at);
	has_constant = emit_push_return(work, 5);
	emit_jump(work, work->block.target);
	if (has_constant)
		emit_64(&work->to, back);
	enqueue(work, back, true);
}

/* ---- targets of indirect branches that can be foreseen ---- */

#define MOST_TARGETS 1024

/* "cmp REGISTER, nr - 1; ja ELSEWHERE" precedes a jump by a table of nr targets. */
static uint32_t
find_most_targets(const struct basic_block *block)
{
	const ZydisDecodedInstruction *last = block->nr > 1 ? &block->items[block->nr - 1].instruction : NULL;

	if (!last || block->end != BLOCK_BRANCHES || (last->opcode & 0xf) != 7)
		return 0;
	for (size_t i = block->nr - 1; i-- > 0;) {
		const ZydisDecodedInstruction *instruction = &block->items[i].instruction;

		if (instruction->mnemonic == ZYDIS_MNEMONIC_CMP)
			return instruction->raw.imm[0].size > 0 && instruction->raw.imm[0].value.u < MOST_TARGETS
				       ? (uint32_t)instruction->raw.imm[0].value.u + 1
				       : 0;
	}
	return 0;
}

/*
 * The table of "jmp [TABLE + index * 8]", whose words are addresses, or that of a "movsxd" through a base that a "lea"
 * has set, whose words are relative to the table. 0: it is neither.
 */
static uint64_t
find_table(const struct basic_block *block, uint32_t *word_bytes)
{
	const ZydisDecodedInstruction *jump = &block->items[block->nr - 1].instruction;
	bool has_load = false;

	*word_bytes = 8;
	if (jump->raw.modrm.mod == 0 && jump->raw.modrm.rm == 4 && jump->raw.sib.base == 5 && jump->raw.sib.scale == 3)
		return (uint64_t)jump->raw.disp.value;
	*word_bytes = 4;
	for (size_t i = block->nr - 1; jump->raw.modrm.mod == 3 && i-- > 0;) {
		const struct basic_block_item *item = &block->items[i];
		const ZydisDecodedInstruction *instruction = &item->instruction;

		has_load |= instruction->mnemonic == ZYDIS_MNEMONIC_MOVSXD && instruction->raw.modrm.mod != 3;
		if (has_load && instruction->mnemonic == ZYDIS_MNEMONIC_LEA && is_rip_relative(instruction))
			return block->origin + item->at + instruction->length + (uint64_t)instruction->raw.disp.value;
	}
	return 0;
}

/*
 * The target of "jmp [rip + SLOT]", as in a procedure linkage table, or of such a call, is what the slot has now.
 */
static void
enqueue_slot(struct work_in_progress *work)
{
	const struct translation *translation = work->translation;
	const struct basic_block_item *item = &work->block.items[work->block.nr - 1];
	const ZydisDecodedInstruction *branch = &item->instruction;
	const uint64_t slot = work->block.origin + item->at + branch->length + (uint64_t)branch->raw.disp.value;
	uint64_t target;

	if (slot / PAGE_BYTES != work->slots_address / PAGE_BYTES) {
		work->slots_address = slot & ~(PAGE_BYTES - 1);
		if (code_cache_read(work->cache, translation->tid, work->slots_address, work->slots, PAGE_BYTES, true) <
		    PAGE_BYTES)
			work->slots_address = 0;
	}
	if (slot % 8 != 0 || work->slots_address == 0)
		return;
	memcpy(&target, work->slots + slot % PAGE_BYTES, sizeof(target));
	if (translate_find_range(translation, target))
		enqueue(work, target, true);
}

/* A wrong guess costs a few fragments that nobody executes. */
static void
enqueue_targets(struct work_in_progress *work)
{
	const struct translation *translation = work->translation;
	const struct code_range *range = translate_find_range(translation, work->block.origin);
	uint8_t words[8 * MOST_TARGETS];
	uint32_t nr = work->most_targets, word_bytes;
	const uint64_t table = nr > 0 ? find_table(&work->block, &word_bytes) : 0;

	if (table == 0 || !range ||
	    code_cache_read(work->cache, translation->tid, table, words, nr * word_bytes, true) < nr * word_bytes)
		return;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t target = 0;
		int32_t relative;

		memcpy(&relative, words + i * word_bytes, sizeof(relative));
		memcpy(&target, words + i * word_bytes, word_bytes);
		if (word_bytes == 4)
			target = table + (uint64_t)(int64_t)relative;
		if (target >= range->start && target < range->end)
			enqueue(work, target, true);
	}
}

/* ---- indirect branches ---- */

/* Takes the target to rcx, with rcx and rdx saved. If that is no address, the tracer needs to know who branched. */
static void
emit_indirect(struct work_in_progress *work, uint32_t index, const struct basic_block_item *item)
{
	const uint64_t back = work->block.origin + work->block.nr_bytes;
	struct code_cache *cache = work->cache;
	struct emitter *to = &work->to;
	bool has_constant = false;

	emit_save(to, RCX, AREA_RCX);
	emit_save(to, RDX, AREA_RDX);
	emit_set(to, AREA_EXIT, index);
	add_mark(work, index, item->at);
	if (work->block.end == BLOCK_RETURNS) {
		emit_8(to, 0x59); /* pop rcx */
		if (item->instruction.opcode == 0xc2) {
			EMIT(to, 0x48, 0x8d, 0xa4, 0x24); /* lea rsp, [rsp + n] */
			emit_32(to, (uint32_t)item->instruction.raw.imm[0].value.u);
		}
	} else {
		emit_target_of(work, item);
	}
	if (work->place.way == COUNT_LOOKING_UP)
		emit_count(work, &cache->fragments[index]);
	if (work->queue && is_rip_relative(&item->instruction))
		enqueue_slot(work);
	else if (work->queue && work->block.end == BLOCK_JUMPS_INDIRECTLY)
		enqueue_targets(work);
	if (work->block.end == BLOCK_CALLS_INDIRECTLY) {
		add_mark(work, index, item->at | MARK_SAVED);
		has_constant = emit_push_return(work, 10);
		enqueue(work, back, true);
	}
	emit_look_up(to, cache->low_address);
	if (has_constant)
		emit_64(to, back);
}

static void
emit_loop(struct work_in_progress *work, const struct basic_block_item *item)
{
	const uint8_t *bytes = work->block.bytes + item->at;

	emit_bytes(&work->to, bytes, item->instruction.length - 1U);
	emit_8(&work->to, 2);
	EMIT(&work->to, 0xeb, 0);
	{
		const uint32_t jump = work->to.at;

		emit_jump(work, work->block.target);
		work->to.bytes[jump - 1] = (uint8_t)(work->to.at - jump);
	}
}

/*
 * Behind a branch back that was not taken: the loop was left. The difference of how often its branch was executed, and
 * had been when the loop was left before, counts by its highest bit.
 */
static void
emit_trips(struct work_in_progress *work, uint32_t index, uint32_t origin)
{
	struct code_cache *cache = work->cache;
	const uint32_t executed = cache->fragments[index].counter;
	const uint32_t left = code_cache_add_dynamic(cache, &cache->fragments[index], DYNAMIC_LEFT, origin);
	struct emitter *to = &work->to;
	uint32_t first = 0;

	for (uint8_t i = 0; i < FOUND_NR_TRIPS; i++) {
		const uint32_t counter =
			code_cache_add_dynamic(cache, &cache->fragments[index], (uint8_t)(DYNAMIC_TRIPS + i), origin);

		first = i == 0 ? counter : first;
	}
	emit_save(to, RAX, AREA_RAX);
	emit_save(to, RDX, AREA_RDX);
	EMIT(to, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto al */
	emit_save(to, RAX, AREA_RCX);
	emit_load(to, RAX, counter_offset(executed));
	emit_load(to, RDX, counter_offset(left));
	emit_save(to, RAX, counter_offset(left));
	EMIT(to, 0x48, 0x29, 0xd0, 0x48, 0x0f, 0xbd, 0xc0); /* sub rax, rdx; bsr rax, rax */
	emit_constant(to, RDX, FOUND_NR_TRIPS - 1);
	EMIT(to, 0x48, 0x39, 0xd0, 0x48, 0x0f, 0x47, 0xc2); /* cmp rax, rdx; cmova rax, rdx */
	EMIT(to, 0x65, 0x48, 0xff, 0x04, 0xc5);             /* inc qword gs:[first + rax * 8] */
	emit_32(to, counter_offset(first));
	emit_load(to, RAX, AREA_RCX);
	EMIT(to, 0x04, 0x7f, 0x9e); /* add al, 127; sahf */
	emit_load(to, RDX, AREA_RDX);
	emit_load(to, RAX, AREA_RAX);
}

static void
emit_native(struct work_in_progress *work, uint64_t origin)
{
	emit_jump_to_gap(work, &(struct gap){.kind = GAP_NATIVE, .target = origin});
}

/* Returns where code is that is executed next without a jump; 0: none. */
static uint64_t
emit_end(struct work_in_progress *work, uint32_t index, const struct basic_block_item *item)
{
	const uint64_t behind = work->block.origin + work->block.nr_bytes;
	struct code_cache *cache = work->cache;
	uint8_t opcode[2] = {0x0f, 0x80 | (item->instruction.opcode & 0xf)};

	switch (work->block.end) {
	case BLOCK_SYSTEM_CALL:
		emit_system_call(work, index, item->at);
		return behind;
	case BLOCK_TRAPS:
		code_cache_add_mark(cache, &cache->fragments[index], work->to.at, item->at);
		emit_bytes(&work->to, work->block.bytes + item->at, item->instruction.length);
		code_cache_add_mark(cache, &cache->fragments[index], work->to.at, work->block.nr_bytes);
		return behind;
	case BLOCK_RETURNS:
	case BLOCK_JUMPS_INDIRECTLY:
	case BLOCK_CALLS_INDIRECTLY:
		emit_indirect(work, index, item);
		return 0;
	case BLOCK_CALLS:
		emit_call(work, index, item);
		return 0;
	default:
		break;
	}
	add_mark(work, index, item->at);
	switch (work->block.end) {
	case BLOCK_JUMPS:
		return work->block.target;
	case BLOCK_BRANCHES:
		emit_link(work, opcode, sizeof(opcode), work->block.target);
		if (work->translation->counts_trips && work->block.target <= work->block.origin)
			emit_trips(work, index, item->at);
		return behind;
	case BLOCK_LOOPS:
		emit_loop(work, item);
		return behind;
	default:
		return 0;
	}
}

/* ---- fragments ---- */

/* A loop of one block begins a fragment, so that each of its turns is executed there. */
static void
end_before_loop(const struct translation *translation, struct basic_block *block)
{
	const uint64_t at = block->target - block->origin;

	if (!translation->counts_trips || block->end != BLOCK_BRANCHES || at == 0 || at >= block->nr_bytes)
		return;
	for (size_t i = 1; i < block->nr; i++) {
		if (block->items[i].at != at)
			continue;
		block->nr = i;
		block->nr_bytes = (uint32_t)at;
		block->end = BLOCK_GOES_ON;
	}
}

static void
emit_edges(struct work_in_progress *work, uint32_t index, bool are_behind)
{
	const struct fragment *fragment = &work->cache->fragments[index];

	edges_emit(work->cache, work->arena, &work->to, work->translation->sites, fragment->origin, are_behind);
}

/* Cuts the block in front of an item that cannot be copied. */
static void
make_fit(struct work_in_progress *work)
{
	struct basic_block *block = &work->block;

	for (size_t i = 0; i < block->nr; i++) {
		const struct basic_block_item *item = &block->items[i];
		const uint64_t target = block->origin + item->at + item->instruction.length +
					(uint64_t)item->instruction.raw.disp.value;
		const int64_t away = (int64_t)(target - here(work));

		if (is_rip_relative(&item->instruction) && (away > INT32_MAX - 65536 || away < INT32_MIN + 65536)) {
			block->nr = i;
			block->nr_bytes = item->at;
			block->end = BLOCK_NATIVE;
			return;
		}
	}
}

/* Other code may be mapped there later. */
static void
set_object(const struct work_in_progress *work, struct fragment *fragment)
{
	const struct code_range *range = translate_find_range(work->translation, fragment->origin);
	const uint64_t offset = range ? fragment->origin - range->start + range->offset : 0;

	fragment->offset = (uint32_t)offset;
	fragment->object = range && offset == fragment->offset ? range->object : 0;
	for (size_t i = 0; i < work->nr_recordings; i++) {
		const uint16_t from = work->block.items[work->recordings[i].item].at;

		sites_set_at(work->translation->sites, work->recordings[i].site,
			     &(struct counted_at){fragment->object, fragment->offset + (uint64_t)from,
						  fragment->origin + from, 0});
	}
}

/* Blocks that will hardly be executed are not looked at more than is needed. */
static bool
is_understood(const struct work_in_progress *work)
{
	return work->translation->sites || work->foreseen_range;
}

/* Decodes the block at origin, and plans where it is counted and what is recorded of it. False: no code is there. */
static bool
plan_block(struct work_in_progress *work, uint64_t origin, const struct edges_at *edges)
{
	struct basic_block *block = &work->block;

	if (!basic_block_decode(work->translation, origin, block))
		return false;
	end_before_loop(work->translation, block);
	make_fit(work);
	work->place = basic_block_count_place(work->translation, block);
	/* It is counted, with what it accesses, before an edge behind it. */
	if (edges->ends && work->place.before != 0)
		work->place = (struct count_place){0, COUNT_SAVING, 0};
	if (is_understood(work))
		basic_block_understand(block);
	work->nr_recordings =
		work->translation->sites ? recording_plan(work->translation->sites, block, work->recordings) : 0;
	return true;
}

/* Begins the fragment of the planned block, with all that is executed before its first item. Returns its index. */
static uint32_t
begin_fragment(struct work_in_progress *work, uint64_t origin, bool has_entry, const struct edges_at *edges)
{
	struct code_cache *cache = work->cache;
	struct basic_block *block = &work->block;
	const uint32_t entry = has_entry ? emit_entry(work, origin) : 0, index = cache->nr_fragments;

	code_cache_add(cache, work->arena, origin, work->to.at)->entry = entry;
	cache->fragments[index].nr_origin_bytes = (uint16_t)block->nr_bytes;
	cache->fragments[index].is_checked = block->may_change;
	set_object(work, &cache->fragments[index]);
	if (is_understood(work))
		contents_of_block(cache, &cache->fragments[index], block);
	work->has_edges = work->has_loaded = false;
	add_mark(work, index, 0);
	work->has_edges = edges->is_there;
	if (block->may_change) {
		code_cache_keep(cache, &cache->fragments[index], block->bytes);
		emit_checks(work, index);
	}
	if (edges->is_there) {
		emit_edges(work, index, false);
		add_mark(work, index, MARK_BEHIND);
	}
	return index;
}

/* Emits the items of the block. Returns the origin of the code that is executed next without a jump; 0: none. */
static uint64_t
emit_items(struct work_in_progress *work, uint32_t index, bool has_end, bool has_edge_behind_items)
{
	const struct basic_block *block = &work->block;
	uint64_t next = 0;

	for (size_t i = 0; i < block->nr; i++) {
		emit_recordings(work, i, false);
		if (i == work->place.before) {
			add_mark(work, index, block->items[i].at);
			emit_count(work, &work->cache->fragments[index]);
		}
		if (has_edge_behind_items) {
			emit_edges(work, index, true);
			add_mark(work, index, MARK_BEHIND);
		}
		if (i + 1 < block->nr || !has_end)
			emit_item(work, index, &block->items[i]);
		else
			next = emit_end(work, index, &block->items[i]);
		emit_recordings(work, i, true);
	}
	if (block->nr > 0 && work->place.before == block->nr)
		emit_count(work, &work->cache->fragments[index]);
	return next;
}

/*
 * Emits the block at origin. Returns the origin of the code that is executed next without a jump; 0: none.
 * *is_made: false if no code is there.
 */
static uint64_t
emit_fragment(struct work_in_progress *work, uint64_t origin, bool has_entry, bool *is_made)
{
	struct code_cache *cache = work->cache;
	const struct basic_block *block = &work->block;
	const struct edges_at edges = edges_at(cache, origin);
	bool has_end, ends_behind;
	uint64_t next;
	uint32_t index;

	*is_made = plan_block(work, origin, &edges);
	if (!*is_made)
		return 0;
	index = begin_fragment(work, origin, has_entry, &edges);
	has_end = block->end != BLOCK_GOES_ON && block->end != BLOCK_NATIVE;
	ends_behind = edges.ends && block->nr > 0 && !has_end && may_be_dynamic(&block->items[0].instruction);
	cache->fragments[index].is_ended = edges.ends && block->nr > 0 && !ends_behind;
	next = emit_items(work, index, has_end, edges.ends && !ends_behind);
	if (ends_behind || (edges.ends && block->nr == 0))
		emit_edges(work, index, true);
	if (edges.is_there && block->nr == 0)
		add_mark(work, index, MARK_BEHIND);
	if (block->end == BLOCK_GOES_ON)
		next = origin + block->nr_bytes;
	else if (block->end == BLOCK_NATIVE)
		emit_native(work, origin + block->nr_bytes);
	cache->fragments[index].end = work->to.at;
	work->nr_made++;
	work->most_targets = find_most_targets(block);
	return next;
}

/* Fragments that are complete, up to the last: now threads may come there. */
static void
publish(struct work_in_progress *work)
{
	struct code_cache *cache = work->cache;

	arena_of(work)->used = work->to.at;
	for (; work->first_unlinked < cache->nr_fragments; work->first_unlinked++) {
		struct fragment *fragment = &cache->fragments[work->first_unlinked];

		code_cache_link(cache, fragment);
		if (fragment->entry)
			publish_entry(cache, fragment->arena, fragment->origin, fragment->entry);
	}
}

/* The fragment is one that others go to directly. */
static void
add_entry(struct work_in_progress *work, struct fragment *fragment)
{
	const uint32_t entry = emit_entry(work, fragment->origin);

	/* The table leads to this arena, whichever the fragment is in. */
	emit_far_jump(&work->to, fragment_address(work->cache, fragment));
	arena_of(work)->used = work->to.at;
	fragment->entry = fragment->arena == work->arena ? entry : UINT32_MAX;
	publish_entry(work->cache, work->arena, fragment->origin, entry);
}

/* Room for one more fragment, in reach of its code. Others that share the cache would not have a new arena. */
static bool
find_room(struct work_in_progress *work, uint64_t origin, struct rot_error *err)
{
	int arena;

	if ((is_ahead(work) || work->cache->nr_users > 1) && !code_cache_has_room(work->cache, origin))
		return false;
	arena = code_cache_arena(work->cache, work->translation->tid, work->translation->options, origin, err);
	if (arena < 0 || work->cache->nr_counters + 64 > AREA_MAX_COUNTERS)
		return false;
	work->arena = (uint32_t)arena;
	work->to = (struct emitter){arena_of(work)->bytes, arena_of(work)->used};
	return true;
}

static bool
is_foreseen(const struct code_range *range, uint64_t origin)
{
	return range->foreseen && origin >= range->start && origin < range->end &&
	       foreseen_has(range->foreseen, origin - range->start + range->offset);
}

/* Makes what one address leads to without a jump; nothing if there is no code. */
static void
make_chain(struct work_in_progress *work, uint64_t origin, bool has_entry)
{
	const uint32_t most = arena_of(work)->used + 32768;
	bool is_made, is_first = true;
	uint64_t next;

	work->most_targets = 0;
	while (origin != 0) {
		struct fragment *known = code_cache_find(work->cache, origin);

		if (known || work->nr_made >= work->most || work->to.at > most ||
		    (work->foreseen_range && !is_foreseen(work->foreseen_range, origin)) ||
		    work->nr_asides + RECORDING_MAX > MOST_ASIDES ||
		    origin - arena_of(work)->address + INT32_MAX > UINT32_MAX) {
			emit_jump(work, origin);
			break;
		}
		next = emit_fragment(work, origin, has_entry, &is_made);
		if (!is_made) {
			/* Ahead, code may not be readable yet: who comes there finds out. */
			if (!is_first && is_ahead(work))
				emit_jump(work, origin);
			else if (!is_first)
				emit_native(work, origin);
			break;
		}
		origin = next;
		has_entry = is_first = false;
	}
	/* Asides stand behind fragments that lead away. */
	for (size_t i = 0; i < work->nr_asides; i++)
		recording_emit_aside(&work->to, work->translation->sites, &work->asides[i]);
	work->nr_asides = 0;
	publish(work);
}

static void
begin_work(struct work_in_progress *work, const struct translation *translation, unsigned most)
{
	work->translation = translation;
	work->cache = translation->cache;
	work->queue = NULL;
	work->foreseen_range = NULL;
	work->nr_made = 0;
	work->most = most;
	work->slots_address = 0;
	work->first_unlinked = work->cache->nr_fragments;
}

/* False: there is no room for it. */
static bool
make(struct work_in_progress *work, uint64_t origin, bool has_entry, struct rot_error *err)
{
	struct fragment *fragment = code_cache_find(work->cache, origin);

	if (fragment && (fragment->entry || !has_entry))
		return true;
	if (!find_room(work, origin, err))
		return false;
	if (fragment)
		add_entry(work, fragment);
	else
		make_chain(work, origin, has_entry);
	return true;
}

/* Until so many fragments are made, or nothing is left. Returns how many; -1: there is no room for more. */
static int
work_off(const struct translation *translation, struct code_queue *queue, unsigned most, struct rot_error *err)
{
	static struct work_in_progress work;

	begin_work(&work, translation, most);
	work.queue = queue;
	while (queue->first < queue->nr && work.nr_made < most) {
		const struct queued next = queue->entries[queue->first++];

		if (!make(&work, next.origin, next.has_entry, err))
			return -1;
	}
	return (int)work.nr_made;
}

/* ---- what is foreseen ---- */

/* Sites and counters are left to code that is executed. */
static bool
has_little_room(const struct translation *translation)
{
	return translation->cache->nr_counters > AREA_MAX_COUNTERS / 2 ||
	       (translation->sites && translation->sites->nr > RECORD_MAX_SITES / 2);
}

/* Like work_off, for the blocks that are foreseen in that range. */
static int
work_off_foreseen(const struct translation *translation, struct foreseen_code *code, const struct code_range *range,
		  unsigned most)
{
	static struct work_in_progress work;
	struct rot_error err;

	if (has_little_room(translation))
		return 0;
	begin_work(&work, translation, most);
	work.foreseen_range = range;
	for (; code->next < foreseen_nr(code->file) && work.nr_made < most; code->next++) {
		bool has_entry;
		const uint64_t origin = range->start - range->offset + foreseen_at(code->file, code->next, &has_entry);

		if (origin >= range->start && origin < range->end && !make(&work, origin, has_entry, &err))
			return -1;
	}
	return (int)work.nr_made;
}

/* How far the blocks that are foreseen in that range are made. NULL: none are. */
static struct foreseen_code *
foreseen_code(struct code_cache *cache, const struct code_range *range)
{
	const struct foreseen_code code = {range->foreseen, range->start, range->end, 0};

	if (!range->foreseen || foreseen_nr(range->foreseen) == 0)
		return NULL;
	for (size_t i = 0; i < cache->nr_foreseen; i++) {
		if (cache->foreseen[i].file == code.file && cache->foreseen[i].start == code.start &&
		    cache->foreseen[i].end == code.end)
			return &cache->foreseen[i];
	}
	cache->foreseen = rot_grow(cache->foreseen, cache->nr_foreseen, sizeof(*cache->foreseen));
	cache->foreseen[cache->nr_foreseen] = code;
	return &cache->foreseen[cache->nr_foreseen++];
}

/* True if something was made. What has no room yet waits for a thread that comes there. */
static bool
foresee_ahead(const struct translation *translation, unsigned nr)
{
	struct code_cache *cache = translation->cache;
	bool is_all_made = true;

	for (size_t i = translation->nr_ranges; !cache->has_all_foreseen && i-- > 0;) {
		struct foreseen_code *code = foreseen_code(cache, &translation->ranges[i]);
		const int nr_made = code ? work_off_foreseen(translation, code, &translation->ranges[i], nr) : 0;

		if (nr_made > 0)
			return true;
		is_all_made &= nr_made == 0;
	}
	cache->has_all_foreseen |= is_all_made;
	return false;
}

/* Threads soon come to what the last stop has left (before), so it is put in front of what earlier stops have left. */
static void
put_in_front(struct code_queue *queue, const struct code_queue *before)
{
	const uint32_t nr = before->nr - before->first, nr_left = queue->nr - queue->first;
	const uint32_t nr_kept = nr_left < CODE_QUEUE_ROOM - nr ? nr_left : CODE_QUEUE_ROOM - nr;

	memmove(queue->entries + nr, queue->entries + queue->first, nr_kept * sizeof(*queue->entries));
	memcpy(queue->entries, before->entries + before->first, nr * sizeof(*queue->entries));
	queue->first = 0;
	queue->nr = nr + nr_kept;
}

struct fragment *
translate(const struct translation *translation, uint64_t origin, bool has_entry, struct rot_error *err)
{
	static struct work_in_progress work;
	static struct code_queue queue;
	struct code_cache *cache = translation->cache;
	const struct code_range *range = translate_find_range(translation, origin);
	struct foreseen_code *code = range && is_foreseen(range, origin) ? foreseen_code(cache, range) : NULL;

	if (code) {
		begin_work(&work, translation, MOST_AT_ONCE);
		work.foreseen_range = range;
		if (!make(&work, origin, has_entry, err))
			return NULL;
		work_off_foreseen(translation, code, range, MOST_AT_ONCE);
		return code_cache_find(cache, origin);
	}
	queue.entries[0] = (struct queued){origin, has_entry};
	queue.first = 0;
	queue.nr = 1;
	work_off(translation, &queue, MOST_AT_ONCE, err);
	put_in_front(&cache->ahead, &queue);
	cache->ahead.nr_to_make = MOST_AHEAD;
	return code_cache_find(cache, origin);
}

bool
translate_ahead(const struct translation *translation, unsigned nr)
{
	struct code_queue *ahead = &translation->cache->ahead;
	struct rot_error err;
	int nr_made;

	if (has_little_room(translation))
		return false;
	if (foresee_ahead(translation, nr))
		return true;
	nr_made = work_off(translation, ahead, nr < ahead->nr_to_make ? nr : ahead->nr_to_make, &err);
	if (nr_made < 0)
		return false;
	ahead->nr_to_make -= (uint32_t)nr_made;
	return ahead->first < ahead->nr && ahead->nr_to_make > 0;
}
