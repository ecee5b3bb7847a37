/* SPDX-License-Identifier: MIT */
/* See stepped_block.h. */
#include "parent/stepping/stepped_block.h"

#include <sched.h>
#include <sys/ptrace.h>

#include "parent/stepping/branch.h"
#include "parent/stepping/replay.h"
#include "parent/stepping/trap_stop.h"

/* How often this process gives way to a thread in a loop, on the same CPU, before it looks after others. */
#define PATIENCE 8

#define INT3_BYTES 1

/* Less than what the kernel puts onto the stack before a handler, and more than there is of one. */
#define FRAME_BYTES 512
#define STACK_BYTES (UINT64_C(8) << 20)

static struct replay
replay_of(struct stepped *stepped)
{
	return (struct replay){.region = &stepped->region, .caches = stepped->caches, .tid = stepped->thread->tid};
}

/* False: how often it was executed does not follow. */
static bool
count_block(struct stepped *stepped, const struct user_regs_struct *registers)
{
	const struct replay replay = replay_of(stepped);

	if (stepped->rest.nr == 0)
		return replay_end(&replay, stepped->block, &stepped->before, registers, &stepped->rest);
	replay_some(&replay, stepped->block, &stepped->rest);
	return true;
}

enum step_cut
stepped_leave_block(struct code_table *code, struct stepped *stepped, struct user_regs_struct *registers)
{
	const struct block *block = stepped->block;
	bool is_known;

	registers->rip = block->end;
	is_known = count_block(stepped, registers);
	if (stepped->rest.nr > 0)
		return STEP_WHOLE;
	stepped->block = NULL;
	stepped->is_interrupted = false;
	if (block->kind != BLOCK_BRANCH)
		code_table_lift(code, block->end);
	return is_known ? STEP_WHOLE : STEP_CUT_TURNS;
}

void
stepped_drop_block(struct stepped *stepped)
{
	while (stepped->rest.nr > 0)
		count_block(stepped, &stepped->before);
	stepped->block = NULL;
}

bool
stepped_is_over(struct stepped *stepped, const struct user_regs_struct *registers)
{
	return registers->rip == stepped->end.place || step_region_is_full(&stepped->region);
}

enum step_cut
stepped_do_branches(struct code_table *code, struct stepped *stepped, struct user_regs_struct *registers)
{
	const struct block *block = code_table_block(code, registers->rip);

	while (block->kind == BLOCK_BRANCH && block->nr_items == 0 && !stepped_is_over(stepped, registers)) {
		struct replay replay = replay_of(stepped);

		replay_branch(&replay, block, registers);
		if (!branch_do(code, block, registers))
			return STEP_CUT_MEMORY;
		block = code_table_block(code, registers->rip);
	}
	return block->kind == BLOCK_UNKNOWN && registers->rip != stepped->end.place ? STEP_CUT_CODE : STEP_WHOLE;
}

/* The branch of a loop may have a trap from before, when it was the end of another block. */
static bool
set_traps(struct code_table *code, const struct block *block)
{
	if (block->kind == BLOCK_TRAP)
		return true;
	if (block->kind == BLOCK_LOOP)
		code_table_lift(code, block->loop_branch);
	return code_table_trap(code, block->end) == 0;
}

bool
stepped_let_run(struct code_table *code, struct stepped *stepped)
{
	stepped->thread->state = THREAD_RUNNING;
	return set_traps(code, stepped->block) && ptrace(PTRACE_CONT, stepped->thread->tid, NULL, NULL) == 0;
}

void
stepped_begin_block(struct code_table *code, struct stepped *stepped, const struct user_regs_struct *registers)
{
	struct replay replay = replay_of(stepped);

	stepped->block = code_table_block(code, registers->rip);
	stepped->before = *registers;
	stepped->region.nr_stops++;
	replay_begin(&replay, stepped->block, registers);
}

/* Above the frame of a handler that was left by a jump, it is in its own code again. */
static bool
is_in_handler(const struct stepped *stepped, const struct user_regs_struct *registers)
{
	const uint64_t at = stepped->interrupted_at;

	return stepped->is_interrupted &&
	       (registers->rsp + FRAME_BYTES < at || (registers->rsp > at && registers->rsp - at > STACK_BYTES));
}

bool
stepped_is_at_end(const struct stepped *stepped, const struct user_regs_struct *registers)
{
	const struct block *block = stepped->block;

	if (stepped->is_elsewhere || block->kind == BLOCK_TRAP || registers->rip != block->end + INT3_BYTES)
		return false;
	return block->is_stack_known ? registers->rsp == stepped->before.rsp + block->stack_change
				     : !is_in_handler(stepped, registers);
}

bool
stepped_is_found(const struct code_table *code, const struct stepped *stepped, const struct user_regs_struct *registers)
{
	const uint64_t address = registers->rip - INT3_BYTES;

	return !stepped->is_elsewhere && (address == stepped->end.place ||
					  (code_table_has_trap(code, address) && !is_in_handler(stepped, registers)));
}

void
stepped_find_again(struct stepped *stepped, struct user_regs_struct *registers)
{
	stepped->region.nr_gaps++;
	stepped_drop_block(stepped);
	stepped->is_interrupted = false;
	registers->rip -= INT3_BYTES;
}

/* Of a trapped thread: takes the stop at the end of the block; any other is left for the loop, as somebody else's. */
static bool
take_end(const struct stepped *stepped, struct user_regs_struct *registers)
{
	const pid_t tid = stepped->thread->tid;

	return ptrace(PTRACE_GETREGS, tid, NULL, registers) == 0 && stepped_is_at_end(stepped, registers) &&
	       trap_stop_cause(tid) == TRAP_CAUSE_INT3 && trap_stop_take(tid);
}

bool
stepped_await_end(const struct stepped *stepped, struct user_regs_struct *registers)
{
	const enum block_kind kind = stepped->block->kind;

	if (kind == BLOCK_TRAP)
		return false;
	if (kind != BLOCK_LOOP && kind != BLOCK_REPEATED)
		return trap_stop_await(stepped->thread) && take_end(stepped, registers);
	for (size_t i = 0; i < PATIENCE; i++) {
		if (trap_stop_is_there(stepped->thread->tid))
			return take_end(stepped, registers);
		sched_yield();
	}
	return false;
}
