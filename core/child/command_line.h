/* SPDX-License-Identifier: MIT */
/* Commands of the system that surround runs. */
#ifndef CHILD_COMMAND_LINE_H
#define CHILD_COMMAND_LINE_H

#include "entities.h"

/*
 * Runs command and waits for its end. It is not traced and dies with this process. Its input is empty; what it prints
 * is kept and its end shown in the error. 0, or -1: it could not be started, was killed, or its exit status is not 0.
 */
int command_line_run(const struct run_command *command, struct rot_error *err);

#endif
