/* SPDX-License-Identifier: MIT */
/* See replay.h. */
#include "parent/stepping/replay.h"

/* Accesses of more bytes are several. */
#define MAX_ACCESS_BYTES (UINT32_C(1) << 30)

#define DIRECTION_FLAG 0x400

static bool
read_vectors(void *context, struct vector_registers *into)
{
	return vector_registers_read(*(const pid_t *)context, into);
}

static void
do_work(const struct replay *replay, const struct work *work, const struct user_regs_struct *registers,
	struct work_done *done)
{
	const struct work_thread thread = {registers, read_vectors, (void *)&replay->tid};

	work_do(work, &thread, done);
	replay->region->nr_unknown += done->is_unknown;
}

static void
add_counts(const struct replay *replay, const struct work_done *done, uint64_t times)
{
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		replay->region->counts[i] += times * done->counts[i];
}

static void
add_accesses(const struct replay *replay, const struct work_done *done)
{
	for (size_t i = 0; i < done->nr_accesses; i++) {
		const struct work_access *access = &done->accesses[i];

		cache_model_access(replay->caches, access->address, access->bytes, access->is_store,
				   access->is_streaming);
	}
}

static void
add_work(const struct replay *replay, const struct work *work, const struct user_regs_struct *registers)
{
	struct work_done done;

	do_work(replay, work, registers, &done);
	add_counts(replay, &done, 1);
	add_accesses(replay, &done);
}

/* registers become what they are after the items, as far as that is known. */
static void
add_items(const struct replay *replay, const struct block *block, struct user_regs_struct *registers)
{
	for (size_t i = 0; i < block->nr_items; i++) {
		add_work(replay, &block->items[i].work, registers);
		effect_apply(&block->items[i].effect, registers);
	}
}

void
replay_begin(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers)
{
	struct user_regs_struct changing = *registers;

	if (block->kind == BLOCK_BRANCH || block->kind == BLOCK_CUT || block->kind == BLOCK_CALL)
		add_items(replay, block, &changing);
}

/* ---- what is known afterwards alone ---- */

static bool
add_turns(const struct replay *replay, const struct block *block, const struct user_regs_struct *before,
	  const struct user_regs_struct *after)
{
	struct user_regs_struct changing = *before;
	uint64_t nr = block_turns(block, before, after);

	for (uint64_t i = 0; i < nr && replay->region->counts[STEP_INSTRUCTIONS] < replay->region->limit; i++)
		add_items(replay, block, &changing);
	return nr > 0;
}

static void
add_range(const struct replay *replay, const struct work_access *access, uint64_t address, uint64_t bytes)
{
	while (bytes > 0) {
		uint32_t part = bytes < MAX_ACCESS_BYTES ? (uint32_t)bytes : MAX_ACCESS_BYTES;

		cache_model_access(replay->caches, address, part, access->is_store, access->is_streaming);
		address += part;
		bytes -= part;
	}
}

/* The iterations of a repeated instruction go through memory without gaps; together they are one instruction. */
static void
add_iterations(const struct replay *replay, const struct work *work, const struct user_regs_struct *before,
	       const struct user_regs_struct *after)
{
	const uint64_t nr = (before->rcx - after->rcx) & work->counter_mask;
	const bool is_down = before->eflags & DIRECTION_FLAG;
	struct work_done done;

	if (nr == 0) {
		replay->region->counts[STEP_INSTRUCTIONS]++;
		return;
	}
	do_work(replay, work, before, &done);
	add_counts(replay, &done, nr);
	replay->region->counts[STEP_INSTRUCTIONS] -= nr - 1;
	for (size_t i = 0; i < done.nr_accesses; i++) {
		const struct work_access *access = &done.accesses[i];
		uint64_t bytes = nr * access->bytes;

		add_range(replay, access, is_down ? access->address + access->bytes - bytes : access->address, bytes);
	}
}

bool
replay_end(const struct replay *replay, const struct block *block, const struct user_regs_struct *before,
	   const struct user_regs_struct *after)
{
	if (block->kind == BLOCK_LOOP)
		return add_turns(replay, block, before, after);
	if (block->kind == BLOCK_REPEATED)
		add_iterations(replay, &block->items[0].work, before, after);
	return true;
}

void
replay_branch(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers)
{
	add_work(replay, &block->branch_work, registers);
}
