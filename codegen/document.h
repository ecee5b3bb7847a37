/* SPDX-License-Identifier: MIT */
/* Entities in XML documents: reading back canonical XML, and the same form written by hand. */
#pragma once

#include <stddef.h>

#include "entity.h"

/*
 * The graph in the len bytes at xml, as rot_xml_write gives it; attributes left out take their defaults. name is used
 * in messages ("NAME:LINE: ..."). NULL on error; never crashes on any input.
 */
void *document_read(const struct rot_registry *registry, const char *xml, size_t len, const char *name,
		    struct rot_error *err);
