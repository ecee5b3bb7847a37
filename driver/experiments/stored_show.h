/* SPDX-License-Identifier: MIT */
/* What the instructions of a function did, beside them and their source lines. */
#pragma once

#include <stdio.h>

#include "error.h"
#include "experiments/stored_result.h"
#include "plots/annotated.h"

struct rot;

/*
 * Prints a function of a result of rot run in lines of that width, but for source lines; NULL: the one with most of the
 * time. The loop with most of it comes first. Errors: no such function (the hint names the nearest one), its
 * instructions are not in the result, or its file has other code by now.
 */
int stored_show_print(FILE *out, size_t width, const struct rot *rot, const struct stored_result *result,
		      const char *name, const struct annotated_options *options, struct rot_error *err);
