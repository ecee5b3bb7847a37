/* SPDX-License-Identifier: MIT */
/* The discrete Fourier transform of complex doubles, in place. */
#define _GNU_SOURCE /* asprintf */

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "FftData.h"
#include "kernel.h"

#define PI 3.14159265358979323846

/* FFTW's interface, which MKL has as well. */
enum { FFTW_FORWARD = -1, FFTW_MEASURE = 0, FFTW_PATIENT = 1 << 5, FFTW_ESTIMATE = 1 << 6, FFTW_WISDOM_ONLY = 1 << 21 };

struct library {
	void *handle, *threads_handle; /* the functions for threads are in a library of their own, or in the same */
	void *(*plan)(int n, double complex *in, double complex *out, int sign, unsigned flags);
	void (*execute)(void *plan);
	void (*destroy)(void *plan);
};

struct fft {
	struct fft_data data;
	double complex *buffer;
	struct library functions;
	void *plan;
};

/* ---- our own ---- */

/* Puts each element where the bits of its index, reversed, say: Cormen and others, "Introduction to Algorithms", 30.3.
 */
static void
reverse_bits(double *restrict z, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j |= bit;
		if (i < j) {
			double re = z[2 * i], im = z[2 * i + 1];

			z[2 * i] = z[2 * j];
			z[2 * i + 1] = z[2 * j + 1];
			z[2 * j] = re;
			z[2 * j + 1] = im;
		}
	}
}

/*
 * Radix 2, decimation in time, iterative: log2 n stages of n / 2 butterflies with 10 operations each. The roots of
 * unity of a stage follow from each other by a multiplication (8 operations): w += w * (e^(-i theta) - 1), where the
 * real part of the bracket is -2 sin^2(theta / 2), so that no digits are lost.
 */
static void
transform(double *restrict z, size_t n)
{
	reverse_bits(z, n);
	for (size_t half = 1; half < n; half *= 2) {
		double theta = -PI / (double)half, s = sin(theta / 2), step_re = -2 * s * s, step_im = sin(theta);
		double w_re = 1, w_im = 0, old_re;

		for (size_t k = 0; k < half; k++) {
			for (size_t i = k; i < n; i += 2 * half) {
				double *a = &z[2 * i], *b = &z[2 * (i + half)];
				double re = w_re * b[0] - w_im * b[1], im = w_re * b[1] + w_im * b[0];

				b[0] = a[0] - re;
				b[1] = a[1] - im;
				a[0] += re;
				a[1] += im;
			}
			old_re = w_re;
			w_re += w_re * step_re - w_im * step_im;
			w_im += w_im * step_re + old_re * step_im;
		}
	}
}

static void
run(void *kernel)
{
	struct fft *fft = kernel;

	if (fft->plan)
		fft->functions.execute(fft->plan);
	else
		transform((double *)fft->buffer, (size_t)fft->data.buffer_size);
}

/* ---- libraries ---- */

static void
fill(struct fft *fft)
{
	kernel_fill((double *)fft->buffer, 2 * (size_t)fft->data.buffer_size, 1);
}

static int
open_threads(struct fft *fft)
{
	int (*init)(void);
	void (*set)(int);

	if (fft->data.base.num_threads == 1)
		return 0;
	*(void **)&init = kernel_symbol(fft->functions.threads_handle, "fftw_init_threads");
	*(void **)&set = kernel_symbol(fft->functions.threads_handle, "fftw_plan_with_nthreads");
	if (!init || !set)
		return -1;
	if (!init())
		return kernel_fail("the library cannot use threads");
	set(fft->data.base.num_threads);
	return 0;
}

static int
open_library(struct fft *fft)
{
	bool is_mkl = strcmp(fft->data.implementation, "MKL") == 0;
	struct library *library = &fft->functions;
	const char *version;

	library->handle =
		kernel_library(is_mkl ? "libmkl_rt.so.2" : "libfftw3.so.3", is_mkl ? "MKL_* KMP_* OMP_*" : "");
	library->threads_handle = library->handle;
	if (library->handle && !is_mkl && fft->data.base.num_threads > 1)
		library->threads_handle = kernel_library("libfftw3_threads.so.3", "");
	if (!library->handle || !library->threads_handle)
		return -1;
	*(void **)&library->plan = kernel_symbol(library->handle, "fftw_plan_dft_1d");
	*(void **)&library->execute = kernel_symbol(library->handle, "fftw_execute");
	*(void **)&library->destroy = kernel_symbol(library->handle, "fftw_destroy_plan");
	if (!library->plan || !library->execute || !library->destroy)
		return -1;
	version = kernel_symbol(library->handle, "fftw_version");
	kernel_tell("%s", version ? version : "MKL");
	return open_threads(fft);
}

/* Wisdom: plans found earlier, so that planning is short and the plan the same. In fresh memory; NULL: none is kept. */
static char *
wisdom_path(const struct fft *fft)
{
	const char *name = fft->data.wisdom, *folder = kernel_kept_folder();
	char *path = NULL;

	if (strchr(name, '/'))
		return strdup(name);
	if (!name[0] || !folder || asprintf(&path, "%s/%s", folder, name) < 0)
		return NULL;
	return path;
}

static bool
use_wisdom(const struct fft *fft, const char *function, const char *path)
{
	int (*use)(const char *);

	*(void **)&use = kernel_symbol(fft->functions.handle, function);
	return use && use(path);
}

