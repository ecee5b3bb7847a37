/* SPDX-License-Identifier: MIT */
/*
 * When the runs of a pass were measured, as OUTPUT.json tells: {"hash", "began", "starts"}, of which the latter two
 * have an element a run.
 */
#ifndef QUANTITIES_PASS_RUNS_H
#define QUANTITIES_PASS_RUNS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* us since 1970 (UTC), or null where seconds is 0: nobody knows. New reference. */
json_t *run_began_json(int64_t seconds, int32_t microseconds);

/* Without runs; new reference. hash: of the description. */
json_t *pass_runs_new(const char *hash);

/* The next run, of that start of the core (of a program: of itself). */
void pass_runs_add(json_t *pass, int64_t seconds, int32_t microseconds, size_t start);

#endif
