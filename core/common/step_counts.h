/* SPDX-License-Identifier: MIT */
/*
 * Counts of a region that the parent translates (parent/translate/): exact where they say what instructions do, a
 * model where they say what caches do with it.
 *
 * Such a region is an ordinary one for the child: it asks for it by executing the instruction at begin, and ends it by
 * coming to the one at end, both with the address of a struct step_region in rdi. Both are int3, which only the parent
 * answers; whoever executes them must know that it does (WIRE_STEP).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "StepMeasurer.h"
#include "error.h"

/* The end lies so many bytes behind the begin. */
#define STEP_END_OFFSET 2

/*
 * Operations: additions, subtractions, multiplications, divisions and square roots; a fused multiply-add is 2; a masked
 * lane that is not computed is none. Comparisons, minima, conversions and approximations are no operations. A vector
 * instruction is packed, whatever its width. Masked operations are those of both precisions that masked lanes would
 * have done. flop256 and flop512 are the packed operations in vectors of 256 and 512 bits, divisions those that are
 * divisions or square roots, all of both precisions. Integer operations are additions, subtractions, multiplications
 * and divisions of any width, also of loop counters; a sum of products is all of its products and additions.
 *
 * Integer divisions are those among the integer operations. Conversions are numbers that become floating-point numbers
 * of another precision, or were or become integers (CVT...), of masked lanes as well.
 *
 * Bytes: what instructions load and store, also by push, call and the like; of masked ones the active lanes. Gathered
 * ones are those among them that gathers and scatters access, each element at an address of its own.
 *
 * Lines: of the modelled caches (parent/stepping/cache_model.h), which are empty when the first region begins; of other
 * sizes than STEP_LINE_BYTES as many as have the same bytes. Split accesses are those of up to 64 bytes that go from
 * one of their lines to the next, of repeated string instructions none.
 */
#define STEP_COUNTS(X)                                                                                                 \
	X(INSTRUCTIONS, "instructions")                                                                                \
	X(SCALAR_DOUBLE, "scalarDouble")                                                                               \
	X(PACKED_DOUBLE, "packedDouble")                                                                               \
	X(SCALAR_SINGLE, "scalarSingle")                                                                               \
	X(PACKED_SINGLE, "packedSingle")                                                                               \
	X(X87, "x87")                                                                                                  \
	X(MASKED_FLOP, "maskedFlop")                                                                                   \
	X(SCALAR_INTEGER, "scalarInteger")                                                                             \
	X(PACKED_INTEGER, "packedInteger")                                                                             \
	X(FLOP_256, "flop256")                                                                                         \
	X(FLOP_512, "flop512")                                                                                         \
	X(DIVISIONS, "divisions")                                                                                      \
	X(INTEGER_DIVISIONS, "integerDivisions")                                                                       \
	X(CONVERSIONS, "conversions")                                                                                  \
	X(GATHERED_BYTES, "gatheredBytes")                                                                             \
	X(LOADED_BYTES, "loadedBytes")                                                                                 \
	X(STORED_BYTES, "storedBytes")                                                                                 \
	X(L1_FILLS, "l1Fills")                                                                                         \
	X(L1_WRITE_BACKS, "l1WriteBacks")                                                                              \
	X(L2_FILLS, "l2Fills")                                                                                         \
	X(L2_WRITE_BACKS, "l2WriteBacks")                                                                              \
	X(MEMORY_READS, "memoryReads")                                                                                 \
	X(MEMORY_WRITES, "memoryWrites")                                                                               \
	X(SPLIT_ACCESSES, "splitAccesses")                                                                             \
	X(TLB_MISSES, "tlbMisses")

#define STEP_COUNT_NUMBER(name, text) STEP_##name,
enum step_count { STEP_COUNTS(STEP_COUNT_NUMBER) STEP_NR_COUNTS };
#undef STEP_COUNT_NUMBER

#define STEP_LINE_BYTES 64

/* The caches that are modelled, from the one next to the core. bytes 0: there is none of that level. */
#define STEP_NR_LEVELS 3
struct step_level {
	uint64_t bytes, ways;
};

/* The line of a full set that is replaced. */
#define STEP_POLICIES "lru", "fifo", "random", "plru"

/* A TLB. entries: at most STEP_TLB_MOST; 0: as many as usual, for usual pages. ways: of each set; 0: there is one set.
 */
#define STEP_TLB_MOST 4096
struct step_tlb {
	uint64_t entries, ways, page_bytes;
};

/*
 * All that is modelled, each by level: policies by their places in STEP_POLICIES; line_bytes; are_shared: 1: one for
 * all threads, else each has its own.
 */
struct step_caches {
	struct step_tlb tlb;
	struct step_level levels[STEP_NR_LEVELS];
	uint64_t policies[STEP_NR_LEVELS], line_bytes[STEP_NR_LEVELS], are_shared[STEP_NR_LEVELS];
};

/* Why a region went on by itself, uncounted. */
enum step_cut {
	STEP_WHOLE,      /* it did not                                          */
	STEP_CUT_MEMORY, /* the memory of the process cannot be read and written */
	STEP_NR_CUTS
};

/* The longest name of an instruction, with the 0 behind it. */
#define STEP_NAME_BYTES 24

/*
 * The child says how it is to be counted:
 *   caches: that are modelled
 *   of_all: with all other threads of the process but its main one
 *   has_lines, has_pages: lines of caches are asked for, and translations of addresses
 *   goes_on: the thread's next region at this address adds to counts, and finds the caches as they are then; unless
 *     this one is cut
 *
 * The parent says what came of it:
 *   counts: of all that was followed
 *   cut, cut_errno: enum step_cut, and what the system said
 *   nr_unknown: instructions of which it is not known what they do (parent/stepping/work.h): they are counted as
 *     instructions alone, so that operations, bytes and lines may be too few
 *   unknown_at, unknown_name: the first of them, as "xsaveopt"
 */
struct step_region {
	struct step_caches caches;
	uint64_t of_all, goes_on, has_lines, has_pages;
	uint64_t counts[STEP_NR_COUNTS];
	uint64_t cut, cut_errno;
	uint64_t nr_unknown, unknown_at;
	char unknown_name[STEP_NAME_BYTES];
};

/* The fate of a region that was cut, as the end of a sentence about it: "cannot be ...". Fresh memory. */
char *step_cut_text(const struct step_region *region);

/* The word of StepMeasurerOutput. */
const char *step_cut_name(enum step_cut cut);

/* Events are STEP_COUNTS behind "step::". -1: one is not. */
int step_counts_check(const struct perf_event_measurer *measurer, struct rot_error *err);

/* The meaning of an event of a measurer that was checked. */
uint64_t
step_counts_of_event(const struct perf_event_measurer *measurer, size_t event, const uint64_t counts[STEP_NR_COUNTS]);

/* The caches that the measurer describes. */
struct step_caches step_caches_of(const struct step_measurer *measurer);

/* A region as the measurer wants it, nothing counted yet. */
struct step_region step_region_of(const struct step_measurer *measurer);

/* Adds what another thread did. What cut that one cuts the whole. */
void step_region_add(struct step_region *region, const struct step_region *other);
