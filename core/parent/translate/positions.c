/* SPDX-License-Identifier: MIT */
#include "parent/translate/positions.h"

#include <string.h>

#include "parent/stepping/effect.h"
#include "parent/translate/basic_block.h"
#include "parent/translate/edges.h"

#define POP_RCX 0x59
#define ADDRESS_BITS 48

static void
restore_saved(const struct code_cache *cache, int64_t area, struct user_regs_struct *registers)
{
	registers->rcx = code_cache_slot(cache, area, AREA_RCX);
	registers->rdx = code_cache_slot(cache, area, AREA_RDX);
}

/* The copied instruction would load a register, and has not. */
static void
restore_loaded(const struct code_cache *cache, int64_t area, const uint8_t *copy, struct user_regs_struct *registers)
{
	ZydisDecodedInstruction load;
	const int reg = zydis_decode(copy, INSTRUCTION_MAX_BYTES, &load, NULL) ? basic_block_loads_register(&load) : -1;

	if (reg >= 0)
		((unsigned long long *)registers)[effect_word((uint8_t)reg)] =
			code_cache_slot(cache, area, AREA_LOADED);
}

/* At a gap, or behind its int3. */
static bool
find_gap(const struct code_cache *cache, int64_t area, struct user_regs_struct *registers)
{
	const struct gap *gap = code_cache_gap_at(cache, registers->rip);

	if (!gap)
		gap = code_cache_gap_at(cache, registers->rip - 1);
	if (!gap || (gap->kind == GAP_EDGE && cache->edges[gap->fragment].kind < EDGE_STOP))
		return false;
	if (gap->kind == GAP_EDGE)
		registers->rcx = code_cache_slot(cache, area, AREA_RCX);
	registers->rip = gap->target;
	if (gap->kind == GAP_STALE) {
		restore_saved(cache, area, registers);
		registers->rip = cache->fragments[gap->fragment].origin;
	}
	return true;
}

static void
correct(struct code_cache *cache, struct fragment *fragment, uint32_t at, uint32_t origin,
	const struct user_regs_struct *registers, int64_t correction[STEP_NR_COUNTS])
{
	const struct contents before = contents_before(cache, fragment, origin);
	const struct contents *whole = contents_of(cache, fragment);
	const bool is_counted = at >= fragment->counted_at;

	if (fragment->is_ended)
		return;
	for (size_t i = 0; i < CONTENTS_NR_COUNTS; i++)
		correction[i] += (int64_t)before.counts[i] - (is_counted ? (int64_t)whole->counts[i] : 0);
	/* Turns of a repeated instruction that are still to come are taken off: they are counted when it goes on. */
	for (uint32_t i = 0; i < cache->nr_dynamics; i++) {
		const struct dynamic *dynamic = &cache->dynamics[i];

		if (dynamic->kind == DYNAMIC_TURNS && dynamic->origin == origin &&
		    &cache->fragments[dynamic->fragment] == fragment)
			contents_add_dynamic(cache, dynamic, -(int64_t)registers->rcx, correction);
	}
}

/* The end of a chain in the look-up table. */
static bool
is_at_miss(const struct arena *arena, const struct user_regs_struct *registers)
{
	return arena && registers->rip - arena->address <= 1;
}

bool
position_is_nowhere(const struct code_cache *cache, const struct user_regs_struct *registers)
{
	const int64_t target = (int64_t)registers->rcx;

	return is_at_miss(code_cache_arena_at(cache, registers->rip), registers) &&
	       target >> (ADDRESS_BITS - 1) != target >> 63;
}

struct fragment *
position_fragment(const struct code_cache *cache, int64_t area, const struct user_regs_struct *registers)
{
	uint64_t number;

	if (!position_is_nowhere(cache, registers))
		return code_cache_fragment_at(cache, registers->rip);
	number = code_cache_slot(cache, area, AREA_EXIT);
	return number < cache->nr_fragments ? &cache->fragments[number] : NULL;
}

