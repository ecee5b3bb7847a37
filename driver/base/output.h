/* SPDX-License-Identifier: MIT */
/* Result files beside the user: complete or not there. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"

/* Can files be written where output_name is? Tried with a temporary file, which is removed. The error says what to do.
 */
int output_check(const char *output_name, struct rot_error *err);

/* The same of one file. "-" is standard output; what is there and no regular file, as a pipe, is written into. */
int output_check_file(const char *path, struct rot_error *err);

/*
 * For the last line of a command: a file that its user may want to open was written under that name; prints all of
 * them, each once.
 */
void output_tell(const char *path);
void output_print_told(void);

/* The JSON, indented, keys in their order; "-": to standard output; through a temporary file beside path and a rename.
 * err NULL: nobody asked for it, and nobody is told.
 */
int output_write_json(const json_t *json, const char *path, struct rot_error *err);

/* The JSON, which is taken over, as OUTPUT_NAME.json. */
int output_take_json(json_t *json, const char *output_name, struct rot_error *err);

/* A text file that is written to memory until it is complete: print to the stream between begin and end. */
struct output_text {
	FILE *stream;
	char *text;
	size_t length;
};

FILE *output_text_begin(struct output_text *text);

/* Writes OUTPUT_NAME followed by the ending, and forgets the text, also on error. */
int output_text_end(struct output_text *text, const char *output_name, const char *ending, struct rot_error *err);
