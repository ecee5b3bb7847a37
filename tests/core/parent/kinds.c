/* SPDX-License-Identifier: MIT */
/*
 * Executes functions that begin with all kinds of instructions and checks what they do: kinds THREADS ROUNDS
 * [MICROSECONDS between signals to each thread [MODE]]. Modes are in a table at the end: another process does the same,
 * or the program goes on in another way. A signal handler must never see code that is in no file.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "kinds.h"

/* The registers that a function finds. flags are those of comparing first with second. */
struct registers {
	uint64_t rax, rcx, rdx, rdi, rsi, r10, r11, first, second;
};

#define USED __attribute__((used, aligned(64)))

USED uint64_t constant[8] = {77, 78, 79, 80, 81, 82, 83, 84};
USED uint64_t total;
USED double float_constant = 79;

extern const char rot_kinds[];
extern const uint64_t helper_pointer;
uint64_t call_function(const struct registers *registers, uint64_t function);

#define KIND(name, needs, first, rest, result) ".balign 16\nk_" #name ": " first "\n" rest "\n"
__asm__(".text\n" KINDS "helper: mov %rdi, %rax; ret\n"
	"sum_helper: lea (%rdi,%rsi), %rax; ret\n"
	".balign 16\n.globl rot_kinds\nrot_kinds: .asciz \"" KINDS_MAGIC "\"\n");
#undef KIND
#define KIND(name, needs, first, rest, result) ".long k_" #name " - rot_kinds\n"
__asm__(".text\n" KINDS ".long sequence - rot_kinds\n"
	/* leave as the first instruction of a function ends up where the stack frame says */
	".globl call_function\n"
	"call_function: push %rbp; push %rbx\n"
	"lea 1f(%rip), %rax; push %rax; push %rbp; mov %rsp, %rbp\n"
	"mov %rsi, %r9; mov %rdi, %r8\n"
	"mov 8(%r8), %rcx; mov 16(%r8), %rdx; mov 24(%r8), %rdi; mov 32(%r8), %rsi; mov 40(%r8), %r10; mov 48(%r8), "
	"%r11\n"
	"mov helper_pointer(%rip), %rax; mov %rax, -24(%rsp)\n"
	"mov 56(%r8), %rax; cmp 64(%r8), %rax; mov (%r8), %rax\n"
	"call *%r9\n"
	"mov %rbp, %rsp; pop %rbp; add $8, %rsp\n"
	"1: pop %rbx; pop %rbp; ret\n"
	".data\n.balign 8\n.globl helper_pointer\nhelper_pointer: .quad helper\nsum_pointer: .quad sum_helper\n"
	".text\n");
#undef KIND

#define PAGE_BYTES 4096
#define MAX_MAPPINGS 64

static struct {
	uint64_t start, end;
} mappings[MAX_MAPPINGS];
static size_t nr_mappings;
static uint64_t process, highest_leaf;
static __thread char *forbidden; /* a page that cannot be read */
static volatile int nr_rounds;   /* SIGTERM makes this one the last */
static atomic_long nr_done;
static int interval_us;
static volatile int has_failed;

static void
fail(const char *what, int kind, uint64_t value)
{
	if (!has_failed)
		fprintf(stderr, "kinds: %s, kind %d, 0x%llx\n", what, kind, (unsigned long long)value);
	has_failed = 1;
}

static uint64_t
function_of(int kind)
{
	int32_t distance;

	memcpy(&distance, rot_kinds + sizeof(KINDS_MAGIC) + (size_t)kind * sizeof(distance), sizeof(distance));
	return (uint64_t)rot_kinds + (uint64_t)distance;
}

static uint64_t
flags_of(uint64_t first, uint64_t second)
{
	uint64_t flags;

	__asm__("cmp %2, %1; pushf; pop %0" : "=r"(flags) : "r"(first), "r"(second) : "cc", "memory");
	return flags & 0xc5;
}

static uint64_t
result_of(int kind, const struct registers *r)
{
	uint64_t sum = r->rdi + r->rsi;

	switch (kind) {
#define KIND(name, needs, first, rest, result)                                                                         \
	case KIND_##name:                                                                                              \
		return result;
		KINDS
#undef KIND
	}
	return sum;
}

