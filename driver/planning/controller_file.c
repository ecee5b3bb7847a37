/* SPDX-License-Identifier: MIT */
/* Controllers' XML files in memory: read, shared parts included, validated; every element knows its file and line. */
#include "planning/controller_file.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/uri.h>
#include <libxml/xinclude.h>
#include <libxml/xmlerror.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "number.h"
#include "schema.h"

/* ---- where controllers are ---- */

struct controller_places
controller_places_of(struct pool *pool, const struct paths *paths)
{
	return (struct controller_places){{
		{".", "current folder", false},
		{pool_format(pool, "%s/controllers", paths->user), "your controllers", true},
		{pool_format(pool, "%s/driver/controllers", paths->data), "built in", false},
	}};
}

char *
controller_path_in(const char *folder, const char *file)
{
	return strcmp(folder, ".") == 0 ? rot_strdup(file) : rot_format("%s/%s", folder, file);
}

char *
controller_find_file(const struct paths *paths, const char *name)
{
	static const char *const endings[] = {".xml", ".c"};
	autopool pool = {0};
	struct controller_places places = controller_places_of(&pool, paths);

	for (size_t i = 0; i < CONTROLLER_NR_PLACES; i++)
		for (size_t j = 0; j < 2; j++) {
			autofree char *file = rot_format("%s%s", name, endings[j]),
				      *path = controller_path_in(places.at[i].folder, file);

			if (access(path, F_OK) == 0)
				return rot_keep(&path);
		}
	return NULL;
}

#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

static const char *
keep_path(struct controller_file *file, const char *path)
{
	for (size_t i = 0; i < file->nr_paths; i++)
		if (strcmp(file->paths[i], path) == 0)
			return file->paths[i];
	return pool_add(file->pool, file->paths, file->nr_paths) = pool_strdup(file->pool, path);
}

/* The file an XInclude element of the file at `path` names, for xmlFree; NULL: none. */
static xmlChar *
named_path(const xmlNode *include, const char *path)
{
	const xmlAttr *href = include->properties; /* once processed it is no element: xmlGetProp finds nothing */

	while (href && strcmp((const char *)href->name, "href") != 0)
		href = href->next;
	return href && href->children ? xmlBuildURI(href->children->content, (const xmlChar *)path) : NULL;
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
				xmlChar *full;
				const char *kept;

				outer[depth++] = path;
				full = named_path(child, path);
				kept = full ? keep_path(file, (const char *)full) : path;
				xmlFree(full);
				path = kept;
			}
			xmlUnlinkNode(child);
			xmlFreeNode(child);
		} else if (child->type == XML_ELEMENT_NODE) {
			note_files(file, child, path);
		}
	}
}

/* ---- files that include each other ---- */

struct inclusion {
	const char *path;
	const struct inclusion *outer; /* the file that includes it, or NULL */
};

static int check_includes(const xmlNode *parent, const struct inclusion *here, struct rot_error *err);

static int
circle_error(const xmlNode *include, const struct inclusion *here, const char *path, struct rot_error *err)
{
	autopool pool = {0};
	const char *circle = path;

	for (const struct inclusion *in = here;; in = in->outer) {
		circle = pool_format(&pool, "%s, %s", in->path, circle);
		if (strcmp(in->path, path) == 0)
			break;
	}
	return rot_error_set(err, 0, "%s:%ld: files include each other in a circle: %s", here->path,
			     xmlGetLineNo(include), circle);
}

/* A file that cannot be read is told when it is included. */
static int
check_included(const xmlNode *include, const struct inclusion *here, struct rot_error *err)
{
	xmlChar *path = named_path(include, here->path);
	const struct inclusion there = {(const char *)path, here};
	xmlDoc *doc = NULL;
	int rc = 0;

	for (const struct inclusion *in = here; path && in && rc == 0; in = in->outer)
		if (strcmp(in->path, there.path) == 0)
			rc = circle_error(include, here, there.path, err);
	if (path && rc == 0 && access(there.path, R_OK) == 0)
		doc = xmlReadFile(there.path, NULL, PARSE_OPTIONS);
	if (doc)
		rc = check_includes(xmlDocGetRootElement(doc), &there, err);
	xmlFreeDoc(doc);
	xmlFree(path);
	return rc;
}

static bool
is_include(const xmlNode *element)
{
	return xml_is(element, "include") && element->ns &&
	       (xmlStrEqual(element->ns->href, XINCLUDE_NS) || xmlStrEqual(element->ns->href, XINCLUDE_OLD_NS));
}

