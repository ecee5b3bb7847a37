/* SPDX-License-Identifier: MIT */
/* Rows of help and lists: a name, and a text below it. */
#ifndef SUPPORT_ENTRY_H
#define SUPPORT_ENTRY_H

#include <stdio.h>

/* "  NAME MORE", then text, wrapped at 100 columns and indented. more and text may be "". */
void entry_print(const char *name, const char *more, const char *text, FILE *out);

#endif
