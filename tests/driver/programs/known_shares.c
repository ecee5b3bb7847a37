/* SPDX-License-Identifier: MIT */
/*
 * known_shares WHERE [LIBRARY|NR]: executes the same loop three times as often in one function as in another, a hundred
 * times in turn. WHERE: here (one thread), threads (two), child (a program that is started), library (LIBRARY is loaded
 * for it), named (code that is made now, with a name that is written down as the tool perf reads it; prints the file),
 * many (twelve functions of floating-point operations instead), short NR (NR times in turn, some hundred instructions
 * at a time), recursion NR (one of them, in a function that calls itself NR times).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef IS_LIBRARY
#define TRIPLE library_triple
#define SINGLE library_single
#else
#define TRIPLE own_triple
#define SINGLE own_single
#endif

enum { NR_TURNS = 1000000, NR_ROUNDS = 100 };

void TRIPLE(void);
void SINGLE(void);

/* Both are the same instructions: 1: dec, jnz 1b; the first byte of a loop is the first of 64. */
#define LOOP(turns) __asm__ volatile("	.p2align 6\n1:	decq %0\n	jnz 1b" : "+r"(turns) : : "cc")

__attribute__((noinline)) void
TRIPLE(void)
{
	unsigned long turns = 3ul * NR_TURNS;

	LOOP(turns);
}

__attribute__((noinline)) void
SINGLE(void)
{
	unsigned long turns = NR_TURNS;

	LOOP(turns);
}

#ifndef IS_LIBRARY

static void
repeat(void (*triple)(void), void (*single)(void))
{
	for (int i = 0; i < NR_ROUNDS; i++) {
		triple();
		single();
	}
}

static void *
repeat_own(void *unused)
{
	repeat(own_triple, own_single);
	return unused;
}

static int
repeat_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*triple)(void), (*single)(void);

	if (!library)
		return 1;
	*(void **)&triple = dlsym(library, "library_triple");
	*(void **)&single = dlsym(library, "library_single");
	repeat(triple, single);
	return 0;
}

/* mov edi, turns; 1: dec rdi; jnz 1b; ret */
static const unsigned char code[] = {0xbf, 0, 0, 0, 0, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};

static int
repeat_named(void)
{
	enum { FUNCTION_BYTES = 64 };
	static const char *const names[] = {"made::triple", "made::single"};
	const unsigned turns[] = {3 * NR_TURNS, NR_TURNS};
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*functions[2])(void);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = memory != MAP_FAILED ? fopen(path, "w") : NULL;
	if (!map)
		return 1;
	puts(path);
	for (int i = 0; i < 2; i++) {
		unsigned char *function = memory + FUNCTION_BYTES * i;

		memcpy(function, code, sizeof(code));
		memcpy(function + 1, &turns[i], sizeof(turns[i]));
		*(void **)&functions[i] = function;
		fprintf(map, "%lx %zx %s\n", (unsigned long)function, sizeof(code), names[i]);
	}
	if (fclose(map) != 0 || mprotect(memory, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	repeat(functions[0], functions[1]);
	return 0;
}

static __attribute__((noinline)) void
short_triple(void)
{
	unsigned long turns = 300;

	LOOP(turns);
}

static __attribute__((noinline)) void
short_single(void)
{
	unsigned long turns = 100;

	LOOP(turns);
}

static __attribute__((noinline)) void
repeat_short(long nr)
{
	for (long i = 0; i < nr; i++) {
		short_triple();
		short_single();
	}
}

/* Code behind the calls keeps the last one from being a jump. */
static __attribute__((noinline)) void
short_recursion(long nr)
{
	short_triple();
	if (nr > 1) {
		short_recursion(nr / 2);
		short_recursion(nr - nr / 2);
	}
	__asm__ volatile("");
}

/* Functions of floating-point operations. */
#define COMPUTE(name)                                                                                                  \
	__attribute__((noinline)) static double name(double x)                                                         \
	{                                                                                                              \
		for (int i = 0; i < 16 * NR_TURNS; i++)                                                                \
			x = x * 0.5 + 1;                                                                               \
		return x;                                                                                              \
	}
COMPUTE(first_of_many)
COMPUTE(second_of_many)
COMPUTE(third_of_many)
COMPUTE(fourth_of_many)
COMPUTE(fifth_of_many)
COMPUTE(sixth_of_many)
COMPUTE(seventh_of_many)
COMPUTE(eighth_of_many)
COMPUTE(ninth_of_many)
COMPUTE(tenth_of_many)
COMPUTE(eleventh_of_many)
COMPUTE(twelfth_of_many)

static int
compute_many(void)
{
	static double (*const functions[])(double) = {
		first_of_many,   second_of_many, third_of_many, fourth_of_many, fifth_of_many,    sixth_of_many,
		seventh_of_many, eighth_of_many, ninth_of_many, tenth_of_many,  eleventh_of_many, twelfth_of_many,
	};
	volatile double x = 1;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		x = functions[i](x);
	return x < 0;
}

int
main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "here";
	pthread_t thread;
	int status;

	if (strcmp(where, "library") == 0 && argc > 2)
		return repeat_library(argv[2]);
	if (strcmp(where, "short") == 0 && argc > 2)
		return repeat_short(atol(argv[2])), 0;
	if (strcmp(where, "recursion") == 0 && argc > 2)
		return short_recursion(atol(argv[2])), 0;
	if (strcmp(where, "many") == 0)
		return compute_many();
	if (strcmp(where, "named") == 0)
		return repeat_named();
	if (strcmp(where, "child") == 0) {
		if (fork() == 0) {
			execl(argv[0], argv[0], "here", (char *)NULL);
			_exit(127);
		}
		return wait(&status) < 0 || status != 0;
	}
	if (strcmp(where, "threads") == 0 && pthread_create(&thread, NULL, repeat_own, NULL) != 0)
		return 1;
	repeat_own(NULL);
	return strcmp(where, "threads") == 0 && pthread_join(thread, NULL) != 0;
}

#endif
