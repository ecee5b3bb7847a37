/* SPDX-License-Identifier: MIT */
/* Messages and interrupts: the part of rot_warning, rot_note and rot_interrupted (rot.h) for the driver alone. */
#pragma once

#include <stdbool.h>

/* Notes are not printed from now on; warnings are. */
void messages_set_quiet(bool is_quiet);
bool messages_are_quiet(void);

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP only makes rot_interrupted() true; a second one, half a second later
 * or more, ends the process, as without this. System calls that wait return with EINTR.
 */
void messages_catch_signals(void);

/* The most useful next command, for somebody at a terminal: the last line. Silent where notes are. */
void messages_next(const char *format, ...) __attribute__((format(printf, 1, 2)));
