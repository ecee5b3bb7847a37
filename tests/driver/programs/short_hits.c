/* SPDX-License-Identifier: MIT */
/*
 * short_hits NR [recursion]: calls short_triple and short_single NR times in turn, some hundred instructions at a time,
 * of which the former executes three times as many. recursion: calls short_recursion until it has called itself NR
 * times.
 */
#include <stdlib.h>

static __attribute__((noinline)) void
short_triple(void)
{
	unsigned long turns = 300;

	__asm__ volatile("1:	decq %0\n	jnz 1b" : "+r"(turns) : : "cc");
}

static __attribute__((noinline)) void
short_single(void)
{
	unsigned long turns = 100;

	__asm__ volatile("1:	decq %0\n	jnz 1b" : "+r"(turns) : : "cc");
}

/* What follows the calls keeps the last one from being a jump. */
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

static __attribute__((noinline)) void
whole(long nr)
{
	for (long i = 0; i < nr; i++) {
		short_triple();
		short_single();
	}
}

int
main(int argc, char **argv)
{
	const long nr = argc > 1 ? atol(argv[1]) : 1;

	if (argc > 2)
		short_recursion(nr);
	else
		whole(nr);
	return 0;
}
