/* SPDX-License-Identifier: MIT */
/* See branch.h. Source of what each does: Intel SDM 2. */
#include "parent/stepping/branch.h"

#include "parent/stepping/effect.h"
#include "parent/symbols/code.h"

#define POINTER_BYTES 8
#define MOD_REGISTER 3
#define REX_B 1
#define FIRST_COUNTING 0xe0 /* loopne, loope, loop */
#define LAST_COUNTING 0xe2
#define RETURN_AND_POP 0xc2

static bool
push(const struct code_table *code, struct user_regs_struct *registers, uint64_t value)
{
	registers->rsp -= POINTER_BYTES;
	return code_table_write(code, registers->rsp, &value, sizeof(value)) == 0;
}

static bool
do_jump(const struct code_table *code, const struct block *block, struct user_regs_struct *registers, uint64_t next)
{
	(void)code;
	registers->rip = next + (uint64_t)block->branch.relative;
	return true;
}

static void
count_down(const struct instruction *branch, struct user_regs_struct *registers)
{
	if (branch->map != 0 || branch->opcode < FIRST_COUNTING || branch->opcode > LAST_COUNTING)
		return;
	registers->rcx = branch->has_address_size ? (uint32_t)(registers->rcx - 1) : registers->rcx - 1;
}

static bool
do_branch(const struct code_table *code, const struct block *block, struct user_regs_struct *registers, uint64_t next)
{
	bool is_taken = code_is_taken(block->branch.condition, registers->eflags, registers->rcx);

	(void)code;
	count_down(&block->branch, registers);
	registers->rip = is_taken ? next + (uint64_t)block->branch.relative : next;
	return true;
}

static bool
do_call(const struct code_table *code, const struct block *block, struct user_regs_struct *registers, uint64_t next)
{
	registers->rip = next + (uint64_t)block->branch.relative;
	return push(code, registers, next);
}

/* What the operand of an indirect branch holds. */
static bool
read_target(const struct code_table *code, const struct block *block, const struct user_regs_struct *registers,
	    uint64_t *target)
{
	const struct instruction *branch = &block->branch;
	const struct work_thread thread = {.registers = registers};
	struct work_done done;

	if (branch->mod == MOD_REGISTER) {
		*target = effect_register(registers, (uint8_t)(branch->rm | (branch->rex & REX_B) << 3));
		return true;
	}
	work_do(&block->branch_work, &thread, &done);
	return done.nr_accesses > 0 && code_table_read(code, done.accesses[0].address, target, sizeof(*target)) == 0;
}

static bool
do_indirect_jump(const struct code_table *code, const struct block *block, struct user_regs_struct *registers,
		 uint64_t next)
{
	uint64_t target;

	(void)next;
	if (!read_target(code, block, registers, &target))
		return false;
	registers->rip = target;
	return true;
}

static bool
do_indirect_call(const struct code_table *code, const struct block *block, struct user_regs_struct *registers,
		 uint64_t next)
{
	return do_indirect_jump(code, block, registers, next) && push(code, registers, next);
}

static bool
do_return(const struct code_table *code, const struct block *block, struct user_regs_struct *registers, uint64_t next)
{
	uint64_t target;

	(void)next;
	if (code_table_read(code, registers->rsp, &target, sizeof(target)) < 0)
		return false;
	registers->rsp += POINTER_BYTES;
	if (block->branch.opcode == RETURN_AND_POP)
		registers->rsp += block->branch.immediate;
	registers->rip = target;
	return true;
}

static bool (*const doers[])(const struct code_table *, const struct block *, struct user_regs_struct *, uint64_t) = {
	[FLOW_JUMP] = do_jump,
	[FLOW_BRANCH] = do_branch,
	[FLOW_CALL] = do_call,
	[FLOW_INDIRECT_JUMP] = do_indirect_jump,
	[FLOW_INDIRECT_CALL] = do_indirect_call,
	[FLOW_RETURN] = do_return,
};

bool
branch_do(const struct code_table *code, const struct block *block, struct user_regs_struct *registers)
{
	return doers[block->branch.flow](code, block, registers, block->end + block->branch.length);
}
