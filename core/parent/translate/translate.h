/* SPDX-License-Identifier: MIT */
/*
 * Translation of original code into fragments of the code cache. Instructions are copied as they are, but for addresses
 * relative to themselves; each basic block counts itself; branches lead to translated code, or to a gap. What the
 * program sees stays as it was: calls push original addresses, and all registers are its own at each mark.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "parent/translate/code_cache.h"
#include "parent/translate/foreseen.h"

/*
 * Executable memory of a process. offset, name: in its file, and the last part of that one's path, or as much of it.
 * may_change: it can be written, or is of no file: its fragments check themselves.
 * object: of the code, where functions are counted (profile/counted_code.h); 0: not known
 * foreseen: what is known of its file; NULL: nothing can be.
 */
struct code_range {
	uint64_t start, end, offset;
	struct foreseen_file *foreseen;
	char name[48];
	bool may_change;
	uint32_t object;
};

/* Code is translated for a thread. tid: as of code_cache_read. sites: of what is recorded; NULL: nothing is. */
struct translation {
	struct code_cache *cache;
	pid_t tid;
	long options;
	const struct code_range *ranges;
	size_t nr_ranges;
	struct sites *sites;
	bool counts_trips; /* how many turns loops make before they are left */
};

/*
 * The fragment of that address, and others: some of what its file foresees, if the address is among that, else of the
 * code that it leads to directly. The rest is left to translate_ahead.
 * What is there already is not made again.
 * has_entry: it can be looked up by indirect branches. NULL: there is no code, or (err is set) no room for it.
 */
struct fragment *
translate(const struct translation *translation, uint64_t origin, bool has_entry, struct rot_error *err);

/*
 * Makes up to nr fragments of what is foreseen, then of what the last calls have left, while the process runs
 * (CODE_CACHE_RUNNING). True: there is more.
 */
bool translate_ahead(const struct translation *translation, unsigned nr);

/* The executable memory that has that address; NULL: none. */
const struct code_range *translate_find_range(const struct translation *translation, uint64_t address);