static bool
is_possible(int kind)
{
	switch (kind) {
#define KIND(name, needs, first, rest, result)                                                                         \
	case KIND_##name:                                                                                              \
		return HAS_##needs;
		KINDS
#undef KIND
	}
	return false;
}

/* ---- signals ---- */

static void
check_rip(const ucontext_t *context)
{
	uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	for (size_t i = 0; i < nr_mappings; i++) {
		if (rip - mappings[i].start < mappings[i].end - mappings[i].start)
			return;
	}
	fail("foreign code in a signal handler", -1, rip);
}

/*
 * Signals come to a thread after an interval, at any moment of an instruction with a breakpoint; to each execution a
 * few at most, or a thread would get nowhere where its stops take longer than the interval.
 */
#define MOST_SIGNALS 4

static __thread timer_t timer;
static __thread int nr_signals_left;

static void
set_timer(void)
{
	struct itimerspec interval = {.it_value.tv_nsec = interval_us * 1000L};

	if (nr_signals_left > 0)
		timer_settime(timer, 0, &interval, NULL);
	nr_signals_left--;
}

static void
on_timer(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	check_rip(context);
	set_timer();
}

/* Lets the instruction succeed the next time, or passes over it. */
static void
on_fault(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	greg_t *rip = &context->uc_mcontext.gregs[REG_RIP];
	uint64_t address = (uint64_t)info->si_addr, at = (uint64_t)*rip;

	check_rip(context);
	if (number == SIGSEGV) {
		if (at != function_of(KIND_fault) || address != (uint64_t)forbidden)
			fail("SIGSEGV elsewhere", KIND_fault, address);
		mprotect(info->si_addr, PAGE_BYTES, PROT_READ | PROT_WRITE);
		*(uint64_t *)info->si_addr = 77;
	} else if (number == SIGILL) {
		if (at != function_of(KIND_undefined) || address != at)
			fail("SIGILL elsewhere", KIND_undefined, address);
		*rip += 2;
	} else if (number == SIGFPE) {
		if (at != function_of(KIND_divide) || address != at)
			fail("SIGFPE elsewhere", KIND_divide, address);
		*rip += 3;
	} else if (at != function_of(KIND_own_trap) + 1 || info->si_code != SI_KERNEL) {
		fail("SIGTRAP elsewhere", KIND_own_trap, at);
	}
}

static void
make_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (interval_us != 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		fail("no timer", -1, 0);
}

/* Signals begin with the next instruction. */
static void
begin_signals(void)
{
	if (interval_us == 0)
		return;
	nr_signals_left = MOST_SIGNALS;
	set_timer();
}

/* ---- work ---- */

static void
run_kind(int kind, int round, const char *source, char *target)
{
	uint64_t table[2] = {0, helper_pointer}, result, expected;
	struct registers r = {.rax = 1000 + (uint64_t)round,
			      .rcx = (uint64_t)round % 3,
			      .rdi = (uint64_t)round * 7,
			      .rsi = (uint64_t)round + (uint64_t)kind,
			      .r10 = (uint64_t)table,
			      .r11 = helper_pointer,
			      .first = (uint64_t)round % 2,
			      .second = (uint64_t)round % 5};

	switch (kind) {
	case KIND_rep_movs:
		r.rdi = (uint64_t)target;
		r.rsi = (uint64_t)source;
		r.rcx = 1 + (uint64_t)round % 300;
		target[r.rcx - 1] = 0;
		break;
	case KIND_cpuid:
		r.rax = r.rcx = 0;
		break;
	case KIND_system_call:
		r.rax = SYS_getpid;
		break;
	case KIND_fault:
		r.rdx = (uint64_t)forbidden;
		mprotect(forbidden, PAGE_BYTES, PROT_NONE);
		break;
	case KIND_divide:
		r.rsi = 0;
		break;
	}
	expected = result_of(kind, &r);
	result = call_function(&r, function_of(kind));
	if (kind == KIND_cpuid || kind == KIND_rep_movs)
		result &= 0xffffffff;
	if (result != expected)
		fail("wrong result", kind, result);
}

