/* SPDX-License-Identifier: MIT */
/* Elements of HTML that is well-formed as XML: what is not void is closed by a tag of its own. */
#ifndef PAGE_HTML_H
#define PAGE_HTML_H

#include <libxml/xmlwriter.h>

/* look: the class, or NULL. */
void html_begin(xmlTextWriterPtr out, const char *element, const char *look);
void html_end(xmlTextWriterPtr out);
void html_attribute(xmlTextWriterPtr out, const char *name, const char *value);

/* Text is escaped; what XML has no characters for is left out. */
void html_text(xmlTextWriterPtr out, const char *text);

/* An element with text alone. */
void html_element(xmlTextWriterPtr out, const char *element, const char *look, const char *text);

#endif
