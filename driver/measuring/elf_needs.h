/* SPDX-License-Identifier: MIT */
/* What an ELF file asks the loader for: interpreter, libraries, and where to look for them. Nothing is executed. */
#ifndef MEASURING_ELF_NEEDS_H
#define MEASURING_ELF_NEEDS_H

#include <stddef.h>

#include "support/pool.h"

/* Zeroed: nothing. */
struct elf_needs {
	struct pool pool;  /* of all below */
	char *interpreter; /* "/lib64/ld-linux-x86-64.so.2"; NULL: none                */
	char **libraries;  /* as they are named there: "libc.so.6"                     */
	size_t nr_libraries;
	char *rpath, *runpath; /* folders separated by colons; NULL: none                  */
};

/* 0; -1 if the file is no 64-bit ELF program or library of x86, or is damaged. Clear it also then. */
int elf_needs_read(struct elf_needs *needs, const char *path);
void elf_needs_clear(struct elf_needs *needs);

#endif
