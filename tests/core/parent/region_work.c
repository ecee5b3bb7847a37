/* SPDX-License-Identifier: MIT */
/*
 * A program whose regions do known work: "region_work ACT". Additions of doubles are counted, one for each call of
 * add(1), which is inlined.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* clang makes no copies of functions for some of their arguments. */
#ifdef __clang__
#define REGION __attribute__((noinline, used)) static
#else
#define REGION __attribute__((noinline, noclone, used)) static
#endif

static _Thread_local volatile double sum;

static inline __attribute__((always_inline)) void
add(int n)
{
	for (int i = 0; i < n; i++)
		sum = sum + 1;
}

REGION void
tick(int n)
{
	add(n);
}

static void
act_many(void)
{
	for (int i = 0; i < 1000000; i++)
		tick(1);
}

/* ---- caches: 16 lines are looked at, which 256 KiB between two hits evict ---- */

#define LINE 64

static char own[16 * LINE] __attribute__((aligned(LINE))), others[4096 * LINE] __attribute__((aligned(LINE)));

REGION void
look(const volatile char *lines)
{
	for (size_t i = 0; i < sizeof(own); i += LINE)
		(void)lines[i];
}

static void
act_evicted(void)
{
	for (int i = 0; i < 10; i++) {
		for (size_t k = 0; k < sizeof(others); k += LINE)
			(void)*(volatile char *)&others[k];
		look(own);
	}
}

/* ---- recursion, nesting, overlapping ---- */

REGION void
tree(int n)
{
	add(1);
	if (n > 0) {
		tree(n - 1);
		tree(n - 1);
	}
	add(1);
}

static void
act_trees(void)
{
	for (int i = 0; i < 1000; i++)
		tree(5);
}

REGION void
inner(void)
{
	add(3);
}

REGION void
outer(void)
{
	add(1);
	inner();
	inner();
	add(1);
}

static void
act_nested(void)
{
	for (int i = 0; i < 1000; i++)
		outer();
}

REGION void
first_begin(void)
{
	__asm__ volatile("");
}

REGION void
first_end(void)
{
	__asm__ volatile("");
}

REGION void
second_begin(void)
{
	__asm__ volatile("");
}

REGION void
second_end(void)
{
	__asm__ volatile("");
}

static void
act_overlapping(void)
{
	for (int i = 0; i < 1000; i++) {
		first_begin();
		add(1);
		second_begin();
		add(2);
		first_end();
		add(4);
		second_end();
		add(8);
	}
}

/* Each round ends the one before. */
static void
act_rounds(void)
{
	for (int i = 0; i < 1000; i++) {
		first_begin();
		add(3);
	}
	add(100);
}

/* Jumps back to its first instruction, where it is entered by recursion, too; 21 times with 6. */
void again(int n);
__asm__(".text\n.type again, @function\n"
	"again: testl %edi, %edi\njle 1f\npushq %rdi\ndecl %edi\ncall again\npopq %rdi\nsubl $2, %edi\njmp again\n"
	"1: ret\n.size again, . - again\n");

static void
act_again(void)
{
	for (int i = 0; i < 200; i++)
		again(6);
}

/* ---- regions that are not left where they end ---- */

static sigjmp_buf back;

REGION void
leaver(int leaves)
{
	add(2);
	if (leaves)
		siglongjmp(back, 1);
	add(1);
}

static void
act_leave_early(void)
{
	for (volatile int i = 0; i < 30; i++) {
		if (sigsetjmp(back, 0) == 0)
			leaver(i % 3 == 0);
		add(7);
	}
}

static void
act_leave_late(void)
{
	for (volatile int i = 0; i < 300; i++) {
		if (sigsetjmp(back, 0) == 0)
			leaver(i == 200);
	}
}

REGION void
last_act(bool is_last)
{
	add(3);
	if (is_last)
		_exit(0);
}

static void
act_end_inside(void)
{
	for (int i = 0; i < 300; i++)
		last_act(i == 299);
}

/* ---- signals ---- */

