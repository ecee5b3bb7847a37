/* SPDX-License-Identifier: MIT */
/* Runs rot-core on programs, for tests. All names are those of the current test, between set_up and tear_down. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "CoreFailure.h"
#include "ProgramCommand.h"
#include "ProgramCommandOutput.h"
#include "ProgramRunOutput.h"
#include "ProgramThreadOutput.h"

#define MAX_ARGUMENTS 8
#define MAX_REGIONS 4

/* Named as it begins. end NULL: where the function ends. */
struct trial_region {
	const char *begin, *end;
	int first_hit, last_hit; /* 0: as by default */
};

/* A program to run: by its path, or tests/core/parent/NAME of the build tree where it has no '/'. */
struct trial {
	const char *program;
	const char *arguments[MAX_ARGUMENTS];           /* NULL-terminated                              */
	pid_t attach_to;                                /* where program is NULL                        */
	const char *folder, *environment;               /* NULL: nothing                                */
	const char *standard_input, *standard_output;   /* likewise                                     */
	const char *time_limit;                         /* NULL: five minutes                           */
	int nr_runs;                                    /* 0: one                                       */
	uid_t as_user;                                  /* 0: whoever runs the test                     */
	int refused_call;                               /* number of a system call that fails; 0: none  */
	void (*amend)(struct program_command *command); /* before it is written; NULL: nothing is amended */
	struct trial_region regions[MAX_REGIONS];       /* ended by one without a begin                 */
	const char *region_backend;                     /* NULL: as by default                          */
	bool is_total, leaves_forks, is_time_only, counts_unknown_event;
};

extern char *runner_folder, *runner_said;

void runner_set_up(void);
void runner_tear_down(void);

/* In the background: standard output goes to runner_said. Wait for it with runner_end, which returns what waitpid said
 * and fails the test if a process of it lives on. */
pid_t runner_begin(const struct trial *trial);
int runner_end(pid_t pid);

/* Until the program has said "ready" so often, in all its runs. */
void runner_wait_until_ready(int times);

/*
 * tests/core/parent/PROGRAM of the build tree by itself, ready, to be visited; its standard output goes to runner_said.
 * end: it must run on untraced; it is killed.
 */
pid_t runner_begin_visited(const char *program, const char *act, const char *number);
void runner_end_visited(pid_t pid);

/* The output of a rot-core that ended, of the class asked for; the test fails if it is another. Valid until tear_down.
 */
struct program_command_output *runner_output(void);
struct core_failure *runner_failure(void);

/* All of it: the run must succeed. */
struct program_command_output *runner_run(const struct trial *trial);
struct core_failure *runner_fail(const struct trial *trial);

/*
 * Visits trial->attach_to for a moment; while that is not enough, as on a busy machine, for a longer one, up to 20 s.
 * The last visit, which must be enough.
 */
const struct program_run_output *
runner_visit(struct trial *trial, bool (*is_enough)(const struct program_run_output *run));

/* The one count of a thread; -1: it has none. */
long runner_count(const struct program_thread_output *thread);

/*
 * Every thread with a number for a name has counted just that, but for one fault in all at most: the kernel may move a
 * page that was touched (seen once in some thousand runs). Nothing may be missing. Returns how many there were.
 */
int runner_check_exact(const struct program_run_output *run);

/* Threads of that name. */
int runner_nr_named(const struct program_run_output *run, const char *name);

bool runner_has_warning(const struct program_command_output *output, const char *part);
