/* SPDX-License-Identifier: MIT */
/* See html.h. */
#include "page/html.h"

#include <stdlib.h>

#include "memory.h"
#include "support/xml_text.h"

#define X(text) ((const xmlChar *)(text))

void
html_begin(xmlTextWriterPtr out, const char *element, const char *look)
{
	xmlTextWriterStartElement(out, X(element));
	if (look)
		html_attribute(out, "class", look);
}

void
html_end(xmlTextWriterPtr out)
{
	xmlTextWriterFullEndElement(out);
}

void
html_attribute(xmlTextWriterPtr out, const char *name, const char *value)
{
	autofree char *text = xml_text(value);

	xmlTextWriterWriteAttribute(out, X(name), X(text));
}

void
html_text(xmlTextWriterPtr out, const char *text)
{
	autofree char *copy = xml_text(text);

	xmlTextWriterWriteString(out, X(copy));
}

void
html_element(xmlTextWriterPtr out, const char *element, const char *look, const char *text)
{
	html_begin(out, element, look);
	html_text(out, text);
	html_end(out);
}
