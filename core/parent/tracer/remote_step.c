/* SPDX-License-Identifier: MIT */
/* See remote_step.h. */
#include "parent/tracer/remote_step.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"
#include "parent/tracer/remote.h"

/* ---- the instruction ---- */

#define SYSCALL_BYTES 2
static const unsigned char syscall_instruction[SYSCALL_BYTES] = {0x0f, 0x05};

/* At a time; large enough for the vdso. */
#define PIECE_BYTES 65536

static uint64_t
find_in(pid_t tid, const struct remote_mapping *mapping)
{
	unsigned char *piece = rot_calloc(PIECE_BYTES, 1);
	uint64_t found = 0;

	for (uint64_t at = mapping->start; found == 0 && at < mapping->end; at += PIECE_BYTES) {
		uint64_t left = mapping->end - at;
		size_t bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
		const unsigned char *hit;

		if (remote_read(tid, at, piece, bytes, NULL) < 0)
			break;
		hit = memmem(piece, bytes, syscall_instruction, SYSCALL_BYTES);
		if (hit)
			found = at + (uint64_t)(hit - piece);
	}
	free(piece);
	return found;
}

/* The vdso comes first: it is small, and in every program. */
uint64_t
remote_find_syscall(pid_t tid)
{
	struct remote_mapping *mappings;
	uint64_t found = 0;
	size_t nr;

	mappings = remote_mappings(tid, &nr, NULL);
	for (int round = 0; mappings && round < 2; round++) {
		for (size_t i = 0; found == 0 && i < nr; i++) {
			bool is_vdso = strcmp(mappings[i].name, "[vdso]") == 0;

			if (mappings[i].is_executable && is_vdso == (round == 0) &&
			    strcmp(mappings[i].name, "[vsyscall]") != 0)
				found = find_in(tid, &mappings[i]);
		}
	}
	free(mappings);
	return found;
}

/* ---- the step ---- */

/* What came while the call was made, to be made good afterwards. */
struct missed {
	bool is_pause;    /* somebody may count on one */
	uint64_t signals; /* that cannot be blocked, or have no effect when they are */
};

enum step { STEP_AGAIN, STEP_DONE, STEP_FAULTED, STEP_ENDED };

static bool
take_stop(pid_t tid, int *status)
{
	siginfo_t stop = {.si_pid = 0};

	if (waitid(P_PID, (id_t)tid, &stop, WSTOPPED | WNOHANG | __WALL) < 0 || stop.si_pid != tid)
		return false;
	*status = stop.si_status << 8 | 0x7f;
	return true;
}

/*
 * Its end is left to whoever waits for it. That of a main thread is not told before those of all others were taken: so
 * it is looked for, too.
 */
static bool
wait_for_stop(pid_t tid, int *status)
{
	char fields[PROC_STAT_BYTES];
	siginfo_t info;

	for (unsigned turn = 0;; turn++) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) < 0)
			return false;
		if (info.si_pid == tid && info.si_code != CLD_TRAPPED)
			return false;
		/* It may be killed at this moment: then its end is still not to be taken. */
		if (info.si_pid == tid && take_stop(tid, status))
			return true;
		if (turn % 64 == 63 && (!proc_stat(tid, fields) || fields[1] == 'Z' || fields[1] == 'X'))
			return false;
		sched_yield();
	}
}

/* A signal that somebody sent, rather than the processor for what was executed. */
static bool
is_sent(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code <= 0;
}

/* What there is to report of the step itself is reported behind the instruction. */
static enum step
step(pid_t tid, uint64_t instruction, struct missed *missed)
{
	struct user_regs_struct registers;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) < 0 || !wait_for_stop(tid, &status))
		return STEP_ENDED;
	if (status >> 16 != 0) {
		missed->is_pause |= status >> 16 == PTRACE_EVENT_STOP;
		return STEP_AGAIN;
	}
	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return STEP_ENDED;
	if (WSTOPSIG(status) == SIGTRAP && registers.rip == instruction + SYSCALL_BYTES)
		return STEP_DONE;
	if (is_sent(tid)) {
		missed->signals |= REMOTE_SIGNAL(WSTOPSIG(status));
		return STEP_AGAIN;
	}
	return STEP_FAULTED;
}

