/* SPDX-License-Identifier: MIT */
/*
 * known_findings HOW [LIBRARY]: computes for a tenth of a second or so, in a function of that name whose findings are
 * known, whatever compiler made the rest.
 *
 *	poly     polynomials of many numbers, scalar
 *	packed   the same of two numbers at once
 *	chain    each operation needs the result of the one before
 *	divide   quotients
 *	extended the x87
 *	triad    three arrays that are larger than all caches but the last, scalar
 *	stride   the sum of one number of each line
 *	chase    pointers, each in another page
 *	modulo   remainders of integers
 *	convert  integers become numbers
 *	gather   vectors from indices, with AVX2
 *
 *	threads  packed in two threads, of which one does four times as much
 *	kernel   many small reads
 *	sleep    a third of a second in ten parts
 *	serial   poly in one thread, then packed in two that do as much
 *	crowd    packed in four threads on one CPU
 *	dgemm    products of matrices by LIBRARY, if there is such a one
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1024, LARGE = 1 << 20, NODE_WORDS = 512 + 8 };

void poly(double *to, const double *x, unsigned long nr);
void packed(double *to, const double *x, unsigned long nr);
void divide(double *to, const double *x, unsigned long nr);
void chain(unsigned long turns);
void extended(unsigned long turns);
void triad(double *to, const double *b, const double *c, unsigned long nr);
void stride(const double *from, unsigned long nr);
void chase(void **from, unsigned long turns);
void modulo(unsigned long turns);
void convert(double *to, const double *x, unsigned long nr);
void gather(const double *from, unsigned long turns);

#define FUNCTION(name, code)                                                                                           \
	__asm__(".text\n	.globl " #name "\n	.type " #name ", @function\n	.p2align 6\n" #name ":\n"      \
		"	.cfi_startproc\n	.p2align 6\n1:" code "	jnz 1b\n	ret\n	.cfi_endproc\n"                  \
		"	.size " #name ", .-" #name "\n")

/* Six operations on each number at rsi, the last one first. */
#define POLYNOMIAL(move, kind)                                                                                         \
	"	" move " -8(%rsi,%rdx,8), %xmm0\n	movapd %xmm0, %xmm1\n"                                               \
	"	mul" kind " %xmm0, %xmm1\n	add" kind " %xmm0, %xmm1\n"                                            \
	"	mul" kind " %xmm0, %xmm1\n	add" kind " %xmm0, %xmm1\n"                                            \
	"	mul" kind " %xmm0, %xmm1\n	add" kind " %xmm0, %xmm1\n"                                            \
	"	" move " %xmm1, -8(%rdi,%rdx,8)\n"

FUNCTION(poly, POLYNOMIAL("movsd", "sd") "	dec %rdx\n");
FUNCTION(packed, POLYNOMIAL("movupd", "pd") "	sub $2, %rdx\n");
FUNCTION(divide, "	movsd -8(%rsi,%rdx,8), %xmm0\n"
		 "	movapd %xmm0, %xmm1\n"
		 "	divsd %xmm0, %xmm1\n"
		 "	movsd %xmm1, -8(%rdi,%rdx,8)\n"
		 "	dec %rdx\n");
FUNCTION(chain, "	mulsd %xmm1, %xmm0\n"
		"	addsd %xmm1, %xmm0\n"
		"	dec %rdi\n");
FUNCTION(extended, "	fldz\n"
		   "	fld1\n"
		   "	fadd %st(1), %st\n"
		   "	fmulp\n"
		   "	fstp %st(0)\n"
		   "	dec %rdi\n");
FUNCTION(triad, "	movsd -8(%rdx,%rcx,8), %xmm0\n"
		"	mulsd %xmm1, %xmm0\n"
		"	addsd -8(%rsi,%rcx,8), %xmm0\n"
		"	movsd %xmm0, -8(%rdi,%rcx,8)\n"
		"	dec %rcx\n");
FUNCTION(stride, "	addsd (%rdi), %xmm0\n"
		 "	lea 64(%rdi), %rdi\n"
		 "	dec %rsi\n");
FUNCTION(chase, "	mov (%rdi), %rdi\n"
		"	dec %rsi\n");

FUNCTION(modulo, "	mov %edi, %eax\n"
		 "	xor %edx, %edx\n"
		 "	mov $7, %ecx\n"
		 "	div %ecx\n"
		 "	dec %rdi\n");
FUNCTION(convert, "	pxor %xmm0, %xmm0\n"
		  "	cvtsi2sdl -8(%rsi,%rdx,8), %xmm0\n"
		  "	addsd %xmm1, %xmm0\n"
		  "	movsd %xmm0, -8(%rdi,%rdx,8)\n"
		  "	dec %rdx\n");
