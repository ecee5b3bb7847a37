/* SPDX-License-Identifier: MIT */
/* See stepped_call.h. */
#include "parent/stepping/stepped_call.h"

#include <sys/ptrace.h>

#define INT3_BYTES 1

/* The kernel's ERESTARTSYS to ERESTART_RESTARTBLOCK. */
#define MIN_RESTART (-516)
#define MAX_RESTART (-512)

bool
stepped_call_is_restarted(const struct user_regs_struct *registers)
{
	return (long long)registers->rax >= MIN_RESTART && (long long)registers->rax <= MAX_RESTART;
}

static bool
is_end_of_call(pid_t tid)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 && info.op == PTRACE_SYSCALL_INFO_EXIT;
}

bool
stepped_call_is_over(const struct stepped *stepped)
{
	const struct block *block = stepped->block;
	const pid_t tid = stepped->thread->tid;
	struct user_regs_struct registers;

	return is_end_of_call(tid) && ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0 &&
	       registers.rip == block->address + block->items[0].work.length && registers.rsp == stepped->before.rsp &&
	       !stepped_call_is_restarted(&registers);
}

bool
stepped_call_is_left(struct stepped *stepped)
{
	struct user_regs_struct registers;

	return stepped->is_away && ptrace(PTRACE_GETREGS, stepped->thread->tid, NULL, &registers) == 0 &&
	       registers.rip - INT3_BYTES == stepped->end.place;
}