static void *
work(void *unused)
{
	char source[320], target[320];

	(void)unused;
	memset(source, 55, sizeof(source));
	forbidden = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	make_timer();
	for (int round = 0; round < nr_rounds; round++) {
		for (int kind = 0; kind < NR_KINDS; kind++) {
			if (!is_possible(kind))
				continue;
			begin_signals();
			run_kind(kind, round, source, target);
		}
		nr_done++;
	}
	return NULL;
}

static void
read_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4096], name[4096];

	while (file && nr_mappings < MAX_MAPPINGS && fgets(line, sizeof(line), file)) {
		unsigned long long start, end;
		char flags[8];

		if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4095s", &start, &end, flags, name) < 4 || flags[2] != 'x')
			continue;
		mappings[nr_mappings].start = start;
		mappings[nr_mappings++].end = end;
	}
	if (file)
		fclose(file);
}

static void
end_soon(int number)
{
	(void)number;
	nr_rounds = 0;
}

static void
prepare(void)
{
	static const int faults[] = {SIGSEGV, SIGILL, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
	action.sa_sigaction = on_timer;
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGTERM, end_soon);
	read_mappings();
	process = (uint64_t)getpid();
	highest_leaf = call_function(&(struct registers){0}, function_of(KIND_cpuid)) & 0xffffffff;
}

static void
work_in_threads(int nr_threads)
{
	pthread_t threads[64];

	for (int i = 1; i < nr_threads; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	if (total != (uint64_t)nr_done * 0x1000)
		fail("lost executions", KIND_add_immediate, total);
}

/* ---- modes ---- */

static void
wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || status != 0)
		fail("the child failed", -1, (uint64_t)status);
	process = (uint64_t)getpid();
}

static int
work_as_child(void *unused)
{
	(void)unused;
	process = (uint64_t)syscall(SYS_getpid);
	work(NULL);
	_exit(has_failed);
}

static void
fork_and_work(char **argv)
{
	pid_t pid = fork();

	(void)argv;
	if (pid == 0)
		work_as_child(NULL);
	wait_for(pid);
}

static void
vfork_and_work(char **argv)
{
	pid_t pid = vfork();

	(void)argv;
	if (pid == 0)
		work_as_child(NULL);
	wait_for(pid);
}

/* A process that shares the memory of its parent, which does not wait for it. */
static void
clone_and_work(char **argv)
{
	static char stack[1 << 16] __attribute__((aligned(64)));

	(void)argv;
	wait_for(clone(work_as_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL));
}

static void *
execute(void *argv)
{
	((char **)argv)[4] = NULL;
	execv("/proc/self/exe", argv);
	return NULL;
}

static void
execute_from_thread(char **argv)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, argv);
	pthread_join(thread, NULL);
	fail("not executed", -1, 0);
}

static void
exit_among_threads(char **argv)
{
	pthread_t thread;

	(void)argv;
	nr_rounds = 1 << 30;
	for (int i = 0; i < 8; i++)
		pthread_create(&thread, NULL, work, NULL);
	usleep(20000);
	_exit(has_failed);
}

static volatile int nr_steps;

static void
on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	check_rip(context);
	if (info->si_code == TRAP_TRACE)
		nr_steps++;
	else
		fail("a trap that is no step", info->si_code, 0);
}

/* Never inlined: the steps of its own code are counted as well, and must be the same each time. */
static __attribute__((noinline)) int
steps_through(int kind)
{
	struct registers r = {.rdi = 1, .rsi = 2};

	nr_steps = 0;
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf" ::: "cc", "memory");
	call_function(&r, function_of(kind));
	__asm__ volatile("pushf; andl $~0x100, (%%rsp); popf" ::: "cc", "memory");
	return nr_steps;
}

/* The functions differ in their first instruction only. */
static void
step(char **argv)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	(void)argv;
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < nr_rounds; i++) {
		int nr = steps_through(KIND_nop);

		if (nr < 20 || steps_through(KIND_endbr) != nr || steps_through(KIND_nop_long) != nr)
			fail("steps are lost", i, (uint64_t)nr_steps);
	}
}

