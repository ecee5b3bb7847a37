/* SPDX-License-Identifier: MIT */
/* JSON against the schemas that rot installs. */
#pragma once

#include <jansson.h>

/* The JSON of a file, which is freed when the test ends. */
json_t *json_file(const char *path);

/*
 * The flaw of a value of that schema, a file of the source tree (JSON Schema 2020-12, the part that these files
 * use); NULL: nothing. Keys that an object's schema does not name are wrong, so that none is forgotten there. Fresh
 * memory.
 */
char *json_schema_error(const char *schema, const json_t *json);

/* ck_asserts that nothing is. */
void expect_schema(const char *schema, const json_t *json);
