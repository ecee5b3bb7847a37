/* SPDX-License-Identifier: MIT */
/* Triads over arrays of 512 KiB: each reads 1 MiB and writes half of one, of which as much is read before. */
#include <stdio.h>
#include <stdlib.h>

#define N 65536
static double a[N], b[N], c[N];

int
main(int argc, char **argv)
{
	const int nr_turns = argc > 1 ? atoi(argv[1]) : 10;

	for (int turn = 0; turn < nr_turns; turn++) {
		for (int i = 0; i < N; i++)
			a[i] = b[i] + (double)turn * c[i];
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
	}
	printf("%g\n", a[1]);
	return 0;
}
