/* SPDX-License-Identifier: MIT */
/*
 * Programs as kernels: a description in, runs out, from the result cache or measured. What decides a result is in the
 * description: arguments and environment, and the content of the files that the program is made of and reads.
 */
#pragma once

#include <jansson.h>

#include "entities.h"
#include "error.h"

struct rot;

/*
 * Finds what the user does not write: the folder it runs in, its files and their content, the environment. Errors: no
 * such executable, an input that cannot be read.
 */
int program_workload_identify(struct rot *rot, struct program_workload *workload, struct rot_error *err);

/*
 * Gives nr_runs runs of each of the passes, which differ in nothing but their pass. *output (rot_graph_delete) has them
 * pass by pass. As measuring_perform; a run that ended with an exit status that is not allowed is an error, with what
 * the program wrote to standard error, and is not stored. What the results say of themselves is added to origin
 * (engine/origin.h).
 */
int program_measuring_perform(struct rot *rot, struct program_workload *const *passes, size_t nr_passes, int nr_runs,
			      struct program_command_output **output, json_t *origin, struct rot_error *err);
