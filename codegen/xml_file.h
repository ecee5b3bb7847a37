/* SPDX-License-Identifier: MIT */
/*
 * XML as trees: reading what may be hostile (no document type, no network, bounded by the input), and walking over
 * elements and attributes. schema.h validates them.
 */
#pragma once

#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <stdbool.h>

#include "error.h"

/* The errors that libxml2 gives to handlers became const in 2.12. */
#if LIBXML_VERSION >= 21200
#define XML_ERROR const xmlError
#else
#define XML_ERROR xmlError
#endif

/* The first error libxml2 complained about. Zeroed: none. */
struct xml_complaint {
	char *file, *text;
	int line;
	const xmlNode *node; /* or NULL */
};

/* A structured error handler of libxml2, for a struct xml_complaint *. */
void xml_complaint_keep_first(void *complaint, XML_ERROR *error);
void xml_complaint_clear(struct xml_complaint *complaint);

/*
 * The document in the file, or in the len bytes at text, which are called name. Elements of a file know its path, which
 * is not copied. NULL on error ("NAME:LINE: what"): not well formed, or with a document type declaration. Free with
 * xmlFreeDoc.
 */
xmlDoc *xml_file_read(const char *path, struct rot_error *err);
xmlDoc *xml_text_read(const char *name, const char *text, size_t len, struct rot_error *err);

/* "FILE:LINE" of an element whose _private is the file's path. Fresh memory. */
char *xml_where(const xmlNode *element);

/* Puts "FILE:LINE" in front; returns -1. */
int xml_error_at(const xmlNode *element, struct rot_error *err);

/* The same of an attribute: "<NAME ATTRIBUTE>: ..." before the text. */
int xml_attribute_error(const xmlNode *element, const char *name, struct rot_error *err);

/* The first child element of that name (NULL: any), the next one after it, or NULL. */
const xmlNode *xml_child(const xmlNode *element, const char *name);
const xmlNode *xml_next(const xmlNode *element, const char *name);

/* True for an element of that name. */
bool xml_is(const xmlNode *node, const char *name);

/* The attribute, or fallback (may be NULL) when it is absent. Fresh memory. */
char *xml_attribute(const xmlNode *element, const char *name, const char *fallback);

/* True if it is there with that value. */
bool xml_attribute_is(const xmlNode *element, const char *name, const char *value);
