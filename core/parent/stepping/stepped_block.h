/* SPDX-License-Identifier: MIT */
/*
 * A stepped thread on its way from block to block. registers: of the stopped thread, and what it is to go on with;
 * nothing is written to it but by stepped_let_run.
 */
#ifndef CORE_PARENT_STEPPING_STEPPED_BLOCK_H
#define CORE_PARENT_STEPPING_STEPPED_BLOCK_H

#include "parent/stepping/code_table.h"
#include "parent/stepping/stepped.h"

/* The thread is between two blocks: it has come to the end of its region, or to a limit. */
bool stepped_is_over(struct stepped *stepped, const struct user_regs_struct *registers);

/* The thread is between two blocks; so it is afterwards, before one that is to be executed. */
enum step_cut stepped_do_branches(struct code_table *code, struct stepped *stepped, struct user_regs_struct *registers);

/* The block that begins there is what the thread will execute. It is counted as far as that is known before. */
void stepped_begin_block(struct code_table *code, struct stepped *stepped, const struct user_regs_struct *registers);

/* Lets it execute its block, as far as it has not yet. False: a trap cannot be set, or the thread is gone. */
bool stepped_let_run(struct code_table *code, struct stepped *stepped);

/*
 * Waits for the stop at the end of the block, and takes it; a little where it may take long. False: the loop will tell,
 * of that or of something else.
 */
bool stepped_await_end(const struct stepped *stepped, struct user_regs_struct *registers);

/* The thread has met a trap: is it the one at the end of its block? A handler of a signal that executes the same code
 * has another stack pointer. */
bool stepped_is_at_end(const struct stepped *stepped, const struct user_regs_struct *registers);

/*
 * The thread has come to the end of its block, and is where it would be without us. It still has the block if many of
 * its turns are still to be counted: then this is to be called again, but others may have waited long enough.
 */
enum step_cut stepped_leave_block(struct code_table *code, struct stepped *stepped, struct user_regs_struct *registers);

/* The thread has no block any more, wherever it is in it; turns that were executed are counted. */
void stepped_drop_block(struct stepped *stepped);

/*
 * A thread that has left its block in another way comes to a trap. find_again: there it is, between two blocks; what it
 * did since is not counted.
 */
bool stepped_is_found(const struct code_table *code, const struct stepped *stepped,
		      const struct user_regs_struct *registers);
void stepped_find_again(struct stepped *stepped, struct user_regs_struct *registers);

#endif
