/* SPDX-License-Identifier: MIT */
/* Rows of help and lists: a name, and a text below it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

/* Characters of a line of the terminal that the descriptor is; `otherwise` where it is none, or does not tell. */
size_t terminal_columns(int descriptor, size_t otherwise);

/* The same of what a stream writes to; where that is no terminal, what the variable COLUMNS says, else 80. */
size_t terminal_width(FILE *out);

/* Is it a terminal on which a line can be written anew (TERM is not "dumb", as in editors)? */
bool terminal_can_rewrite(int descriptor);

/* Do the variables of the environment ask for UTF-8 (LC_ALL, else LC_CTYPE, else LANG)? */
bool terminal_is_utf8(void);

/*
 * Prints the text; at a terminal through the program that PAGER names, else less. As in git, that one ends where the
 * text fits on the screen, unless LESS says otherwise; PAGER= and PAGER=cat mean none.
 */
void terminal_page(const char *text);
