/* SPDX-License-Identifier: MIT */
/* Rows of help and lists: a name, and a text below it. */
#pragma once

#include <stdio.h>

/* "  NAME MORE", then text, wrapped at 80 columns and indented. more and text may be "". */
void entry_print(const char *name, const char *more, const char *text, FILE *out);

/* "  NAME   MORE", more wrapped as well, and not "". */
void entry_print_wrapped(const char *name, const char *more, const char *text, FILE *out);

/* Lines of text, each wrapped at 80 columns and indented; the first goes on from that column, if it is not 0. */
void text_print(const char *text, int indent, int column, FILE *out);

/* A paragraph behind a word that is printed first; lines after the first begin where its text does. As wide as
 * terminal_width says. */
void text_print_behind(const char *before, const char *text, FILE *out);

/* Lines as they are; those that are longer than terminal_width are wrapped between words, and indented as they begin.
 */
void text_print_fitting(const char *text, FILE *out);
void text_print_within(const char *text, size_t width, FILE *out);

/* Lines in one write, wrapped only on a terminal (terminal_width): in a file, a message is one line to look for. What
 * follows a line's first part is indented as hints are. */
void text_print_message(const char *text, FILE *out);