/* Others may read it meanwhile. */
static void
write_wisdom(const struct fft *fft, const char *path)
{
	char *fresh;

	if (asprintf(&fresh, "%s.%ld", path, (long)getpid()) < 0)
		return;
	if (!use_wisdom(fft, "fftw_export_wisdom_to_filename", fresh) || rename(fresh, path) < 0) {
		unlink(fresh);
		kernel_tell("wisdom of %s cannot be written", path);
	}
	free(fresh);
}

static void
plan(struct fft *fft, unsigned flags)
{
	fft->plan = fft->functions.plan((int)fft->data.buffer_size, fft->buffer, fft->buffer, FFTW_FORWARD, flags);
}

static void
plan_with_wisdom(struct fft *fft, unsigned flags, const char *path)
{
	if (!use_wisdom(fft, "fftw_import_wisdom_from_filename", path) && access(path, F_OK) == 0)
		kernel_tell("wisdom of %s is not of this library, or damaged", path);
	plan(fft, flags | FFTW_WISDOM_ONLY);
	if (fft->plan)
		return;
	plan(fft, flags);
	if (fft->plan)
		write_wisdom(fft, path);
}

/* Planning writes to the buffer. A library plans for one thread at a time. */
static int
make_plan(struct fft *fft)
{
	static const struct {
		const char *name;
		unsigned flag;
	} efforts[] = {{"ESTIMATE", FFTW_ESTIMATE}, {"MEASURE", FFTW_MEASURE}, {"PATIENT", FFTW_PATIENT}};
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void (*count)(void *, double *, double *, double *);
	char *wisdom = wisdom_path(fft);
	double adds, multiplications, fused;
	size_t effort = 0;

	while (strcmp(efforts[effort].name, fft->data.planning) != 0)
		effort++;
	pthread_mutex_lock(&lock);
	if (wisdom)
		plan_with_wisdom(fft, efforts[effort].flag, wisdom);
	else
		plan(fft, efforts[effort].flag);
	pthread_mutex_unlock(&lock);
	free(wisdom);
	if (!fft->plan)
		return kernel_fail("the library has no plan for %ld elements", (long)fft->data.buffer_size);
	*(void **)&count = kernel_symbol(fft->functions.handle, "fftw_flops");
	if (count && strcmp(fft->data.implementation, "FFTW") == 0) {
		count(fft->plan, &adds, &multiplications, &fused);
		kernel_tell(
			"FFTW's plan for %ld elements on %d threads: fftw_flops is %.0f, vector instructions counting "
			"once (nominal: %.0f flop)",
			(long)fft->data.buffer_size, (int)fft->data.base.num_threads,
			adds + multiplications + 2 * fused,
			5 * (double)fft->data.buffer_size * log2((double)fft->data.buffer_size));
	}
	return 0;
}

/* ---- the check ---- */

/* Element k by the definition. */
static double complex
element(const double complex *input, size_t n, size_t k)
{
	double complex sum = 0;

	for (size_t j = 0; j < n; j++) {
		/* j k mod n: whole turns do not matter, and would cost digits */
		double angle = -2 * PI * (double)((unsigned __int128)j * k % n) / (double)n;

		sum += input[j] * (cos(angle) + I * sin(angle));
	}
	return sum;
}

/* Some elements by the definition; each depends on all of the input. */
static int
check(struct fft *fft)
{
	size_t n = (size_t)fft->data.buffer_size, places[] = {0, 1 % n, n / 2, n / 3, n - 1};
	double complex *input = kernel_allocate(n, sizeof(*input));
	int rc = 0;

	if (!input)
		return -1;
	fill(fft);
	memcpy(input, fft->buffer, n * sizeof(*input));
	run(fft);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && rc == 0; i++) {
		double complex expected = element(input, n, places[i]), got = fft->buffer[places[i]];

		if (!(cabs(got - expected) <= 1e-12 * (double)n))
			rc = kernel_fail("the transform is wrong: element %zu is %g%+gi instead of %g%+gi", places[i],
					 creal(got), cimag(got), creal(expected), cimag(expected));
	}
	kernel_free(input);
	return rc;
}

static int
initialize(void *kernel)
{
	static atomic_bool is_checked;
	struct fft *fft = kernel;

	fft->buffer = kernel_allocate((size_t)fft->data.buffer_size, sizeof(*fft->buffer));
	if (!fft->buffer)
		return -1;
	if (strcmp(fft->data.implementation, "OWN") != 0 && (open_library(fft) < 0 || make_plan(fft) < 0))
		return -1;
	if (!fft->data.no_check && !atomic_exchange(&is_checked, true) && check(fft) < 0)
		return -1;
	fill(fft);
	return 0;
}

static size_t
buffers(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	struct fft *fft = kernel;

	buffers[0] = (struct kernel_buffer){fft->buffer, (size_t)fft->data.buffer_size * sizeof(*fft->buffer)};
	return 1;
}

static void
dispose(void *kernel)
{
	struct fft *fft = kernel;

	if (fft->plan)
		fft->functions.destroy(fft->plan);
	fft->plan = NULL;
	kernel_free(fft->buffer);
	fft->buffer = NULL;
}

KERNEL(fft, "Fft", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
