/* SPDX-License-Identifier: MIT */
/* One start of rot-core for somebody else's program, which has our standard streams and terminal. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "error.h"

struct rot;

/* Exit statuses of a program that did not run, as shells and env give them. */
enum { PROGRAM_NOT_EXECUTABLE = 126, PROGRAM_NOT_FOUND = 127 };

/*
 * The path of the executable that name stands for (fresh memory). NULL on error, with *status one of the two above: not
 * found, a folder, not executable.
 */
char *program_find(const char *name, int *status, struct rot_error *err);

/* A run that is only counted, and about how long it will take: 0, 0 if nobody knows. */
struct program_counting {
	double least_s, most_s;
};

/*
 * Runs the command to its end. duration_s > 0: no longer than that. counting (NULL: the program is not only counted):
 * what it writes to standard output is read and forgotten, where that is no terminal, and how long it may still take is
 * shown on standard error if that is one. Signals that the terminal sends reach the program without us; others are
 * passed on to rot-core, which ends the program or detaches. *output (rot_graph_delete) is set also when the program
 * failed. -1: what rot-core said, *status then as for program_find or
 * 1. No process is left.
 */
int program_launch(const struct rot *rot, struct program_command *command, double duration_s,
		   const struct program_counting *counting, struct program_command_output **output, int *status,
		   struct rot_error *err);

/* Did a signal (0: none) that asks to end do so to the run? SIGINT may be a command of the program. */
bool program_run_is_ended_by(const struct program_run_output *run, int number);

/*
 * Did a signal end the last launch, of which that is the output? A program that was ended by it is not started again,
 * as within one launch.
 */
bool program_launch_is_over(const struct program_command_output *output);
