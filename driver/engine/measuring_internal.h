/* SPDX-License-Identifier: MIT */
/* The state that stays between two measurements: for measuring.c, performance.c and program_measuring.c only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/measuring.h"
#include "engine/program_files.h"

struct core_builder;
struct file_hashes;
struct result_cache;

struct measuring {
	struct result_cache *cache;
	struct core_builder *builder;
	struct file_hashes *files;
	struct file_list listed; /* of the last program, and what decides them */
	const char *listed_for;
	char **seen; /* description hashes that were measured in this process */
	size_t nr_seen;
	bool stops_at_missing, has_stopped; /* as of measuring_stop_at_missing */
	bool has_warned_of_tools;           /* that are missing, though results from the cache can be taken */
};

/*
 * Sets all that the user does not write: ids, which count from 1 within each kind, in walking order, so that the same
 * graph always gets the same ones; and for kernels the user's flags, which change what is measured.
 */
void measuring_complete(const struct rot *rot, const void *description);

/*
 * SHA-256 in hex of what decides how rot-core counts: its sources, so that neither where nor how it was compiled makes
 * another of it. Valid until the next file is hashed. NULL: it cannot be read.
 */
const char *measuring_parent_hash(struct rot *rot, struct rot_error *err);

/* Runs are missing: may they be measured? */
bool measuring_may_measure(struct measuring *measuring, struct rot_error *err);
