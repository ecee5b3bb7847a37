/* SPDX-License-Identifier: MIT */
/* System calls that signals interrupt, and what a process sees and changes of itself through the kernel. */
#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/uio.h>

#include "acts.h"
#include "hard_cases.h"

static volatile sig_atomic_t nr_caught;

static void
count(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	CHECK(is_known_code((uint64_t)RIP(context)));
	nr_caught++;
}

/* ---- interrupted ---- */

static int empty_pipe[2], epoll;
static uint32_t futex_word;

static long
wait_by_read(void)
{
	char byte;

	return read(empty_pipe[0], &byte, 1);
}

static long
wait_by_sleep(void)
{
	struct timespec ten = {10, 0}, left = {0, 0};
	long result = nanosleep(&ten, &left);

	CHECK(left.tv_sec == 9);
	return result;
}

static long
wait_by_clock(void)
{
	struct timespec ten = {10, 0};

	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, NULL);
	return errno ? -1 : 0;
}

static long
wait_by_poll(void)
{
	struct pollfd file = {.fd = empty_pipe[0], .events = POLLIN};

	return poll(&file, 1, 10000);
}

static long
wait_by_select(void)
{
	struct timeval ten = {10, 0};
	fd_set files;

	FD_ZERO(&files);
	FD_SET(empty_pipe[0], &files);
	return select(empty_pipe[0] + 1, &files, NULL, NULL, &ten);
}

static long
wait_by_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 10000);
}

static long
wait_by_futex(void)
{
	struct timespec ten = {10, 0};

	return syscall(SYS_futex, &futex_word, 0, 0, &ten, NULL, 0);
}

static long
wait_by_pause(void)
{
	return pause();
}

static long
wait_by_suspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigsuspend(&none);
}

static long
wait_by_ppoll(void)
{
	struct timespec ten = {10, 0};
	sigset_t none;

	sigemptyset(&none);
	return ppoll(NULL, 0, &ten, &none);
}

/* Without SA_RESTART, and of some in any case, a signal ends the wait. */
static void
interrupted_waits(void)
{
	static long (*const waits[])(void) = {wait_by_read,    wait_by_sleep, wait_by_clock, wait_by_poll,
					      wait_by_select,  wait_by_epoll, wait_by_futex, wait_by_pause,
					      wait_by_suspend, wait_by_ppoll};

	CHECK(pipe(empty_pipe) == 0 && (epoll = epoll_create1(0)) >= 0);
	handle(SIGALRM, count, 0);
	for (int i = 0; i < 3 * NR_ELEMENTS(waits); i++) {
		nr_caught = 0;
		tick(20000);
		errno = 0;
		CHECK(waits[i % NR_ELEMENTS(waits)]() == -1);
		CHECK_SAME(errno, EINTR);
		CHECK(nr_caught > 0);
		tick(0);
	}
	close(empty_pipe[0]);
	close(empty_pipe[1]);
	close(epoll);
}

static pid_t parent, helper;

/* Wakes after some signals: writes to the pipe. */
static pid_t
start_helper(void (*does)(void))
{
	pid_t pid;

	parent = getpid();
	pid = fork();
	if (pid == 0) {
		does();
		_exit(5);
	}
	CHECK(pid > 0);
	return pid;
}

static void
signal_and_write(void)
{
	for (int i = 0; i < 5; i++) {
		usleep(5000);
		CHECK(kill(parent, SIGUSR1) == 0);
	}
	usleep(5000);
	CHECK(write(empty_pipe[1], "x", 1) == 1);
}

