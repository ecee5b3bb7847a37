/* SPDX-License-Identifier: MIT */
/* Loops that meet a hazard, and the same loops without it. They are assembly: the compiler changes none of them. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "HazardData.h"
#include "kernel.h"

#define PAGE 4096
#define NR_PAGES 64             /* that FAULT touches in a turn */
#define PATIENCE 100000000      /* turns of waiting for another thread: seconds */
#define NR_CHOICES (256 * 1024) /* more than any processor remembers */

struct hazard {
	struct hazard_data data;
	void (*loop)(struct hazard *hazard);
	char *pages;            /* NR_PAGES of them */
	unsigned char *choices; /* of BRANCH: 0 or 1 */
	char *place;            /* that loops load or store */
	double factor, number;
	pid_t other;                 /* of SWITCH and STOP: a process on the same CPU; 0: none */
	int to_other[2], to_this[2]; /* pipes of SWITCH; 0: none */
};

/* clang-format off */
#define LOOP(name, enter, event) \
	static __attribute__((noinline)) void name(struct hazard *hazard) \
	{ \
		uint64_t turns = (uint64_t)hazard->data.turns; \
		__asm__ volatile(enter ".p2align 6\n1:\n.rept 8\n" event ".endr\ndecq %[turns]\njnz 1b\n" \
				 : [turns] "+r"(turns) \
				 : [place] "r"(hazard->place), [number] "m"(hazard->number), [factor] "m"(hazard->factor) \
				 : "rax", "rcx", "rdx", "r11", "xmm0", "xmm1", "cc", "memory"); \
	}
/* clang-format on */

/* Each load waits for the one before: what is at the place is its own address. */
LOOP(load, "movq %[place], %%rax\n", "movq (%%rax), %%rax\n")

/* A chain of additions, which goes through the place if the hazard is met. */
LOOP(add, "xorl %%eax, %%eax\n", "addq $1, %%rax\n")
LOOP(forward, "xorl %%eax, %%eax\n", "addq $1, %%rax\nmovq %%rax, (%[place])\nmovq (%[place]), %%rax\n")
LOOP(forward_part, "xorl %%eax, %%eax\n", "addq $1, %%rax\nmovl %%eax, (%[place])\nmovq (%[place]), %%rax\n")

/* The load does not need what is stored, but only the lowest 12 bits of the addresses are compared at first. */
#define ALIAS(distance)                                                                                                \
	"addq $1, %%rax\nmovq %%rax, (%[place])\nmovq " distance                                                       \
	"(%[place]), %%rdx\nandq $0, %%rdx\naddq %%rdx, %%rax\n"
LOOP(alias, "xorl %%eax, %%eax\n", ALIAS("4096"))
LOOP(no_alias, "xorl %%eax, %%eax\n", ALIAS("4224"))

LOOP(multiply, "movsd %[number], %%xmm0\nmovsd %[factor], %%xmm1\n", "mulsd %%xmm1, %%xmm0\n")
LOOP(lock, "", "lock addq $1, (%[place])\n")
LOOP(no_lock, "", "addq $1, (%[place])\n")
LOOP(read_tsc, "", "rdtsc\n")

/* Eight lines, each at the same place of the line, or at another. */
#define NEXT_LINE(distance) "movq rot_line*" distance "(%[place]), %%rax\n.set rot_line, rot_line+1\n"
LOOP(one_bank, ".set rot_line, 0\n", NEXT_LINE("64"))
LOOP(all_banks, ".set rot_line, 0\n", NEXT_LINE("72"))

LOOP(two_lines, "", "movq %%rax, (%[place])\nmovq %%rax, 64(%[place])\n")
LOOP(one_line, "", "movq %%rax, (%[place])\nmovq %%rax, 8(%[place])\n")

LOOP(nothing, "", "")

/* A turn takes eight choices that lie behind each other; after the last of all, the first one follows. */
static __attribute__((noinline)) void
branch(struct hazard *hazard)
{
	const unsigned char *choice = hazard->choices, *end = choice + NR_CHOICES;
	uint64_t turns = (uint64_t)hazard->data.turns;

	__asm__ volatile("xorl %%eax, %%eax\n.p2align 6\n1:\n"
			 ".rept 8\ncmpb $0, (%[choice])\nje 2f\naddq $1, %%rax\n2:\naddq $1, %[choice]\n.endr\n"
			 "cmpq %[end], %[choice]\ncmoveq %[begin], %[choice]\ndecq %[turns]\njnz 1b\n"
			 : [turns] "+r"(turns), [choice] "+r"(choice)
			 : [begin] "r"(hazard->choices), [end] "r"(end)
			 : "rax", "cc", "memory");
}

