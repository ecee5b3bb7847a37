/* SPDX-License-Identifier: MIT */
/* rot validate aa. */
#ifndef COMMANDS_VALIDATE_AA_H
#define COMMANDS_VALIDATE_AA_H

#include <stdbool.h>

#include "commands/command.h"

/* Is it one of its options? */
bool validate_aa_has_option(const char *word);

/* As the run of a command; the arguments are those after "aa". */
int validate_aa_run(struct command_context *context, int argc, char **argv, struct rot_error *err);

#endif
