/* SPDX-License-Identifier: MIT */
/* rot run: somebody else's program under the roofline. */
#pragma once

#include "error.h"
#include "programs/options.h"

struct rot;

/* In the cache folder: the JSON of the last run without "runs", replaced as a whole. */
#define PROGRAM_LAST_RUN "last-run.json"

/*
 * Runs the program argv (NULL-terminated; empty with options->process_id) as often as the plan needs, prints the report
 * to standard error, writes the files asked for and PROGRAM_LAST_RUN. *status is the program's own exit status (128 + n
 * when signal n ended it; of several runs, the first that is not 0), also when something of ours failed after it had
 * run; 126 or 127 when it could not be run; 1 when rot failed before.
 */
int
program_run(struct rot *rot, const struct run_options *options, char *const *argv, int *status, struct rot_error *err);
