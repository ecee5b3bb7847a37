/* SPDX-License-Identifier: MIT */
/* The known work and needs of a kernel, from the rows of its definition. */
#pragma once

#include <stdbool.h>

#include "definition.h"
#include "engine/expression.h"
#include "entities.h"
#include "error.h"

struct rot;

/*
 * Work known in advance, by the expressions of the kernel's definition (expression.h), for a started kernel entity.
 * Returns false if the definition has no row for it, or an error happened (then err is set). direction: "read", "write"
 * or "both".
 */
bool kernel_expected_operations(struct rot *rot, const struct kernel_base *kernel, const char *operation, double *count,
				struct rot_error *err);
bool kernel_expected_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
			   double *bytes, struct rot_error *err);
/* The same if each datum crosses the border once, and no line is loaded just to be written. */
bool kernel_compulsory_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border,
			     const char *direction, double *bytes, struct rot_error *err);

/* How much data a started kernel entity works on, by its definition. 0 or -1. */
int kernel_data_bytes(struct rot *rot, const struct kernel_base *kernel, double *bytes, struct rot_error *err);

/*
 * Refuses what cannot work, before anything is built: the definition's checks and required CPU flags, data that do not
 * fit into memory. 0 or -1.
 */
int kernel_check(struct rot *rot, const struct kernel_base *kernel, struct rot_error *err);

struct rot;

const char *kernel_class_name(const struct kernel_base *kernel);

/* The kernel's definition; NULL and err: there is none (the class was not loaded from a kernel's XML). */
const struct definition *
kernel_definition(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err);

typedef int kernel_row_visitor(const struct definition_row *row, const struct expression_scope *scope, void *context,
			       struct rot_error *err);

/*
 * Calls visit for each row of the kind whose condition holds, in order; stops at the first that returns -1. 0 or -1.
 * Errors name the definition's file and line.
 */
int kernel_each_row(const struct rot *rot, const struct kernel_base *kernel, enum definition_row_kind kind,
		    kernel_row_visitor *visit, void *context, struct rot_error *err);

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
