/* SPDX-License-Identifier: MIT */
/* Texts of anybody for XML. */
#ifndef SUPPORT_XML_TEXT_H
#define SUPPORT_XML_TEXT_H

/* Without control characters, which XML has no way to write; what is not UTF-8 as utf8_text has it. Not escaped: that
 * is the writer's. Fresh memory. */
char *xml_text(const char *text);

#endif
