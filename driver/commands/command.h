/* SPDX-License-Identifier: MIT */
/* A command: what "rot NAME" does. One file a command, one row in commands.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/configuration.h"
#include "base/options.h"
#include "base/paths.h"
#include "error.h"
#include "rot.h"

/* The surroundings of a command. rot and paths are made when first asked for: "rot help" needs neither a machine nor
 * kernels. */
struct command_context {
	struct configuration *configuration; /* valid always; belongs to rot once that is open */
	const char *const *command_line;     /* as of struct rot */
	struct rot rot;
	bool is_rot_open;
	bool needs_no_kernels; /* set before rot is asked for: it opens without them (rot.h) */
	struct paths *paths;   /* NULL until asked for */
	bool has_status;       /* the exit status is the one below; 1 if that is 0 and something failed */
	int status;
};

/* The open driver, or NULL on error. */
struct rot *command_rot(struct command_context *context, struct rot_error *err);

/* Where things are, without opening the driver; NULL on error. */
const struct paths *command_paths(struct command_context *context, struct rot_error *err);

/* Closes what is open. Closing a zeroed context is allowed. */
void command_context_close(struct command_context *context);

/* run returns this, with the error set, when the command line is wrong: exit status 2. */
#define COMMAND_USAGE (-2)

struct command_example {
	const char *line, *about;
};

struct command {
	const char *name;
	const char *arguments;                  /* for people, without options: "NAME [OUTPUT]" */
	const char *summary;                    /* one line */
	const struct command_example *examples; /* for the help; ended by a zeroed one */
	const char *description;                /* what else there is to know; may hold several lines */
	int nr_arguments_min, nr_arguments_max; /* without options */
	bool is_raw;          /* its words are arguments, also those with a dash; settings are not read */
	bool has_time_report; /* say at the end where the time went */

	const struct option_table *options; /* its own, beside configuration keys; NULL: none */

	/*
	 * options: the struct of the table, as it was read. argv: the arguments, nr_arguments_min <= argc <=
	 * nr_arguments_max. 0, -1 or COMMAND_USAGE.
	 */
	int (*run)(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err);

	/*
	 * Words that may stand as argument number i (from 0), told to propose. NULL: none.
	 */
	void (*complete)(struct command_context *context, int i, void (*propose)(const char *word, void *to), void *to);
};

extern const struct command *const commands[];
extern const size_t nr_commands;

/* "rot measure [OPTION...] CONTROLLER [OUTPUT]"; fresh memory. */
char *command_usage(const struct command *command);

/* The command of that name; NULL with a suggestion in err. */
const struct command *command_find(const char *name, struct rot_error *err);

/* Proposes all controllers; a complete function for commands that take one. */
void command_complete_controllers(struct command_context *context, int i, void (*propose)(const char *word, void *to),
				  void *to);

/* Options of measure and remeasure. */
extern const struct option_table measure_options;

extern const struct command measure_command, remeasure_command, run_command, peaks_command, plot_command, show_command,
	diff_command, help_command, list_command, machine_command, new_command, doctor_command, validate_command,
	version_command, complete_command;
