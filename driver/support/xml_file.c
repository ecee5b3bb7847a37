/* SPDX-License-Identifier: MIT */
/* XML files as trees. */
#include "support/xml_file.h"

#include <errno.h>
#include <libxml/parser.h>
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

xmlDoc *
xml_file_read(const char *path, struct rot_error *err)
{
	const xmlError *error;
	xmlParserCtxt *parser;
	xmlDoc *doc;

	if (access(path, R_OK) < 0) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return NULL;
	}
	parser = xmlNewParserCtxt();
	doc = xmlCtxtReadFile(parser, path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	error = xmlCtxtGetLastError(parser);
	if (doc) {
		note_file(xmlDocGetRootElement(doc), path);
	} else {
		const char *text = error && error->message ? error->message : "not XML";

		rot_error_set(err, 0, "%s:%d: %.*s", path, error ? error->line : 0, (int)strcspn(text, "\n"), text);
	}
	xmlFreeParserCtxt(parser);
	return doc;
}

char *
xml_where(const xmlNode *element)
{
	return rot_format("%s:%ld", element->_private ? (const char *)element->_private : "?", xmlGetLineNo(element));
}

int
xml_error_at(const xmlNode *element, struct rot_error *err)
{
	char *where = xml_where(element);

	rot_error_prefix(err, "%s", where);
	free(where);
	return -1;
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
	char *text = xml_attribute(element, name, NULL);
	bool is = text && strcmp(text, value) == 0;

	free(text);
	return is;
}
