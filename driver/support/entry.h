/* SPDX-License-Identifier: MIT */
/* Rows of help and lists: a name, and a text below it. */
#ifndef SUPPORT_ENTRY_H
#define SUPPORT_ENTRY_H

#include <stdio.h>

/* "  NAME MORE", then text, wrapped at 100 columns and indented. more and text may be "". */
void entry_print(const char *name, const char *more, const char *text, FILE *out);

/* Lines of text, each wrapped at 100 columns and indented; the first goes on from that column, if it is not 0. */
void text_print(const char *text, int indent, int column, FILE *out);

#endif