FUNCTION(gather, "	vpcmpeqd %ymm0, %ymm0, %ymm0\n"
		 "	vpxor %xmm1, %xmm1, %xmm1\n"
		 "	vgatherdpd %ymm0, (%rdi,%xmm1,8), %ymm2\n"
		 "	dec %rsi\n");

static _Alignas(64) double small[2][SMALL];

static double *
large(size_t nr)
{
	double *all = aligned_alloc(64, nr * sizeof(*all));

	if (!all)
		abort();
	for (size_t i = 0; i < nr; i++)
		all[i] = 1;
	return all;
}

static void
follow_pointers(void)
{
	enum { NR = 4096 };
	void **nodes = calloc(NR * NODE_WORDS, sizeof(*nodes));

	for (size_t i = 0; nodes && i < NR; i++)
		nodes[i * NODE_WORDS] = &nodes[(i + 1231) % NR * NODE_WORDS];
	if (nodes)
		chase(nodes, 8000000);
	free(nodes);
}

static void *
work(void *times)
{
	double to[SMALL];

	for (long i = 0; i < 100000 * *(const long *)times; i++)
		packed(to, small[0], SMALL);
	return NULL;
}

static void
in_threads(void)
{
	long little = 1, much = 4;
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, &little) != 0)
		abort();
	work(&much);
	pthread_join(thread, NULL);
}

/* Its first instruction is of two lines. */
static __attribute__((noinline)) double
twice(double x)
{
	return x + x;
}

static void
in_two_threads(void)
{
	long much = 4;
	pthread_t thread;

	for (int i = 0; i < 10000000; i++)
		small[1][0] = twice(small[1][0]);

	for (int i = 0; i < 200000; i++)
		poly(small[1], small[0], SMALL);
	if (pthread_create(&thread, NULL, work, &much) != 0)
		abort();
	work(&much);
	pthread_join(thread, NULL);
}

static void
on_one_cpu(void)
{
	enum { NR = 4 };
	long little = 2;
	pthread_t threads[NR];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		abort();
	for (int i = 0; i < NR; i++)
		if (pthread_create(&threads[i], NULL, work, &little) != 0)
			abort();
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
}

static void
read_much(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char byte;

	for (int i = 0; i < 1000000; i++)
		if (read(fd, &byte, 1) != 1)
			abort();
	close(fd);
}

static void
by_blas(const char *path)
{
	enum { ROW_MAJOR = 101, AS_IT_IS = 111, SIZE = 128 };
	void *library = dlopen(path, RTLD_NOW), *found = library ? dlsym(library, "cblas_dgemm") : NULL;
	void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
		      int);
	double *all = large(3 * SIZE * SIZE);

	*(void **)&dgemm = found;
	for (int i = 0; found && i < 2000; i++)
		dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, all, SIZE, all + SIZE * SIZE, SIZE, 0,
		      all + 2 * SIZE * SIZE, SIZE);
	free(all);
}

int
main(int argc, char **argv)
{
	static void (*const small_ones[])(double *, const double *, unsigned long) = {poly, packed, divide, convert};
	static const char *const names[] = {"poly", "packed", "divide", "convert"};
	const struct timespec pause = {.tv_nsec = 33000000};
	const char *how = argc > 1 ? argv[1] : "";
	double *all;

	for (size_t i = 0; i < SMALL; i++)
		small[0][i] = 1;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		for (int i = 0; strcmp(how, names[k]) == 0 && i < 200000; i++)
			small_ones[k](small[1], small[0], SMALL);
	if (strcmp(how, "chain") == 0)
		chain(100000000);
	if (strcmp(how, "extended") == 0)
		extended(150000000);
	if (strcmp(how, "modulo") == 0)
		modulo(50000000);
	if (strcmp(how, "gather") == 0)
		gather(small[0], 50000000);
	if (strcmp(how, "chase") == 0)
		follow_pointers();
	if (strcmp(how, "threads") == 0)
		in_threads();
	if (strcmp(how, "serial") == 0)
		in_two_threads();
	if (strcmp(how, "crowd") == 0)
		on_one_cpu();
	if (strcmp(how, "kernel") == 0)
		read_much();
	for (int i = 0; strcmp(how, "sleep") == 0 && i < 10; i++)
		nanosleep(&pause, NULL);
	if (strcmp(how, "dgemm") == 0 && argc > 2)
		by_blas(argv[2]);
	if (strcmp(how, "triad") != 0 && strcmp(how, "stride") != 0)
		return 0;
	all = large(3 * LARGE);
	for (int i = 0; i < 100; i++)
		if (strcmp(how, "triad") == 0)
			triad(all, all + LARGE, all + 2 * LARGE, LARGE);
		else
			stride(all, 3 * LARGE / 8);
	free(all);
	return 0;
}
