/* SPDX-License-Identifier: MIT */
/* The rows of a kernel's definition, evaluated for one kernel entity. */
#pragma once

#include "definition.h"
#include "engine/expression.h"
#include "entities.h"
#include "error.h"

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

/* The same for the rows of bytes that name the border; there $cacheBytes is what the caches before it hold. */
int kernel_each_bytes_row(const struct rot *rot, const struct kernel_base *kernel, const char *border,
			  kernel_row_visitor *visit, void *context, struct rot_error *err);
