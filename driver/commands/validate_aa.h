/* SPDX-License-Identifier: MIT */
/* rot validate aa. */
#ifndef COMMANDS_VALIDATE_AA_H
#define COMMANDS_VALIDATE_AA_H

#include <stdbool.h>

#include "commands/command.h"

/*
 * As the run of a command. controller: whose work is measured, NULL: same-twice. nr_rounds: at most, 0: no limit;
 * budget_s: no round begins later, 0: a minute.
 */
int validate_aa_run(struct command_context *context, const char *controller, int nr_rounds, double budget_s,
		    bool is_json, struct rot_error *err);

#endif
