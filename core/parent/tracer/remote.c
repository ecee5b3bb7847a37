/* SPDX-License-Identifier: MIT */
#include "parent/tracer/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"

/* ---- memory ---- */

static int
open_memory(pid_t tid, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	return open(path, flags | O_CLOEXEC);
}

/* The words that the n bytes at address lie in, one after the other; with the new bytes unless they are NULL. */
static bool
each_word(pid_t tid, uint64_t address, void *read, const void *written, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t at = (address + i) & ~(sizeof(long) - 1), shift = address + i - at;
		size_t part = sizeof(long) - shift < n - i ? sizeof(long) - shift : n - i;
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKTEXT, tid, (void *)at, NULL);
		if (errno != 0)
			return false;
		if (read) {
			memcpy((char *)read + i, (char *)&word + shift, part);
		} else {
			memcpy((char *)&word + shift, (const char *)written + i, part);
			if (ptrace(PTRACE_POKETEXT, tid, (void *)at, (void *)word) < 0)
				return false;
		}
		i += part;
	}
	return true;
}

int
remote_open_memory(pid_t tid)
{
	const int fd = open_memory(tid, O_RDWR);

	return fd < 0 && errno == EACCES ? open_memory(tid, O_RDONLY) : fd;
}

int
remote_read(pid_t tid, uint64_t address, void *bytes, size_t n, struct rot_error *err)
{
	int fd = open_memory(tid, O_RDONLY);
	bool is_done = fd >= 0 && pread(fd, bytes, n, (off_t)address) == (ssize_t)n;

	if (fd >= 0)
		close(fd);
	if (is_done || each_word(tid, address, bytes, NULL, n))
		return 0;
	return rot_error_set(err, errno, "cannot read %zu bytes at 0x%llx of process %d", n,
			     (unsigned long long)address, (int)tid);
}

/* A system may forbid the file to overrule the protection of pages (proc_mem.force_override), but not ptrace. */
int
remote_write(pid_t tid, uint64_t address, const void *bytes, size_t n, struct rot_error *err)
{
	int fd = open_memory(tid, O_RDWR);
	bool is_done = fd >= 0 && pwrite(fd, bytes, n, (off_t)address) == (ssize_t)n;

	if (fd >= 0)
		close(fd);
	if (is_done || each_word(tid, address, NULL, bytes, n))
		return 0;
	return rot_error_set(err, errno, "cannot write %zu bytes at 0x%llx of process %d", n,
			     (unsigned long long)address, (int)tid);
}

/* ---- registers and signals ---- */

int
remote_get_registers(pid_t tid, struct user_regs_struct *registers, struct rot_error *err)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, registers) < 0)
		return rot_error_set(err, errno, "cannot read the registers of thread %d", (int)tid);
	if (registers->cs != CODE_SEGMENT_64)
		return rot_error_set(err, 0, "thread %d executes 32-bit code, in which nothing can be run from outside",
				     (int)tid);
	return 0;
}

int
remote_set_registers(pid_t tid, const struct user_regs_struct *registers)
{
	return (int)ptrace(PTRACE_SETREGS, tid, NULL, registers);
}

int
remote_get_mask(pid_t tid, uint64_t *mask)
{
	return (int)ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(*mask), mask);
}

int
remote_set_mask(pid_t tid, uint64_t mask)
{
	return (int)ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask);
}

bool
remote_is_synchronous(int signal)
{
	return (REMOTE_SYNCHRONOUS & REMOTE_SIGNAL(signal)) != 0;
}

#define MAX_PENDING 32

/* Pending signals that were sent to the thread alone, and that it does not block. Returns how many. */
static long
peek_signals(pid_t tid, siginfo_t signals[MAX_PENDING])
{
	struct __ptrace_peeksiginfo_args first = {.nr = MAX_PENDING};
	const long nr = ptrace(PTRACE_PEEKSIGINFO, tid, &first, signals);
	uint64_t mask;
	long nr_unblocked = 0;

	if (nr <= 0 || remote_get_mask(tid, &mask) < 0)
		return 0;
	for (long i = 0; i < nr; i++)
		if (!(mask & REMOTE_SIGNAL(signals[i].si_signo)))
			signals[nr_unblocked++] = signals[i];
	return nr_unblocked;
}

int
remote_raised_signal(pid_t tid)
{
	siginfo_t pending[MAX_PENDING];
	const long nr = peek_signals(tid, pending);

	for (long i = 0; i < nr; i++)
		if (pending[i].si_code > 0 && remote_is_synchronous(pending[i].si_signo))
			return pending[i].si_signo;
	return 0;
}

