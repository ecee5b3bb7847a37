/* SPDX-License-Identifier: MIT */
/*
 * Counts of a program's code, by where the code stands, until all of it is added up by function: memory that had code
 * is used for other code, and processes end, before the names of their code are known.
 */
#pragma once

#include "PerfEventMeasurer.h"
#include "ProgramProfile.h"
#include "common/step_counts.h"
#include "parent/profile/parts.h"
#include "parent/profile/spaces.h"
#include "parent/symbols/symbols.h"

struct counted_code;

struct counted_code *counted_code_new(void);

/* NULL is allowed. */
void counted_code_delete(struct counted_code *code);

/* Like spaces_object_of. Object 0 is there from the beginning: it is not known what code that is. */
size_t counted_code_object(struct counted_code *code, pid_t pid, ino_t inode, const char *path);

/*
 * offset: in the object's file. Where that is none, the address tells where it is. nr_bytes: of code that is executed
 * from there to its end; 0: what is counted is of the instruction there alone, and not how often it is executed
 */
struct counted_at {
	size_t object;
	uint64_t offset, address;
	uint32_t nr_bytes;
};

/* The object of that number. It lives as long as the code. */
const struct code_object *counted_code_described(const struct counted_code *code, size_t object);

/* Counts, negative where too much was added before, as nr_begun: how often its code was executed. */
void counted_code_add(struct counted_code *code, const struct counted_at *where, int64_t nr_begun,
		      const int64_t counts[STEP_NR_COUNTS]);

/* So much that was added where code is not known (object 0) was done there, unless there is less. */
void
counted_code_move(struct counted_code *code, const struct counted_at *where, const uint64_t counts[STEP_NR_COUNTS]);

/*
 * Adds all of it up: places with the counts of the measurer's events. Functions count as entered as often as they were
 * executed from their first instruction on. To be freed as a graph. files is borrowed. count: as of
 * parts.h.
 */
struct program_profile *
counted_code_take(const struct counted_code *code, struct symbol_files *files,
		  const struct perf_event_measurer *measurer, code_counts count, struct parts_wanted wanted);
