/* SPDX-License-Identifier: MIT */
/* Regions that are tasks of ITT: the program loads a collector that has a marker for each (common/rot-itt.c). */
#pragma once

#include "ProgramCommand.h"
#include "error.h"

/*
 * A region that begins at "itt:NAME" becomes one of the collector's markers, and the program's environment names the
 * collector. -1: there are too many, one has an end of its own, or the process runs already.
 */
int itt_tasks_prepare(struct program_command *command, struct rot_error *err);
