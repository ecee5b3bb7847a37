/* SPDX-License-Identifier: MIT */
/* What a kernel is known to do and to need, from the rows of its definition. */
#pragma once

#include <stdbool.h>

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
