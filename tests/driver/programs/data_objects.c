/* SPDX-License-Identifier: MIT */
/*
 * Data whose misses are known. columns BYTES: goes through columns of 64 rows of so many bytes, of a variable and of an
 * allocation. threads BYTES: two threads write each their own number, so many bytes apart. once: they write the same.
 * callers: three functions allocate BYTES each, of which two return to addresses that are 65536 bytes apart.
 * walks BYTES: a thread reads so many bytes 5 times and a quarter of them 25 times, another one a quarter of its own.
 * late: a thread writes BYTES that another one has allocated meanwhile, several times.
 * With further arguments it becomes another program in the end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_ROWS 64
#define NR_COLUMNS 8
#define NR_TIMES 100
#define NR_STORES 400000

static char table[1 << 20] __attribute__((aligned(4096)));

__attribute__((noinline)) static long
columns(const char *rows, long bytes)
{
	long sum = 0;

	for (int time = 0; time < NR_TIMES; time++)
		for (int column = 0; column < NR_COLUMNS; column++)
			for (int row = 0; row < NR_ROWS; row++)
				sum += *(const volatile long *)(rows + row * bytes + column * (long)sizeof(long));
	return sum;
}

__attribute__((noinline)) static char *
make_rows(long bytes)
{
	char *rows = aligned_alloc(4096, (size_t)(NR_ROWS * bytes + 4095) / 4096 * 4096);

	if (!rows)
		exit(1);
	return memset(rows, 1, (size_t)(NR_ROWS * bytes));
}

static pthread_barrier_t barrier;

static void *
write_number(void *context)
{
	volatile long *number = context;

	pthread_barrier_wait(&barrier);
	for (long i = 0; i < NR_STORES; i++)
		*number = i;
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void
run_threads(char *numbers, long bytes)
{
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, write_number, numbers + i * bytes) != 0)
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

#define NR_WALKS 5

__attribute__((noinline)) static void
walk_all(const volatile char *memory, long bytes)
{
	for (long i = 0; i < bytes; i += 8)
		(void)memory[i];
}

__attribute__((noinline)) static void
walk_part(const volatile char *memory, long bytes)
{
	for (long i = 0; i < bytes; i += 16)
		(void)memory[i];
}

static void *
walk_beside(void *context)
{
	const long bytes = *(const long *)context;
	const volatile char *memory = make_rows(bytes / NR_ROWS);

	for (int walk = 0; walk < 9 * NR_WALKS; walk++)
		for (long i = 0; i < bytes / 4; i += 32)
			(void)memory[i];
	return NULL;
}

__attribute__((noinline)) static void
walk(long bytes)
{
	char *memory = make_rows(bytes / NR_ROWS);

	for (int walk = 0; walk < NR_WALKS; walk++) {
		walk_all(memory, bytes);
		for (int part = 0; part < NR_WALKS; part++)
			walk_part(memory, bytes / 4);
	}
}

static void
run_walks(long bytes)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, walk_beside, &bytes) != 0)
		exit(1);
	walk(bytes);
	pthread_join(thread, NULL);
}

#define NR_LATE 4
static char *late;

static void *
write_late(void *context)
{
	const long *bytes = context;

	for (int time = 0; time < NR_LATE; time++) {
		pthread_barrier_wait(&barrier);
		for (long i = 0; i < *bytes; i++)
			((volatile char *)late)[i] = 1;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

__attribute__((noinline)) static void
allocate_late(long bytes)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, write_late, &bytes) != 0)
		exit(1);
	for (int time = 0; time < NR_LATE; time++) {
		late = malloc((size_t)bytes);
		if (!late)
			exit(1);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
}

/* char *NAME(long bytes); */
#define DEFINE_CALLER(name)                                                                                            \
	__asm__(".balign 65536\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\t"                          \
		"sub $8, %rsp\n\tcall malloc@PLT\n\tadd $8, %rsp\n\tret\n.size " #name ", . - " #name)
char *first_caller(long bytes), *second_caller(long bytes);
__asm__(".text");
DEFINE_CALLER(first_caller);
DEFINE_CALLER(second_caller);

/* So it calls deeper in the stack than the others do. */
__attribute__((noinline)) static char *
deep_caller(long bytes)
{
	volatile char around[4096] = {0};
	char *memory = malloc((size_t)bytes + around[0]);

	return memory + around[1];
}

static void
write_all(char *(*allocate)(long bytes), long bytes)
{
	char *memory = allocate(bytes);

	if (!memory)
		exit(1);
	memset(memory, 1, (size_t)bytes);
}

int
main(int argc, char **argv)
{
	const long bytes = argc > 2 ? atol(argv[2]) : 0;

	if (argc > 1 && strcmp(argv[1], "columns") == 0)
		printf("%ld\n", columns(table, bytes) + columns(make_rows(bytes), bytes));
	else if (argc > 1 && strcmp(argv[1], "callers") == 0) {
		write_all(first_caller, bytes);
		write_all(second_caller, bytes);
		write_all(deep_caller, bytes);
	} else if (argc > 1 && strcmp(argv[1], "late") == 0)
		allocate_late(bytes);
	else if (argc > 1 && strcmp(argv[1], "walks") == 0)
		run_walks(bytes);
	else
		run_threads(make_rows(4096), bytes);
	if (argc > 3 && fflush(stdout) == 0)
		execv(argv[3], argv + 3);
	return argc > 3;
}
