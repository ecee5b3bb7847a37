/* SPDX-License-Identifier: MIT */
/* Ten times a triad over arrays of 512 KiB: each reads 1 MiB and writes half of one, of which as much is read before.
 */
#include <stdio.h>

#define N 65536
static double a[N], b[N], c[N];

int
main(void)
{
	for (int turn = 0; turn < 10; turn++) {
		for (int i = 0; i < N; i++)
			a[i] = b[i] + (double)turn * c[i];
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
	}
	printf("%g\n", a[1]);
	return 0;
}
