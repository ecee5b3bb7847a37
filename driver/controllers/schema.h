/* SPDX-License-Identifier: MIT */
/*
 * Documents against a RELAX NG schema, with messages for people: libxml2 says whether a document is valid, and if it is
 * not, the schema is read again as a document to say where, and what was expected there.
 */
#ifndef CONTROLLERS_SCHEMA_H
#define CONTROLLERS_SCHEMA_H

#include <libxml/tree.h>

#include "error.h"

/*
 * 0 if doc is valid after the schema in the file schema_path. where names the place of an element in messages
 * ("FILE:LINE", fresh memory).
 *
 * The explanation knows: element, attribute, value (in a choice), text, empty, optional, zeroOrMore, oneOrMore, choice,
 * group, interleave, ref, anyName. Other patterns are validated all the same; their messages are libxml2's.
 */
int
schema_validate(xmlDoc *doc, const char *schema_path, char *(*where)(const xmlNode *element), struct rot_error *err);

#endif
