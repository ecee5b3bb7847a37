/* SPDX-License-Identifier: MIT */
/*
 * What OpenBLAS's dgemm reaches without rot, as a share of what a plain loop of fused operations reaches:
 *
 *	bench-dgemm LIBRARY SECONDS SIZE...
 *
 * It calls the library as its own benchmark does (benchmark/gemm.c of its sources, "dgemm.goto"): the Fortran
 * interface, A B with alpha 1 and beta 0, memory of malloc, numbers between -0.5 and 0.5, again and again on the same
 * matrices. Each call is timed by itself, between two plain loops: clocks change within seconds, and neighbours come
 * and go, but hardly within the milliseconds that these three take. A call's share is that of the faster of both.
 * Prints, of all calls of a size: the median of the shares, what a quarter of them reach, and the best one.
 *
 * Before that, on processors with AVX-512: the shares of the loops that OpenBLAS 0.3 computes in for its core SkylakeX,
 * with all data in the first-level cache, and of the same with loads that only load. So it shows what is left of a
 * processor's peak whatever is done about caches and pages.
 *
 * With PAGES=huge in the environment all that is mapped without a file, the library's own memory too, is put into huge
 * pages before the first call that counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_COLLAPSE /* Linux 6.1, newer than some C libraries */
#define MADV_COLLAPSE 25
#endif

enum { MAX_CALLS = 100000, TURNS = 10000 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- loops ---- */

#ifdef __AVX512F__
#define WIDTH "zmm"
enum { LANES = 8 };
#define UPPER                                                                                                          \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",  \
		"xmm28", "xmm29", "xmm30", "xmm31"
#else
#define WIDTH "ymm"
enum { LANES = 4 };
#define UPPER
#endif
#define FUSED(a, b, n) "vfmadd231pd %%" WIDTH #a ", %%" WIDTH #b ", %%" WIDTH #n "\n"

/* A function that returns the flop/s of TURNS turns of a loop: tens of microseconds. data: of the first-level cache. */
#define RATE_OF(name, nr_fused, body)                                                                                  \
	static double name(void)                                                                                       \
	{                                                                                                              \
		static const double data[64] __attribute__((aligned(64)));                                             \
		long turns = TURNS;                                                                                    \
		double start = now();                                                                                  \
                                                                                                                       \
		__asm__ volatile("vzeroall\n1:\n" body "dec %0\njnz 1b\n"                                              \
				 : "+r"(turns)                                                                         \
				 : "r"(data), "m"(data)                                                                \
				 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",     \
				   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc" UPPER);                  \
		return 2.0 * LANES * (nr_fused)*TURNS / (now() - start);                                               \
	}

/* Twelve chains hide the latency of fused operations on all processors that have them. */
#define FOUR(n0, n1, n2, n3) FUSED(4, 5, n0) FUSED(4, 5, n1) FUSED(4, 5, n2) FUSED(4, 5, n3)
RATE_OF(plain, 24,
	FOUR(0, 1, 2, 3) FOUR(6, 7, 8, 9) FOUR(10, 11, 12, 13) FOUR(0, 1, 2, 3) FOUR(6, 7, 8, 9) FOUR(10, 11, 12, 13))

#ifdef __AVX512F__
/* dgemm_kernel_16x2_skylakex.c: 16 elements of a column of A in two forms each, two of a row of B in each quarter. */
#define DUPLICATED "vmovddup (%1), %%zmm1\nvmovddup 8(%1), %%zmm2\nvmovddup 64(%1), %%zmm3\nvmovddup 72(%1), %%zmm4\n"
#define LOADED "vmovupd (%1), %%zmm1\nvmovupd 8(%1), %%zmm2\nvmovupd 64(%1), %%zmm3\nvmovupd 72(%1), %%zmm4\n"
#define PAIR(n0, n1, n2, n3)                                                                                           \
	"vbroadcastf32x4 (%1), %%zmm5\n" FUSED(1, 5, n0) FUSED(2, 5, n1) FUSED(3, 5, n2) FUSED(4, 5, n3)
#define SIX PAIR(8, 9, 10, 11) PAIR(12, 13, 14, 15) PAIR(16, 17, 18, 19)
#define TWELVE SIX PAIR(20, 21, 22, 23) PAIR(24, 25, 26, 27) PAIR(28, 29, 30, 31)
RATE_OF(twelve_duplicated, 24, DUPLICATED TWELVE)
RATE_OF(twelve_loaded, 24, LOADED TWELVE)
RATE_OF(six_duplicated, 12, DUPLICATED SIX)
RATE_OF(six_loaded, 12, LOADED SIX)

static const struct {
	const char *name;
	double (*rate)(void);
} loops[] = {
	{"16 x 12 elements, vmovddup of A (as the library)", twelve_duplicated},
	{"16 x 12 elements, vmovupd instead", twelve_loaded},
	{"16 x 6 elements, vmovddup of A (as the library)", six_duplicated},
	{"16 x 6 elements, vmovupd instead", six_loaded},
};

static void
print_loops(void)
{
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		double best = 0, best_plain = 0;

		for (int turn = 0; turn < 2000; turn++) {
			double rate = loops[i].rate(), rate_plain = plain();

			best = rate > best ? rate : best;
			best_plain = rate_plain > best_plain ? rate_plain : best_plain;
		}
		printf("%-50s %5.1f %%\n", loops[i].name, 100 * best / best_plain);
	}
}
#else
static void
print_loops(void)
{
}
#endif

