/* SPDX-License-Identifier: MIT */
/* Parsing XML that may be hostile: no document type, no network, bounded by the input. */
#ifndef CODEGEN_PARSING_H
#define CODEGEN_PARSING_H

#include <libxml/tree.h>

#include "error.h"

/*
 * The document in the len bytes at xml, or in file if it is not negative (it stays open). name is used in messages
 * ("NAME:LINE: ..."). NULL: not well formed, or with a document type declaration.
 */
xmlDocPtr parsing_read(const char *name, int file, const char *xml, size_t len, struct rot_error *err);

#endif