/* SIGCONT, which the call held up, cancels the stop that came before it. */
static bool
is_continued(pid_t tid)
{
	uint64_t of_thread = 0, of_process = 0;

	proc_status(tid, "SigPnd", 16, &of_thread);
	proc_status(tid, "ShdPnd", 16, &of_process);
	return ((of_thread | of_process) & REMOTE_SIGNAL(SIGCONT)) != 0;
}

static void
make_good(pid_t tid, const struct missed *missed)
{
	uint64_t signals = missed->signals;

	if (is_continued(tid))
		signals &= ~REMOTE_SIGNAL(SIGSTOP);
	for (int number = 1; signals != 0; number++, signals >>= 1) {
		if (signals & 1)
			syscall(SYS_tkill, tid, number);
	}
	if (missed->is_pause)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
}

static struct user_regs_struct
prepared(const struct user_regs_struct *saved, uint64_t instruction, long number, const uint64_t arguments[6])
{
	struct user_regs_struct registers = *saved;

	registers.rip = instruction;
	registers.rax = (unsigned long)number;
	registers.orig_rax = (unsigned long)-1;
	registers.rdi = arguments[0];
	registers.rsi = arguments[1];
	registers.rdx = arguments[2];
	registers.r10 = arguments[3];
	registers.r8 = arguments[4];
	registers.r9 = arguments[5];
	return registers;
}

/*
 * Everything is put back in the stop at the end of the step, in which signals are delivered: there the kernel makes a
 * system call restart that was interrupted before.
 */
int
remote_step_call(pid_t tid, uint64_t instruction, long number, const uint64_t arguments[6], int64_t *result,
		 struct rot_error *err)
{
	struct user_regs_struct saved, registers;
	struct missed missed = {0};
	enum step outcome = STEP_AGAIN;
	siginfo_t signal;
	uint64_t mask;
	bool has_signal;

	if (remote_get_registers(tid, &saved, err) < 0)
		return -1;
	if (remote_get_mask(tid, &mask) < 0 || remote_set_mask(tid, ~REMOTE_SYNCHRONOUS) < 0)
		return rot_error_set(err, errno, "cannot hold up the signals of thread %d", (int)tid);
	has_signal = ptrace(PTRACE_GETSIGINFO, tid, NULL, &signal) == 0;
	registers = prepared(&saved, instruction, number, arguments);
	if (remote_set_registers(tid, &registers) < 0)
		outcome = STEP_ENDED;
	while (outcome == STEP_AGAIN)
		outcome = step(tid, instruction, &missed);
	if (outcome != STEP_ENDED && ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0 &&
	    remote_set_registers(tid, &saved) == 0 && remote_set_mask(tid, mask) == 0) {
		if (has_signal)
			ptrace(PTRACE_SETSIGINFO, tid, NULL, &signal);
		make_good(tid, &missed);
		*result = (int64_t)registers.rax;
		return outcome == STEP_DONE
			       ? 0
			       : rot_error_set(err, 0, "a system call in process %d was refused by a signal", (int)tid);
	}
	return rot_error_set(err, ESRCH, "cannot make a system call in process %d", (int)tid);
}

/*
 * Somebody may have asked the thread to pause meanwhile: that stop takes the place of the step's own, which is still to
 * come, and is asked for once more at the end.
 */
int
remote_step_once(pid_t tid)
{
	bool was_paused = false;
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) < 0 || !wait_for_stop(tid, &status))
			return 0;
		was_paused |= status >> 16 == PTRACE_EVENT_STOP;
	} while (status >> 16 == PTRACE_EVENT_STOP);
	if (was_paused)
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return WSTOPSIG(status);
}

int
remote_step(pid_t tid)
{
	uint64_t mask;
	int signal;

	if (remote_get_mask(tid, &mask) < 0 || remote_set_mask(tid, ~REMOTE_SYNCHRONOUS) < 0)
		return 0;
	signal = remote_step_once(tid);
	if (signal != 0)
		remote_set_mask(tid, mask);
	return signal;
}
