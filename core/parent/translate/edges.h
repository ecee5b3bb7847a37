/* SPDX-License-Identifier: MIT */
/*
 * Edges: original addresses where threads enter and leave regions, or stop for somebody. A fragment begins at each of
 * them, and the code that is inserted there does what visits.c would do, without a stop: where a region begins or ends
 * for a thread that is not in it yet, or in it once, the thread goes to another bank of counters. In all other cases it
 * stops at a gap.
 */
#pragma once

#include "parent/breakpoints/breakpoints.h"
#include "parent/symbols/code.h"
#include "parent/symbols/frames.h"
#include "parent/translate/code_cache.h"
#include "parent/translate/emit.h"
#include "parent/translate/recording.h"

#define MAX_TRANSLATED_REGIONS 56

/*
 * region, rule, condition, is_team: as of struct region_point (regions.h), is_team of what begins
 * user: is told at an EDGE_STOP, each time or once; at an EDGE_CALL, where a function that allocates begins, if the
 *   address that it returns to is not known yet (translator_know_caller)
 * allocation: is recorded at an EDGE_CALL, and at an EDGE_RESULT, where such a function returns to
 * is_behind: of EDGE_BEGIN: the region begins behind the instruction, where it ended before
 */
enum edge_kind { EDGE_BEGIN, EDGE_END, EDGE_STOP, EDGE_CALL, EDGE_RESULT };
struct edge {
	uint64_t address;
	enum edge_kind kind;
	uint32_t region;
	enum frames_kind rule;
	uint8_t condition;
	bool is_team, is_behind, is_once, is_lifted;
	struct breakpoint_user user;
	struct site_allocation allocation;
};

/*
 * In an area, of each region: what translated code knows of the thread in it.
 * frame: ~ the stack pointer where it entered; 0: it is not inside
 * nr_inner: frames within that, by recursion
 * nr_free: how often it may still enter without a stop
 * nr_begins, nr_ends: how often it began, also within itself, and was left
 * is_team: the frame is of a part for a team; nr_team_begins: of those, among all; nr_team_ends: not in nr_ends
 */
struct visit {
	uint64_t frame, nr_inner, nr_free, nr_begins, nr_ends, is_team, nr_team_begins, nr_team_ends;
};
#define VISIT_AT(region) ((uint32_t)(AREA_VISITS + (region) * sizeof(struct visit)))
#define TOGGLE_AT(region) ((uint32_t)(AREA_TOGGLES + (region)*8))

/* The first edge at that address or behind it; UINT64_MAX: there is none. */
uint64_t edges_next(const struct code_cache *cache, uint64_t address);

/* Is there an edge at an address? ends: one stands behind its instruction, which then has a fragment of its own. */
struct edges_at {
	bool is_there, ends;
};
struct edges_at edges_at(const struct code_cache *cache, uint64_t address);

/*
 * Code of all edges at an address that stand before the instruction, or behind it. Edges that stop come first, since
 * a thread may begin anew there with other edges. sites: NULL: nothing is recorded.
 * It begins and ends with all registers the program's.
 */
void edges_emit(struct code_cache *cache, uint32_t arena, struct emitter *to, struct sites *sites, uint64_t address,
		bool are_behind);
