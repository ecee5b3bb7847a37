/* SPDX-License-Identifier: MIT */
/* Texts of others (arguments, names of threads and files) where UTF-8 is needed: in JSON, in XML, on a line. */
#pragma once

#include <stddef.h>

/* A copy in which each byte that belongs to no character of UTF-8 is U+FFFD instead. Fresh memory. */
char *utf8_text(const char *text);

/* The same for terminals and tables, too: control characters are written as "\x1b". Fresh memory. */
char *utf8_printable(const char *text);

/* The most bytes of the text, which is UTF-8, up to that number that are whole characters. */
size_t utf8_fitting(const char *text, size_t most);

/* ---- texts of XML ---- */

/* Without control characters, which XML has no way to write; what is not UTF-8 as utf8_text has it. Not escaped: that
 * is the writer's. Fresh memory. */
char *xml_text(const char *text);
