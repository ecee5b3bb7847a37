/* SPDX-License-Identifier: MIT */
/* Loops that meet a hazard, and the same loops without it. They are assembly: the compiler changes none of them. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "HazardData.h"
#include "kernel.h"

#define PAGE 4096
#define NR_PAGES 64             /* that FAULT touches in a turn */
#define NR_CHOICES (256 * 1024) /* more than any processor remembers */

struct hazard {
	struct hazard_data data;
	void (*loop)(struct hazard *hazard);
	char *pages;            /* NR_PAGES of them */
	unsigned char *choices; /* of BRANCH: 0 or 1 */
	char *place;            /* that loops load or store */
	double factor, number;
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

static const struct {
	const char *name;
	void (*met)(struct hazard *hazard);
	void (*without)(struct hazard *hazard);
	size_t offset, offset_without; /* of the place in the second page */
} hazards[] = {
	{"SPLIT_LINE", load, load, 60, 0},      {"SPLIT_PAGE", load, load, PAGE - 4, 0},
	{"FORWARD", forward, add, 0, 0},        {"FORWARD_PART", forward_part, add, 0, 0},
	{"ALIAS", alias, no_alias, 0, 0},       {"BRANCH", branch, branch, 0, 0},
	{"DENORMAL", multiply, multiply, 0, 0}, {"LOCK", lock, no_lock, 0, 0},
	{"TSC", read_tsc, nothing, 0, 0},       {"CLOCK", read_clock, nothing, 0, 0},
	{"CALL", call_system, nothing, 0, 0},   {"FAULT", fault, fault, 0, 0},
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

	kernel_free(hazard->pages);
	kernel_free(hazard->choices);
	hazard->pages = NULL;
	hazard->choices = NULL;
}

KERNEL(hazard, "Hazard", .initialize = initialize, .run = run, .dispose = dispose);
