/* SPDX-License-Identifier: MIT */
/* Strings in text form and in canonical XML: backslash escapes, and what XML adds to them. */
#pragma once

#include <stdio.h>

/* Writes string with \n \r and \\ escaped: one line, whatever other bytes it holds. */
void escape_write_line(const char *string, FILE *out);

/*
 * Writes string as the inside of a double-quoted XML attribute: \n \r \t \\, \xNN for other control characters and for
 * bytes that are not UTF-8 or that XML 1.0 excludes; & < > " as character references.
 */
void escape_write_attribute(const char *string, FILE *out);

/* The string that either of them wrote, fresh memory; NULL if an escape is unknown or cut off, or stands for a zero
 * byte. */
char *escape_decode(const char *text);
