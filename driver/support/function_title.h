/* SPDX-License-Identifier: MIT */
/* Names of functions in pictures and pages. */
#ifndef SUPPORT_FUNCTION_TITLE_H
#define SUPPORT_FUNCTION_TITLE_H

#include <jansson.h>
#include <stddef.h>

/*
 * place: an element of "functions" of a result. The function's name, or "FILE+0xADDRESS". If it is longer than most
 * (0: any length), a qualified name or an address keeps its end, another name its beginning. Fresh
 * memory.
 */
char *function_title(const json_t *place, size_t most);

/* The last part of the path of its file. */
const char *function_file(const json_t *place);

#endif
