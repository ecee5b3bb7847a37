/* SPDX-License-Identifier: MIT */
#include "parent/translate/edges.h"

#include <stddef.h>
#include <sys/auxv.h>

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE 2
#endif

uint64_t
edges_next(const struct code_cache *cache, uint64_t address)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < cache->nr_edges; i++) {
		const struct edge *edge = &cache->edges[i];

		if (!edge->is_lifted && edge->address >= address && edge->address < next)
			next = edge->address;
	}
	return next;
}

static bool
is_behind(const struct edge *edge)
{
	return edge->kind == EDGE_END || edge->is_behind;
}

struct edges_at
edges_at(const struct code_cache *cache, uint64_t address)
{
	struct edges_at at = {false, false};

	for (uint32_t i = 0; i < cache->nr_edges; i++) {
		const struct edge *edge = &cache->edges[i];

		if (edge->is_lifted || edge->address != address)
			continue;
		at.is_there = true;
		at.ends |= is_behind(edge);
	}
	return at;
}

/* The code needs instructions that change a gs base, and that shift without changing flags. */
static bool
can_go_on(void)
{
	return (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) && __builtin_cpu_supports("bmi2");
}

/* ---- code ---- */

/*
 * The code of one edge: jumps to its end and to its gap are set when these are there. rcx is saved, and changed.
 */
#define MOST_JUMPS 8
struct edge_code {
	struct emitter *to;
	uint32_t visit, toggle;
	uint32_t to_gap[MOST_JUMPS], to_end[MOST_JUMPS];
	unsigned nr_to_gap, nr_to_end;
};

/* jmp; the place of its distance */
static uint32_t
emit_long(struct emitter *to)
{
	emit_8(to, 0xe9);
	emit_32(to, 0);
	return to->at;
}

static void
set_distance(struct emitter *to, uint32_t jump, uint32_t target)
{
	const uint32_t distance = target - jump;

	memcpy(to->bytes + jump - 4, &distance, sizeof(distance));
}

static void
stop(struct edge_code *code)
{
	code->to_gap[code->nr_to_gap++] = emit_long(code->to);
}

static void
finish(struct edge_code *code)
{
	code->to_end[code->nr_to_end++] = emit_long(code->to);
}

/* To the gap if rcx is 0. */
static void
stop_if_zero(struct edge_code *code)
{
	uint32_t over;

	EMIT(code->to, JRCXZ, 0x02); /* to the jmp */
	over = emit_short(code->to, JMP);
	stop(code);
	land(code->to, over);
}

#define FIELD(code, field) ((code)->visit + (uint32_t)offsetof(struct visit, field))

/* rcx = rcx + 1, or - 1 */
static void
emit_step(struct emitter *to, int by)
{
	EMIT(to, 0x48, 0x8d, 0x49); /* lea rcx, [rcx + by] */
	emit_8(to, (uint8_t)by);
}

static void
emit_increment(struct emitter *to, uint32_t offset)
{
	emit_load(to, RCX, offset);
	emit_step(to, 1);
	emit_save(to, RCX, offset);
}

static void
emit_count_begin(struct edge_code *code, const struct edge *edge)
{
	emit_increment(code->to, FIELD(code, nr_begins));
	if (edge->is_team)
		emit_increment(code->to, FIELD(code, nr_team_begins));
}

/* lea rcx, [rcx + rsp + n]: with the frame in rcx, the stack pointer less that of the frame, less 1, plus n */
static void
emit_distance(struct emitter *to, uint32_t n)
{
	EMIT(to, 0x48, 0x8d, 0x8c, 0x0c);
	emit_32(to, n);
}

/* Goes to the other bank, which a frame of the stream tells; the program's rcx is in its slot before and afterwards. */
static void
emit_toggle(struct edge_code *code, const struct sites *sites, uint32_t site)
{
	struct emitter *to = code->to;

	emit_save(to, RDX, AREA_RDX);
	emit_load(to, RDX, code->toggle);
	if (sites) {
		emit_load(to, RCX, AREA_RCX);
		recording_emit(to, sites, site);
	}
	EMIT(to, 0xf3, 0x48, 0x0f, 0xae, 0xda); /* wrgsbase rdx */
	emit_load(to, RDX, AREA_RDX);
}

