/* SPDX-License-Identifier: MIT */
/* The agreement between rot-core and the collector of ITT tasks, a library that it has the program load. */
#pragma once

/* The names of the tasks that are wanted, a line each. The marker of number N is MARKER followed by N. */
#define ROT_ITT_TASKS "ROT_ITT_TASKS"
#define ROT_ITT_LIBRARY "rot-itt.so"
#define ROT_ITT_MARKER "itt_task_"
#define ROT_ITT_MAX_TASKS 16
