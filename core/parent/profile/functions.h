/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program, and code that is in none: a ProgramPlace each, found by where code stands in a file, with
 * what is added up for it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "ProgramProfile.h"
#include "SampledRegion.h"
#include "parent/profile/parts.h"
#include "parent/profile/spaces.h"
#include "parent/profile/stacks.h"
#include "parent/symbols/symbols.h"

struct functions;

/*
 * files is borrowed. measurer: of the events that are counted, with what code counts for (parts.h); NULL: samples are
 * added.
 */
struct functions *functions_new(struct symbol_files *files, const struct perf_event_measurer *measurer,
				code_counts count, struct parts_wanted wanted);

/* With places that were not taken. */
void functions_delete(struct functions *functions);

/*
 * Adds to the function that the code at that offset of an object is in (code_position), and to its parts. One without a
 * name has the address and size that its frame tells; of code without either, and of a file that cannot be read or is
 * another one by now (inode), there is one place for all of it, as of what is no file. A function counts as entered
 * where code was begun at its first instruction. found->counts is borrowed until all places are taken.
 */
void functions_add(struct functions *functions, const struct code_object *object, uint64_t offset,
		   const struct found *found);

/* Adds samples to the functions that they are in, and to the totals of those that called them. */
void functions_add_stacks(struct functions *functions, const struct stacks *stacks, const struct spaces *spaces);

/*
 * A part of a program: functions that begin, or stand, at one of nr places (inode and offset in a file). It is looked
 * at from an epoch on (stacks_begin).
 */
struct watched_place {
	ino_t inode;
	uint64_t file_offset;
};

struct watched {
	size_t region; /* for whoever watches it */
	const char *name;
	uint32_t epoch;
	struct watched_place *places;
	size_t nr_places;
};

/* How often a thread was in it since, or in what it called. Free it as an entity. */
struct sampled_region *functions_watch(struct functions *functions, const struct stacks *stacks,
				       const struct spaces *spaces, const struct watched *watched);

/*
 * Hands all places over to the profile, those with most samples first; with source lines, unless they have few (or
 * few instructions, where these were counted). Functions with few instructions have no parts either.
 */
void functions_take(struct functions *functions, struct program_profile *profile);
