/* SPDX-License-Identifier: MIT */
/* Acts in a stopped process from outside: they work, and the process does not notice. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "parent/tracer/remote.h"
#include "permits.h"
#include "testing.h"

/* Shared with the process under control. */
struct shared {
	volatile int is_ready;
	volatile int result;
	int pipe[2];
};

static struct shared *shared;
static pid_t pid;

static void
set_up(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	ck_assert_int_eq(pipe(shared->pipe), 0);
}

static void
tear_down(void)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
	}
	pid = 0;
	close(shared->pipe[0]);
	close(shared->pipe[1]);
	munmap(shared, sizeof(*shared));
}

static int
wait_for_stop(void)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFSTOPPED(status), "status 0x%x", status);
	return status;
}

static void
pause_process(void)
{
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for_stop() >> 16, PTRACE_EVENT_STOP);
}

static void
resume(int signal)
{
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, (void *)(long)signal), 0);
}

static const long options = PTRACE_O_EXITKILL;

/* A process that does what work says; stopped after it has said that it is ready. */
static void
start(void (*work)(void))
{
	pid = fork();
	if (pid == 0) {
		work();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, (void *)options), 0);
	while (!shared->is_ready)
		usleep(1000);
	pause_process();
}

static void
expect_exit(int status)
{
	int got;

	ck_assert_int_eq(waitpid(pid, &got, __WALL), pid);
	ck_assert_msg(WIFEXITED(got) && WEXITSTATUS(got) == status, "status 0x%x", got);
	pid = 0;
}

static int64_t
call(long number, const uint64_t arguments[6])
{
	int64_t result = -1;

	ck_assert_ok(remote_call(pid, options, number, arguments, &result, &why));
	return result;
}

static const uint64_t none[6];

/* ---- what the process does ---- */

static void
compute(void)
{
	shared->is_ready = 1;
	while (true)
		shared->result++;
}

static void
read_pipe(void)
{
	char byte = 0;

	shared->is_ready = 1;
	_exit(read(shared->pipe[0], &byte, 1) == 1 && byte == 'x' ? 5 : errno);
}

/* With a time limit, which the kernel has to remember when it is interrupted: such a call is restarted in another way.
 */
static void
poll_pipe(void)
{
	struct pollfd descriptor = {.fd = shared->pipe[0], .events = POLLIN};

	shared->is_ready = 1;
	_exit(poll(&descriptor, 1, 1000000) == 1 ? 5 : errno);
}

static void
on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	_exit(info->si_code == SI_QUEUE ? info->si_value.sival_int : 1);
}

static void
take_signal(void)
{
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	compute();
}

static void
filter_and_compute(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(1);
	compute();
}

#define CODE_SEGMENT_32 0x23

/* Some code at an address of 32 bits, executed as 32-bit code. */
static void
execute_in_32_bits(const unsigned char bytes[2])
{
	unsigned char *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	memcpy(code, bytes, 2);
	shared->is_ready = 1;
	__asm__ volatile("pushq %0\n\tpushq %1\n\tlretq" : : "i"(CODE_SEGMENT_32), "r"(code) : "memory");
}

/* A loop of 32-bit code in a 64-bit process is all that makes it one that has 32-bit registers. */
static void
compute_in_32_bits(void)
{
	execute_in_32_bits((const unsigned char[]){0xeb, 0xfe});
}

/* A kernel without 32-bit programs has no such segment: a fault before the instruction (ud2), not by it. */
static bool
runs_32_bits(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		execute_in_32_bits((const unsigned char[]){0x0f, 0x0b});
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	shared->is_ready = 0;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGILL;
}

/* ---- tests ---- */

static char two_pages[8192] __attribute__((aligned(4096)));
static const char constant[] = "as it was";

TEST(memory_is_read_and_written)
{
	char bytes[32];

	memset(two_pages, 'a', sizeof(two_pages));
	start(compute);
	ck_assert_int_eq(remote_write(pid, (uintptr_t)two_pages + 4090, "across pages", 12, &why), 0);
	ck_assert_int_eq(remote_read(pid, (uintptr_t)two_pages + 4089, bytes, 14, &why), 0);
	ck_assert_mem_eq(bytes, "aacross pagesa", 14);
	ck_assert_int_eq(two_pages[4090], 'a');
	ck_assert_int_eq(remote_write(pid, (uintptr_t)constant, "as it is ", 9, &why), 0);
	ck_assert_int_eq(remote_read(pid, (uintptr_t)constant, bytes, 10, &why), 0);
	ck_assert_str_eq(bytes, "as it is ");
	ck_assert_int_eq(remote_read(pid, 8, bytes, 8, &why), -1);
	ck_assert_has(why.text, "cannot read 8 bytes at 0x8");
	ck_assert_int_eq(remote_write(pid, 8, bytes, 8, &why), -1);
}

