/* SPDX-License-Identifier: MIT */
/* Long texts for people. */
#ifndef SUPPORT_PAGER_H
#define SUPPORT_PAGER_H

/*
 * Prints the text; at a terminal through the program that PAGER names, else less. As in git, that one ends where the
 * text fits on the screen, unless LESS says otherwise; PAGER= and PAGER=cat mean none.
 */
void pager_print(const char *text);

#endif
