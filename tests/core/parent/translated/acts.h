/* SPDX-License-Identifier: MIT */
/* The acts of hard_cases when cases start it again: hard_cases =ACT ARGUMENT... */
#pragma once

/* The status to end with. arguments[0] is the act. */
int act(int nr_arguments, char **arguments);

/* All memory is locked, and the process goes on with little of it. */
int lock_memory(void);

/* So many threads live at the same time, or as many as are permitted. Returns how many that are. */
int crowd_of(int most);
