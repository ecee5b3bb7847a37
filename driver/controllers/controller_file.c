/* SPDX-License-Identifier: MIT */
/* Controllers' XML files in memory: read, shared parts included, validated; every element knows its file and line. */
#include "controllers/controller_file.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/uri.h>
#include <libxml/xinclude.h>
#include <libxml/xmlerror.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controllers/schema.h"
#include "memory.h"

#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

/* What libxml2 gives to error handlers became const in 2.12. */
#if LIBXML_VERSION >= 21200
#define XML_ERROR const xmlError
#else
#define XML_ERROR xmlError
#endif

/* The first complaint of libxml2 while a file is read. */
struct complaint {
	char *file, *text;
	int line;
};

static void
keep_first(void *context, XML_ERROR *error)
{
	struct complaint *complaint = context;

	if (complaint->text || error->level < XML_ERR_ERROR)
		return;
	complaint->file = rot_strdup(error->file);
	complaint->line = error->line;
	complaint->text = rot_strdup(error->message);
	complaint->text[strcspn(complaint->text, "\n")] = '\0';
}

static const char *
keep_path(struct controller_file *file, const char *path)
{
	for (size_t i = 0; i < file->nr_paths; i++)
		if (strcmp(file->paths[i], path) == 0)
			return file->paths[i];
	file->paths = rot_realloc(file->paths, file->nr_paths + 1, sizeof(*file->paths));
	return file->paths[file->nr_paths++] = rot_strdup(path);
}

/* The file an XInclude element of the file at `path` names. */
static const char *
included_path(struct controller_file *file, const xmlNode *include, const char *path)
{
	const xmlAttr *href = include->properties; /* the node is no element any more: xmlGetProp finds nothing */
	xmlChar *full;
	const char *kept;

	while (href && strcmp((const char *)href->name, "href") != 0)
		href = href->next;
	full = href && href->children ? xmlBuildURI(href->children->content, (const xmlChar *)path) : NULL;
	kept = full ? keep_path(file, (const char *)full) : path;
	xmlFree(full);
	return kept;
}

/* Notes the file in every element below, and removes the marks XInclude leaves around what it put in. */
static void
note_files(struct controller_file *file, xmlNode *parent, const char *path)
{
	const char *outer[64];
	size_t depth = 0;

	parent->_private = (void *)path;
	for (xmlNode *child = parent->children, *next; child; child = next) {
		next = child->next;
		if (child->type == XML_XINCLUDE_START || child->type == XML_XINCLUDE_END) {
			if (child->type == XML_XINCLUDE_END) {
				path = depth > 0 ? outer[--depth] : path;
			} else if (depth < 64) {
				outer[depth++] = path;
				path = included_path(file, child, path);
			}
			xmlUnlinkNode(child);
			xmlFreeNode(child);
		} else if (child->type == XML_ELEMENT_NODE) {
			note_files(file, child, path);
		}
	}
}

static int
read_document(struct controller_file *file, const char *path, struct rot_error *err)
{
	struct complaint complaint = {0};
	int rc = 0;

	if (access(path, R_OK) < 0) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return rot_error_hint(err, "'rot list controllers' shows those that are found without a path");
	}
	xmlSetStructuredErrorFunc(&complaint, keep_first);
	file->doc = xmlReadFile(path, NULL, PARSE_OPTIONS);
	if (!file->doc || xmlXIncludeProcessFlags(file->doc, PARSE_OPTIONS | XML_PARSE_NOBASEFIX) < 0) {
		rc = -1;
		if (complaint.file && complaint.file[0] && complaint.line > 0)
			rot_error_set(err, 0, "%s:%d: %s", complaint.file, complaint.line, complaint.text);
		else
			rot_error_set(err, 0, "cannot read '%s': %s", path,
				      complaint.text ? complaint.text : "unknown reason");
	}
	xmlSetStructuredErrorFunc(NULL, NULL);
	free(complaint.file);
	free(complaint.text);
	return rc;
}

int
controller_file_open(struct controller_file *file, const char *path, const char *schema_path, struct rot_error *err)
{
	*file = (struct controller_file){0};
	if (read_document(file, path, err) < 0)
		goto fail;
	note_files(file, xmlDocGetRootElement(file->doc), keep_path(file, path));
	if (schema_validate(file->doc, schema_path, xml_where, err) < 0)
		goto fail;
	return 0;
fail:
	controller_file_close(file);
	return -1;
}

void
controller_file_close(struct controller_file *file)
{
	xmlFreeDoc(file->doc);
	for (size_t i = 0; i < file->nr_paths; i++)
		free(file->paths[i]);
	free(file->paths);
	*file = (struct controller_file){0};
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
xml_is(const xmlNode *element, const char *name)
{
	return strcmp((const char *)element->name, name) == 0;
}

char *
xml_attribute(const xmlNode *element, const char *name, const char *fallback)
{
	xmlChar *value = xmlGetNoNsProp(element, (const xmlChar *)name);
	char *copy = value ? rot_strdup((const char *)value) : fallback ? rot_strdup(fallback) : NULL;

	xmlFree(value);
	return copy;
}

static int
attribute_error(const xmlNode *element, const char *name, struct rot_error *err)
{
	rot_error_prefix(err, "<%s %s>", element->name, name);
	return xml_error_at(element, err);
}

char *
xml_evaluated(const xmlNode *element, const char *name, const char *fallback, const struct expression_scope *scope,
	      struct rot_error *err)
{
	char *text = xml_attribute(element, name, fallback);
	char *value = text ? expression_text(scope, text, err) : NULL;

	if (text && !value)
		attribute_error(element, name, err);
	free(text);
	return value;
}

int
xml_evaluated_number(const xmlNode *element, const char *name, double default_number,
		     const struct expression_scope *scope, double *number, struct rot_error *err)
{
	char *text, *end;
	int rc = 0;

	*number = default_number;
	if (!xmlHasProp(element, (const xmlChar *)name))
		return 0;
	text = xml_evaluated(element, name, NULL, scope, err);
	if (!text)
		return -1;
	*number = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*number)) {
		rot_error_set(err, 0, "'%s' is no number", text);
		rc = attribute_error(element, name, err);
	}
	free(text);
	return rc;
}

int
xml_condition(const xmlNode *element, const struct expression_scope *scope, bool *holds, struct rot_error *err)
{
	char *condition = xml_attribute(element, "if", NULL);
	int rc = 0;

	*holds = true;
	if (condition && expression_bool(scope, condition, holds, err) < 0)
		rc = attribute_error(element, "if", err);
	free(condition);
	return rc;
}