bool
remote_pending_signal(pid_t tid, int signal, siginfo_t *info)
{
	siginfo_t pending[MAX_PENDING];
	const long nr = peek_signals(tid, pending);

	for (long i = 0; i < nr; i++) {
		if (pending[i].si_signo == signal) {
			*info = pending[i];
			return true;
		}
	}
	return false;
}

/* ---- single steps: an instruction for system calls ---- */

#define SYSCALL_BYTES 2
static const unsigned char syscall_instruction[SYSCALL_BYTES] = {0x0f, 0x05};

/* At a time; large enough for the vdso. */
#define PIECE_BYTES 65536

static uint64_t
find_in(pid_t tid, const struct remote_mapping *mapping)
{
	autofree unsigned char *piece = rot_calloc(PIECE_BYTES, 1);
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
	return found;
}

/* The vdso comes first: it is small, and in every program. */
uint64_t
remote_find_syscall(pid_t tid)
{
	autofree struct remote_mapping *mappings = NULL;
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
	return found;
}

/* ---- single steps ---- */

/* Stops that came while the call was made, to be made good afterwards. */
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

/* A stop of the step itself is reported behind the instruction. */
static enum step
step(pid_t tid, uint64_t instruction, struct missed *missed)
{
	struct user_regs_struct registers;
	siginfo_t info;
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
	/* A signal that somebody sent, rather than the processor for what was executed. */
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code <= 0) {
		missed->signals |= REMOTE_SIGNAL(WSTOPSIG(status));
		return STEP_AGAIN;
	}
	return STEP_FAULTED;
}

static void
make_good(pid_t tid, const struct missed *missed)
{
	uint64_t signals = missed->signals, of_thread = 0, of_process = 0;

	proc_status(tid, "SigPnd", 16, &of_thread);
	proc_status(tid, "ShdPnd", 16, &of_process);
	/* SIGCONT, which the call held up, cancels the stop that came before it. */
	if ((of_thread | of_process) & REMOTE_SIGNAL(SIGCONT))
		signals &= ~REMOTE_SIGNAL(SIGSTOP);
	for (int number = 1; signals != 0; number++, signals >>= 1)
		if (signals & 1)
			syscall(SYS_tkill, tid, number);
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

/* ---- filters for system calls ---- */

/* The number of filters that a process or thread has; -1: some, but it is not known how many. */
static int64_t
nr_filters(pid_t tid)
{
	uint64_t mode = 0, nr;

	proc_status(tid, "Seccomp", 10, &mode);
	if (mode == 0)
		return 0;
	return proc_status(tid, "Seccomp_filters", 10, &nr) ? (int64_t)nr : -1;
}

/* Inherited filters let pass what they let pass for us: a container filters everybody. */
static int
suspend_filters(pid_t tid, long options, bool *are_suspended, struct rot_error *err)
{
	int64_t nr = nr_filters(tid);

	*are_suspended = false;
	if (nr == 0 || (nr > 0 && nr == nr_filters(getpid())))
		return 0;
	if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)(options | PTRACE_O_SUSPEND_SECCOMP)) < 0) {
		rot_error_set(err, errno, "cannot make a system call in process %d, which filters its system calls",
			      (int)tid);
		return rot_error_hint(err, "as root, outside of a container, filters can be set aside for a moment");
	}
	*are_suspended = true;
	return 0;
}

/* ---- system calls ---- */

int
remote_call(pid_t tid, long options, long number, const uint64_t arguments[6], int64_t *result, struct rot_error *err)
{
	uint64_t instruction = remote_find_syscall(tid);
	bool are_suspended;
	int rc;

	if (instruction == 0)
		return rot_error_set(err, 0, "cannot make a system call in process %d: no code of it contains one",
				     (int)tid);
	if (suspend_filters(tid, options, &are_suspended, err) < 0)
		return -1;
	rc = remote_step_call(tid, instruction, number, arguments, result, err);
	if (are_suspended)
		ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options);
	return rc;
}

/* ---- mappings ---- */

