/* SPDX-License-Identifier: MIT */
/*
 * Documents against a RELAX NG schema, with messages for people: libxml2 says whether a document is valid, and if it is
 * not, the schema is read again as a document to say where, and what was expected there.
 */
#ifndef SUPPORT_SCHEMA_H
#define SUPPORT_SCHEMA_H

#include <libxml/tree.h>

#include "error.h"

/*
 * 0 if doc is valid after the schema in the file schema_path. Messages begin with the place (xml_where).
 *
 * The explanation knows: element, attribute, value (in a choice), text, empty, optional, zeroOrMore, oneOrMore, choice,
 * group, interleave, ref, anyName. Other patterns are validated all the same; their messages are libxml2's.
 */
int schema_validate(xmlDoc *doc, const char *schema_path, struct rot_error *err);

#endif