/*
 * Adds 1 to the counter of the CPU in a restartable sequence: no other thread of that CPU comes between. rdi: struct
 * rseq of the thread; rsi: counters.
 */
void add_on_cpu(void *thread_area, volatile uint64_t *counters);
__asm__(".text\n.globl add_on_cpu\nadd_on_cpu:\n"
	"0: lea section(%rip), %rax; mov %rax, 8(%rdi)\n"
	"1: mov 4(%rdi), %eax\n"
	"sequence: mov (%rsi,%rax,8), %rdx; add $1, %rdx; mov %rdx, (%rsi,%rax,8)\n"
	"2: ret\n"
	".long 0x53053053\n"
	"3: jmp 0b\n"
	".data\n.balign 32\nsection: .long 0, 0; .quad 1b, 2b - 1b, 3b\n.text\n");

/* The libc has them since 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define MAX_CPUS 4096
static volatile uint64_t cpu_counters[MAX_CPUS];

static void *
add_on_cpus(void *unused)
{
	char *thread_pointer;

	(void)unused;
	__asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
	for (int i = 0; i < nr_rounds * 1000; i++)
		add_on_cpu(thread_pointer + __rseq_offset, cpu_counters);
	return NULL;
}

static void
add_in_sequences(char **argv)
{
	pthread_t threads[4];
	uint64_t sum = 0;

	(void)argv;
	if (!&__rseq_size || __rseq_size == 0)
		exit(77);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add_on_cpus, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < MAX_CPUS; i++)
		sum += cpu_counters[i];
	if (sum != 4000 * (uint64_t)nr_rounds)
		fail("lost updates", -1, sum);
}

static volatile int nr_traps;

static void
on_own_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	nr_traps += info->si_code == SI_TKILL || info->si_code == SI_USER;
}

static void
trap(char **argv)
{
	(void)argv;
	signal(SIGTRAP, SIG_IGN);
	for (int i = 0; i < nr_rounds; i++)
		raise(SIGTRAP);
	sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = on_own_trap, .sa_flags = SA_SIGINFO}, NULL);
	for (int i = 0; i < nr_rounds; i++) {
		raise(SIGTRAP);
		kill(getpid(), SIGTRAP);
	}
	if (nr_traps != 2 * nr_rounds)
		fail("lost signals", -1, (uint64_t)nr_traps);
}

/* ---- traps that come to a thread while it executes others ---- */

static volatile int nr_sent_traps;
static atomic_int worker;

static void
on_sent_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	check_rip(context);
	nr_sent_traps++;
}

static void *
work_and_tell(void *unused)
{
	worker = (int)syscall(SYS_gettid);
	work(unused);
	worker = -1;
	return NULL;
}

/* One after the other, as long as not too much is done meanwhile: the trap of a breakpoint may take away a sent one. */
static void
send_traps(char **argv)
{
	pthread_t thread;
	pid_t tid;

	(void)argv;
	sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = on_sent_trap, .sa_flags = SA_SIGINFO | SA_RESTART},
		  NULL);
	pthread_create(&thread, NULL, work_and_tell, NULL);
	while ((tid = worker) >= 0) {
		int nr_before = nr_sent_traps;

		if (tid > 0)
			syscall(SYS_tgkill, getpid(), tid, SIGTRAP);
		for (int i = 0; i < 20 && nr_sent_traps == nr_before; i++)
			sched_yield();
	}
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*act)(char **argv);
} modes[] = {
	{"fork", fork_and_work},
	{"vfork", vfork_and_work},
	{"clone", clone_and_work},
	{"exec", execute_from_thread},
	{"exit", exit_among_threads},
	{"step", step},
	{"trap", trap},
	{"sequence", add_in_sequences},
	{"sent", send_traps},
};

int
main(int argc, char **argv)
{
	int nr_threads = argc > 1 ? atoi(argv[1]) : 1;

	nr_rounds = argc > 2 ? atoi(argv[2]) : 1;
	interval_us = argc > 3 ? atoi(argv[3]) : 0;
	prepare();
	work_in_threads(nr_threads);
	for (size_t i = 0; argc > 4 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[4], modes[i].name) == 0)
			modes[i].act(argv);
	}
	return has_failed;
}
