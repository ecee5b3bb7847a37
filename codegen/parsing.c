/* SPDX-License-Identifier: MIT */
/* Parsing XML that may be hostile. */
#include "parsing.h"

#include <libxml/parser.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* A document type could define entities that grow without bounds. */
static void
refuse_document_type(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	xmlParserCtxtPtr parser = context;
	bool *has_document_type = parser->_private;

	(void)name, (void)external, (void)system;
	*has_document_type = true;
	xmlStopParser(parser);
}

/* Complaints that are not fatal (an xml:id that is not a name) are left to the readers; libxml2 would print them. */
#if LIBXML_VERSION >= 21200
static void
keep_quiet(void *context, const xmlError *error)
#else
static void
keep_quiet(void *context, xmlError *error)
#endif
{
	(void)context, (void)error;
}

xmlDocPtr
parsing_read(const char *name, int file, const char *xml, size_t len, struct rot_error *err)
{
	const int options = XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_HUGE;
	bool has_document_type = false;
	xmlParserCtxtPtr parser;
	xmlDocPtr document;
	const xmlError *last;

	if (file < 0 && len > INT_MAX) {
		rot_error_set(err, 0, "%s: too long (%zu bytes)", name, len);
		return NULL;
	}
	parser = xmlNewParserCtxt();
	parser->_private = &has_document_type;
	parser->sax->internalSubset = refuse_document_type;
	parser->sax->serror = keep_quiet;
	document = file < 0 ? xmlCtxtReadMemory(parser, xml, (int)len, name, NULL, options)
			    : xmlCtxtReadFd(parser, file, name, NULL, options);
	last = xmlCtxtGetLastError(parser);
	if (has_document_type) {
		xmlFreeDoc(document);
		document = NULL;
		rot_error_set(err, 0, "%s: a document type declaration is not allowed", name);
	} else if (!document) {
		const char *text = last && last->message ? last->message : "cannot be read";

		rot_error_set(err, 0, "%s:%d: %.*s", name, last ? last->line : 0, (int)strcspn(text, "\n"), text);
	}
	xmlFreeParserCtxt(parser);
	return document;
}
