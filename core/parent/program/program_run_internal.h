/* SPDX-License-Identifier: MIT */
/* One run of a program, between program_run.c, which follows it, program_begin.c and program_conclude.c. */
#ifndef CORE_PARENT_PROGRAM_PROGRAM_RUN_INTERNAL_H
#define CORE_PARENT_PROGRAM_PROGRAM_RUN_INTERNAL_H

#include <sys/resource.h>

#include "ProgramRunOutput.h"
#include "parent/breakpoints/image.h"
#include "parent/program/program_launch.h"
#include "parent/program/program_rules.h"
#include "parent/program/program_run.h"
#include "parent/program/program_threads.h"
#include "parent/regions/region_steps.h"
#include "parent/regions/regions.h"
#include "parent/supervisor/keep_off.h"
#include "parent/tracer/counting.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/tracer.h"

struct run {
	struct session *session;
	struct program_run_output *output;
	struct counting counting;
	struct launch launch;
	struct tracer tracer; /* where session->is_traced */
	struct keep_off keep_off;
	struct program_threads threads;
	struct program_rules *rules;   /* NULL: there are none */
	struct counts inherited;       /* where not */
	struct regions *regions;       /* NULL: none are asked for */
	struct region_steps *steps;    /* NULL: regions are not stepped through */
	struct translator *translator; /* NULL: code is not translated */
	bool has_places;               /* regions, or rules that answer breakpoints */
	struct images images;          /* where it has places */
	bool awaits_pause;             /* of a thread of a process that is visited, to look for its places */
	bool is_attached;
	bool has_gone; /* the new process was let go */
	bool is_program_over;
	bool is_leaving;
	unsigned nr_waits; /* for threads that did not stop to be let go */
	bool is_stopped;   /* the program, or a visit, and so the parent */
	bool is_late;
	struct program_begin *begin; /* shared with the new process, which sets it */
	uint64_t end_ns;
	int status;
	struct rusage usage, usage_before;
	int64_t steal_before; /* steal_time_now */
	struct launch_failure failure;
	bool has_failed_to_start;
};

/* A new process, which waits to be let go; or one that runs. 0, or -1 and the session has the failure. */
int program_run_prepare(struct run *self);
int program_run_attach(struct run *self);

/* What has happened, as an output, or (false) as the session's failure. */
bool program_run_conclude(struct run *self);

#endif
