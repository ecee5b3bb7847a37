/* SPDX-License-Identifier: MIT */
/* One start of the measuring core: rot-core with a command file, followed to its end. */
#ifndef MEASURING_CORE_LAUNCH_H
#define MEASURING_CORE_LAUNCH_H

#include <stdbool.h>

#include "entities.h"
#include "error.h"

struct rot;

/*
 * Runs the measurements nr_runs times each, interleaved. On success *output (rot_graph_delete) has one collection of
 * nr_runs outputs per measurement. Errors: what the core says failed (with its hint and what it printed), the core
 * ended by a signal or without an answer, hanging beyond the time limit (these of the work alone), refusing what it is
 * asked for, "interrupted". No process is left in any case.
 */
int core_launch(const struct rot *rot, const char *child, struct measurement *const *measurements,
		size_t nr_measurements, int nr_runs, struct measurement_command_output **output, struct rot_error *err);

/* Did the last start fail because a measurer refused what it was asked for, and not because something broke? */
bool core_launch_was_refused(void);

/* Or because it was not done within the time limit? */
bool core_launch_was_late(void);

/*
 * The same for somebody else's program, which has an empty standard input and a standard output that nobody reads,
 * unless the command says otherwise. *printed (fresh memory) is the end of what it wrote to standard error. That it
 * ended badly is no error here.
 */
int core_launch_program(const struct rot *rot, const struct program_command *command,
			struct program_command_output **output, char **printed, struct rot_error *err);

#endif
