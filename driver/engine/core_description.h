/* SPDX-License-Identifier: MIT */
/*
 * Which measuring core a measurement needs: kernels, their flags, macros and sources, and the tools that build it. Two
 * measurements with the same key need the same core. Files are read once per process, so that describing the next point
 * touches none.
 */
#pragma once

#include <stddef.h>

#include "base/pool.h"
#include "definition.h"
#include "engine/sha256.h"
#include "entities.h"
#include "error.h"

struct rot;

/* The files of one kernel. */
struct kernel_sources {
	const struct definition *definition;
	char **paths; /* CLASS.c first, then the other C files in and below its folder, sorted; absolute */
	size_t nr;
	char hash[SHA256_HEX_SIZE]; /* of all files of the folder but XML */
};

/* Kernels and tools as far as they were read. */
struct core_facts {
	struct pool pool; /* of all below */
	struct kernel_sources **sources;
	size_t nr;
	const char *compiler;        /* configuration key of tools, or NULL: not read yet */
	char tools[SHA256_HEX_SIZE]; /* compiler (path, size, time), fixed part of the core, makefile */
};

struct core_kernel {
	const struct definition *definition;
	const struct kernel_sources *sources; /* owned by the facts                                 */
	const char *flags;                    /* of the definition, then the kernel's optimization    */
	const char *libraries;
	const char *files_loaded; /* of those that the kernel loads, see kernel_library_files */
};

struct core_macro {
	const char *name;
	const char *value;
	const struct rot_field *field;
	const char *kernel; /* name of the class that gave it */
};

struct core_description {
	struct pool pool;            /* of all below */
	struct core_kernel *kernels; /* sorted by name, each class once */
	size_t nr_kernels;
	struct core_macro *macros; /* sorted by name */
	size_t nr_macros;
	char set_key[SHA256_HEX_SIZE]; /* all but flags and macros */
	char key[SHA256_HEX_SIZE];
};

/*
 * Errors: two kernels that give one macro different values (both are named), two of one class with different flags, no
 * C file, compiler not found (with what installs it).
 */
int core_describe(const struct rot *rot, const struct measurement *measurement, struct core_facts *facts,
		  struct core_description *description, struct rot_error *err);
void core_description_clear(struct core_description *description);

/* Texts of the generated files. Fresh memory. */
char *core_macro_text(const struct core_macro *macro);
char *core_table_text(const struct core_description *description);
