/* SPDX-License-Identifier: MIT */
/* Reading one definition file: parse, validate against the schema, take over what it says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition_schema.h"
#include "definitions.h"
#include "memory.h"
#include "schema.h"
#include "value.h"
#include "xml_file.h"

/* ---- from the valid document ---- */

static const char *
keep(struct loaded *loaded, char *string)
{
	rot_add(loaded->strings, loaded->nr_strings) = string;
	return string;
}

/* The value of an attribute, or NULL; lives as long as loaded. */
static const char *
attribute(struct loaded *loaded, const xmlNode *node, const char *name)
{
	char *value = xml_attribute(node, name, NULL);

	return value ? keep(loaded, value) : NULL;
}

static const char *
attribute_or_empty(struct loaded *loaded, const xmlNode *node, const char *name)
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
read_row(struct loaded *loaded, const xmlNode *node, enum definition_row_kind kind)
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
	autofree char *c_name = codegen_snake_case(field->name);
	int rc = 0;

	if (codegen_is_reserved(c_name))
		rc = rot_error_set(err, 0, "%s: class %s, field %s: '%s' is a reserved word in C", position,
				   loaded->class.name, field->name, c_name);
	for (size_t i = 0; rc == 0 && i < loaded->class.nr_fields; i++) {
		autofree char *other = codegen_snake_case(loaded->fields[i].name);

		if (strcmp(other, c_name) == 0)
			rc = rot_error_set(err, 0, "%s: class %s has two fields '%s' (in C)", position,
					   loaded->class.name, c_name);
	}
	return rc;
}

static int
read_field(struct loaded *loaded, const xmlNode *node, struct rot_error *err)
{
	size_t nr = loaded->class.nr_fields;
	const char *type = attribute(loaded, node, "type"), *wrong;
	struct rot_field field = {
		.name = attribute(loaded, node, "name"),
		.type = value_type_find(type),
		.is_list = xml_is(node, "list"),
		.default_text = attribute(loaded, node, "default"),
		.values = attribute(loaded, node, "values"),
		.unit = attribute_or_empty(loaded, node, "unit"),
		.macro = attribute(loaded, node, "macro"),
		.comment = attribute_or_empty(loaded, node, "comment"),
	};
	autofree char *position = rot_format("%s:%ld", loaded->definition.path, xmlGetLineNo(node));
	int rc = check_name(loaded, &field, position, err);

	wrong = default_problem(&field);
	if (rc == 0 && wrong && field.default_text)
		rc = rot_error_set(err, 0, "%s: class %s, field %s: default '%s': %s", position, loaded->class.name,
				   field.name, field.default_text, wrong);
	else if (rc == 0 && wrong)
		rc = rot_error_set(err, 0, "%s: class %s, field %s: %s", position, loaded->class.name, field.name,
				   wrong);
	loaded->fields = rot_realloc(loaded->fields, nr + 1, sizeof(*loaded->fields));
	loaded->names = rot_realloc(loaded->names, nr + 1, sizeof(*loaded->names));
	loaded->fields[nr] = field;
	loaded->names[nr] = (struct loaded_name){.type = type, .line = (int)xmlGetLineNo(node)};
	loaded->class.nr_fields = nr + 1;
	return rc;
}

static struct loaded *
loaded_new(const xmlNode *root, const char *path)
{
	struct loaded *loaded = rot_calloc(1, sizeof(*loaded));
	const char *slash = strrchr(path, '/');

	loaded->line = (int)xmlGetLineNo(root);
	loaded->base_name = attribute(loaded, root, "baseType");
	loaded->class.name = attribute(loaded, root, "name");
	loaded->class.is_abstract = xml_attribute_is(root, "isAbstract", "true");
	loaded->class.comment = attribute_or_empty(loaded, root, "comment");
	loaded->definition.path = keep(loaded, rot_strdup(path));
	loaded->definition.folder =
		keep(loaded, slash ? rot_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : rot_strdup("."));
	loaded->definition.c_suffix = attribute_or_empty(loaded, root, "cSuffix");
	return loaded;
}

static struct loaded *
read_class(const xmlNode *root, const char *path, struct rot_error *err)
{
	struct loaded *loaded = loaded_new(root, path);
	int rc = 0;

	for (const xmlNode *node = xml_child(root, NULL); node && rc == 0; node = xml_next(node, NULL)) {
		const size_t nr_kinds = sizeof(row_elements) / sizeof(*row_elements);
		size_t kind = 0;

		while (kind < nr_kinds && !xml_is(node, row_elements[kind].element))
			kind++;
		if (kind < nr_kinds)
			read_row(loaded, node, (enum definition_row_kind)kind);
		else
			rc = read_field(loaded, node, err);
	}
	if (rc < 0) {
		loaded_delete(loaded);
		return NULL;
	}
	loaded->class.fields = loaded->fields;
	loaded->definition.rows = loaded->rows;
	return loaded;
}

struct loaded *
definition_read(struct definitions *definitions, const char *path, struct rot_error *err)
{
	xmlDoc *document = xml_file_read(path, err);
	struct loaded *loaded = NULL;

	if (!definitions->schema) {
		struct rot_error own = {0};

		definitions->schema = schema_from_text("definition.rng", definition_schema, &own);
		if (!definitions->schema) {
			fprintf(stderr, "rot: %s\n", own.text);
			abort();
		}
	}
	if (document && schema_validate(definitions->schema, document, err) == 0)
		loaded = read_class(xmlDocGetRootElement(document), path, err);
	xmlFreeDoc(document);
	return loaded;
}
