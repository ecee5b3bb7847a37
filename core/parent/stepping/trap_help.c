/* SPDX-License-Identifier: MIT */
/* See trap_help.h. */
#include "parent/stepping/trap_help.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "parent/stepping/branch.h"
#include "parent/stepping/trap_stop.h"
#include "parent/tracer/remote.h"

#define INT3 0xcc
#define INT3_BYTES 1

/* One that was taken out meanwhile: the thread executes what is there. */
static bool
is_gone(const struct trap_help *help, uint64_t address)
{
	uint8_t byte;

	return code_table_had_trap(help->code, address) &&
	       code_table_read(help->code, address, &byte, sizeof(byte)) == 0 && byte != INT3;
}

/* Right behind the first byte of an instruction of several nobody is otherwise. */
static bool
is_longer(const struct trap_help *help, uint64_t address)
{
	const struct block *block = code_table_block(help->code, address);

	return (block->nr_items > 0 ? block->items[0].work.length : block->branch.length) > INT3_BYTES;
}

/*
 * By a single step, with the trap out of the way. Whoever it was for could pass by meanwhile, and be lost; a system
 * call is not waited for, so who comes there is.
 */
static enum tracer_answer
step_over(const struct trap_help *help, struct thread *thread, uint64_t address)
{
	enum tracer_answer answer = TRACER_KEEP;

	code_table_lift(help->code, address);
	if (code_table_block(help->code, address)->calls_system)
		return TRACER_RESUME;
	thread->is_led = ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) == 0;
	if (thread->is_led && trap_stop_await(thread) && trap_stop_cause(thread->tid) == TRAP_CAUSE_STEP &&
	    trap_stop_take(thread->tid)) {
		thread->is_led = false;
		answer = TRACER_RESUME;
	}
	code_table_trap(help->code, address);
	return answer;
}

/* The trap is for this thread, which executes a handler. */
static bool
stays_long(const struct trap_help *help, const struct thread *thread)
{
	return help->stepped == thread;
}

/* Of the thread that is stepped, in a handler: it will be put there again when it is wanted. So handlers that often
 * come to one do not take longer than the time between two of their signals. */
static bool
is_in_way(const struct trap_help *help, const struct thread *thread, uint64_t address)
{
	return help->stepped == thread && !(help->block && help->block->end == address);
}

/*
 * A branch is done in its stead. Elsewhere it is led over the trap, or comes to it again if that will soon be gone.
 * registers: at the trap.
 */
static enum tracer_answer
lead_over(const struct trap_help *help, struct thread *thread, struct user_regs_struct *registers)
{
	const uint64_t address = registers->rip;
	const struct block *block;

	if (is_in_way(help, thread, address))
		code_table_lift(help->code, address);
	block = code_table_block(help->code, address);
	if (code_table_has_trap(help->code, address) && block->kind == BLOCK_BRANCH && block->nr_items == 0)
		branch_do(help->code, block, registers);
	remote_set_registers(thread->tid, registers);
	thread->led_to = registers->rip;
	if (registers->rip == address && code_table_has_trap(help->code, address) && stays_long(help, thread))
		return step_over(help, thread, address);
	return TRACER_RESUME;
}

enum tracer_answer
trap_help_over(const struct trap_help *help, struct thread *thread)
{
	const enum trap_cause cause = trap_stop_cause(thread->tid);
	const bool is_led = thread->is_led;
	struct user_regs_struct registers;

	thread->is_led = false;
	if (is_led && cause == TRAP_CAUSE_STEP)
		return TRACER_RESUME;
	if (cause != TRAP_CAUSE_INT3 || ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return TRACER_DELIVER;
	registers.rip -= INT3_BYTES;
	if (!code_table_has_trap(help->code, registers.rip) && !is_gone(help, registers.rip))
		return TRACER_DELIVER;
	return lead_over(help, thread, &registers);
}

bool
trap_help_is_hidden(const struct trap_help *help, const struct thread *thread, const struct user_regs_struct *registers)
{
	const uint64_t address = registers->rip - INT3_BYTES;

	if (!code_table_has_trap(help->code, address) && !is_gone(help, address))
		return false;
	return registers->rip != thread->led_to || is_longer(help, address);
}

enum tracer_answer
trap_help_leave(const struct trap_help *help, const struct tracer_stop *stop)
{
	const struct thread *thread = stop->thread;
	struct user_regs_struct registers;
	enum trap_cause cause;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0 || !is_gone(help, registers.rip - INT3_BYTES))
		return TRACER_DELIVER;
	if (stop->signal == 0)
		return remote_raised_signal(thread->tid) == SIGTRAP ? TRACER_KEEP : TRACER_DELIVER;
	cause = stop->signal == SIGTRAP ? trap_stop_cause(thread->tid) : TRAP_CAUSE_OTHER;
	if (cause != TRAP_CAUSE_INT3 && (cause != TRAP_CAUSE_SENT || !trap_help_is_hidden(help, thread, &registers)))
		return TRACER_DELIVER;
	registers.rip -= INT3_BYTES;
	remote_set_registers(thread->tid, &registers);
	return cause == TRAP_CAUSE_INT3 ? TRACER_RESUME : TRACER_DELIVER;
}