static int
check_includes(const xmlNode *parent, const struct inclusion *here, struct rot_error *err)
{
	int rc = 0;

	for (const xmlNode *child = xml_child(parent, NULL); child && rc == 0; child = xml_next(child, NULL))
		rc = is_include(child) ? check_included(child, here, err) : check_includes(child, here, err);
	return rc;
}

/* ---- reading ---- */

/* A copy of a controller stands where its parts do not: those that are missing are taken from rot's own folder. */
static void
find_own_parts(xmlNode *parent, const char *path, const char *data_folder)
{
	for (xmlNode *child = parent->children; child; child = child->next) {
		xmlChar *named = is_include(child) ? named_path(child, path) : NULL, *href;
		autofree char *own = NULL;

		find_own_parts(child, path, data_folder);
		if (!named || access((const char *)named, F_OK) == 0) {
			xmlFree(named);
			continue;
		}
		href = xmlGetProp(child, (const xmlChar *)"href");
		own = rot_format("%s/driver/controllers/%s", data_folder, (const char *)href);
		xmlFree(href);
		xmlFree(named);
		if (access(own, F_OK) == 0) {
			href = xmlPathToURI((const xmlChar *)own);
			xmlSetProp(child, (const xmlChar *)"href", href);
			xmlFree(href);
		}
	}
}

static int
read_document(struct controller_file *file, const char *path, const char *data_folder, struct rot_error *err)
{
	struct xml_complaint complaint = {0};
	int rc = 0;

	if (access(path, R_OK) < 0) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return rot_error_hint(err, "'rot list controllers' shows those that are found without a path");
	}
	xmlSetStructuredErrorFunc(&complaint, xml_complaint_keep_first);
	file->doc = xmlReadFile(path, NULL, PARSE_OPTIONS);
	if (file->doc)
		find_own_parts(xmlDocGetRootElement(file->doc), path, data_folder);
	if (file->doc && check_includes(xmlDocGetRootElement(file->doc), &(struct inclusion){path, NULL}, err) < 0)
		rc = -1;
	else if (!file->doc || xmlXIncludeProcessFlags(file->doc, PARSE_OPTIONS | XML_PARSE_NOBASEFIX) < 0) {
		rc = -1;
		if (complaint.file && complaint.file[0] && complaint.line > 0)
			rot_error_set(err, 0, "%s:%d: %s", complaint.file, complaint.line, complaint.text);
		else
			rot_error_set(err, 0, "cannot read '%s': %s", path,
				      complaint.text ? complaint.text : "unknown reason");
	}
	xmlSetStructuredErrorFunc(NULL, NULL);
	xml_complaint_clear(&complaint);
	return rc;
}

static void
free_document(void *document)
{
	xmlFreeDoc(document);
}

int
controller_file_open(struct controller_file *file, struct pool *pool, const char *path, const char *data_folder,
		     struct rot_error *err)
{
	autofree char *schema = rot_format("%s/driver/schemas/controller.rng", data_folder);
	int rc;

	*file = (struct controller_file){.pool = pool};
	rc = read_document(file, path, data_folder, err);
	pool_own(pool, file->doc, free_document);
	if (rc < 0)
		return -1;
	note_files(file, xmlDocGetRootElement(file->doc), keep_path(file, path));
	return schema_file_validate(schema, file->doc, err);
}

char *
xml_unevaluated(struct pool *pool, const xmlNode *element, const char *name, const char *fallback)
{
	return pool_own(pool, xml_attribute(element, name, fallback), free);
}

char *
xml_evaluated(struct pool *pool, const xmlNode *element, const char *name, const char *fallback,
	      const struct expression_scope *scope, struct rot_error *err)
{
	autofree char *text = xml_attribute(element, name, fallback);
	char *value = text ? expression_text(scope, text, err) : NULL;

	if (text && !value)
		xml_attribute_error(element, name, err);
	return pool_own(pool, value, free);
}

int
xml_evaluated_number(const xmlNode *element, const char *name, double default_number,
		     const struct expression_scope *scope, double *number, struct rot_error *err)
{
	autopool pool = {0};
	const char *text;

	*number = default_number;
	if (!xmlHasProp(element, (const xmlChar *)name))
		return 0;
	text = xml_evaluated(&pool, element, name, NULL, scope, err);
	if (!text)
		return -1;
	if (rot_number_parse(text, number) && isfinite(*number))
		return 0;
	rot_error_set(err, 0, "'%s' is no number", text);
	return xml_attribute_error(element, name, err);
}

int
xml_condition(const xmlNode *element, const struct expression_scope *scope, bool *holds, struct rot_error *err)
{
	autofree char *condition = xml_attribute(element, "if", NULL);

	*holds = true;
	return condition && expression_bool(scope, condition, holds, err) < 0 ? xml_attribute_error(element, "if", err)
									      : 0;
}