TEST(a_call_leaves_no_trace)
{
	struct user_regs_struct before, after;
	uint64_t mask_before, mask_after;

	start(compute);
	ck_assert_int_eq(remote_get_registers(pid, &before, NULL), 0);
	ck_assert_int_eq(remote_get_mask(pid, &mask_before), 0);
	ck_assert_int_eq(call(SYS_getppid, none), getpid());
	ck_assert_int_eq(call(SYS_close, (uint64_t[6]){9999}), -EBADF);
	ck_assert_int_eq(remote_get_registers(pid, &after, NULL), 0);
	ck_assert_int_eq(remote_get_mask(pid, &mask_after), 0);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	ck_assert_uint_eq(mask_before, mask_after);
}

static void (*const blocked_works[])(void) = {read_pipe, poll_pipe};

TEST_OF(a_call_does_not_disturb_the_one_that_it_interrupts, NR_ELEMENTS(blocked_works))
{
	start(blocked_works[_i]);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(call(SYS_getppid, none), getpid());
		resume(0);
		usleep(1000);
		pause_process();
	}
	ck_assert_int_eq(write(shared->pipe[1], "x", 1), 1);
	resume(0);
	expect_exit(5);
}

TEST(a_signal_can_still_be_delivered)
{
	start(take_signal);
	resume(0);
	ck_assert_int_eq(sigqueue(pid, SIGUSR1, (union sigval){.sival_int = 42}), 0);
	ck_assert_int_eq(wait_for_stop(), SIGUSR1 << 8 | 0x7f);
	ck_assert_int_eq(call(SYS_getppid, none), getpid());
	resume(SIGUSR1);
	expect_exit(42);
}

/* All are delivered as they come. Returns whether SIGSTOP was among them; the process was stopped then. */
static bool
deliver_all(void)
{
	bool was_stopped = false;
	int status;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		was_stopped |= status >> 8 == SIGSTOP;
		if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGSTOP)
			kill(pid, SIGCONT);
		resume(status >> 16 == 0 ? WSTOPSIG(status) : 0);
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 43, "status 0x%x", status);
	pid = 0;
	return was_stopped;
}

/* SIGCONT takes back the stop before it, as ever. */
TEST_OF(signals_meanwhile_are_not_lost, 2)
{
	start(take_signal);
	kill(pid, SIGSTOP);
	if (_i == 1)
		kill(pid, SIGCONT);
	sigqueue(pid, SIGUSR1, (union sigval){.sival_int = 43});
	ck_assert_int_eq(call(SYS_getppid, none), getpid());
	resume(0);
	ck_assert_int_eq(deliver_all(), _i == 0);
}

TEST(a_killed_process_is_reported_to_others)
{
	int64_t result;
	int status;

	start(compute);
	kill(pid, SIGKILL);
	ck_assert_int_eq(remote_call(pid, options, SYS_getppid, none, &result, &why), -1);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert(WIFSIGNALED(status));
	pid = 0;
}

/* While a call is made in it: its end is not taken instead of a stop. */
TEST(a_killed_process_is_reported_at_any_moment)
{
	int64_t result;
	int status;

	for (int i = 0; i < 100; i++) {
		pid_t killer;

		start(compute);
		killer = fork();
		if (killer == 0) {
			usleep((useconds_t)(i * 37 % 400));
			kill(pid, SIGKILL);
			_exit(0);
		}
		while (remote_call(pid, options, SYS_getppid, none, &result, &why) == 0)
			;
		ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(waitpid(killer, NULL, 0), killer);
	}
	pid = 0;
}

/* A program that may not do what we do in it: set aside, or refused before anything is done. */
TEST(filters_are_not_run_into)
{
	int64_t result;

	start(filter_and_compute);
	if (remote_call(pid, options, SYS_getppid, none, &result, &why) == 0)
		ck_assert_int_eq(result, getpid());
	else
		ck_assert_has(why.text, "which filters its system calls");
	resume(0);
	pause_process();
}

