/* SPDX-License-Identifier: MIT */
/* One run of a program, or one visit to a process that runs already. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "CoreFailure.h"
#include "ProgramCommand.h"
#include "ProgramCommandOutput.h"
#include "common/perf_event.h"
#include "parent/symbols/symbols.h"
#include "parent/tracer/loop.h"

/* The state that all runs of a command share. */
struct session {
	const struct program_command *command;
	struct program_command_output *output; /* gets warnings, each once; runs are added by the caller */
	struct loop loop;                      /* open                                        */
	struct rlimit files;                   /* of the program                              */
	bool is_traced;                        /* becomes false when the system refuses it    */
	bool leads_parent;                     /* as of struct request                        */
	const char *foreseen;                  /* likewise                                    */
	enum perf_heirs heirs;        /* where it is not traced; becomes ALL when the kernel is too old for THREADS */
	int driver_fd;                /* tells its end, which ends a visit; -1: nothing does */
	struct symbol_files *symbols; /* what was read of the files of programs */
	double time_limit_s;          /* from now on; 0: none. Of a visit: how long it lasts */

	/* set by a run */
	int interrupted_by;           /* the last signal that asked this process to stop in this run; or 0 */
	struct core_failure *failure; /* why it failed */
};

/* Runs pass once. NULL: failed, session says why. The output is a graph of its own. */
struct program_run_output *program_run(struct session *session, int32_t pass);

/* Unless it is there already. */
void session_warn(struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the failure; returns NULL. */
void *session_fail(struct session *session, const char *kind, const struct rot_error *err);
