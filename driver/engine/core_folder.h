/* SPDX-License-Identifier: MIT */
/* Build folders: the files that rot writes for core/core.mk, what a core was made of, and which folders go. */
#pragma once

#include <stddef.h>

#include "base/pool.h"
#include "engine/core_description.h"
#include "engine/sha256.h"
#include "error.h"

struct rot;

/*
 * Writes settings.mk and generated/, touching only what changes. ccache: its path, or "". Paths that make cannot take
 * are reached through links/ in the folder.
 */
int core_folder_write(const char *folder, const struct rot *rot, const struct core_description *description,
		      const char *ccache, struct rot_error *err);

/*
 * Makes folder a copy of the built folder from (objects and generated files with their times, not the core itself), all
 * or nothing; whether that worked does not matter to the caller.
 */
void core_folder_seed(const char *folder, const char *from);

/* ---- what is not used any more ---- */

/* Marks a build folder as used now. */
void core_touch(const char *folder);

/*
 * Removes what was not used for the longest time from folder, until nr_kept are left. mark: name of the file in each
 * that tells by its time when it was used; NULL: they are files, which do so themselves.
 */
void prune(const char *folder, const char *mark, size_t nr_kept);

/* ---- what a core was made of ---- */

struct core_state {
	struct pool pool;           /* of the texts                                        */
	char hash[SHA256_HEX_SIZE]; /* of the child binary                                 */
	char *compiler;             /* first line of its --version                         */
	char **compile_lines;       /* final compile line of each source, NULL-terminated  */
};

enum core_freshness {
	CORE_ABSENT,  /* no complete core                                               */
	CORE_CHANGED, /* the child or a file it was made from is not what it was        */
	CORE_FRESH,
};

/* Reads and checks. The state is filled when CORE_FRESH. */
enum core_freshness core_state_read(const char *folder, struct core_state *state);

/* After make: hashes the child, collects compile lines and dependencies, and writes the file. Takes compiler (not
 * kept). */
int core_state_write(const char *folder, const char *compiler, struct core_state *state, struct rot_error *err);

void core_state_clear(struct core_state *state);
