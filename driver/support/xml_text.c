/* SPDX-License-Identifier: MIT */
/* See xml_text.h. */
#include "support/xml_text.h"

#include "support/utf8.h"

char *
xml_text(const char *text)
{
	char *copy = utf8_text(text), *to = copy;

	for (const char *from = copy; *from; from++)
		if ((unsigned char)*from >= ' ' || *from == '\n' || *from == '\t')
			*to++ = *from;
	*to = '\0';
	return copy;
}
