/* SPDX-License-Identifier: MIT */
/* Reading one definition file: parse, validate against the schema, take over what it says. */
#include <errno.h>
#include <fcntl.h>
#include <libxml/relaxng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "definition_schema.h"
#include "definitions.h"
#include "explain.h"
#include "memory.h"
#include "parsing.h"
#include "value.h"

/* The first complaint of the validation: later ones are its consequences. */
struct complaint {
	char text[512];
	int line;
};

static void __attribute__((format(printf, 2, 3))) remember_complaint(void *context, const char *format, ...)
{
	struct complaint *complaint = context;
	const xmlError *last = xmlGetLastError();
	va_list arguments;

	if (complaint->text[0])
		return;
	va_start(arguments, format);
	vsnprintf(complaint->text, sizeof(complaint->text), format, arguments);
	va_end(arguments);
	complaint->text[strcspn(complaint->text, "\n")] = '\0';
	complaint->line = last ? last->line : 0;
}

/* The schema is part of the program, so a failure here is our own mistake. */
static xmlRelaxNGPtr
schema_new(void)
{
	struct complaint complaint = {0};
	xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewMemParserCtxt(definition_schema, (int)strlen(definition_schema));
	xmlRelaxNGPtr schema;

	xmlRelaxNGSetParserErrors(parser, remember_complaint, remember_complaint, &complaint);
	schema = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	if (!schema) {
		fprintf(stderr, "rot: definition.rng:%d: %s\n", complaint.line, complaint.text);
		abort();
	}
	return schema;
}

static int
validate(struct definitions *definitions, xmlDocPtr document, const char *path, struct rot_error *err)
{
	struct complaint complaint = {0};
	xmlRelaxNGValidCtxtPtr validation;
	int result;

	if (!definitions->schema)
		definitions->schema = schema_new();
	xmlResetLastError();
	validation = xmlRelaxNGNewValidCtxt(definitions->schema);
	xmlRelaxNGSetValidErrors(validation, remember_complaint, remember_complaint, &complaint);
	result = xmlRelaxNGValidateDoc(validation, document);
	xmlRelaxNGFreeValidCtxt(validation);
	if (result == 0)
		return 0;
	if (explain(path, xmlDocGetRootElement(document), err) == 0)
		rot_error_set(err, 0, "%s:%d: %s", path, complaint.line, complaint.text);
	return -1;
}

static xmlDocPtr
parse(const char *path, struct rot_error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	xmlDocPtr document;

	if (file < 0) {
		rot_error_set(err, errno, "cannot open '%s'", path);
		return NULL;
	}
	document = parsing_read(path, file, NULL, 0, err);
	close(file);
	return document;
}

/* ---- from the valid document ---- */

static const char *
keep(struct loaded *loaded, char *string)
{
	loaded->strings = rot_realloc(loaded->strings, loaded->nr_strings + 1, sizeof(*loaded->strings));
	loaded->strings[loaded->nr_strings++] = string;
	return string;
}

/* The value of an attribute, or NULL; lives as long as loaded. */
static const char *
attribute(struct loaded *loaded, xmlNodePtr node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
	const char *kept = value ? keep(loaded, rot_strdup((const char *)value)) : NULL;

	xmlFree(value);
	return kept;
}

static const char *
attribute_or_empty(struct loaded *loaded, xmlNodePtr node, const char *name)
{
	const char *value = attribute(loaded, node, name);

	return value ? value : "";
}

/* One element a kind, with the attributes that fill the columns of a row; NULL: the column stays "". */
static const struct row_element {
	const char *element, *of, *direction, *expression, *text;
} row_elements[] = {
	[DEFINITION_OPERATIONS] = {"operations", "of", NULL, "count", NULL},
	[DEFINITION_BYTES] = {"bytes", "border", "direction", "count", "compulsory"},
	[DEFINITION_DATA_SIZE] = {"dataSize", NULL, NULL, "bytes", NULL},
	[DEFINITION_REQUIRES] = {"requires", "cpuFlag", NULL, NULL, NULL},
	[DEFINITION_CHECK] = {"check", NULL, NULL, "that", "message"},
	[DEFINITION_FLAGS] = {"flags", NULL, NULL, NULL, "add"},
	[DEFINITION_LIBRARY] = {"library", NULL, NULL, NULL, "add"},
	[DEFINITION_LET] = {"let", "name", NULL, "is", NULL},
	[DEFINITION_NEEDS] = {"needs", "library", NULL, NULL, "package"},
};

static void
read_row(struct loaded *loaded, xmlNodePtr node, enum definition_row_kind kind)
{
	const struct row_element *element = &row_elements[kind];
	size_t nr = loaded->definition.nr_rows++;

	loaded->rows = rot_realloc(loaded->rows, nr + 1, sizeof(*loaded->rows));
	loaded->rows[nr] = (struct definition_row){
		.kind = kind,
		.of = element->of ? attribute_or_empty(loaded, node, element->of) : "",
		.direction = element->direction ? attribute_or_empty(loaded, node, element->direction) : "",
		.expression = element->expression ? attribute_or_empty(loaded, node, element->expression) : "",
		.condition = attribute_or_empty(loaded, node, "if"),
		.text = element->text ? attribute_or_empty(loaded, node, element->text) : "",
		.line = (int)xmlGetLineNo(node),
	};
}

