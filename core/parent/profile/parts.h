/* SPDX-License-Identifier: MIT */
/* The parts of one function: its loops, and its source lines, with what was found or counted in each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "PerfEventMeasurer.h"
#include "ProgramPlace.h"
#include "common/step_counts.h"
#include "parent/profile/chain.h"
#include "parent/symbols/symbols.h"

/* Counts of so many bytes of code each time that they are executed, but for what depends on values or addresses. */
typedef void (*code_counts)(const uint8_t *bytes, size_t nr_bytes, int64_t counts[STEP_NR_COUNTS]);

/*
 * Found at an address of code: samples, of one thread; or what the nr_bytes from there on did, each time from their
 * first to their last, nr_begun times (less than 0: so often less than was told before). nr_bytes 0: counts
 * alone, of the instruction there. counts: NULL with samples. nr_bytes from FOUND_TRIPS on: of the branch there, which
 * is the last of the turns of a loop, so often the loop was left after 1 turn, 2 or 3, 4 to 7, ...
 */
#define FOUND_TRIPS 0x80000000U
#define FOUND_NR_TRIPS 20
struct found {
	uint64_t samples;
	uint32_t tid, nr_bytes;
	int64_t nr_begun;
	const int64_t *counts;
};

/* has_lines: source lines are asked for, too. of_all: also those of functions that have little of the whole */
struct parts_wanted {
	bool has_lines, of_all;
};

struct parts;

/* The parts of a function (place) in file. NULL: its code cannot be read. has_lines: lines are asked for. */
struct parts *parts_new(struct symbol_file *file, const struct program_place *place, bool has_lines);
void parts_delete(struct parts *parts);

/* address: link-time, in the function. count: for code that belongs to several parts; NULL with samples. */
void parts_add(struct parts *parts, uint64_t address, const struct found *found, code_counts count);

/*
 * Gives them to the place. measurer: of the events that are counted; NULL: samples. with_source: with source lines.
 * latencies: for the chains of innermost loops that were counted; NULL: they are not asked for.
 */
void parts_take(struct parts *parts, struct program_place *place, const struct perf_event_measurer *measurer,
		bool with_source, const struct chain_latencies *latencies);

/* The header of the innermost loop that an address of the function is in, as of ProgramPart; 0: it is in none. */
uint64_t parts_header_at(const struct parts *parts, uint64_t address);

/* The loop of that header, with its source lines and nothing that was found; to be deleted. */
struct program_part *parts_describe(struct parts *parts, uint64_t header);

/* Adds counts of the measurer's events to a list of them. */
void part_counts_add(struct rot_list *list, const struct perf_event_measurer *measurer,
		     const int64_t counts[STEP_NR_COUNTS]);
