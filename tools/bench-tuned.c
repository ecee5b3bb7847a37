/* SPDX-License-Identifier: MIT */
/*
 * For compare-tuned.sh: the kernel Tuned, dgemm of a library and the plain triple loop in turns, in CPU time of the
 * thread, so that other programs matter little. Prints, of all turns of a size, the median of how many times as fast
 * the kernel is, and the quarters.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "Tuned/Tuned.c"

enum { MAX_TURNS = 10000, LEAST_TURNS = 5, LARGEST_PLAIN = 1000 };

#define HUGE_PAGE (2UL << 20)

/* ---- what the kernel asks the measuring core for ---- */

void *
kernel_allocate(size_t nr, size_t size)
{
	const size_t bytes = (nr * size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *memory = aligned_alloc(HUGE_PAGE, bytes);

	if (memory)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

void
kernel_free(void *memory)
{
	free(memory);
}

int
kernel_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

void
kernel_fill(double *values, size_t nr, unsigned seed)
{
	srand48(seed);
	for (size_t i = 0; i < nr; i++)
		values[i] = 1 + drand48();
}

/* ---- the others ---- */

typedef void dgemm_function(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
			    const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
			    const double *beta, double *c, const int *ldc);

/* By columns, so A and B change places. */
static void
run_library(dgemm_function *dgemm, const struct matrices *m)
{
	const int n = (int)m->n;
	const double one = 1;

	dgemm("N", "N", &n, &n, &n, &one, m->b, &n, m->a, &n, &one, m->c, &n);
}

static void
run_plain(const struct matrices *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++)
			for (size_t k = 0; k < m->n; k++)
				m->c[i * m->n + j] += m->a[i * m->n + k] * m->b[k * m->n + j];
}

/* ---- turns ---- */

static double
cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
print_ratios(double *ratios, int nr)
{
	qsort(ratios, (size_t)nr, sizeof(*ratios), compare);
	printf("   %6.3g [%.3g, %.3g]", ratios[nr / 2], ratios[nr / 4], ratios[nr * 3 / 4]);
}

static void
measure(dgemm_function *dgemm, int n, double seconds)
{
	static double of_library[MAX_TURNS], of_plain[MAX_TURNS];
	struct tuned tuned = {.data = {.matrix_size = n, .kc = KC, .nc = NC, .mc = MC}};
	double end, best = 0;
	int nr = 0, nr_plain = 0;

	if (initialize(&tuned) < 0)
		exit(1);
	run_library(dgemm, &tuned.matrices);
	end = cpu_s() + seconds;
	while (nr < MAX_TURNS && (cpu_s() < end || nr < LEAST_TURNS)) {
		double times[4] = {cpu_s()}, rate;

		run(&tuned);
		times[1] = cpu_s();
		run_library(dgemm, &tuned.matrices);
		times[2] = cpu_s();
		if (n <= LARGEST_PLAIN && nr_plain < LEAST_TURNS) {
			run_plain(&tuned.matrices);
			times[3] = cpu_s();
			end += times[3] - times[2];
			of_plain[nr_plain++] = (times[3] - times[2]) / (times[1] - times[0]);
		}
		of_library[nr++] = (times[2] - times[1]) / (times[1] - times[0]);
		rate = 2e-9 * n * n * n / (times[1] - times[0]);
		best = rate > best ? rate : best;
	}
	printf("%6d %6d %8.1f", n, nr, best);
	print_ratios(of_library, nr);
	if (nr_plain > 0)
		print_ratios(of_plain, nr_plain);
	putchar('\n');
	fflush(stdout);
	dispose(&tuned);
}

int
main(int argc, char **argv)
{
	void *library = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	char *(*core)(void) = library ? (char *(*)(void))dlsym(library, "openblas_get_corename") : NULL;
	dgemm_function *dgemm = library ? (dgemm_function *)dlsym(library, "dgemm_") : NULL;

	if (!dgemm) {
		fprintf(stderr, "%s\n", argc > 3 ? dlerror() : "usage: bench-tuned LIBRARY SECONDS SIZE...");
		return argc > 3 ? 1 : 2;
	}
	printf("%s, core %s\n%6s %6s %8s   times as fast as the library, as plain loops [quarters]\n", argv[1],
	       core ? core() : "unknown", "n", "turns", "Gflop/s");
	for (int i = 3; i < argc; i++)
		measure(dgemm, atoi(argv[i]), atof(argv[2]));
	return 0;
}
