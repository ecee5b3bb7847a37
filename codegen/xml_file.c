/* SPDX-License-Identifier: MIT */
/* XML as trees. */
#include "xml_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

void
xml_complaint_keep_first(void *context, XML_ERROR *error)
{
	struct xml_complaint *complaint = context;

	if (complaint->text || error->level < XML_ERR_ERROR)
		return;
	complaint->file = rot_strdup(error->file);
	complaint->text = rot_strdup(error->message ? error->message : "not valid");
	complaint->text[strcspn(complaint->text, "\n")] = '\0';
	complaint->line = error->line;
	complaint->node = error->node;
}

void
xml_complaint_clear(struct xml_complaint *complaint)
{
	free(complaint->file);
	free(complaint->text);
	*complaint = (struct xml_complaint){0};
}

static void
note_file(xmlNode *parent, const char *path)
{
	parent->_private = (void *)path;
	for (xmlNode *child = parent->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			note_file(child, path);
}

/* A document type could define entities that grow without bounds. */
static void
refuse_document_type(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	xmlParserCtxt *parser = context;
	int *line = parser->_private;

	(void)name, (void)external, (void)system;
	*line = xmlSAX2GetLineNumber(parser);
	xmlStopParser(parser);
}

/* Complaints that are not fatal (an xml:id that is not a name) are left to the readers; libxml2 would print them. */
static void
keep_quiet(void *context, XML_ERROR *error)
{
	(void)context, (void)error;
}

/* From file, or from text if file is negative. */
static xmlDoc *
read_document(const char *name, int file, const char *text, int len, struct rot_error *err)
{
	const int options = XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_HUGE;
	xmlParserCtxt *parser = xmlNewParserCtxt();
	int line_of_type = 0;
	const xmlError *last;
	xmlDoc *doc;

	parser->_private = &line_of_type;
	parser->sax->internalSubset = refuse_document_type;
	parser->sax->serror = keep_quiet;
	doc = file < 0 ? xmlCtxtReadMemory(parser, text, len, name, NULL, options)
		       : xmlCtxtReadFd(parser, file, name, NULL, options);
	last = xmlCtxtGetLastError(parser);
	if (line_of_type) {
		xmlFreeDoc(doc);
		doc = NULL;
		rot_error_set(err, 0, "%s:%d: a document type declaration is not allowed", name, line_of_type);
	} else if (!doc) {
		const char *what = last && last->message ? last->message : "cannot be read";

		rot_error_set(err, 0, "%s:%d: %.*s", name, last ? last->line : 0, (int)strcspn(what, "\n"), what);
	}
	xmlFreeParserCtxt(parser);
	return doc;
}

xmlDoc *
xml_file_read(const char *path, struct rot_error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	xmlDoc *doc;

	if (file < 0) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return NULL;
	}
	doc = read_document(path, file, NULL, 0, err);
	close(file);
	if (doc)
		note_file(xmlDocGetRootElement(doc), path);
	return doc;
}

xmlDoc *
xml_text_read(const char *name, const char *text, size_t len, struct rot_error *err)
{
	if (len > INT_MAX) {
		rot_error_set(err, 0, "%s: too long (%zu bytes)", name, len);
		return NULL;
	}
	return read_document(name, -1, text, (int)len, err);
}

char *
xml_where(const xmlNode *element)
{
	return rot_format("%s:%ld", element->_private ? (const char *)element->_private : "?", xmlGetLineNo(element));
}

int
xml_error_at(const xmlNode *element, struct rot_error *err)
{
	autofree char *where = xml_where(element);

	rot_error_prefix(err, "%s", where);
	return -1;
}

int
xml_attribute_error(const xmlNode *element, const char *name, struct rot_error *err)
{
	rot_error_prefix(err, "<%s %s>", element->name, name);
	return xml_error_at(element, err);
}

static const xmlNode *
first_element(const xmlNode *node, const char *name)
{
	while (node && (node->type != XML_ELEMENT_NODE || (name && strcmp((const char *)node->name, name) != 0)))
		node = node->next;
	return node;
}

const xmlNode *
xml_child(const xmlNode *element, const char *name)
{
	return first_element(element->children, name);
}

const xmlNode *
xml_next(const xmlNode *element, const char *name)
{
	return first_element(element->next, name);
}

bool
xml_is(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

char *
xml_attribute(const xmlNode *element, const char *name, const char *fallback)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)element, (const xmlChar *)name);
	char *copy = value ? rot_strdup((const char *)value) : fallback ? rot_strdup(fallback) : NULL;

	xmlFree(value);
	return copy;
}

bool
xml_attribute_is(const xmlNode *element, const char *name, const char *value)
{
	autofree char *text = xml_attribute(element, name, NULL);
	bool is = text && strcmp(text, value) == 0;

	return is;
}