/* It has said that it is ready before it is there. */
static void
wait_until_in_32_bits(void)
{
	struct user_regs_struct registers;

	while (ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0 && registers.cs != CODE_SEGMENT_32) {
		resume(0);
		usleep(1000);
		pause_process();
	}
}

TEST(code_of_32_bits_is_refused)
{
	int64_t result;

	if (!runs_32_bits()) {
		fprintf(stderr, "SKIP of 32-bit code: this kernel runs none\n");
		return;
	}
	start(compute_in_32_bits);
	wait_until_in_32_bits();
	ck_assert_int_eq(remote_call(pid, options, SYS_getppid, none, &result, &why), -1);
	ck_assert_has(why.text, "executes 32-bit code");
}

TEST_OF(pages_are_mapped_near, 3)
{
	const uint64_t near = _i == 0 ? (uintptr_t)set_up : _i == 1 ? (uintptr_t)memcpy : 0;
	uint64_t address;
	char byte = 'y';

	start(compute);
	ck_assert_ok(remote_map_near(pid, options, near, 8192, PROT_READ | PROT_EXEC, &address, &why));
	if (near)
		ck_assert_uint_le(address > near ? address - near : near - address, REMOTE_NEAR_BYTES);
	ck_assert_int_eq(remote_write(pid, address + 8191, &byte, 1, &why), 0);
	ck_assert_int_eq(call(SYS_munmap, (uint64_t[6]){address, 8192}), 0);
	ck_assert_int_eq(remote_read(pid, address, &byte, 1, &why), -1);
}

#define FAR 0x7f0000000000UL

static const struct remote_mapping places[] = {
	{0x400000, 0x500000, true, false, "text", 0, 0},
	{0x500000, 0x600000, false, false, "[heap]", 0, 0},
	{FAR, FAR + 0x1000, true, false, "lib", 0, 0},
	{FAR + 0x3000, FAR + 0x4000, true, false, "", 0, 0},
	{FAR + 0x9000, FAR + 0xa000, false, false, "[stack]", 0, 0},
};

static const struct {
	uint64_t near, expected;
	size_t bytes, attempt;
} gaps[] = {
	{0x410000, 0x3ff000, 0x1000, 0},
	{0x410000, 0x410000 + REMOTE_NEAR_BYTES - 0x1000, 0x1000, 1},
	{0x410000, 0x410000 + REMOTE_NEAR_BYTES - 0x400000, 0x400000, 0},
	{0x410000, 0, 0x1000, 2},
	{FAR, FAR - 0x1000, 0x1000, 0},
	{FAR + 0x3000, FAR + 0x2000, 0x1000, 0},
	{FAR + 0x3000, FAR - 0x3000, 0x3000, 0},
	{FAR, FAR + 0x1000, 0x2000, 1},
	{FAR, FAR + REMOTE_NEAR_BYTES - 0x3000, 0x3000, 1},
};

TEST_OF(gaps_are_found, NR_ELEMENTS(gaps))
{
	uint64_t found = remote_find_gap(places, NR_ELEMENTS(places), gaps[_i].near, gaps[_i].bytes, gaps[_i].attempt);

	ck_assert_msg(found == gaps[_i].expected, "0x%llx instead of 0x%llx", (unsigned long long)found,
		      (unsigned long long)gaps[_i].expected);
}

/* Blanks are a part of its name. */
TEST(a_mapping_has_the_name_of_its_file)
{
	char *folder = temporary_folder_new(), *path = folder_write(folder, "a file", "content");
	const int file = open(path, O_RDONLY);
	void *here = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	size_t nr, i = 0;
	struct remote_mapping *mappings = remote_mappings(getpid(), &nr, &why);

	ck_assert_msg(mappings && here != MAP_FAILED, "%s", why.text);
	while (i < nr && mappings[i].start != (uint64_t)here)
		i++;
	ck_assert_uint_lt(i, nr);
	ck_assert_int_eq(strncmp(mappings[i].name, path, sizeof(mappings[i].name) - 1), 0);
	free(mappings);
	munmap(here, 4096);
	close(file);
}

UNIT_TESTS(.needs = {permits_tracing}, .set_up = set_up, .tear_down = tear_down);
