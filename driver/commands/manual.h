/* SPDX-License-Identifier: MIT */
/* The manual page's part about commands, options, keys, remarks and findings, in the language mdoc. */
#pragma once

#include <stdio.h>

void manual_print(FILE *out);
