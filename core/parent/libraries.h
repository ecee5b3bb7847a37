/* SPDX-License-Identifier: MIT */
#ifndef CORE_PARENT_LIBRARIES_H
#define CORE_PARENT_LIBRARIES_H

#include <stdio.h>

/*
 * The libraries that rot-core stands on, as they are loaded. A line for each: its name, a tab, and its version, or why
 * it cannot be used.
 */
void libraries_print(FILE *out);

#endif
