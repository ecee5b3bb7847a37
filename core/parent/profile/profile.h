/* SPDX-License-Identifier: MIT */
/* Where one run of a program spends its CPU time: samples, added up by function, its loops, and its callers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ProgramProfile.h"
#include "parent/profile/functions.h"
#include "parent/profile/parts.h"
#include "parent/symbols/symbols.h"

struct profile;

/* Nothing is sampled before profile_begin. files is borrowed. NULL profiles are allowed below: nothing is done. */
struct profile *profile_new(struct symbol_files *files, struct parts_wanted wanted);
void profile_delete(struct profile *profile);

/*
 * Like sampler_open, of a process that will execute the program of that path. If it is refused, profile_end tells that.
 */
void profile_begin(struct profile *profile, pid_t pid, const char *path, uint64_t period_ns, bool has_children,
		   bool has_stacks);

/* The descriptor that tells of full rings, -1: there is none; for a loop's source. */
int *profile_fd(struct profile *profile);
void profile_drain(struct profile *profile);

/* Stacks are sampled: profile_end can tell times of functions with all that they call. */
bool profile_has_stacks(const struct profile *profile);

/* Samples from that time on (clock_raw_ns), of which none was read yet, are told apart from those before: for a part of
 * the program that is watched from this epoch on. */
uint32_t profile_begin_epoch(struct profile *profile, uint64_t time_ns);

/*
 * The program has ended: what was found out, with nr parts that were watched; to be freed as a graph; NULL: never
 * begun.
 */
struct program_profile *profile_end(struct profile *profile, const struct watched *watched, size_t nr);