static void
restarted_waits(void)
{
	int status;
	char byte;

	CHECK(pipe(empty_pipe) == 0);
	handle(SIGUSR1, count, SA_RESTART);
	for (int i = 0; i < 10; i++) {
		nr_caught = 0;
		helper = start_helper(signal_and_write);
		if (i % 2 == 0)
			CHECK(read(empty_pipe[0], &byte, 1) == 1 && byte == 'x');
		CHECK(waitpid(helper, &status, 0) == helper && WIFEXITED(status) && WEXITSTATUS(status) == 5);
		if (i % 2 == 1)
			CHECK(read(empty_pipe[0], &byte, 1) == 1 && byte == 'x');
		CHECK(nr_caught > 0);
	}
	signal(SIGUSR1, SIG_DFL);
	close(empty_pipe[0]);
	close(empty_pipe[1]);
}

static void
stop_and_continue(void)
{
	for (int i = 0; i < 3; i++) {
		usleep(5000);
		CHECK(kill(parent, SIGSTOP) == 0);
		usleep(5000);
		CHECK(kill(parent, SIGCONT) == 0);
	}
}

static void
sleep_in_child(void)
{
	struct timespec a_while = {0, 80000000};
	pid_t stopper = start_helper(stop_and_continue);

	CHECK(nanosleep(&a_while, NULL) == 0); /* restart_syscall */
	CHECK(poll(NULL, 0, 20) == 0);
	CHECK(waitpid(stopper, NULL, 0) == stopper);
}

/* Stopping is no interruption. */
static void
waits_over_stops(void)
{
	CHECK_SAME(status_of(sleep_in_child), 0);
}

static void
send_usr1(void)
{
	usleep(3000);
	kill(parent, SIGUSR1);
}

static void
signals_waited_for(void)
{
	struct timespec now = {0, 0}, soon = {0, 5000000};
	struct signalfd_siginfo told;
	siginfo_t info;
	sigset_t set;
	int file;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(sigtimedwait(&set, NULL, &now) == -1 && errno == EAGAIN);
	CHECK(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN);
	file = signalfd(-1, &set, SFD_CLOEXEC);
	for (int i = 0; i < 20; i++) {
		pid_t pid = start_helper(send_usr1);

		if (i % 2) {
			CHECK(read(file, &told, sizeof(told)) == sizeof(told) && told.ssi_signo == SIGUSR1 &&
			      told.ssi_pid == (uint32_t)pid);
		} else {
			CHECK(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_pid == pid);
		}
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	close(file);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

/* ---- system calls under fire ---- */

extern const char fire_at[], fire_after[];
uint64_t call_under_fire(uint64_t number, uint64_t wanted);
/* 0: after each call rax is right, rcx the address behind it, all other registers as before. */
__asm__(".text\ncall_under_fire: push %rbx\n push %r12\n mov %rdi, %rbx\n mov %rsi, %r12\n mov $2000, %r9d\n mov "
	"$0x8888, %r8d\n"
	"mov $0x1234, %edx\n mov $0xaaaa, %r10d\n"
	"1: mov %rbx, %rax\n fire_at: syscall\n fire_after: cmp %r12, %rax\n jne 2f\n lea fire_after(%rip), %rax\n cmp "
	"%rax, %rcx\n jne 2f\n"
	"cmp $0x8888, %r8d\n jne 2f\n cmp $0x1234, %edx\n jne 2f\n cmp $0xaaaa, %r10d\n jne 2f\n dec %r9d\n jnz 1b\n "
	"xor %eax, %eax\n"
	"2: pop %r12\n pop %rbx\n ret\n");

static uint64_t fire_number, fire_result;
static volatile int nr_at_call;

static void
on_fire(int number, siginfo_t *info, void *context)
{
	uint64_t rip = (uint64_t)RIP(context);

	(void)number, (void)info;
	CHECK(is_known_code(rip));
	if (rip == (uint64_t)fire_at)
		CHECK_SAME(REGISTER(context, RAX), fire_number);
	if (rip == (uint64_t)fire_after) {
		CHECK_SAME(REGISTER(context, RAX), fire_result);
		CHECK_SAME(REGISTER(context, RCX), rip);
		nr_at_call++;
	}
}

static void
calls_under_fire(void)
{
	handle(SIGALRM, on_fire, SA_RESTART);
	for (int i = 0; i < 60; i++) {
		tick_once(300);
		fire_number = i % 2 ? SYS_getppid : SYS_getpid;
		fire_result = i % 2 ? (uint64_t)getppid() : (uint64_t)getpid();
		CHECK_SAME(call_under_fire(fire_number, fire_result), 0);
	}
	tick(0);
}

/* A signal to itself is there when the call has returned: the handler sees the place behind the call. */
static volatile uint64_t own_kill_rip;

static void
see_place(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	own_kill_rip = (uint64_t)RIP(context);
	CHECK_SAME(REGISTER(context, RCX), own_kill_rip);
	CHECK_SAME(REGISTER(context, RAX), 0);
	REGISTER(context, RAX) = 77;
}

static void
handled_within_calls(void)
{
	handle(SIGUSR1, see_place, 0);
	for (int i = 0; i < 100; i++) {
		uint64_t behind;
		long result = SYS_kill;

		__asm__ volatile("syscall\n 1: lea 1b(%%rip), %1"
				 : "+a"(result), "=r"(behind)
				 : "D"((long)getpid()), "S"((long)SIGUSR1)
				 : "rcx", "r11", "memory");
		CHECK_SAME(own_kill_rip, behind);
		CHECK_SAME(result, 77);
	}
	signal(SIGUSR1, SIG_DFL);
}

/* ---- what a process knows of itself ---- */

static void
own_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PAGE], path[PAGE];
	uint64_t start, end, last = 0, here = (uint64_t)own_maps;
	bool has_text = false, has_stack = false;

	CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps)) {
		char rights[8];

		*path = '\0';
		CHECK(sscanf(line, "%lx-%lx %7s %*x %*s %*u %4095[^\n]", &start, &end, rights, path) >= 3);
		CHECK(start >= last && end > start);
		last = end;
		CHECK(!(rights[1] == 'w' && rights[2] == 'x'));
		if (here >= start && here < end) {
			CHECK(strcmp(path, own_path) == 0 && rights[0] == 'r' && rights[1] == '-' && rights[2] == 'x');
			has_text = true;
		}
		if ((uint64_t)&start >= start && (uint64_t)&start < end)
			has_stack = strcmp(path, "[stack]") == 0;
	}
	fclose(maps);
	CHECK(has_text && has_stack);
}

