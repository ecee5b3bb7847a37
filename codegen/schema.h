/* SPDX-License-Identifier: MIT */
/*
 * Documents against a RELAX NG schema, with messages for people: libxml2 says whether a document is valid, and if it is
 * not, the schema is read again as a document to say where, and what was expected there.
 */
#pragma once

#include <libxml/tree.h>

#include "error.h"

struct schema;

/* The schema in the zero-terminated text that is called name. NULL: it cannot be read. */
struct schema *schema_from_text(const char *name, const char *text, struct rot_error *err);
void schema_delete(struct schema *schema);

/*
 * 0 if doc is valid. Messages begin with the place (xml_where).
 *
 * The explanation knows: element, attribute, value (in a choice), data (strings with pattern and minLength), text,
 * empty, optional, zeroOrMore, oneOrMore, choice, group, interleave, ref, anyName. Other patterns are validated all the
 * same; their messages are libxml2's. A <documentation> in a define or an attribute is what is said of values that do
 * not match it.
 */
int schema_validate(const struct schema *schema, xmlDoc *doc, struct rot_error *err);

/* The same with the schema in the file, for a single document. */
int schema_file_validate(const char *path, xmlDoc *doc, struct rot_error *err);
