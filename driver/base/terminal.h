/* SPDX-License-Identifier: MIT */
/* What the terminal can show. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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
