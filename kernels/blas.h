/* SPDX-License-Identifier: MIT */
/*
 * The libraries behind Daxpy, Dgemv and Dgemm, through their C interface (cblas). They are loaded when a kernel is
 * initialized, so that the processor core they compute for and the number of their threads are what the kernel's
 * fields say, whatever the user's environment holds.
 */
#pragma once

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

/* The scalars of all three operations: neither 0 nor 1, which libraries treat apart. */
#define BLAS_ALPHA 1.5
#define BLAS_BETA 0.5

/* Constants of cblas.h, the same in all libraries. */
enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANSPOSE = 111 };

struct blas {
	void *handle;
	void (*daxpy)(int n, double alpha, const double *x, int stride_x, double *y, int stride_y);
	void (*dgemv)(int order, int transpose, int m, int n, double alpha, const double *a, int lda, const double *x,
		      int stride_x, double beta, double *y, int stride_y);
	void (*dgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a,
		      int lda, const double *b, int ldb, double beta, double *c, int ldc);
};

/*
 * Tells with the result what a library is and does. core is what was asked for, "" for the library's own choice; -1
 * after kernel_fail if it took another one.
 */
static inline int
blas_tell_openblas(void *handle, const char *core)
{
	char *(*config)(void) = (char *(*)(void))kernel_symbol(handle, "openblas_get_config");
	char *(*core_name)(void) = (char *(*)(void))kernel_symbol(handle, "openblas_get_corename");

	if (!config || !core_name)
		return -1;
	kernel_tell("%s, core %s", config(), core_name());
	if (core[0] && strcasecmp(core, core_name()) != 0)
		return kernel_fail("OpenBLAS computes for the core %s instead of %s, which it does not know or which "
				   "this processor cannot execute",
				   core_name(), core);
	return 0;
}

static inline int
blas_tell_blis(void *handle, const char *core)
{
	char *(*version)(void) = (char *(*)(void))kernel_symbol(handle, "bli_info_get_version_str");
	int (*arch)(void) = (int (*)(void))kernel_symbol(handle, "bli_arch_query_id");
	char *(*arch_name)(int) = (char *(*)(int))kernel_symbol(handle, "bli_arch_string");

	(void)core;
	if (!version || !arch || !arch_name)
		return -1;
	kernel_tell("BLIS %s, core %s", version(), arch_name(arch()));
	return 0;
}

static inline int
blas_tell_mkl(void *handle, const char *core)
{
	void (*describe)(char *, int) = (void (*)(char *, int))kernel_symbol(handle, "mkl_get_version_string");
	char text[256] = "";

	(void)core;
	if (!describe)
		return -1;
	describe(text, sizeof(text) - 1);
	kernel_tell("%s", text);
	return 0;
}

static inline int
blas_tell_reference(void *handle, const char *core)
{
	(void)handle;
	(void)core;
	return 0;
}

/*
 * removed: what is taken out of the environment; threads and core: the variables that say them; set_threads: the
 * library's own call for the threads, whose argument is an int but for BLIS ("": it has one thread).
 */
static const struct blas_library {
	const char *name, *file, *removed, *threads, *core, *set_threads;
	int (*tell)(void *handle, const char *core);
} blas_libraries[] = {
	{"OPENBLAS", "libopenblas.so.0", "OPENBLAS_* GOTO_* OMP_*", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE",
	 "openblas_set_num_threads", blas_tell_openblas},
	{"BLIS", "libblis.so.4", "BLIS_* OMP_*", "BLIS_NUM_THREADS", "BLIS_ARCH_TYPE", "bli_thread_set_num_threads",
	 blas_tell_blis},
	{"MKL", "libmkl_rt.so.2", "MKL_* KMP_* OMP_*", "MKL_NUM_THREADS", "MKL_ENABLE_INSTRUCTIONS",
	 "MKL_Set_Num_Threads", blas_tell_mkl},
	{"REFERENCE", "blas/libblas.so.3", "OMP_*", "OMP_NUM_THREADS", "", "", blas_tell_reference},
};

static inline int
blas_set_threads(const struct blas *blas, const struct blas_library *library, int threads)
{
	void *set = library->set_threads[0] ? kernel_symbol(blas->handle, library->set_threads) : NULL;

	if (!library->set_threads[0])
		return 0;
	if (!set)
		return -1;
	if (strcmp(library->name, "BLIS") == 0)
		((void (*)(int64_t))set)(threads);
	else
		((void (*)(int))set)(threads);
	return 0;
}

/* Loads the library and its operations. name and core are the kernel's fields. -1 after kernel_fail. */
static inline int
blas_open(struct blas *blas, const char *name, const char *core, int threads)
{
	const struct blas_library *library = blas_libraries;
	char variables[512];

	if (strcmp(core, "AUTOMATIC") == 0)
		core = "";
	while (strcmp(library->name, name) != 0)
		library++;
	snprintf(variables, sizeof(variables), "%s %s=%d %s%s%s", library->removed, library->threads, threads,
		 core[0] ? library->core : "", core[0] ? "=" : "", core);
	blas->handle = kernel_library(library->file, variables);
	if (!blas->handle || library->tell(blas->handle, core) < 0 || blas_set_threads(blas, library, threads) < 0)
		return -1;
	*(void **)&blas->daxpy = kernel_symbol(blas->handle, "cblas_daxpy");
	*(void **)&blas->dgemv = kernel_symbol(blas->handle, "cblas_dgemv");
	*(void **)&blas->dgemm = kernel_symbol(blas->handle, "cblas_dgemm");
	return blas->daxpy && blas->dgemv && blas->dgemm ? 0 : -1;
}
