/* SPDX-License-Identifier: MIT */
/* rot list events */
#ifndef COMMANDS_LIST_EVENTS_H
#define COMMANDS_LIST_EVENTS_H

#include "commands/command.h"

/* Prints the units of this machine with those events whose name holds part, in any case of letters. */
int list_events(struct command_context *context, const char *part, struct rot_error *err);

#endif
