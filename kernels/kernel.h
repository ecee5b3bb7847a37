/* SPDX-License-Identifier: MIT */
/*
 * A kernel, as the measuring core sees it. This is all a kernel may include of rot, besides the header generated from
 * its own XML and its macros. How to write one: rot help ADD-A-KERNEL.md.
 *
 * A kernel NAME has two files in a folder of its own: NAME.xml (its fields, compile-time macros, expected work) and
 * NAME.c:
 *
 *	#include "kernel.h"
 *	#include "ScaleData.h"                    generated: struct scale_data, the fields of Scale.xml
 *
 *	struct scale {
 *		struct scale_data data;           must be first
 *		double *a, *b;                    whatever a run needs; zeroed at the start
 *	};
 *	...
 *	KERNEL(scale, "Scale", .initialize = initialize, .buffers = buffers, .run = run, .dispose = dispose);
 */
#pragma once

#include <stddef.h>

/* One buffer of a kernel: used to flush it from the caches or to load it into them. */
struct kernel_buffer {
	void *start;
	size_t bytes;
};

#define KERNEL_MAX_BUFFERS 64

/*
 * All functions get the hand-written struct. run is required, the others may be NULL.
 *
 * initialize: allocate and fill the buffers, outside any measurement. 0, or -1 after kernel_fail.
 * buffers:    write at most KERNEL_MAX_BUFFERS buffers, return how many.
 * run:        the measured work and nothing else: called once per run, between start and stop of the main measurer.
 * warm_code:  load the code (and what it needs) into the caches; NULL: run is used.
 * warm_data:  load data beyond buffers into the caches; called after the buffers were read.
 * stop:       make run return soon; called from another thread while run is active, or by its own in the middle of run
 *             (as buffers may be), like a signal handler. NULL: the kernel always ends by itself.
 * dispose:    free what initialize made; called after every initialize, also a failed one.
 */
struct kernel_type {
	const char *class_name;
	size_t size;
	int (*initialize)(void *kernel);
	size_t (*buffers)(void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS]);
	void (*run)(void *kernel);
	void (*warm_code)(void *kernel);
	void (*warm_data)(void *kernel);
	void (*stop)(void *kernel);
	void (*dispose)(void *kernel);
};

/* Defines kernel_SNAKE (found by the core) and SNAKE_size (found by the generated descriptor). */
#define KERNEL(snake, name, ...)                                                                                       \
	const size_t snake##_size = sizeof(struct snake);                                                              \
	const struct kernel_type kernel_##snake = {.class_name = name, .size = sizeof(struct snake), __VA_ARGS__}

/*
 * nr elements of size bytes, aligned to 64 bytes (2 MiB and advised to use huge pages from 2 MiB on); contents are
 * undefined, no page has been touched. NULL after kernel_fail when there is not enough memory or nr * size overflows.
 * Free with kernel_free.
 */
void *kernel_allocate(size_t nr, size_t size);
void kernel_free(void *memory);

/* Remembers why the kernel cannot run (printf form); returns -1. */
int kernel_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A shared library that is measured: a name as the loader knows it ("libopenblas.so.0"), or a path below the folder of
 * the C library ("blas/libblas.so.3"). It is loaded at the first call and stays. variables, separated by blanks, change
 * the environment before, since libraries read it when they are loaded: NAME=VALUE, NAME or PREFIX* (removed): what
 * the user's environment holds would be measured, and not be part of the description. NULL after kernel_fail: not
 * there, or loaded with other variables. Definitions say <needs library="..."/>, so that this is known before.
 */
void *kernel_library(const char *file, const char *variables);

/* A function of the library; NULL after kernel_fail. */
void *kernel_symbol(void *library, const char *name);

/* A folder for files of a run, removed with what is in it when the measuring core has ended. */
const char *kernel_folder(void);

/*
 * A folder of this kind of processor for files that later runs shall find, also of other starts; NULL: there is none.
 * Several processes use it at once, so files are written to another name and renamed. The user may remove them.
 */
const char *kernel_kept_folder(void);

/* A fact of what is measured (printf form), kept with the result: "OpenBLAS 0.3.21, core SkylakeX". Each text once. */
void kernel_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reproducible uniform doubles in [1, 2): never zero, so that stores are not of zeros (which DRAM writes twice as
 * fast). */
void kernel_fill(double *values, size_t nr, unsigned seed);
void kernel_fill_float(float *values, size_t nr, unsigned seed);
