/* SPDX-License-Identifier: MIT */
/*
 * known_loops WHERE [ROUNDS]: loops whose turns are known, whatever compiler made the rest.
 *
 *	product    a product of matrices in blocks: 6 loops, of 4, 4, 4, 6, 6 and 6 turns. The innermost has 7
 *	           instructions, a multiplication and an addition, 24 bytes loaded and 8 stored
 *	two_loops  10 turns of an inner loop of 5 turns, which is entered in its middle; then one loop of 40 turns
 *	rising     10 turns of an inner loop of 1, 2, ... and 10 turns, of one block
 *	joining    a loop of 12 turns, every other of which jumps over a part of them, then 8 turns that do not
 *	triple     an inner loop of 3 * TURNS turns of two instructions, and one of TURNS turns
 *
 *	spin       a loop of TURNS turns, each of which loads and stores 8 bytes; in C
 *
 * WHERE: counts (product, two_loops, rising and joining, once), threads (in 2 threads), shares (triple, ROUNDS times),
 *lines (spin).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 24, BLOCK = 6, TURNS = 1000000 };

static double x[SIZE][SIZE], y[SIZE][SIZE], z[SIZE][SIZE];

void product(double *to, const double *left, const double *right);
void two_loops(void);
void rising(void);
void joining(void);
void triple(unsigned long turns, unsigned long more_turns);

/* With a frame, by which a function is known without its name. */
#define FUNCTION(name, code)                                                                                           \
	__asm__(".text\n	.globl " #name "\n	.type " #name ", @function\n	.p2align 6\n" #name ":\n"      \
		"	.cfi_startproc\n" code "	ret\n	.cfi_endproc\n	.size " #name ", .-" #name "\n")

#define LOOP(label, reg, turns, code)                                                                                  \
	"	mov $" turns ", %" reg "\n" label ":\n" code "	dec %" reg "\n	jnz " label "b\n"

FUNCTION(product, LOOP("1", "eax", "4",
		       LOOP("2", "ecx", "4",
			    LOOP("3", "r8d", "4",
				 LOOP("4", "r9d", "6",
				      LOOP("5", "r10d", "6",
					   LOOP("6", "r11d", "6",
						"	movsd (%rsi), %xmm0\n	mulsd (%rdx), %xmm0\n"
						"	addsd (%rdi), %xmm0\n	movsd %xmm0, (%rdi)\n	nop\n")))))));
FUNCTION(two_loops, "	mov $10, %ecx\n"
		    "1:	mov $5, %eax\n	jmp 3f\n"
		    "	.p2align 4\n"
		    "2:	nop\n"
		    "3:	dec %eax\n	jnz 2b\n"
		    "	dec %ecx\n	jnz 1b\n" LOOP("4", "eax", "40", "	nop\n	nop\n"));
FUNCTION(rising, "	mov $1, %eax\n"
		 "1:	mov %eax, %ecx\n"
		 "2:	dec %ecx\n	jnz 2b\n"
		 "	inc %eax\n	cmp $11, %eax\n	jne 1b\n");
FUNCTION(joining, "	mov $1, %esi\n	mov $12, %edi\n"
		  "1:	xor %eax, %eax\n"
		  "2:	test %eax, %esi\n	jnz 3f\n	nop\n"
		  "3:	inc %eax\n	cmp %eax, %edi\n	jne 2b\n"
		  "	mov $8, %edi\n	dec %esi\n	jz 1b\n");
FUNCTION(triple, "	.p2align 6\n1:	dec %rdi\n	jnz 1b\n"
		 "	.p2align 6\n2:	dec %rsi\n	jnz 2b\n");

static volatile unsigned long left = TURNS;

static void __attribute__((noinline)) spin(void)
{
	if (left > TURNS) /* it is not */
		left = (left * 3 + 7) / (left - 5);
	do
		left = left - 1;
	while (left > 0);
}

static void *
count(void *unused)
{
	product(z[0], x[0], y[0]);
	two_loops();
	rising();
	joining();
	return unused;
}

int
main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "counts";
	const long rounds = argc > 2 ? atol(argv[2]) : 100;
	pthread_t thread;

	if (strcmp(where, "shares") == 0) {
		for (long i = 0; i < rounds; i++) /* the loop of main */
			triple(3ul * TURNS, TURNS);
		return 0;
	}
	if (strcmp(where, "lines") == 0) {
		spin();
		return 0;
	}
	if (strcmp(where, "threads") == 0 && pthread_create(&thread, NULL, count, NULL) != 0)
		return 1;
	count(NULL);
	return strcmp(where, "threads") == 0 && pthread_join(thread, NULL) != 0;
}
