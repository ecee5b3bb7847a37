/* SPDX-License-Identifier: MIT */
#include "parent/tracer/restart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/proc.h"
#include "parent/tracer/remote.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* ---- where a thread waits ---- */

/* The kernel resumes them with what is left of their time. */
static const int unharmed[] = {
	SYS_futex, SYS_futex_waitv,     SYS_nanosleep,       SYS_clock_nanosleep, SYS_poll,
	SYS_ppoll, SYS_select,          SYS_pselect6,        SYS_wait4,           SYS_waitid,
	SYS_pause, SYS_rt_sigsuspend,   SYS_msgrcv,          SYS_msgsnd,          SYS_flock,
	SYS_fcntl, SYS_restart_syscall, SYS_mq_timedreceive, SYS_mq_timedsend,
};

/* Likewise, where a pipe or its like has nothing or everything for them. */
static const int unharmed_on_pipes[] = {SYS_read, SYS_readv};

static bool
is_among(long number, const int *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

#define IS_AMONG(number, numbers) is_among(number, numbers, sizeof(numbers) / sizeof((numbers)[0]))

static bool
is_pipe(pid_t tid, long fd)
{
	char path[48], target[32];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, (int)fd);
	bytes = readlink(path, target, sizeof(target) - 1);
	target[bytes > 0 ? bytes : 0] = '\0';
	return strncmp(target, "pipe:", 5) == 0 || strncmp(target, "anon_inode:", 11) == 0;
}

enum restart_place
restart_find(pid_t tid)
{
	char path[32], line[64] = "";
	long number = -1, first = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		*line = '\0';
	if (file)
		fclose(file);
	if (strncmp(line, "running", 7) == 0)
		return RESTART_ON_CPU;
	if (sscanf(line, "%ld 0x%lx", &number, (unsigned long *)&first) < 1)
		return RESTART_UNKNOWN;
	if (number < 0)
		return RESTART_ON_CPU;
	if (IS_AMONG(number, unharmed))
		return RESTART_UNHARMED;
	return IS_AMONG(number, unharmed_on_pipes) && is_pipe(tid, first) ? RESTART_UNHARMED : RESTART_HARMED;
}

struct restart_ticks
restart_ticks(pid_t tid)
{
	struct restart_ticks ticks = {0};
	char folder[48], fields[PROC_STAT_BYTES];

	snprintf(folder, sizeof(folder), "/proc/%d/task/%d", (int)tid, (int)tid);
	if (!proc_stat_in(folder, fields) ||
	    sscanf(fields, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &ticks.user, &ticks.system) != 2)
		ticks = (struct restart_ticks){0};
	return ticks;
}

long
restart_waits(pid_t tid)
{
	uint64_t waits = 0;

	proc_status(tid, "voluntary_ctxt_switches", 10, &waits);
	return (long)waits;
}

static uint64_t
signals_of(pid_t tid, const char *key, uint64_t unknown)
{
	proc_status(tid, key, 16, &unknown);
	return unknown;
}

bool
restart_blocks(pid_t tid, int signal)
{
	return (signals_of(tid, "SigBlk", UINT64_MAX) & REMOTE_SIGNAL(signal)) != 0;
}

bool
restart_has_signal(pid_t tid)
{
	uint64_t pending = signals_of(tid, "SigPnd", 0) | signals_of(tid, "ShdPnd", 0);

	return (pending & ~signals_of(tid, "SigBlk", 0)) != 0;
}

/* ---- calls that fail ---- */

/* After EINTR these have done nothing. */
static const int failing[] = {
	SYS_epoll_wait,   SYS_epoll_pwait,   SYS_epoll_pwait2,   SYS_semop,  SYS_semtimedop, SYS_rt_sigtimedwait,
	SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter, SYS_accept, SYS_accept4,    SYS_connect,
	SYS_recvfrom,     SYS_recvmsg,       SYS_recvmmsg,       SYS_sendto, SYS_sendmsg,    SYS_sendmmsg,
	SYS_read,         SYS_readv,         SYS_write,          SYS_writev,
};

static const unsigned char syscall_instruction[2] = {0x0f, 0x05};

bool
restart_rewind(pid_t tid, struct user_regs_struct *registers, struct restart_again *again)
{
	unsigned char code[sizeof(syscall_instruction)];

	if ((int64_t)registers->rax != -EINTR || !IS_AMONG((long)registers->orig_rax, failing) ||
	    remote_read(tid, registers->rip - sizeof(code), code, sizeof(code), NULL) < 0 ||
	    memcmp(code, syscall_instruction, sizeof(code)) != 0)
		return false;
	registers->rip -= sizeof(code);
	registers->rax = registers->orig_rax;
	registers->orig_rax = (unsigned long)-1;
	*again = (struct restart_again){.is_pending = true, .rip = registers->rip, .number = registers->rax};
	return true;
}

bool
restart_undo(const struct restart_again *again, struct user_regs_struct *registers)
{
	if (!again->is_pending || registers->rip != again->rip || registers->rax != again->number)
		return false;
	registers->rip += sizeof(syscall_instruction);
	registers->rax = (unsigned long)-EINTR;
	registers->orig_rax = again->number;
	return true;
}