/* How far the code of an indirect branch, from its last mark on, has moved the stack pointer. */
static uint64_t
popped_bytes(const uint8_t *code, const struct mark *mark)
{
	uint32_t nr = 0;

	if (mark->origin & MARK_SAVED) /* a call */
		return (uint64_t)-8;
	if (code[0] != POP_RCX)
		return 0;
	if (memcmp(code + 1, "\x48\x8d\xa4\x24", 4) == 0) /* lea rsp, [rsp + nr] */
		memcpy(&nr, code + 5, sizeof(nr));
	return 8 + (uint64_t)nr;
}

/* A target that has no entry. If it is no address, the processor would not have made the branch. */
static bool
find_miss(struct code_cache *cache, const struct arena *arena, int64_t area, struct user_regs_struct *registers,
	  int64_t correction[STEP_NR_COUNTS])
{
	struct fragment *fragment;
	const struct mark *mark;

	if (!is_at_miss(arena, registers))
		return false;
	fragment = position_fragment(cache, area, registers);
	registers->rip = registers->rcx;
	restore_saved(cache, area, registers);
	if (!fragment || fragment->nr_marks == 0)
		return true;
	mark = &cache->marks[fragment->marks + fragment->nr_marks - 1];
	registers->rsp -= popped_bytes(cache->arenas[fragment->arena].bytes + fragment->body + mark->at, mark);
	registers->rip = fragment->origin + (mark->origin & MARK_ORIGIN);
	correct(cache, fragment, fragment->end - fragment->body, mark->origin & MARK_ORIGIN, registers, correction);
	return true;
}

static bool
find_mark(struct code_cache *cache, int64_t area, bool is_fault, struct user_regs_struct *registers,
	  int64_t correction[STEP_NR_COUNTS])
{
	struct fragment *fragment = code_cache_fragment_at(cache, registers->rip);
	const uint32_t at = fragment ? (uint32_t)(registers->rip - fragment_address(cache, fragment)) : 0;
	const struct mark *found = NULL;

	if (!fragment)
		return false;
	if (fragment->is_dead && at <= 1) {
		registers->rip = fragment->origin;
		return true;
	}
	for (uint32_t i = 0; i < fragment->nr_marks; i++) {
		const struct mark *mark = &cache->marks[fragment->marks + i];

		if (mark->at == at && (is_fault || !(mark->origin & (MARK_SAVED | MARK_PASSED | MARK_LOADS))))
			found = mark;
	}
	if (!found)
		return false;
	if (found->origin & MARK_SAVED)
		restore_saved(cache, area, registers);
	registers->rip = fragment->origin + (found->origin & MARK_ORIGIN);
	if (found->origin & MARK_LOADS)
		restore_loaded(cache, area, cache->arenas[fragment->arena].bytes + fragment->body + at, registers);
	if (found->origin & MARK_AFTER_CALL)
		registers->rcx = registers->rip;
	correct(cache, fragment, at, found->origin & MARK_ORIGIN, registers, correction);
	return true;
}

enum position
position_find(struct code_cache *cache, int64_t area, bool is_fault, struct user_regs_struct *registers,
	      int64_t correction[STEP_NR_COUNTS])
{
	const struct arena *arena = code_cache_arena_at(cache, registers->rip);

	memset(correction, 0, STEP_NR_COUNTS * sizeof(*correction));
	if (!arena)
		return POSITION_ORIGINAL;
	return find_miss(cache, arena, area, registers, correction) || find_gap(cache, area, registers) ||
			       find_mark(cache, area, is_fault, registers, correction)
		       ? POSITION_FOUND
		       : POSITION_INSIDE;
}

uint64_t
position_behind_edges(const struct code_cache *cache, const struct fragment *fragment)
{
	uint32_t at = 0;

	for (uint32_t i = 0; !fragment->is_checked && i < fragment->nr_marks; i++) {
		const struct mark *mark = &cache->marks[fragment->marks + i];

		if (mark->origin & MARK_BEHIND)
			at = mark->at;
	}
	return fragment_address(cache, fragment) + at;
}
