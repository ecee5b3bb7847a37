/* SPDX-License-Identifier: MIT */
/* The manual page's part about commands, options, keys, remarks and findings, in the language mdoc. */
#ifndef COMMANDS_MANUAL_H
#define COMMANDS_MANUAL_H

#include <stdio.h>

void manual_print(FILE *out);

#endif
