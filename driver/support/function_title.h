/* SPDX-License-Identifier: MIT */
/* What functions of a result are called in pictures and pages. */
#ifndef SUPPORT_FUNCTION_TITLE_H
#define SUPPORT_FUNCTION_TITLE_H

#include <jansson.h>
#include <stddef.h>

/*
 * place: an element of "functions" of a result. The function's name, or "FILE+0xADDRESS". Of a qualified name or an
 * address that is longer than most (0: it may be as long as it is) the end is left, of others the beginning. Fresh
 * memory.
 */
char *function_title(const json_t *place, size_t most);

/* The last part of the path of its file. */
const char *function_file(const json_t *place);

#endif
