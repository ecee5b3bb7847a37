/* SPDX-License-Identifier: MIT */
/*
 * known_stacks HOW: does all its work in one function, a loop, that was called in a known way. HOW:
 *	calls      outer calls inner, which calls work
 *	recursion  recurse calls itself 20 times before that
 *	deep       20000 times, which is a stack of more bytes than are sampled
 *	thread     another thread does it
 *	signal     handle, which answers a signal that interrupted sends
 *	made       code that was made, without any description but with a frame pointer; call_made calls it
 *	vdso       ask_time calls what the kernel provides
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NR_TURNS = 700000000 };

/* The statement behind the call keeps it from being a jump. */
#define CALLS(call)                                                                                                    \
	do {                                                                                                           \
		call;                                                                                                  \
		__asm__ volatile("");                                                                                  \
	} while (0)

static __attribute__((noinline)) void
work(void)
{
	unsigned long turns = NR_TURNS;

	__asm__ volatile("1:	decq %0\n	jnz 1b" : "+r"(turns) : : "cc");
}

static __attribute__((noinline)) void
inner(void)
{
	CALLS(work());
}

static __attribute__((noinline)) void
outer(void)
{
	CALLS(inner());
}

static __attribute__((noinline)) void
recurse(int nr)
{
	if (nr > 0)
		CALLS(recurse(nr - 1));
	else
		CALLS(work());
}

static void *
in_thread(void *unused)
{
	CALLS(outer());
	return unused;
}

static void
handle(int number)
{
	(void)number;
	CALLS(work());
}

static __attribute__((noinline)) void
interrupted(void)
{
	CALLS(raise(SIGUSR1));
}

/* push rbp; mov rbp, rsp; mov edi, turns; 1: dec rdi; jnz 1b; pop rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xbf, 0,    0,    0,
				     0,    0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static __attribute__((noinline)) void
call_made(void (*made)(void))
{
	CALLS(made());
}

static int
make_and_call(void)
{
	const unsigned turns = NR_TURNS;
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(void);

	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, sizeof(code));
	memcpy(memory + 5, &turns, sizeof(turns));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	*(void **)&made = memory;
	call_made(made);
	return 0;
}

static __attribute__((noinline)) void
ask_time(void)
{
	struct timespec now;

	for (int i = 0; i < NR_TURNS / 60; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "calls";
	pthread_t thread;

	if (strcmp(how, "recursion") == 0)
		recurse(20);
	else if (strcmp(how, "deep") == 0)
		recurse(20000);
	else if (strcmp(how, "thread") == 0)
		return pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0;
	else if (strcmp(how, "signal") == 0)
		signal(SIGUSR1, handle), interrupted();
	else if (strcmp(how, "made") == 0)
		return make_and_call();
	else if (strcmp(how, "vdso") == 0)
		ask_time();
	else
		outer();
	return 0;
}
