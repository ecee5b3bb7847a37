/* SPDX-License-Identifier: MIT */
/* What blocks did, from the registers before and after them, added to the counts of a region. */
#ifndef CORE_PARENT_STEPPING_REPLAY_H
#define CORE_PARENT_STEPPING_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "parent/stepping/block.h"
#include "parent/stepping/cache_model.h"

/* The thread that executes them, and what its region is counted with. All borrowed. */
struct replay {
	struct step_region *region;
	struct cache_model *caches;
	pid_t tid;
};

/* Turns of a loop that are still to be added: nr, the first with these registers. */
struct replay_rest {
	uint64_t nr;
	struct user_regs_struct registers;
};

/* A block that the stopped thread is about to execute with these registers. */
void replay_begin(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers);

/*
 * It has executed it, and had these registers before and has those now. False: how often it did does not follow. Of a
 * loop with many turns there is a rest, which replay_some makes smaller, until none is left.
 */
bool replay_end(const struct replay *replay, const struct block *block, const struct user_regs_struct *before,
		const struct user_regs_struct *after, struct replay_rest *rest);
void replay_some(const struct replay *replay, const struct block *block, struct replay_rest *rest);

/* The branch that ends a BLOCK_BRANCH, with the registers before it. */
void replay_branch(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers);

#endif
