/* SPDX-License-Identifier: MIT */
/* Where a thread that executes translated code would be in the original. */
#pragma once

#include <sys/user.h>

#include "parent/translate/contents.h"

enum position {
	POSITION_ORIGINAL, /* it executes original code, or none                                    */
	POSITION_FOUND,    /* registers are what they would be without translation                  */
	POSITION_INSIDE,   /* it is within inserted code: a few steps further it will be at a mark  */
};

/*
 * Makes the registers of a stopped thread what they would be; they are untouched unless it is FOUND.
 * correction: to be added to its counts, since the fragment that it is in has been counted as a whole, or not yet
 * is_fault: the processor raised a signal for the instruction that it stands at
 */
enum position position_find(struct code_cache *cache, int64_t area, bool is_fault, struct user_regs_struct *registers,
			    int64_t correction[STEP_NR_COUNTS]);

/* The thread has looked up the target of an indirect branch, and that is no address: it is in front of the branch. */
bool position_is_nowhere(const struct code_cache *cache, const struct user_regs_struct *registers);

/* The fragment that a thread is in, or whose branch leads nowhere; NULL: it is in none. */
struct fragment *
position_fragment(const struct code_cache *cache, int64_t area, const struct user_regs_struct *registers);

/*
 * Where a thread goes on that was taken away from the instruction at which the fragment begins, behind the edges there:
 * it is counted once more, as far as that was taken back. Edges of code that may have changed are passed again.
 */
uint64_t position_behind_edges(const struct code_cache *cache, const struct fragment *fragment);
