/* SPDX-License-Identifier: MIT */
/* See trap_stop.h. */
#include "parent/stepping/trap_stop.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define LOOK (WSTOPPED | WEXITED | WNOWAIT | __WALL)

/* options: WNOHANG, or wait until it is stopped, or has ended. */
static bool
is_trapped(pid_t tid, int options)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)tid, &info, LOOK | options) == 0 && info.si_pid == tid &&
	       info.si_code == CLD_TRAPPED && info.si_status == SIGTRAP;
}

bool
trap_stop_is_there(pid_t tid)
{
	return is_trapped(tid, WNOHANG);
}

/*
 * The end of a main thread is not told before those of all others were taken, by the loop: so anybody ends the wait for
 * it.
 */
bool
trap_stop_await(const struct thread *thread)
{
	const bool is_main = thread->tid == thread->pid;
	siginfo_t anybody;

	if (is_main)
		waitid(P_ALL, 0, &anybody, LOOK);
	return is_trapped(thread->tid, is_main ? WNOHANG : 0);
}

enum trap_cause
trap_stop_cause(pid_t tid)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0)
		return TRAP_CAUSE_OTHER;
	if (info.si_code <= 0)
		return TRAP_CAUSE_SENT;
	return info.si_code == SI_KERNEL    ? TRAP_CAUSE_INT3
	       : info.si_code == TRAP_TRACE ? TRAP_CAUSE_STEP
					    : TRAP_CAUSE_OTHER;
}

bool
trap_stop_take(pid_t tid)
{
	int status;

	return waitpid(tid, &status, __WALL) == tid;
}
