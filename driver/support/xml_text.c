/* SPDX-License-Identifier: MIT */
/* See xml_text.h. */
#include "support/xml_text.h"

#include <libxml/xmlstring.h>
#include <stdlib.h>

#include "memory.h"

char *
xml_text(const char *text)
{
	char *copy = rot_strdup(text), *to = copy;

	for (const char *from = text; *from; from++)
		if ((unsigned char)*from >= ' ' || *from == '\n' || *from == '\t')
			*to++ = *from;
	*to = '\0';
	if (!xmlCheckUTF8((const xmlChar *)copy)) {
		free(copy);
		return rot_strdup("(not UTF-8)");
	}
	return copy;
}
