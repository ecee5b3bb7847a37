/* SPDX-License-Identifier: MIT */
/* Names of points, and of functions in pictures and pages. */
#pragma once

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

/* ---- points ---- */

/* "SERIES LABEL", with those between; one of them where the other is empty or the same. Fresh memory. */
char *point_title(const char *series, const char *between, const char *label);
