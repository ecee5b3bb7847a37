/* SPDX-License-Identifier: MIT */
/* Work of known size that OpenMP shares among threads: each of 64,000 numbers is multiplied once by each function. */
#include <omp.h>

#define N 64000

/* Emulators take this for begin and end of what they look at. */
#define MARK(number) __asm__ volatile("mov $" number ", %%ebx\n	.byte 0x64, 0x67, 0x90" : : : "ebx", "memory")

static double numbers[N];

__attribute__((noinline)) void
loop(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < N; i++)
		numbers[i] *= 1.5;
}

/* Each of two threads opens a team of two. */
__attribute__((noinline)) void
nested(void)
{
#pragma omp parallel for num_threads(2)
	for (int half = 0; half < 2; half++) {
#pragma omp parallel for num_threads(2)
		for (int i = half * N / 2; i < (half + 1) * N / 2; i++)
			numbers[i] *= 1.5;
	}
}

__attribute__((noinline)) void
tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int part = 0; part < 10; part++) {
#pragma omp task firstprivate(part)
		for (int i = part * N / 10; i < (part + 1) * N / 10; i++)
			numbers[i] *= 1.5;
	}
}

int
main(void)
{
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	for (int i = 0; i < 5; i++)
		loop();
	nested();
	tasks();
	MARK("0xFACE");
	for (int i = 0; i < N; i++)
		numbers[i] *= 1.5;
	MARK("0xDEAD");
	return numbers[0] != 0;
}