/* The thread is not inside, and enters if it may without a stop. */
static void
emit_enter(struct edge_code *code, const struct edge *edge, const struct sites *sites, uint32_t site)
{
	struct emitter *to = code->to;

	emit_load(to, RCX, code->toggle);
	stop_if_zero(code);
	emit_load(to, RCX, FIELD(code, nr_free));
	stop_if_zero(code);
	emit_step(to, -1);
	emit_save(to, RCX, FIELD(code, nr_free));
	EMIT(to, 0x48, 0x89, 0xe1, 0x48, 0xf7, 0xd1); /* mov rcx, rsp; not rcx */
	emit_save(to, RCX, FIELD(code, frame));
	emit_set(to, FIELD(code, is_team), edge->is_team);
	emit_count_begin(code, edge);
	emit_toggle(code, sites, site);
}

/* A thread that is inside already begins an inner frame, if that is deeper than the one that is there. */
static void
emit_begin(struct edge_code *code, const struct edge *edge, const struct sites *sites, uint32_t site)
{
	struct emitter *to = code->to;
	uint32_t outside, inner;

	emit_load(to, RCX, FIELD(code, frame));
	outside = emit_short(to, JRCXZ);
	if (edge->rule == FRAMES_LOOP) {
		emit_distance(to, 1);
	} else {
		emit_distance(to, (uint32_t)FRAMES_STACK_BYTES + 1);
		/* rorx rcx, rcx, log2(FRAMES_STACK_BYTES); mov ecx, ecx */
		EMIT(to, 0xc4, 0xe3, 0xfb, 0xf0, 0xc9, 26, 0x89, 0xc9);
	}
	inner = emit_short(to, JRCXZ);
	stop(code);
	land(to, inner);
	if (edge->rule != FRAMES_LOOP) {
		emit_increment(to, FIELD(code, nr_inner));
		emit_count_begin(code, edge);
	}
	finish(code);
	land(to, outside);
	emit_enter(code, edge, sites, site);
}

static void
emit_leave(struct edge_code *code, const struct sites *sites, uint32_t site)
{
	struct emitter *to = code->to;
	uint32_t is_plain, is_counted;

	emit_load(to, RCX, code->toggle);
	stop_if_zero(code);
	emit_set(to, FIELD(code, frame), 0);
	emit_load(to, RCX, FIELD(code, is_team));
	is_plain = emit_short(to, JRCXZ);
	emit_increment(to, FIELD(code, nr_team_ends));
	is_counted = emit_short(to, JMP);
	land(to, is_plain);
	emit_increment(to, FIELD(code, nr_ends));
	land(to, is_counted);
	emit_toggle(code, sites, site);
}

/* An end with another stack pointer is that of an inner frame; of a span without inner frames it ends the only one. */
static void
emit_end(struct edge_code *code, const struct edge *edge, const struct sites *sites, uint32_t site)
{
	struct emitter *to = code->to;
	uint32_t inside, same, has_none, ends_span = 0;

	emit_load(to, RCX, FIELD(code, frame));
	EMIT(to, JRCXZ, 0x02); /* over the next jump */
	inside = emit_short(to, JMP);
	finish(code);
	land(to, inside);
	emit_distance(to, 1);
	same = emit_short(to, JRCXZ);
	if (edge->rule == FRAMES_LOOP) {
		stop(code);
	} else {
		emit_load(to, RCX, FIELD(code, nr_inner));
		ends_span = emit_short(to, JRCXZ);
		emit_step(to, -1);
		emit_save(to, RCX, FIELD(code, nr_inner));
		if (edge->rule == FRAMES_FUNCTION)
			land(to, ends_span);
		finish(code);
	}
	land(to, same);
	emit_load(to, RCX, FIELD(code, nr_inner));
	has_none = emit_short(to, JRCXZ);
	stop(code);
	land(to, has_none);
	if (edge->rule == FRAMES_SPAN)
		land(to, ends_span);
	emit_leave(code, sites, site);
}

