/* SPDX-License-Identifier: MIT */
/*
 * What was counted of a program's code, by where the code stands, until all of it is added up by function: memory that
 * had code is used for other code, and processes end, before the names of their code are known.
 */
#ifndef CORE_PARENT_PROFILE_COUNTED_CODE_H
#define CORE_PARENT_PROFILE_COUNTED_CODE_H

#include "PerfEventMeasurer.h"
#include "ProgramProfile.h"
#include "common/step_counts.h"
#include "parent/profile/spaces.h"
#include "parent/symbols/symbols.h"

struct counted_code;

struct counted_code *counted_code_new(void);

/* NULL is allowed. */
void counted_code_delete(struct counted_code *code);

/* As spaces_object_of. Object 0 is there from the beginning: it is not known what code that is. */
size_t counted_code_object(struct counted_code *code, pid_t pid, ino_t inode, const char *path);

/* offset: in the object's file. Where that is none, the address tells where it is. */
struct counted_at {
	size_t object;
	uint64_t offset, address;
};

/* Counts, negative where too much was added before; nr_begun: how often it was executed from there on. */
void counted_code_add(struct counted_code *code, const struct counted_at *where, uint64_t nr_begun,
		      const int64_t counts[STEP_NR_COUNTS]);

/* So much that was added where code is not known (object 0) was done there, unless there is less. */
void
counted_code_move(struct counted_code *code, const struct counted_at *where, const uint64_t counts[STEP_NR_COUNTS]);

/*
 * Adds all of it up: places with the counts of the measurer's events. Functions count as entered as often as they were
 * executed from their first instruction on. To be freed as a graph. files is borrowed.
 */
struct program_profile *counted_code_take(const struct counted_code *code, struct symbol_files *files,
					  const struct perf_event_measurer *measurer);

#endif
