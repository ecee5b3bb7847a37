/* SPDX-License-Identifier: MIT */
/* Result files beside the user: complete or not there. */
#ifndef CONTROLLERS_OUTPUT_H
#define CONTROLLERS_OUTPUT_H

#include <jansson.h>

#include "error.h"

/* Can files be written where output_name is? Tried with a temporary file, which is removed. The error says what to do.
 */
int output_check(const char *output_name, struct rot_error *err);

/* The JSON, indented, keys in their order; through a temporary file beside path and a rename. */
int output_write_json(const json_t *json, const char *path, struct rot_error *err);

#endif
