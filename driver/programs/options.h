/* SPDX-License-Identifier: MIT */
/* The options of "rot run", which end where the program's own arguments begin. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "entities.h"
#include "error.h"
#include "programs/places.h"

struct region;

struct run_options {
	const char *output_name; /* of plot and JSON, or NULL            */
	const char *json_path;   /* or NULL                              */
	long process_id;         /* to attach to; 0: run the program     */
	double duration_s;       /* of an attachment; 0: until it ends   */
	long max_passes;         /* >= 1; 0: not said                    */
	long nr_runs;            /* of each pass, >= 1                   */
	long nr_functions;       /* in the table; 0: none are sampled, -1: those that matter */
	const char *by;          /* "function", "loop" or "line": what it shows of the time; "object", "thread" */
	bool per_thread;
	bool has_no_children; /* the processes that the program starts are left out */
	bool is_quiet;
	bool has_miss_curve;   /* misses are counted at every capacity, by blocks */
	bool has_miss_kinds;   /* misses of modelled caches are told apart by kind */
	bool is_counts_only;   /* one run that is counted by blocks, and none that is timed */
	const char **what_ifs; /* other caches that are modelled, too */
	size_t nr_what_ifs;
	struct region **regions; /* owned; each with a name of its own */
	size_t nr_regions;
	const char *region_backend; /* as in ProgramCommand */
};

extern const struct option_table run_options_table;

enum place_kind run_options_by(const struct run_options *options);

/* -1: these do not go together, with what is right as a hint. */
int run_options_check(const struct run_options *options, bool has_program, struct rot_error *err);

/* ---- regions as they are written ---- */

/* For hints: what a region looks like. */
extern const char region_spec_usage[];

/*
 * The region that "[NAME=]PLACE[..PLACE][#FIRST[-[LAST]]]" describes (fresh memory), or NULL: wrong, with the right
 * form as a hint. #3 is the third hit alone, #3- all from the third on. Places are taken as they are written: what they
 * name is known where the program runs.
 *
 * NAME is made of letters, digits and _ . - ; without it the region is called as its places are written. ".." beside a
 * slash belongs to the path of a file. A '#' within braces belongs to the name of a C++ lambda.
 */
struct region *region_spec_parse(const char *text, struct rot_error *err);
