/* SPDX-License-Identifier: MIT */
/*
 * known_findings HOW [LIBRARY]: computes for a tenth of a second or so, in a function of that name whose findings are
 * known, whatever compiler made the rest.
 *
 *	poly     polynomials of many numbers, scalar
 *	packed   the same of two numbers at once
 *	chain    each operation needs the result of the one before
 *	through  likewise, where half of the operations are in the function "leaf" that each turn calls
 *	divide   quotients
 *	extended the x87
 *	triad    three arrays that are larger than all caches but the last, scalar
 *	stride   the sum of one number of each line
 *	chase    pointers, each in another page
 *	modulo   remainders of integers
 *	convert  integers become numbers
 *	gather   vectors from indices, with AVX2
 *	split    TURNS: loads and stores that are in two lines each
 *
 *	threads  packed in two threads, of which one does four times as much
 *	kernel   many small reads
 *	sleep    a third of a second in many parts: interrupted by others less often than that
 *	spin     packed in one thread, for which the function "spin" waits in another one
 *	serial   poly in one thread, then packed in two that do as much
 *	crowd    packed in four threads on one CPU
 *	dgemm    products of matrices by LIBRARY, if there is such a one
 *
 *	parts    NR LIBRARY: poly, triad, chase and products in turn, in NR threads that share the work; prints the CPU
 *	         time of each part, then that of all
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1024, LARGE = 1 << 20, HUGE = 1 << 21, NODE_WORDS = 512 + 8 };

void poly(double *to, const double *x, unsigned long nr);
void packed(double *to, const double *x, unsigned long nr);
void divide(double *to, const double *x, unsigned long nr);
void chain(unsigned long turns);
void through(unsigned long turns);
void extended(unsigned long turns);
void triad(double *to, const double *b, const double *c, unsigned long nr);
void stride(const double *from, unsigned long nr);
void chase(void **from, unsigned long turns);
void modulo(unsigned long turns);
void convert(double *to, const double *x, unsigned long nr);
void gather(const double *from, unsigned long turns);
void spin(int *left);
void split(double *at, unsigned long turns);

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
__asm__(".text\n	.type leaf, @function\n	.p2align 6\nleaf:\n	.cfi_startproc\n"
	"	addsd %xmm1, %xmm0\n	ret\n	.cfi_endproc\n	.size leaf, .-leaf\n");
FUNCTION(through, "	mulsd %xmm1, %xmm0\n"
		  "	call leaf\n"
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

/* The second load would be in two lines of 32 bytes. */
FUNCTION(split, "	movupd 56(%rdi), %xmm0\n"
		"	movupd 24(%rdi), %xmm2\n"
		"	addpd %xmm1, %xmm0\n"
		"	movupd %xmm0, 124(%rdi)\n"
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

static void **
pointers(void)
{
	enum { NR = 4096 };
	void **nodes = calloc(NR * NODE_WORDS, sizeof(*nodes));

	for (size_t i = 0; nodes && i < NR; i++)
		nodes[i * NODE_WORDS] = &nodes[(i + 1231) % NR * NODE_WORDS];
	return nodes;
}

static void
follow_pointers(void)
{
	void **nodes = pointers();

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

FUNCTION(spin, "	mov (%rdi), %eax\n"
	       "	test %eax, %eax\n");

static void *
wait_for_none(void *left)
{
	spin(left);
	return NULL;
}

static void
beside_spinning(void)
{
	long much = 6;
	int left = 1;
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_none, &left) != 0)
		abort();
	work(&much);
	__atomic_store_n(&left, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
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

enum { ROW_MAJOR = 101, AS_IT_IS = 111, SIZE = 128 };

typedef void
dgemm_function(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);

static dgemm_function *
dgemm_of(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *found = library ? dlsym(library, "cblas_dgemm") : NULL;
	dgemm_function *dgemm;

	*(void **)&dgemm = found;
	return dgemm;
}

/* Code behind the last call keeps it from being a jump. */
static __attribute__((noinline)) void
multiply(dgemm_function *dgemm, double *all, int times)
{
	for (int i = 0; dgemm && i < times; i++)
		dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, all, SIZE, all + SIZE * SIZE, SIZE, 0,
		      all + 2 * SIZE * SIZE, SIZE);
	__asm__ volatile("");
}

static void
by_blas(const char *path)
{
	double *all = large(3 * SIZE * SIZE);

	multiply(dgemm_of(path), all, 2000);
	free(all);
}

enum { POLY, TRIAD, CHASE, DGEMM, NR_PARTS, NR_TURNS = 12 };

static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;
static double part_s[NR_PARTS];
static dgemm_function *part_dgemm;

static double
seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void
turn(double own_s[NR_PARTS], double *all, void **nodes, int share)
{
	double at_s[NR_PARTS + 1] = {seconds(CLOCK_THREAD_CPUTIME_ID)};

	for (int i = 0; i < 16384 / share; i++)
		poly(small[1], small[0], SMALL);
	at_s[1] = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 4 / share; i++)
		triad(all, all + HUGE, all + 2 * HUGE, HUGE);
	at_s[2] = seconds(CLOCK_THREAD_CPUTIME_ID);
	chase(nodes, 400000ul / (unsigned long)share);
	at_s[3] = seconds(CLOCK_THREAD_CPUTIME_ID);
	multiply(part_dgemm, all, 80 / share);
	at_s[4] = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < NR_PARTS; i++)
		own_s[i] += at_s[i + 1] - at_s[i];
}

