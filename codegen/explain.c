/* SPDX-License-Identifier: MIT */
/* Why a definition is not valid: the attributes of each element, and what their values must look like. */
#include "explain.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "nearest.h"
#include "value.h"

/* ---- values ---- */

static bool
is_name(const char *value, int (*is_first)(int), const char *other_letters)
{
	bool is_good = is_first((unsigned char)value[0]);

	for (size_t i = 1; value[i]; i++)
		is_good = is_good && (isalnum((unsigned char)value[i]) || strchr(other_letters, value[i]));
	return is_good;
}

static bool
is_class_name(const char *value)
{
	return is_name(value, isupper, "");
}

static bool
is_field_name(const char *value)
{
	return is_name(value, islower, "");
}

static bool
is_macro_name(const char *value)
{
	bool is_good = is_name(value, isupper, "_");

	for (; *value; value++)
		is_good = is_good && !islower((unsigned char)*value);
	return is_good;
}

static bool
is_type(const char *value)
{
	return value_type_find(value) != ROT_REFERENCE || is_class_name(value);
}

static bool
is_truth(const char *value)
{
	return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

static bool
is_direction(const char *value)
{
	return strcmp(value, "read") == 0 || strcmp(value, "write") == 0;
}

static bool
is_text(const char *value)
{
	return value[0] != '\0';
}

static bool
is_anything(const char *value)
{
	return value != NULL;
}

enum kind { CLASS_NAME, FIELD_NAME, MACRO_NAME, TYPE, TRUTH, DIRECTION, WORDS, TEXT, ANYTHING };

static const struct {
	bool (*is_good)(const char *value);
	const char *expected;
} kinds[] = {
	[CLASS_NAME] = {is_class_name, "a capital letter, then letters and digits"},
	[FIELD_NAME] = {is_field_name, "a small letter, then letters and digits"},
	[MACRO_NAME] = {is_macro_name, "capital letters, digits and underscores"},
	[TYPE] = {is_type, "double, int, long, ulong, bool, string or the name of a class"},
	[TRUTH] = {is_truth, "true or false"},
	[DIRECTION] = {is_direction, "read or write"},
	[WORDS] = {is_text, "words with blanks between them"},
	[TEXT] = {is_text, "some text"},
	[ANYTHING] = {is_anything, ""},
};

/* ---- elements ---- */

#define MAX_ATTRIBUTES 8

/* clang-format off */
#define NEEDED(name, kind) {name, kind, true}
#define ALLOWED(name, kind) {name, kind, false}
/* clang-format on */

static const struct element {
	const char *name;
	struct {
		const char *name;
		enum kind kind;
		bool is_required;
	} attributes[MAX_ATTRIBUTES]; /* up to the first without a name */
} elements[] = {
	{"class",
	 {NEEDED("name", CLASS_NAME), ALLOWED("isAbstract", TRUTH), ALLOWED("cSuffix", CLASS_NAME),
	  ALLOWED("comment", ANYTHING)}},
	{"derivedClass",
	 {NEEDED("name", CLASS_NAME), NEEDED("baseType", CLASS_NAME), ALLOWED("isAbstract", TRUTH),
	  ALLOWED("cSuffix", CLASS_NAME), ALLOWED("comment", ANYTHING)}},
	{"field",
	 {NEEDED("name", FIELD_NAME), NEEDED("type", TYPE), ALLOWED("default", ANYTHING), ALLOWED("values", WORDS),
	  ALLOWED("unit", ANYTHING), ALLOWED("macro", MACRO_NAME), ALLOWED("comment", ANYTHING)}},
	{"list",
	 {NEEDED("name", FIELD_NAME), NEEDED("type", TYPE), ALLOWED("unit", ANYTHING), ALLOWED("comment", ANYTHING)}},
	{"operations", {NEEDED("of", TEXT), NEEDED("count", TEXT), ALLOWED("if", TEXT)}},
	{"bytes",
	 {NEEDED("border", TEXT), NEEDED("direction", DIRECTION), NEEDED("count", TEXT), ALLOWED("compulsory", TEXT),
	  ALLOWED("if", TEXT)}},
	{"dataSize", {NEEDED("bytes", TEXT), ALLOWED("if", TEXT)}},
	{"requires", {NEEDED("cpuFlag", TEXT), ALLOWED("if", TEXT)}},
	{"check", {NEEDED("that", TEXT), NEEDED("message", TEXT), ALLOWED("if", TEXT)}},
	{"flags", {NEEDED("add", TEXT), ALLOWED("if", TEXT)}},
	{"library", {NEEDED("add", TEXT), ALLOWED("if", TEXT)}},
	{"let", {NEEDED("name", FIELD_NAME), NEEDED("is", TEXT), ALLOWED("if", TEXT)}},
	{"needs", {NEEDED("library", TEXT), NEEDED("package", TEXT), ALLOWED("if", TEXT)}},
};

#define NR_ELEMENTS (sizeof(elements) / sizeof(elements[0]))
#define NR_ROOT_ELEMENTS 2 /* the first ones */

static int
unknown(const char *what, const char *name, const char *const *candidates, size_t nr, struct rot_error *err)
{
	const char *nearest = rot_nearest(name, candidates, nr);

	rot_error_set(err, 0, "unknown %s '%s'", what, name);
	return nearest ? rot_error_hint(err, "did you mean '%s'?", nearest) : -1;
}

/* The element of that name from first to end; otherwise the nearest of them is suggested. */
static const struct element *
find_element(xmlNodePtr node, size_t first, size_t end, struct rot_error *err)
{
	const char *names[NR_ELEMENTS];

	for (size_t i = first; i < end; i++) {
		if (strcmp((const char *)node->name, elements[i].name) == 0)
			return &elements[i];
		names[i - first] = elements[i].name;
	}
	unknown("element", (const char *)node->name, names, end - first, err);
	return NULL;
}

static int
explain_attribute(const struct element *element, xmlNodePtr node, const xmlAttr *attribute, struct rot_error *err)
{
	const char *names[MAX_ATTRIBUTES] = {NULL}, *name = (const char *)attribute->name;
	xmlChar *value;
	int rc = 0;

	for (size_t i = 0; i < MAX_ATTRIBUTES && element->attributes[i].name; i++) {
		names[i] = element->attributes[i].name;
		if (attribute->ns || strcmp(name, names[i]) != 0)
			continue;
		value = xmlGetNoNsProp(node, attribute->name);
		if (!kinds[element->attributes[i].kind].is_good((const char *)value))
			rc = rot_error_set(err, 0, "<%s>: %s is '%s', but must be %s", element->name, name,
					   (const char *)value, kinds[element->attributes[i].kind].expected);
		xmlFree(value);
		return rc;
	}
	unknown("attribute", name, names, MAX_ATTRIBUTES, err);
	return rot_error_prefix(err, "<%s>", element->name);
}

static int
explain_element(const struct element *element, xmlNodePtr node, struct rot_error *err)
{
	int rc = 0;

	for (const xmlAttr *attribute = node->properties; attribute && rc == 0; attribute = attribute->next)
		rc = explain_attribute(element, node, attribute, err);
	for (size_t i = 0; i < MAX_ATTRIBUTES && element->attributes[i].name && rc == 0; i++)
		if (element->attributes[i].is_required &&
		    !xmlHasProp(node, (const xmlChar *)element->attributes[i].name))
			rc = rot_error_set(err, 0, "<%s>: %s is missing (%s)", element->name,
					   element->attributes[i].name, kinds[element->attributes[i].kind].expected);
	return rc;
}

static int
explain_node(xmlNodePtr node, size_t first, size_t end, struct rot_error *err)
{
	const struct element *element;

	if (node->type == XML_COMMENT_NODE || node->type == XML_PI_NODE || xmlIsBlankNode(node))
		return 0;
	if (node->type != XML_ELEMENT_NODE)
		return rot_error_set(err, 0, "there is text between the elements");
	element = find_element(node, first, end, err);
	return element ? explain_element(element, node, err) : -1;
}

int
explain(const char *path, xmlNodePtr root, struct rot_error *err)
{
	xmlNodePtr wrong = root;
	int rc = explain_node(root, 0, NR_ROOT_ELEMENTS, err);

	for (xmlNodePtr node = root->children; node && rc == 0; node = node->next) {
		wrong = node;
		rc = explain_node(node, NR_ROOT_ELEMENTS, NR_ELEMENTS, err);
		for (xmlNodePtr inner = node->children; inner && rc == 0; inner = inner->next)
			if (inner->type == XML_ELEMENT_NODE || (inner->type == XML_TEXT_NODE && !xmlIsBlankNode(inner)))
				rc = rot_error_set(err, 0, "<%s> must be empty", (const char *)node->name);
	}
	return rc < 0 ? rot_error_prefix(err, "%s:%ld", path, xmlGetLineNo(wrong)) : 0;
}
