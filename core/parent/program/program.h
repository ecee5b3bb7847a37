/* SPDX-License-Identifier: MIT */
/* Does what a ProgramCommand asks: runs a program as often as its passes need, or visits a running process. */
#pragma once

#include "error.h"
#include "parent/supervisor/supervisor.h"

/*
 * Reads the command of request (its child is not used) and writes the output, or a CoreFailure. Nothing is printed: the
 * standard streams belong to the program.
 *
 * Returns 0 when the output was written, 1 for a CoreFailure, -1 with err when neither could be.
 */
int program_measure(const struct request *request, struct rot_error *err);
