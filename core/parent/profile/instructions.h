/* SPDX-License-Identifier: MIT */
/* The instructions of one function, with what was found or counted at each. */
#pragma once

#include <stdint.h>

#include "PerfEventMeasurer.h"
#include "ProgramPlace.h"
#include "parent/profile/parts.h"
#include "parent/symbols/symbols.h"

struct instructions;

/* NULL: its code cannot be read. The place is borrowed. */
struct instructions *instructions_new(struct symbol_file *file, const struct program_place *place);
void instructions_delete(struct instructions *instructions);

/*
 * Adds what parts_add does, by instruction. Where code goes on behind the function, only what the function has of it is
 * taken.
 */
void
instructions_add(struct instructions *instructions, uint64_t address, const struct found *found, code_counts count);

/* Gives them to the place, with the hash of its code. measurer: as of parts_take. */
void instructions_take(const struct instructions *instructions, struct program_place *place,
		       const struct perf_event_measurer *measurer);
