/* SPDX-License-Identifier: MIT */
/* XML files with a schema: read and validate, with file and line in every complaint. */
#ifndef ROT_XML_FILE_H
#define ROT_XML_FILE_H

#include <libxml/tree.h>

#include "error.h"

/* The document, without network access and without changing anything global. NULL on error ("FILE:LINE: what"). Free
 * with xmlFreeDoc. */
xmlDoc *xml_file_read(const char *path, struct rot_error *err);

/* 0 if doc is valid by the RELAX NG schema; else -1 with the first complaint ("FILE:LINE: what"). path is used in
 * messages. */
int xml_file_validate(xmlDoc *doc, const char *path, const char *schema, struct rot_error *err);

/* The attribute's value in fresh memory (free); absent: a copy of otherwise. */
char *xml_file_attribute(const xmlNode *node, const char *name, const char *otherwise);

#endif
