/* SPDX-License-Identifier: MIT */
/* One start of rot-core with a command file: what all starts share, and those for measuring, followed to their end. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "error.h"

struct rot;

/* A private folder for one start: CACHE/work/PID-XXXXXX, locked while in use. Nothing here: path NULL. */
struct work_folder {
	char *path;
	int lock; /* descriptor, or -1 */
};

/*
 * Makes one, and removes those that dead processes left behind more than some seconds ago. Where the cache cannot be
 * written, in TMPDIR.
 */
int work_folder_open(struct work_folder *work, const char *cache_folder, struct rot_error *err);

void work_folder_close(struct work_folder *work);

/* Files that one start of rot-core and this process share, and how it ended. */
struct core_start {
	const struct rot *rot;
	struct work_folder work;
	char *program, *command, *output; /* paths: of rot-core, of what is asked for, and of what it answers */
	int status;                       /* of waitpid */
};

/* Writes the command, an entity. Close it also after an error. */
int core_start_open(struct core_start *start, const struct rot *rot, const void *command, struct rot_error *err);
void core_start_close(struct core_start *start);

/* The answer, or a CoreFailure, once it has ended (rot_graph_delete). NULL: there is none, and why says so. */
void *core_start_read(const struct core_start *start, struct rot_error *why);

/* -1, and how it ended without an answer. why: as of the function above, or what is wrong with its answer. */
int core_start_explain(const struct core_start *start, const struct rot_error *why, struct rot_error *err);

/*
 * Runs the measurements nr_runs times each, interleaved. On success *output (rot_graph_delete) has one collection of
 * nr_runs outputs per measurement. Errors: what the core says failed (with its hint and what it printed), the core
 * ended by a signal or without an answer, hanging beyond the time limit (these of the work alone), refusing what it is
 * asked for, "interrupted". No process is left in any case.
 */
int core_launch(const struct rot *rot, const char *child, struct measurement *const *measurements,
		size_t nr_measurements, int nr_runs, struct measurement_command_output **output, struct rot_error *err);

/*
 * Did the last start fail because a measurer refused what it was asked for (steps where nothing may be traced, say), so
 * that other measurers can be tried?
 */
bool core_launch_was_refused(void);

/* Likewise: was the time limit not enough? */
bool core_launch_was_late(void);

/* Do the runs belong to passes that the command asked for? */
bool program_runs_are_asked(const struct program_command_output *output, const struct program_command *command);

/*
 * The same for somebody else's program, which has an empty standard input and a standard output that nobody reads,
 * unless the command says otherwise. *printed (fresh memory) is the end of what it wrote to standard error. That it
 * ended badly is no error here.
 */
int core_launch_program(const struct rot *rot, const struct program_command *command,
			struct program_command_output **output, char **printed, struct rot_error *err);