/* ---- the library ---- */

typedef void dgemm_function(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
			    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
			    const double *beta, double *c, const int *ldc);

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* n x n elements in memory of malloc, touched. */
static double *
new_matrix(size_t n)
{
	double *values = malloc(n * n * sizeof(double));

	if (!values) {
		perror("malloc");
		exit(1);
	}
	for (size_t i = 0; i < n * n; i++)
		values[i] = (double)rand() / RAND_MAX - 0.5;
	return values;
}

/* Whatever is 2 MiB or larger and of no file; what the system refuses stays as it is. */
static void
use_huge_pages(void)
{
	const unsigned long huge = 2UL << 20;
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, nr_bytes = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx rw-p 00000000 00:00 0", &from, &to) != 2 || strchr(line, '/'))
			continue;
		from = (from + huge - 1) / huge * huge;
		to = to / huge * huge;
		if (from < to && madvise((void *)from, to - from, MADV_HUGEPAGE) == 0 &&
		    madvise((void *)from, to - from, MADV_COLLAPSE) == 0)
			nr_bytes += to - from;
	}
	fprintf(stderr, "in huge pages: %lu MiB\n", nr_bytes >> 20);
	if (maps)
		fclose(maps);
}

static void
measure(dgemm_function *dgemm, int n, double seconds)
{
	static double shares[MAX_CALLS];
	const double one = 1, zero = 0, flop = 2.0 * n * n * n;
	double *a = new_matrix((size_t)n), *b = new_matrix((size_t)n), *c = new_matrix((size_t)n), best = 0, end;
	int nr = 0;

	dgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
	if (getenv("PAGES") && strcmp(getenv("PAGES"), "huge") == 0)
		use_huge_pages();
	end = now() + seconds;
	while (nr < MAX_CALLS && (now() < end || nr < 5)) {
		double before = plain(), start = now(), rate, after;

		dgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
		rate = flop / (now() - start);
		after = plain();
		shares[nr++] = rate / (before > after ? before : after);
		best = rate > best ? rate : best;
	}
	qsort(shares, (size_t)nr, sizeof(*shares), compare);
	printf("%6d %8d %9.1f %9.1f %9.1f %12.1f\n", n, nr, 100 * shares[nr / 2], 100 * shares[nr * 3 / 4],
	       100 * shares[nr - 1], best * 1e-9);
	free(a);
	free(b);
	free(c);
}

int
main(int argc, char **argv)
{
	void *library = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	char *(*core)(void) = library ? (char *(*)(void))dlsym(library, "openblas_get_corename") : NULL;
	dgemm_function *dgemm = library ? (dgemm_function *)dlsym(library, "dgemm_") : NULL;

	if (!dgemm) {
		fprintf(stderr, "%s\n", argc > 3 ? dlerror() : "usage: bench-dgemm LIBRARY SECONDS SIZE...");
		return argc > 3 ? 1 : 2;
	}
	print_loops();
	printf("%s, core %s; shares of the plain loop\n", argv[1], core ? core() : "unknown");
	printf("%6s %8s %9s %9s %9s %12s\n", "n", "calls", "median %", "quarter %", "best %", "best Gflop/s");
	for (int i = 3; i < argc; i++)
		measure(dgemm, atoi(argv[i]), atof(argv[2]));
	return 0;
}
