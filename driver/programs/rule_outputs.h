/* SPDX-License-Identifier: MIT */
/* What the rules of a program have measured, as JSON. Pure. */
#ifndef PROGRAMS_RULE_OUTPUTS_H
#define PROGRAMS_RULE_OUTPUTS_H

#include <jansson.h>

#include "entities.h"

/*
 * An array with an object for each run, in the order of the output: its pass, and the measurer sets that were read.
 * NULL if no run has any.
 */
json_t *program_rule_outputs(const struct program_command_output *output);

#endif