/* Defaults, allowed values and macros are for primitive fields; a default must be a value of the field. */
static const char *
default_problem(const struct rot_field *field)
{
	char room[sizeof(uint64_t)] __attribute__((aligned(8))) = {0};
	const char *wrong;

	if (field->values && field->type != ROT_STRING)
		return "only a string can have 'values'";
	if (field->values && !field->default_text)
		return "a field with 'values' needs a 'default' among them";
	if (field->macro && field->type == ROT_REFERENCE)
		return "a reference cannot be a macro";
	if (!field->default_text)
		return NULL;
	if (field->type == ROT_REFERENCE)
		return "a reference cannot have a 'default'";
	wrong = value_parse(field, room, field->default_text);
	if (field->type == ROT_STRING)
		free(*(char **)room);
	return wrong;
}

/* Two names may differ in XML and be the same in C: "aBC" and "aBc". */
static int
check_name(const struct loaded *loaded, const struct rot_field *field, const char *position, struct rot_error *err)
{
	char *c_name = codegen_snake_case(field->name);
	int rc = 0;

	if (codegen_is_reserved(c_name))
		rc = rot_error_set(err, 0, "%s: class %s, field %s: '%s' is a reserved word in C", position,
				   loaded->class.name, field->name, c_name);
	for (size_t i = 0; rc == 0 && i < loaded->class.nr_fields; i++) {
		char *other = codegen_snake_case(loaded->fields[i].name);

		if (strcmp(other, c_name) == 0)
			rc = rot_error_set(err, 0, "%s: class %s has two fields '%s' (in C)", position,
					   loaded->class.name, c_name);
		free(other);
	}
	free(c_name);
	return rc;
}

static int
read_field(struct loaded *loaded, xmlNodePtr node, struct rot_error *err)
{
	size_t nr = loaded->class.nr_fields;
	const char *type = attribute(loaded, node, "type"), *wrong;
	struct rot_field field = {
		.name = attribute(loaded, node, "name"),
		.type = value_type_find(type),
		.is_list = strcmp((const char *)node->name, "list") == 0,
		.default_text = attribute(loaded, node, "default"),
		.values = attribute(loaded, node, "values"),
		.unit = attribute_or_empty(loaded, node, "unit"),
		.macro = attribute(loaded, node, "macro"),
		.comment = attribute_or_empty(loaded, node, "comment"),
	};
	char *position = rot_format("%s:%ld", loaded->definition.path, xmlGetLineNo(node));
	int rc = check_name(loaded, &field, position, err);

	wrong = default_problem(&field);
	if (rc == 0 && wrong && field.default_text)
		rc = rot_error_set(err, 0, "%s: class %s, field %s: default '%s': %s", position, loaded->class.name,
				   field.name, field.default_text, wrong);
	else if (rc == 0 && wrong)
		rc = rot_error_set(err, 0, "%s: class %s, field %s: %s", position, loaded->class.name, field.name,
				   wrong);
	free(position);
	loaded->fields = rot_realloc(loaded->fields, nr + 1, sizeof(*loaded->fields));
	loaded->names = rot_realloc(loaded->names, nr + 1, sizeof(*loaded->names));
	loaded->fields[nr] = field;
	loaded->names[nr] = (struct loaded_name){.type = type, .line = (int)xmlGetLineNo(node)};
	loaded->class.nr_fields = nr + 1;
	return rc;
}

static int
read_element(struct loaded *loaded, xmlNodePtr node, struct rot_error *err)
{
	const char *name = (const char *)node->name;

	for (size_t i = 0; i < sizeof(row_elements) / sizeof(row_elements[0]); i++) {
		if (strcmp(name, row_elements[i].element) == 0) {
			read_row(loaded, node, (enum definition_row_kind)i);
			return 0;
		}
	}
	return read_field(loaded, node, err);
}

/* The folder of a path: what is before the last slash, or ".". */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return rot_strdup(".");
	return rot_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static struct loaded *
loaded_new(xmlNodePtr root, const char *path)
{
	struct loaded *loaded = rot_calloc(1, sizeof(*loaded));
	const char *is_abstract = attribute(loaded, root, "isAbstract");

	loaded->line = (int)xmlGetLineNo(root);
	loaded->base_name = attribute(loaded, root, "baseType");
	loaded->class.name = attribute(loaded, root, "name");
	loaded->class.is_abstract = is_abstract && strcmp(is_abstract, "true") == 0;
	loaded->class.comment = attribute_or_empty(loaded, root, "comment");
	loaded->definition.path = keep(loaded, rot_strdup(path));
	loaded->definition.folder = keep(loaded, folder_of(path));
	loaded->definition.c_suffix = attribute_or_empty(loaded, root, "cSuffix");
	return loaded;
}

struct loaded *
definition_read(struct definitions *definitions, const char *path, struct rot_error *err)
{
	xmlDocPtr document = parse(path, err);
	struct loaded *loaded = NULL;
	xmlNodePtr root;
	int rc;

	if (!document)
		return NULL;
	rc = validate(definitions, document, path, err);
	if (rc == 0) {
		root = xmlDocGetRootElement(document);
		loaded = loaded_new(root, path);
		for (xmlNodePtr node = root->children; node && rc == 0; node = node->next)
			if (node->type == XML_ELEMENT_NODE)
				rc = read_element(loaded, node, err);
	}
	xmlFreeDoc(document);
	if (rc < 0) {
		loaded_delete(loaded);
		return NULL;
	}
	loaded->class.fields = loaded->fields;
	loaded->definition.rows = loaded->rows;
	return loaded;
}