static void
own_name(void)
{
	char name[32] = "", comm[32] = "";
	FILE *file;

	CHECK(prctl(PR_SET_NAME, "hard \"name\"") == 0 && prctl(PR_GET_NAME, name) == 0);
	CHECK(strcmp(name, "hard \"name\"") == 0);
	file = fopen("/proc/self/comm", "re");
	CHECK(file && fgets(comm, sizeof(comm), file) && strcmp(comm, "hard \"name\"\n") == 0);
	fclose(file);
}

/* A new file gets the lowest free number, and nobody else's files are there. */
static void
lowest_descriptor(void)
{
	int first = open("/dev/null", O_RDONLY | O_CLOEXEC), nr = 0;
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	CHECK(first >= 3 && folder);
	while ((entry = readdir(folder))) {
		char path[300], target[300];
		ssize_t length;

		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		CHECK(length > 0);
		target[length] = '\0';
		nr++;
	}
	closedir(folder);
	close(first);
	CHECK_SAME(open("/dev/null", O_RDONLY | O_CLOEXEC), first);
	close(first);
	CHECK(nr >= 5);
}

static void
close_everything(void)
{
	volatile uint64_t sum = 0;

	syscall(SYS_close_range, 3U, ~0U, 0U);
	CHECK_SAME(open("/dev/null", O_RDONLY), 3);
	for (int i = 0; i < 100; i++)
		sum += strtoul("12345", NULL, 10) + (uint64_t)strlen(own_path) * (uint64_t)abs(-i);
	CHECK(sum > 0);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, (void *(*)(void *))(uintptr_t)pthread_self, NULL) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
}