static void *
do_parts(void *share)
{
	double *all = large(3 * HUGE), own_s[NR_PARTS] = {0};
	void **nodes = pointers();

	for (int i = 0; nodes && i < NR_TURNS; i++)
		turn(own_s, all, nodes, *(const int *)share);
	pthread_mutex_lock(&parts_lock);
	for (int i = 0; i < NR_PARTS; i++)
		part_s[i] += own_s[i];
	pthread_mutex_unlock(&parts_lock);
	free(nodes);
	free(all);
	return NULL;
}

static int
parts(int nr_threads, const char *path)
{
	pthread_t threads[4];

	part_dgemm = dgemm_of(path);
	if (nr_threads < 1 || nr_threads > 4)
		return 2;
	for (int i = 1; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, do_parts, &nr_threads) != 0)
			abort();
	do_parts(&nr_threads);
	for (int i = 1; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f %.6f %.6f %.6f %.6f\n", part_s[POLY], part_s[TRIAD], part_s[CHASE], part_s[DGEMM],
	       seconds(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

int
main(int argc, char **argv)
{
	static void (*const small_ones[])(double *, const double *, unsigned long) = {poly, packed, divide, convert};
	static const char *const names[] = {"poly", "packed", "divide", "convert"};
	const struct timespec pause = {.tv_nsec = 1000000};
	const char *how = argc > 1 ? argv[1] : "";
	double *all;

	for (size_t i = 0; i < SMALL; i++)
		small[0][i] = 1;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		for (int i = 0; strcmp(how, names[k]) == 0 && i < 200000; i++)
			small_ones[k](small[1], small[0], SMALL);
	if (strcmp(how, "chain") == 0)
		chain(100000000);
	if (strcmp(how, "through") == 0)
		through(100000000);
	if (strcmp(how, "extended") == 0)
		extended(150000000);
	if (strcmp(how, "modulo") == 0)
		modulo(50000000);
	if (strcmp(how, "gather") == 0)
		gather(small[0], 50000000);
	if (strcmp(how, "split") == 0)
		split(small[0], argc > 2 ? strtoul(argv[2], NULL, 10) : 50000000);
	if (strcmp(how, "chase") == 0)
		follow_pointers();
	if (strcmp(how, "threads") == 0)
		in_threads();
	if (strcmp(how, "spin") == 0)
		beside_spinning();
	if (strcmp(how, "serial") == 0)
		in_two_threads();
	if (strcmp(how, "crowd") == 0)
		on_one_cpu();
	if (strcmp(how, "kernel") == 0)
		read_much();
	for (int i = 0; strcmp(how, "sleep") == 0 && i < 300; i++)
		nanosleep(&pause, NULL);
	if (strcmp(how, "dgemm") == 0 && argc > 2)
		by_blas(argv[2]);
	if (strcmp(how, "parts") == 0 && argc > 3)
		return parts(atoi(argv[2]), argv[3]);
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
