/* SPDX-License-Identifier: MIT */
/* Documents of rot, which are written in Markdown, for people at a terminal. */
#pragma once

#include <stdio.h>

/* Paragraphs are wrapped at 80 columns, tables aligned or, where they are too wide, a row in lines of its own. Code
 * stays as it is. */
void document_print(const char *text, FILE *out);