/* Goes past the whole code where the branch at an edge does not jump. Returns where that distance stands, or 0. */
static uint32_t
emit_condition(struct emitter *to, uint8_t condition)
{
	if (condition == CODE_ALWAYS || condition > 0xf)
		return 0;
	EMIT(to, 0x0f); /* jcc with the opposite condition */
	emit_8(to, 0x80 | (condition ^ 1));
	emit_32(to, 0);
	return to->at;
}

/*
 * A call that allocates, or its result, is recorded. The thread stops before that where the return address is not
 * known: then *recording is where it goes on. Flags change; no function expects any where it begins.
 */
static void
emit_allocation(struct edge_code *code, const struct code_cache *cache, const struct edge *edge, struct sites *sites,
		uint32_t *recording)
{
	const bool is_call = edge->kind == EDGE_CALL;
	const uint32_t site = recording_allocation_site(sites, is_call, &edge->allocation);
	struct emitter *to = code->to;
	uint32_t known;

	if (is_call) {
		EMIT(to, 0x0f, 0xb7, 0x0c, 0x24); /* movzx ecx, word [rsp] */
		EMIT(to, 0x8b, 0x0c, 0x8d);       /* mov ecx, [4 * rcx + table] */
		emit_32(to, (uint32_t)cache->low_address + LOW_CALLERS);
		EMIT(to, 0x33, 0x4c, 0x24, 0x02); /* xor ecx, [rsp + 2] */
		known = emit_short(to, JRCXZ);
		EMIT(to, 0x0f, 0xb7, 0x0c, 0x24, 0x0f, 0xb6, 0x89); /* likewise; movzx ecx, byte [rcx + table] */
		emit_32(to, (uint32_t)cache->low_address + LOW_SETTLED);
		stop_if_zero(code);
		land(to, known);
	}
	emit_load(to, RCX, AREA_RCX);
	*recording = to->at;
	if (site != UINT32_MAX)
		recording_emit(to, sites, site);
}

static void
emit_edge(struct code_cache *cache, uint32_t arena, struct emitter *to, struct sites *sites, uint32_t number)
{
	const struct edge *edge = &cache->edges[number];
	struct edge_code code = {.to = to, .visit = VISIT_AT(edge->region), .toggle = TOGGLE_AT(edge->region)};
	const uint32_t past = emit_condition(to, edge->condition);
	const uint32_t site = sites && edge->kind < EDGE_STOP ? recording_bank_site(sites) : 0;
	uint32_t end, gap, recording = 0;

	emit_save(to, RCX, AREA_RCX);
	if (edge->kind > EDGE_STOP)
		emit_allocation(&code, cache, edge, sites, &recording);
	else if (edge->kind == EDGE_STOP || site == UINT32_MAX || !can_go_on() ||
		 (edge->condition > 0xf && edge->condition != CODE_ALWAYS))
		stop(&code);
	else if (edge->kind == EDGE_BEGIN)
		emit_begin(&code, edge, sites, site);
	else
		emit_end(&code, edge, sites, site);
	end = to->at;
	emit_load(to, RCX, AREA_RCX);
	if (past)
		set_distance(to, past, to->at);
	gap = code_cache_add_gap(cache, arena,
				 &(struct gap){.kind = GAP_EDGE,
					       .target = edge->address,
					       .site = recording ? recording : end,
					       .fragment = number});
	for (unsigned i = 0; i < code.nr_to_gap; i++)
		set_distance(to, code.to_gap[i], gap);
	for (unsigned i = 0; i < code.nr_to_end; i++)
		set_distance(to, code.to_end[i], end);
}

void
edges_emit(struct code_cache *cache, uint32_t arena, struct emitter *to, struct sites *sites, uint64_t address,
	   bool are_behind)
{
	for (uint32_t i = 0; i < 2 * cache->nr_edges; i++) {
		const uint32_t number = i % cache->nr_edges;
		const struct edge *edge = &cache->edges[number];
		const bool is_first = i < cache->nr_edges;

		if (!edge->is_lifted && edge->address == address && is_behind(edge) == are_behind &&
		    (edge->kind == EDGE_STOP) == is_first)
			emit_edge(cache, arena, to, sites, number);
	}
}
