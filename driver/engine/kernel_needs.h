/* SPDX-License-Identifier: MIT */
/* Libraries that kernels measure: are they there, and which files are they? Nothing is loaded. */
#pragma once

#include "entities.h"
#include "error.h"

struct rot;

/*
 * The file that a kernel gets with kernel_library(name): a mere name is looked for by the loader, one
 * with a folder beside the C library. NULL: it is not there. Fresh memory.
 */
char *kernel_library_find(const char *name);

/*
 * Is a library missing that the kernel needs? Then *what says which and what brings it: "kernel 'Dgemm' needs
 * the library libblis.so.4: install libblis4-openmp" (fresh memory); else it is NULL. -1: a condition of the definition
 * is wrong.
 */
int kernel_missing(const struct rot *rot, const struct kernel_base *kernel, char **what, struct rot_error *err);

/* The files of the libraries that the kernel needs, with size and time of change, so that another version is another
 * core. "" if it needs none. Fresh memory; NULL and err as above. */
char *kernel_library_files(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err);