struct remote_mapping *
remote_mappings(pid_t tid, size_t *nr, struct rot_error *err)
{
	struct remote_mapping *mappings = NULL;
	char path[32], *line = NULL;
	size_t room = 0, size = 0;
	FILE *file;

	*nr = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	file = fopen(path, "re");
	if (!file) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return NULL;
	}
	while (getline(&line, &size, file) > 0) {
		unsigned long long start, end, offset = 0, inode = 0;
		char flags[8] = "", name[sizeof(mappings->name)] = "";

		if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %255[^\n]", &start, &end, flags, &offset, &inode, name) <
		    5)
			continue;
		if (*nr == room)
			mappings = rot_realloc(mappings, room = 2 * room + 64, sizeof(*mappings));
		mappings[*nr] = (struct remote_mapping){.start = start,
							.end = end,
							.offset = offset,
							.inode = (ino_t)inode,
							.is_executable = flags[2] == 'x',
							.is_changeable = flags[1] == 'w' || flags[3] == 's'};
		memcpy(mappings[(*nr)++].name, name, sizeof(name));
	}
	free(line);
	fclose(file);
	if (*nr == 0)
		rot_error_set(err, 0, "process %d has no memory: it is ending", (int)tid);
	return mappings;
}

/* The lowest place of a program, and the first above all of them. */
#define LOWEST 0x10000UL
#define HIGHEST 0x7ffffffff000UL

/* The highest place in the gap before the i-th mapping; 0 if it has none: a heap grows up, a stack down. */
static uint64_t
place_in_gap(const struct remote_mapping *mappings, size_t nr, size_t i, uint64_t near, size_t bytes)
{
	uint64_t lowest = near > REMOTE_NEAR_BYTES ? near - REMOTE_NEAR_BYTES : 0, highest = near + REMOTE_NEAR_BYTES;
	uint64_t start = i == 0 ? LOWEST : mappings[i - 1].end, end = i == nr ? HIGHEST : mappings[i].start;

	if (i < nr && strcmp(mappings[i].name, "[stack]") == 0)
		return 0;
	if (end > highest)
		end = highest;
	if (end < start || end - start < bytes || end - bytes < lowest)
		return 0;
	return end - bytes;
}

uint64_t
remote_find_gap(const struct remote_mapping *mappings, size_t nr, uint64_t near, size_t bytes, size_t attempt)
{
	size_t first_above = 0;

	while (first_above < nr && mappings[first_above].start <= near)
		first_above++;
	for (size_t n = 0; n <= nr; n++) {
		size_t i = n < first_above ? first_above - 1 - n : n;
		uint64_t place = place_in_gap(mappings, nr, i, near, bytes);

		if (place != 0 && attempt-- == 0)
			return place;
	}
	return 0;
}

/* Places to try: what lies free may be reserved (a guard of a stack), or taken away by a limit. */
#define MAX_ATTEMPTS 16

/* How often to look for them: other threads of the process may map something meanwhile. */
#define MAX_LOOKS 8

static int
map_pages(pid_t tid, long options, uint64_t where, size_t bytes, int protection, uint64_t *address,
	  struct rot_error *err)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED_NOREPLACE : 0);
	const uint64_t arguments[6] = {where, bytes, (uint64_t)protection, (uint64_t)flags, (uint64_t)-1, 0};
	int64_t result;

	if (remote_call(tid, options, SYS_mmap, arguments, &result, err) < 0)
		return -1;
	*address = (uint64_t)result;
	return result < 0 && result > -4096 ? (int)-result : 0;
}

/* Like map; positive: the errno of the last place that was tried. */
static int
map_in_gap(pid_t tid, long options, uint64_t near, size_t bytes, int protection, uint64_t *address,
	   struct rot_error *err)
{
	size_t nr;
	struct remote_mapping *mappings = remote_mappings(tid, &nr, err);
	int status = ENOMEM;

	if (!mappings)
		return -1;
	for (size_t attempt = 0; status > 0 && attempt < MAX_ATTEMPTS; attempt++) {
		uint64_t where = remote_find_gap(mappings, nr, near, bytes, attempt);

		if (where == 0)
			break;
		status = map_pages(tid, options, where, bytes, protection, address, err);
	}
	free(mappings);
	return status;
}

int
remote_map_near(pid_t tid, long options, uint64_t near, size_t bytes, int protection, uint64_t *address,
		struct rot_error *err)
{
	int status = near == 0 ? map_pages(tid, options, 0, bytes, protection, address, err) : EEXIST;

	for (int look = 0; status == EEXIST && look < MAX_LOOKS; look++)
		status = map_in_gap(tid, options, near, bytes, protection, address, err);
	if (status <= 0)
		return status;
	return rot_error_set(err, status, "cannot map %zu bytes near 0x%llx in process %d", bytes,
			     (unsigned long long)near, (int)tid);
}