static void
on_signal(int number)
{
	(void)number;
	add(5);
}

REGION void
interrupted(void)
{
	add(1);
	raise(SIGUSR1);
	add(1);
}

static void
act_signals(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 200; i++)
		interrupted();
}

/*
 * Its first instruction faults for a page, and is executed once more. It adds, and looks at the second address in a
 * call of itself, unless that is NULL. It has two names.
 */
int peek(const void *address, const void *other);
__asm__(".text\n.type peek, @function\n.type peek_too, @function\n"
	"peek:\npeek_too: movl (%rdi), %eax\naddsd %xmm0, %xmm0\nmovq %rsi, %rdi\nxorl %esi, %esi\n"
	"testq %rdi, %rdi\nje 1f\ncall peek\n1: ret\n"
	".size peek, . - peek\n.size peek_too, . - peek_too\n");

static char *page;

static void
open_page(int number)
{
	(void)number;
	mprotect(page, LINE, PROT_READ);
}

static void
open_page_by_tick(int number)
{
	tick(1);
	open_page(number);
}

static void
go_back(int number)
{
	siglongjmp(back, number);
}

static void
look_at_page(void (*on_fault)(int number), const void *first)
{
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, on_fault);
	for (volatile int i = 0; i < 200; i++) {
		mprotect(page, LINE, PROT_NONE);
		if (sigsetjmp(back, 1) == 0)
			peek(first ? first : page, first ? page : NULL);
		else
			peek(own, NULL);
	}
}

static void
act_faults(void)
{
	look_at_page(open_page, NULL);
}

static void
act_faults_entering(void)
{
	look_at_page(open_page_by_tick, NULL);
}

static void
act_faults_within(void)
{
	look_at_page(open_page, own);
}

static void
act_faults_leaving(void)
{
	look_at_page(go_back, NULL);
}

/* ---- threads ---- */

static void *
tick_often(void *n)
{
	for (int i = 0; i < 5000; i++)
		tick((int)(intptr_t)n);
	return NULL;
}

static void
act_threads(void)
{
	pthread_t threads[2];

	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, tick_often, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void
act_tick(void)
{
	tick(1);
}

static void *
execute(void *unused)
{
	tick(1);
	execl("/proc/self/exe", "region_work", "tick", NULL);
	return unused;
}

/* The other thread is the main one afterwards. */
static void
act_execute(void)
{
	pthread_t thread;

	tick(1);
	pthread_create(&thread, NULL, execute, NULL);
	pthread_join(thread, NULL);
}

/* Compilers make this of a loop for a team of OpenMP: one thread opens it, the other works for it. */
REGION void part_of_team(void) __asm__("with_team._omp_fn.0");
REGION void
part_of_team(void)
{
	add(2);
}

REGION void
with_team(void)
{
	void (*part)(void) = part_of_team;

	__asm__ volatile("" : "+r"(part));
	part();
	add(1);
}

static void *
work_for_team(void *unused)
{
	for (int i = 0; i < 5000; i++)
		part_of_team();
	return unused;
}

static void
act_team(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work_for_team, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 1000; i++)
		with_team();
}

static const struct {
	const char *name;
	void (*perform)(void);
} acts[] = {{"many", act_many},
	    {"evicted", act_evicted},
	    {"trees", act_trees},
	    {"nested", act_nested},
	    {"overlapping", act_overlapping},
	    {"rounds", act_rounds},
	    {"again", act_again},
	    {"leave_early", act_leave_early},
	    {"leave_late", act_leave_late},
	    {"end_inside", act_end_inside},
	    {"signals", act_signals},
	    {"faults", act_faults},
	    {"threads", act_threads},
	    {"team", act_team},
	    {"faults_entering", act_faults_entering},
	    {"faults_within", act_faults_within},
	    {"faults_leaving", act_faults_leaving},
	    {"tick", act_tick},
	    {"execute", act_execute}};

int
main(int argc, char *argv[])
{
	for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, argv[1]) == 0) {
			acts[i].perform();
			return 0;
		}
	}
	return 1;
}
