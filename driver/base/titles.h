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

/*
 * The title of an element of "loops": "triad, line 17", or "triad+0x12", where it begins; of others function_title.
 * Fresh memory.
 */
char *place_title(const json_t *place, size_t most);

/*
 * Turns of entries of a loop, between the first and the last of "trips" that some made: "8-15", and from the 20th on,
 * which is of all longer ones, "8 and more". Fresh memory.
 */
char *trips_text(size_t first, size_t last);

/* The last part of the path of its file. */
const char *function_file(const json_t *place);

/* ---- points ---- */

/* "SERIES LABEL", with those between; one of them where the other is empty or the same. Fresh memory. */
char *point_title(const char *series, const char *between, const char *label);