static void
all_files_closed(void)
{
	CHECK_SAME(status_of(close_everything), 0);
}

static void
grow_heap(void)
{
	char *start = sbrk(0), *at = start;

	for (int i = 0; i < 64; i++) {
		CHECK(sbrk(16 << 20) == at);
		at[12345] = 1;
		at += 16 << 20;
	}
	CHECK(sbrk(0) == at && start[12345] == 1 && at[12345 - (16 << 20)] == 1);
	CHECK(brk(start) == 0 && sbrk(0) == start);
}

/* By a gigabyte, in one piece. */
static void
heap_grows(void)
{
	CHECK_SAME(status_of(grow_heap), 0);
}

static void
limit_memory(void)
{
	struct rlimit limit;
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages;
	void *memory;

	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * PAGE + (64 << 20);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	memory = mmap(NULL, 32 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	CHECK(mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	qsort(memory, 1000, 8, (int (*)(const void *, const void *))(uintptr_t)strcmp);
	limit.rlim_cur = limit.rlim_max = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0 && open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
}

static void
limits(void)
{
	CHECK_SAME(status_of(limit_memory), 0);
}

/* All flags that it does not know are refused, and the call leaves them as they are. */
static int
lock_all(long flags)
{
	const long asked = flags;
	long result = SYS_mlockall;

	__asm__ volatile("syscall" : "+a"(result), "+D"(flags) : : "rcx", "r11", "memory");
	CHECK_SAME(flags, asked);
	return (int)result;
}

int
lock_memory(void)
{
	static const unsigned char returns_7[] = {0xb8, 7, 0, 0, 0, 0xc3};
	void *const far_away = (void *)UINT64_C(0x100000000000);
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long resident;
	unsigned char *code;
	const int result = lock_all(MCL_CURRENT | MCL_FUTURE);

	if (result == -ENOMEM || result == -EPERM)
		return 77;
	CHECK_SAME(result, 0);
	CHECK(lock_all(0) == -EINVAL && lock_all(64 | MCL_CURRENT) == -EINVAL);
	code = mmap(far_away, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	memcpy(code, returns_7, sizeof(returns_7));
	CHECK(((int (*)(void))(uintptr_t)code)() == 7);
	CHECK(file && fscanf(file, "%*u %lu", &resident) == 1);
	fclose(file);
	CHECK(resident < (256 << 20) / PAGE);
	return 0;
}

/* If all of the code cache were made, it would be some 4 GB with this limit. */
static void
lock_within_limit(void)
{
	const struct rlimit limit = {UINT64_C(9) << 30, UINT64_C(9) << 30};
	static char name[] = "=lock";
	char *const arguments[] = {name, name, NULL};

	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	execv(own_path, arguments);
}

static void
all_memory_locked(void)
{
	const int status = status_of(lock_within_limit);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("memory cannot be locked");
	CHECK_SAME(status, 0);
}

static void
memory_of_itself(void)
{
	char text[64] = "process_vm_readv reads itself", copy[64] = "";
	struct iovec from = {(void *)(uintptr_t)memory_of_itself, 32}, to = {copy, 32};
	int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	CHECK(process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 32);
	CHECK(memcmp(copy, (void *)(uintptr_t)memory_of_itself, 32) == 0);
	CHECK(file >= 0 && pread(file, copy, 32, (off_t)(uintptr_t)text) == 32 && memcmp(copy, text, 32) == 0);
	close(file);
}

/* ---- seccomp ---- */

#define LOAD_FIELD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(number, answer) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer)

static void
filter_calls(struct sock_filter *filter, int nr)
{
	struct sock_fprog program = {.len = (unsigned short)nr, .filter = filter};

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static volatile uint64_t trapped_at;

static void
on_trapped_call(int number, siginfo_t *info, void *context)
{
	CHECK_SAME(number, SIGSYS);
	CHECK_SAME(info->si_syscall, SYS_getppid);
	CHECK_SAME(info->si_call_addr, RIP(context));
	trapped_at = (uint64_t)RIP(context);
	REGISTER(context, RAX) = 4321;
}

/* Everything but some calls is deadly from here on, for those who watch as well. */
static void
filter_strictly(void)
{
	struct sock_filter filter[] = {
		LOAD_FIELD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD_FIELD(nr),
		ANSWER(SYS_getppid, SECCOMP_RET_TRAP),
		ANSWER(SYS_getuid, SECCOMP_RET_ERRNO | 123),
		ANSWER(SYS_write, SECCOMP_RET_ALLOW),
		ANSWER(SYS_rt_sigreturn, SECCOMP_RET_ALLOW),
		ANSWER(SYS_exit_group, SECCOMP_RET_ALLOW),
		ANSWER(SYS_getpid, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	unsigned char sorted[256];

	handle(SIGSYS, on_trapped_call, 0);
	filter_calls(filter, NR_ELEMENTS(filter));
	for (int i = 0; i < 20; i++) {
		uint64_t behind;
		long result = SYS_getppid;

		__asm__ volatile("syscall\n 1: lea 1b(%%rip), %1"
				 : "+a"(result), "=r"(behind)
				 :
				 : "rcx", "r11", "memory");
		CHECK_SAME(result, 4321);
		CHECK_SAME(trapped_at, behind);
		CHECK(syscall(SYS_getuid) == -1 && errno == 123);
		for (int k = 0; k < 256; k++)
			sorted[k] = (unsigned char)(k * 7 + i);
		CHECK(memchr(sorted, 9, 256) != NULL);
	}
}

static void
filter_and_die(void)
{
	filter_strictly();
	getegid();
}

static void
filter_in_mode_1(void)
{
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	CHECK(write(STDERR_FILENO, "", 0) == 0);
	CHECK(strtol("77", NULL, 10) == 77);
	syscall(SYS_exit, 6);
}

static void
own_seccomp_filter(void)
{
	int status = status_of(filter_strictly);

	CHECK_SAME(status, 0);
	status = status_of(filter_and_die);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	status = status_of(filter_in_mode_1);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);
}

/* ---- restartable sequences ---- */

/*
 * A sequence that waits for a signal within: the kernel leaves it at its abort handler, before the frame of the signal
 * is made. Nothing else ends the wait but the handler of the signal, which must see the abort handler as the place.
 */
extern const char rseq_start[], rseq_commit[], rseq_abort[], rseq_aborted[];
int wait_in_sequence(struct rseq *area, volatile int *is_over);
int add_in_sequence(struct rseq *area, volatile int *is_over);
/* 1: aborted, 0: done. */
__asm__(".text\nwait_in_sequence: lea wait_descriptor(%rip), %rax\n mov %rax, 8(%rdi)\n"
	"rseq_start: cmpl $0, (%rsi)\n je rseq_start\n incl (%rsi)\nrseq_commit: xor %eax, %eax\n movq $0, 8(%rdi)\n "
	"ret\n"
	".byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\nrseq_abort: mov $1, %eax\nrseq_aborted: ret\n"
	".pushsection .data.rel.local,\"aw\"\n .p2align 5\nwait_descriptor: .long 0, 0\n .quad rseq_start, rseq_commit "
	"- rseq_start, rseq_abort\n"
	".popsection\n");
/* Adds one to the counter of the CPU, at 64 * cpu_id bytes, by three instructions that another thread may come between.
 */
__asm__(".text\nadd_in_sequence: lea add_descriptor(%rip), %rax\n mov %rax, 8(%rdi)\n"
	"1: mov 4(%rdi), %eax\n shl $6, %rax\n add %rsi, %rax\n mov (%rax), %edx\n mov $20, %ecx\n 3: dec %ecx\n jnz "
	"3b\n inc %edx\n"
	"mov %edx, (%rax)\n 2: xor %eax, %eax\n movq $0, 8(%rdi)\n ret\n"
	".byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n4: mov $1, %eax\n ret\n"
	".pushsection .data.rel.local,\"aw\"\n .p2align 5\nadd_descriptor: .long 0, 0\n .quad 1b, 2b - 1b, 4b\n "
	".popsection\n");

static volatile int sequence_over;

static void
in_sequence(int number, siginfo_t *info, void *context)
{
	uint64_t rip = (uint64_t)RIP(context);

	(void)number, (void)info;
	CHECK(is_known_code(rip));
	CHECK(rip < (uint64_t)rseq_start || rip >= (uint64_t)rseq_commit);
	if (rip == (uint64_t)rseq_abort)
		nr_caught++;
	sequence_over = 1;
}

static struct rseq *
rseq_area(void)
{
	if (__rseq_size == 0)
		skip("the C library has registered no restartable sequences");
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void
sequence_aborted_by_signal(void)
{
	int nr_aborted = 0;

	handle(SIGALRM, in_sequence, SA_RESTART);
	nr_caught = 0;
	for (int i = 0; i < 50; i++) {
		sequence_over = 0;
		tick(1000);
		nr_aborted += wait_in_sequence(rseq_area(), &sequence_over);
		tick(0);
	}
	CHECK_SAME(nr_aborted,
		   50); /* nothing but an abort leads out in time: where the handler has been, there was one */
}

enum { NR_ADDERS = 6, NR_ADDED = 100000 };
static int counters[1024][16] __attribute__((aligned(64)));

static void *
add_many(void *unused)
{
	struct rseq *area = rseq_area();

	for (int i = 0; i < NR_ADDED; i++) {
		while (add_in_sequence(area, counters[0]))
			;
	}
	return unused;
}

static void
sequences_of_threads(void)
{
	pthread_t threads[NR_ADDERS];
	int sum = 0;

	memset(counters, 0, sizeof(counters));
	rseq_area();
	for (int i = 0; i < NR_ADDERS; i++)
		CHECK(pthread_create(&threads[i], NULL, add_many, NULL) == 0);
	for (int i = 0; i < NR_ADDERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NR_ELEMENTS(counters); i++)
		sum += counters[i][0];
	CHECK_SAME(sum, NR_ADDERS * NR_ADDED);
}

static void
register_own_area(void)
{
	static struct rseq own __attribute__((aligned(32)));

	CHECK(syscall(SYS_rseq, rseq_area(), 32, 1 /* unregister */, 0x53053053) == 0);
	CHECK(syscall(SYS_rseq, &own, 32, 0, 0x53053053) == 0);
	handle(SIGALRM, in_sequence, SA_RESTART);
	for (int i = 0; i < 20; i++) {
		sequence_over = 0;
		tick(1000);
		CHECK(wait_in_sequence(&own, &sequence_over) == 1);
		tick(0);
	}
}

static void
own_rseq_area(void)
{
	rseq_area();
	CHECK_SAME(status_of(register_own_area), 0);
}

const struct hard_case syscall_cases[] = {
	{"interrupted-waits", interrupted_waits},
	{"restarted-waits", restarted_waits},
	{"waits-over-stops", waits_over_stops},
	{"signals-waited-for", signals_waited_for},
	{"calls-under-fire", calls_under_fire},
	{"handled-within-calls", handled_within_calls},
	{"own-maps", own_maps},
	{"own-name", own_name},
	{"lowest-descriptor", lowest_descriptor},
	{"all-files-closed", all_files_closed},
	{"heap-grows", heap_grows},
	{"limits", limits},
	{"all-memory-locked", all_memory_locked},
	{"memory-of-itself", memory_of_itself},
	{"own-seccomp-filter", own_seccomp_filter},
	{"sequence-aborted-by-signal", sequence_aborted_by_signal},
	{"sequences-of-threads", sequences_of_threads},
	{"own-rseq-area", own_rseq_area},
	{NULL, NULL},
};
