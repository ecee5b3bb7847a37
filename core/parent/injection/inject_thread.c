/* SPDX-License-Identifier: MIT */
/* See inject_thread.h. The order of the steps matters; doc/TRACING.md says why. */
#include "parent/injection/inject_thread.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "memory.h"
#include "parent/injection/rseq.h"
#include "parent/tracer/remote.h"

/* call *%rax; int3 */
const unsigned char inject_trampoline[INJECT_TRAMPOLINE_BYTES] = {0xff, 0xd0, 0xcc};

/* ---- vectors ---- */

#define VECTORS_ROOM 4096

/* The system gives what fits: room that is filled may have been too little. */
static bool
save_vectors(struct injected_thread *thread, pid_t tid)
{
	while (true) {
		struct iovec part = {thread->vectors, thread->vectors_room};

		if (part.iov_len > 0 && ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &part) < 0)
			return false;
		thread->vectors_bytes = part.iov_len;
		if (part.iov_len < thread->vectors_room)
			return true;
		thread->vectors_room = thread->vectors_room ? 2 * thread->vectors_room : VECTORS_ROOM;
		thread->vectors = rot_realloc(thread->vectors, thread->vectors_room, 1);
	}
}

static void
restore_vectors(const struct injected_thread *thread, pid_t tid)
{
	struct iovec part = {thread->vectors, thread->vectors_bytes};

	ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &part);
}

/* ---- there and back ---- */

/*
 * A sequence is left as well: the kernel would take the thread out of it, since it is elsewhere while the function
 * runs, and let it go on inside without what makes the sequence safe.
 */
enum injected_status
injected_thread_save(struct injected_thread *thread, pid_t tid, struct restart_again *again, unsigned neglects)
{
	struct rot_error err;

	*again = (struct restart_again){0};
	thread->kept = 0;
	if (remote_get_registers(tid, &thread->registers, &err) < 0)
		return ptrace(PTRACE_GETREGS, tid, NULL, &thread->registers) < 0 ? INJECTED_KILLED
										 : INJECTED_IMPOSSIBLE;
	restart_rewind(tid, &thread->registers, again);
	if (!(neglects & INJECTOR_NEGLECTS_RSEQ))
		rseq_leave(tid, &thread->registers);
	if (!save_vectors(thread, tid) || remote_get_mask(tid, &thread->mask) < 0 ||
	    remote_set_mask(tid, ~REMOTE_SYNCHRONOUS) < 0)
		return INJECTED_KILLED;
	return INJECTED_READY;
}

#define RED_ZONE_BYTES 128
#define STACK_ALIGNMENT 64

/* Trap, direction, nested task, resume, alignment check. */
#define FLAGS_TO_CLEAR 0x54500UL

void
injected_thread_call(struct injected_thread *thread, pid_t tid, const struct injection *injection, unsigned neglects)
{
	struct user_regs_struct registers = thread->registers;
	uint64_t own_stack = registers.rsp - (neglects & INJECTOR_NEGLECTS_RED_ZONE ? 0 : RED_ZONE_BYTES);

	thread->done = injection->trampoline + INJECT_TRAMPOLINE_BYTES;
	registers.rip = injection->trampoline;
	registers.rax = injection->function;
	registers.orig_rax = (unsigned long)-1;
	registers.rdi = injection->arguments[0];
	registers.rsi = injection->arguments[1];
	registers.rdx = injection->arguments[2];
	registers.rsp = (injection->stack ? injection->stack : own_stack) & ~(uint64_t)(STACK_ALIGNMENT - 1);
	registers.eflags &= ~FLAGS_TO_CLEAR;
	remote_set_registers(tid, &registers);
}

/* int3 has a code of its own, as other traps have. */
enum inside
injected_thread_judge(struct injected_thread *thread, pid_t tid, int signal, struct injection_outcome *outcome)
{
	struct user_regs_struct registers = {0};
	siginfo_t info = {0};

	if (!remote_is_synchronous(signal))
		return INSIDE_FOREIGN;
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0 || ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return INSIDE_FOREIGN;
	outcome->value = registers.rax;
	outcome->address = registers.rip;
	if (info.si_code <= 0) {
		thread->kept = signal;
		thread->kept_info = info;
		return INSIDE_KEPT;
	}
	return signal == SIGTRAP && info.si_code == SI_KERNEL && registers.rip == thread->done ? INSIDE_DONE
											       : INSIDE_FAULTED;
}

/*
 * In this kind of stop a signal can be delivered with all that its sender said, and system calls are begun anew that
 * were interrupted before.
 */
int
injected_thread_restore(struct injected_thread *thread, pid_t tid, unsigned neglects)
{
	remote_set_registers(tid, &thread->registers);
	if (!(neglects & INJECTOR_NEGLECTS_VECTORS))
		restore_vectors(thread, tid);
	remote_set_mask(tid, thread->mask);
	if (thread->kept)
		ptrace(PTRACE_SETSIGINFO, tid, NULL, &thread->kept_info);
	return thread->kept;
}

void
injected_thread_fail(const struct restart_again *again, pid_t tid)
{
	struct user_regs_struct registers;

	if (remote_get_registers(tid, &registers, NULL) == 0 && restart_undo(again, &registers))
		remote_set_registers(tid, &registers);
}

void
injected_thread_clear(struct injected_thread *thread)
{
	free(thread->vectors);
	*thread = (struct injected_thread){0};
}
