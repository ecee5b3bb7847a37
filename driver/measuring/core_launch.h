/* SPDX-License-Identifier: MIT */
/* One start of the measuring core: rot-core with a command file, followed to its end. */
#ifndef MEASURING_CORE_LAUNCH_H
#define MEASURING_CORE_LAUNCH_H

#include "entities.h"
#include "error.h"

struct rot;

/*
 * Runs the measurements nr_runs times each, interleaved. On success *output (rot_graph_delete) has one collection of
 * nr_runs outputs per measurement. Errors: what the core says failed (with its hint and what it printed), the core
 * ended by a signal or without an answer, hanging beyond the time limit, "interrupted". No process is left in any case.
 */
int core_launch(const struct rot *rot, const char *child, struct measurement *const *measurements,
		size_t nr_measurements, int nr_runs, struct measurement_command_output **output, struct rot_error *err);

#endif
