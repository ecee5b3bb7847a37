/* SPDX-License-Identifier: MIT */
/* See replay.h. */
#include "parent/stepping/replay.h"

#include <stdio.h>

#include "parent/tracer/remote.h"

#define DIRECTION_FLAG 0x400

/* Of a loop, at once: some milliseconds. */
#define INSTRUCTIONS_AT_ONCE 65536

static bool
read_vectors(void *context, struct vector_registers *into)
{
	return vector_registers_read(*(const pid_t *)context, into);
}

static bool
read_memory(void *context, uint64_t address, void *bytes, size_t nr_bytes)
{
	return remote_read(*(const pid_t *)context, address, bytes, nr_bytes, NULL) == 0;
}

static void
note_unknown(struct step_region *region, const struct work *work, uint64_t address)
{
	if (region->nr_unknown++ > 0)
		return;
	region->unknown_at = address;
	snprintf(region->unknown_name, sizeof(region->unknown_name), "%s", work->name);
}

static void
do_work(const struct replay *replay, const struct work *work, const struct user_regs_struct *registers,
	struct work_done *done)
{
	const struct work_thread thread = {registers, read_vectors, (void *)&replay->tid, read_memory};

	work_do(work, &thread, done);
	if (done->is_unknown)
		note_unknown(replay->region, work, registers->rip);
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

		if (access->flush)
			cache_model_flush(replay->caches, access->address, access->flush == WORK_CLEAN);
		else
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
	registers->rip = block->address;
	for (size_t i = 0; i < block->nr_items; i++) {
		add_work(replay, &block->items[i].work, registers);
		effect_apply(&block->items[i].effect, registers);
		registers->rip += block->items[i].work.length;
	}
}

void
replay_begin(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers)
{
	struct user_regs_struct changing = *registers;

	if (block->kind == BLOCK_BRANCH || block->kind == BLOCK_CUT)
		add_items(replay, block, &changing);
}

/* ---- what is known afterwards alone ---- */

static bool
is_full(const struct replay *replay)
{
	return replay->region->counts[STEP_INSTRUCTIONS] >= replay->region->limit;
}

void
replay_some(const struct replay *replay, const struct block *block, struct replay_rest *rest)
{
	for (uint64_t nr = 0; rest->nr > 0 && nr < INSTRUCTIONS_AT_ONCE; nr += block->nr_items) {
		add_items(replay, block, &rest->registers);
		rest->nr = is_full(replay) ? 0 : rest->nr - 1;
	}
}

static bool
begin_turns(const struct replay *replay, const struct block *block, const struct user_regs_struct *before,
	    const struct user_regs_struct *after, struct replay_rest *rest)
{
	*rest = (struct replay_rest){block_turns(block, before, after), *before};
	if (rest->nr == 0)
		return false;
	if (is_full(replay))
		rest->nr = 0;
	replay_some(replay, block, rest);
	return true;
}

/* How many iterations stay within the lines in which their accesses begin; 1 at least. */
static uint64_t
iterations_in_lines(const struct replay *replay, const struct work_done *done, bool is_down, uint64_t nr)
{
	for (size_t i = 0; i < done->nr_accesses; i++) {
		const struct work_access *access = &done->accesses[i];
		const uint64_t line = replay->region->line_bytes, offset = line ? access->address % line : 0;
		const uint64_t room = (is_down ? offset + access->bytes : line - offset) / access->bytes;

		nr = room < nr ? room : nr;
	}
	return nr > 0 ? nr : 1;
}

/* nr iterations, one after the other; accesses become those of the next. Caches see what they would of each alone. */
static void
add_some_iterations(const struct replay *replay, struct work_done *done, bool is_down, uint64_t nr)
{
	for (size_t i = 0; i < done->nr_accesses; i++) {
		struct work_access *access = &done->accesses[i];
		const uint64_t bytes = nr * access->bytes;

		cache_model_access(replay->caches, is_down ? access->address + access->bytes - bytes : access->address,
				   (uint32_t)bytes, access->is_store, access->is_streaming);
		access->address += is_down ? -bytes : bytes;
	}
}

/* The iterations of a repeated instruction go through memory without gaps; together they are one instruction. */
static void
add_iterations(const struct replay *replay, const struct work *work, const struct user_regs_struct *before,
	       const struct user_regs_struct *after)
{
	uint64_t nr = (before->rcx - after->rcx) & work->counter_mask;
	const bool is_down = before->eflags & DIRECTION_FLAG;
	struct work_done done;

	if (nr == 0) {
		replay->region->counts[STEP_INSTRUCTIONS]++;
		return;
	}
	do_work(replay, work, before, &done);
	add_counts(replay, &done, nr);
	replay->region->counts[STEP_INSTRUCTIONS] -= nr - 1;
	while (nr > 0) {
		uint64_t some = iterations_in_lines(replay, &done, is_down, nr);

		add_some_iterations(replay, &done, is_down, some);
		nr -= some;
	}
}

bool
replay_end(const struct replay *replay, const struct block *block, const struct user_regs_struct *before,
	   const struct user_regs_struct *after, struct replay_rest *rest)
{
	if (block->kind == BLOCK_LOOP)
		return begin_turns(replay, block, before, after, rest);
	if (block->kind == BLOCK_REPEATED)
		add_iterations(replay, &block->items[0].work, before, after);
	return true;
}

void
replay_branch(const struct replay *replay, const struct block *block, const struct user_regs_struct *registers)
{
	add_work(replay, &block->branch_work, registers);
}
