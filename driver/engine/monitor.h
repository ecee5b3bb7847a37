/* SPDX-License-Identifier: MIT */
/* Where the time went: nested tasks with number of entries, own and total seconds (the thesis' RuntimeMonitor). */
#pragma once

#include <stdio.h>

struct monitor;

struct monitor *monitor_new(void);
void monitor_delete(struct monitor *monitor);

/* Tasks nest; a task of the same name under the same parent adds up. leave ends the innermost. */
void monitor_enter(struct monitor *monitor, const char *task);
void monitor_leave(struct monitor *monitor);

/* The tree, one task a line. */
void monitor_print(const struct monitor *monitor, FILE *out);