static void
read_clock(struct hazard *hazard)
{
	struct timespec now;

	for (int64_t i = 0; i < 8 * hazard->data.turns; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

/* Not getpid, which a library may remember. */
static void
call_system(struct hazard *hazard)
{
	for (int64_t i = 0; i < 8 * hazard->data.turns; i++)
		syscall(SYS_getppid);
}

static void
fault(struct hazard *hazard)
{
	for (int64_t i = 0; i < hazard->data.turns; i++) {
		madvise(hazard->pages, NR_PAGES * PAGE, MADV_DONTNEED);
		for (size_t page = 0; hazard->data.is_met && page < NR_PAGES; page++)
			*(volatile char *)(hazard->pages + page * PAGE) = 1;
	}
}

/* ---- another process on the same CPU ---- */

/* 0: in the other one. Not traced by rot: it may be traced by this one, ends with it, and sends it no signal. */
static pid_t
start_other(void)
{
	const pid_t parent = getpid(), pid = (pid_t)syscall(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0);

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((pid_t)syscall(SYS_getppid) != parent)
		_exit(1);
	return 0;
}

static bool
pass_byte(int from, int to)
{
	char byte = 0;

	return read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1;
}

/* Not met: this process hands bytes to itself. */
static int
start_switching(struct hazard *hazard)
{
	if (pipe(hazard->to_other) < 0 || pipe(hazard->to_this) < 0)
		return kernel_fail("cannot create a pipe: %s", strerror(errno));
	if (!hazard->data.is_met)
		return 0;
	hazard->other = start_other();
	if (hazard->other < 0)
		return kernel_fail("cannot start a process: %s", strerror(errno));
	while (hazard->other == 0)
		if (!pass_byte(hazard->to_other[0], hazard->to_this[1]))
			_exit(0);
	return 0;
}

static void
switch_there_and_back(struct hazard *hazard)
{
	char byte = 0;

	for (int64_t i = 0; i < 8 * hazard->data.turns; i++) {
		if (write(hazard->to_other[1], &byte, 1) != 1)
			return;
		if (!hazard->data.is_met)
			pass_byte(hazard->to_other[0], hazard->to_this[1]);
		if (read(hazard->to_this[0], &byte, 1) != 1)
			return;
	}
}

/* A signal of each stop would stop this process, too, as rot traces it. */
static int
start_stopping(struct hazard *hazard)
{
	const struct sigaction no_signal = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	int status = 0;

	sigaction(SIGCHLD, &no_signal, NULL);
	hazard->other = start_other();
	if (hazard->other == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
		for (;;)
			syscall(SYS_getppid);
	}
	if (hazard->other < 0 || waitpid(hazard->other, &status, __WALL) < 0 || !WIFSTOPPED(status))
		return kernel_fail("cannot trace a process");
	return 0;
}

/* The other process stops at the begin and the end of each call of the system, or after each instruction. */
static void
stop_other(struct hazard *hazard)
{
	const long request = strcmp(hazard->data.hazard, "STEP") == 0 ? PTRACE_SINGLESTEP : PTRACE_SYSCALL;

	for (int64_t i = 0; i < 8 * hazard->data.turns; i++)
		if (ptrace(request, hazard->other, NULL, NULL) < 0 || waitpid(hazard->other, NULL, __WALL) < 0)
			return;
}

static void
end_other(struct hazard *hazard)
{
	const int ends[] = {hazard->to_other[0], hazard->to_other[1], hazard->to_this[0], hazard->to_this[1]};

	if (hazard->other > 0) {
		kill(hazard->other, SIGKILL);
		waitpid(hazard->other, NULL, __WALL);
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends[i] > 0)
			close(ends[i]);
}

/* ---- another thread ---- */

/* Each of two gets its place of a line that both share, or of a line of its own. */
static int
share_line(struct hazard *hazard)
{
	static _Alignas(64) char lines[2 * 256];
	static atomic_uint nr_threads;
	const unsigned thread = atomic_fetch_add(&nr_threads, 1) % 2;

	hazard->place = lines + thread * (hazard->data.is_met ? 8 : 256);
	return 0;
}

/* Begins when the other one does: the shortest run would be one without it. One that waits in vain takes long. */
static void
add_together(struct hazard *hazard)
{
	static atomic_uint nr_begun;
	const unsigned all = (atomic_fetch_add(&nr_begun, 1) + 2) / 2 * 2;

	for (int i = 0; i < PATIENCE && (int)(atomic_load(&nr_begun) - all) < 0; i++)
		__asm__ volatile("pause");
	no_lock(hazard);
}

/* ---- which loop ---- */

static const struct {
	const char *name;
	void (*met)(struct hazard *hazard);
	void (*without)(struct hazard *hazard);
	size_t offset, offset_without; /* of the place in the second page */
} hazards[] = {
	{"SPLIT_LINE", load, load, 60, 0},
	{"SPLIT_PAGE", load, load, PAGE - 4, 0},
	{"FORWARD", forward, add, 0, 0},
	{"FORWARD_PART", forward_part, add, 0, 0},
	{"ALIAS", alias, no_alias, 0, 0},
	{"BRANCH", branch, branch, 0, 0},
	{"DENORMAL", multiply, multiply, 0, 0},
	{"LOCK", lock, no_lock, 0, 0},
	{"TSC", read_tsc, nothing, 0, 0},
	{"CLOCK", read_clock, nothing, 0, 0},
	{"CALL", call_system, nothing, 0, 0},
	{"FAULT", fault, fault, 0, 0},
	{"BANK", one_bank, all_banks, 0, 0},
	{"STORES", two_lines, one_line, 0, 0},
	{"SHARING", add_together, add_together, 0, 0},
	{"SWITCH", switch_there_and_back, switch_there_and_back, 0, 0},
	{"STOP", stop_other, nothing, 0, 0},
	{"STEP", stop_other, nothing, 0, 0},
};

/* xorshift64 (Marsaglia, 2003). */
static void
fill_choices(struct hazard *hazard)
{
	uint64_t state = UINT64_C(88172645463325252);

	for (size_t i = 0; i < NR_CHOICES; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		hazard->choices[i] = hazard->data.is_met ? state >> 60 & 1 : 1;
	}
}

static const struct {
	const char *name;
	int (*prepare)(struct hazard *hazard);
} preparations[] = {
	{"SHARING", share_line}, {"SWITCH", start_switching}, {"STOP", start_stopping}, {"STEP", start_stopping}};

static int
initialize(void *kernel)
{
	struct hazard *hazard = kernel;
	const bool is_met = hazard->data.is_met;

	hazard->pages = kernel_allocate(NR_PAGES, PAGE);
	hazard->choices = kernel_allocate(NR_CHOICES, 1);
	if (!hazard->pages || !hazard->choices)
		return -1;
	madvise(hazard->pages, NR_PAGES * PAGE, MADV_NOHUGEPAGE);
	fill_choices(hazard);
	hazard->factor = 1;
	hazard->number = strcmp(hazard->data.hazard, "DENORMAL") == 0 && is_met ? 0x1p-1060 : 1.5;
	for (size_t i = 0; i < sizeof(hazards) / sizeof(*hazards); i++) {
		if (strcmp(hazards[i].name, hazard->data.hazard) != 0)
			continue;
		hazard->loop = is_met ? hazards[i].met : hazards[i].without;
		hazard->place = hazard->pages + PAGE + (is_met ? hazards[i].offset : hazards[i].offset_without);
	}
	memcpy(hazard->place, &hazard->place, sizeof(void *));
	for (size_t i = 0; i < sizeof(preparations) / sizeof(*preparations); i++)
		if (strcmp(preparations[i].name, hazard->data.hazard) == 0)
			return preparations[i].prepare(hazard);
	return 0;
}

static void
run(void *kernel)
{
	struct hazard *hazard = kernel;

	hazard->loop(hazard);
}

static void
dispose(void *kernel)
{
	struct hazard *hazard = kernel;

	end_other(hazard);
	kernel_free(hazard->pages);
	kernel_free(hazard->choices);
	hazard->other = 0;
	hazard->pages = NULL;
	hazard->choices = NULL;
}

KERNEL(hazard, "Hazard", .initialize = initialize, .run = run, .dispose = dispose);
