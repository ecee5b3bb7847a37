/* SPDX-License-Identifier: MIT */
/* Documents against a RELAX NG schema, with messages that name the place and what was expected there. */
#include "schema.h"

#include <libxml/relaxng.h>
#include <libxml/xmlregexp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "xml_file.h"

struct schema {
	xmlDoc *tree;
	xmlRelaxNG *rules;
};

/* An attribute or element that a pattern allows. */
struct allowed {
	const xmlNode *pattern;
	char *name; /* NULL: any */
	bool is_required;
};

struct content {
	struct allowed *attributes, *elements;
	size_t nr_attributes, nr_elements;
	bool has_text;
};

/* ---- reading the schema ---- */

/* The definition that a <ref> refers to, or NULL. */
static const xmlNode *
find_define(const xmlNode *ref)
{
	const xmlNode *define = xml_child(xmlDocGetRootElement(ref->doc), "define");
	autofree char *name = xml_attribute(ref, "name", "");

	while (define && !xml_attribute_is(define, "name", name))
		define = xml_next(define, "define");
	return define;
}

static void
allowed_add(struct allowed **list, size_t *nr, const xmlNode *pattern, bool is_required)
{
	rot_add(*list, *nr) = (struct allowed){pattern, xml_attribute(pattern, "name", NULL), is_required};
}

/* All that may stand directly inside an element of this pattern. */
static void
collect(const xmlNode *pattern, bool is_required, struct content *content)
{
	for (const xmlNode *p = pattern->children; p; p = p->next) {
		if (p->type != XML_ELEMENT_NODE)
			continue;
		if (xml_is(p, "element")) {
			allowed_add(&content->elements, &content->nr_elements, p, is_required);
		} else if (xml_is(p, "attribute")) {
			allowed_add(&content->attributes, &content->nr_attributes, p, is_required);
		} else if (xml_is(p, "ref")) {
			const xmlNode *define = find_define(p);

			if (define)
				collect(define, is_required, content);
		} else if (xml_is(p, "text") || xml_is(p, "data")) {
			content->has_text = true;
		} else {
			bool may_be_absent = xml_is(p, "optional") || xml_is(p, "zeroOrMore") || xml_is(p, "choice");

			collect(p, is_required && !may_be_absent, content);
		}
	}
}

static void
content_clear(struct content *content)
{
	for (size_t i = 0; i < content->nr_attributes; i++)
		free(content->attributes[i].name);
	for (size_t i = 0; i < content->nr_elements; i++)
		free(content->elements[i].name);
	free(content->attributes);
	free(content->elements);
}

static const struct allowed *
allowed_find(const struct allowed *list, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!list[i].name || strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

/* ---- saying it ---- */

static void
hint_allowed(struct rot_error *err, const char *word, const struct allowed *list, size_t nr, const char *what)
{
	autofree const char **names = rot_calloc(nr + 1, sizeof(*names));

	for (size_t i = 0; i < nr; i++)
		names[i] = list[i].name;
	rot_nearest_hint_all(err, word, names, nr, what);
}

/* The values that an attribute may have. */
struct range {
	const char **choices;
	size_t nr_choices;
	xmlChar *documentation; /* or NULL */
};

static void
range_clear(struct range *range)
{
	free(range->choices);
	xmlFree(range->documentation);
}

/* Parameters that are not known hold: libxml2 has its own words for them. */
static bool
parameter_holds(const xmlNode *param, const char *value)
{
	char *text = (char *)xmlNodeGetContent(param);
	bool holds = true;

	if (xml_attribute_is(param, "name", "minLength")) {
		holds = (size_t)xmlUTF8Strlen((const xmlChar *)value) >= strtoul(text, NULL, 10);
	} else if (xml_attribute_is(param, "name", "pattern")) {
		xmlRegexp *expression = xmlRegexpCompile((const xmlChar *)text);

		holds = !expression || xmlRegexpExec(expression, (const xmlChar *)value) == 1;
		xmlRegFreeRegexp(expression);
	}
	xmlFree(text);
	return holds;
}

static bool
data_holds(const xmlNode *data, const char *value)
{
	bool holds = true;

	for (const xmlNode *param = xml_child(data, "param"); param && holds; param = xml_next(param, "param"))
		holds = !xml_attribute_is(data, "type", "string") || parameter_holds(param, value);
	return holds;
}

/* True if the value may stand where the pattern is. The outermost documentation is kept. */
static bool
value_holds(const xmlNode *pattern, const char *value, struct range *range)
{
	const xmlNode *documentation = xml_child(pattern, "documentation");
	bool holds = false, is_narrow = false;

	if (documentation && !range->documentation)
		range->documentation = xmlNodeGetContent(documentation);
	for (const xmlNode *p = xml_child(pattern, NULL); p; p = xml_next(p, NULL)) {
		if (p == documentation)
			continue;
		is_narrow = true;
		if (xml_is(p, "value") && p->children) {
			rot_add(range->choices, range->nr_choices) = (const char *)p->children->content;
			holds |= strcmp((const char *)p->children->content, value) == 0;
		} else if (xml_is(p, "data")) {
			holds |= data_holds(p, value);
		} else {
			const xmlNode *inner = xml_is(p, "ref") ? find_define(p) : p;

			holds |= !inner || value_holds(inner, value, range);
		}
	}
	return holds || !is_narrow;
}

static void
hint_range(struct rot_error *err, const char *value, const struct range *range)
{
	if (range->documentation)
		rot_error_hint(err, "expected: %s", (const char *)range->documentation);
	else if (range->nr_choices)
		rot_nearest_hint_all(err, value, range->choices, range->nr_choices, "expected");
}

static int
explain_value(struct rot_error *err, const xmlNode *element, const xmlAttr *a, const struct allowed *rule)
{
	struct range range = {0};
	autofree char *value = xml_attribute(element, (const char *)a->name, "");
	int rc = 0;

	if (!value_holds(rule->pattern, value, &range)) {
		rot_error_set(err, 0, "<%s %s=\"%s\">: not a possible value", element->name, a->name, value);
		hint_range(err, value, &range);
		rc = xml_error_at(element, err);
	}
	range_clear(&range);
	return rc;
}

static int
explain_absence(struct rot_error *err, const xmlNode *element, const struct allowed *rule)
{
	struct range range = {0};

	if (!rule->is_required || !rule->name || xmlHasProp(element, (const xmlChar *)rule->name))
		return 0;
	value_holds(rule->pattern, "", &range);
	rot_error_set(err, 0, "<%s> lacks the attribute '%s'", element->name, rule->name);
	hint_range(err, "", &range);
	range_clear(&range);
	return xml_error_at(element, err);
}

static int
explain_attributes(struct rot_error *err, const xmlNode *element, const struct content *content)
{
	for (const xmlAttr *a = element->properties; a; a = a->next) {
		const struct allowed *rule =
			allowed_find(content->attributes, content->nr_attributes, (const char *)a->name);

		if (!rule) {
			rot_error_set(err, 0, "<%s> has no attribute '%s'", element->name, a->name);
			hint_allowed(err, (const char *)a->name, content->attributes, content->nr_attributes,
				     "possible");
			return xml_error_at(element, err);
		}
		if (explain_value(err, element, a, rule) < 0)
			return -1;
	}
	for (size_t i = 0; i < content->nr_attributes; i++)
		if (explain_absence(err, element, &content->attributes[i]) < 0)
			return -1;
	return 0;
}

static int explain_element(struct rot_error *err, const xmlNode *element, const xmlNode *pattern);

static int
explain_children(struct rot_error *err, const xmlNode *element, const struct content *content)
{
	autofree bool *seen = rot_calloc(content->nr_elements + 1, sizeof(*seen));
	int rc = 0;

	for (const xmlNode *child = element->children; child && rc == 0; child = child->next) {
		const struct allowed *rule =
			allowed_find(content->elements, content->nr_elements, (const char *)child->name);

		if (child->type == XML_TEXT_NODE && !content->has_text && !xmlIsBlankNode(child)) {
			rot_error_set(err, 0, "<%s> holds text, which means nothing there", element->name);
			rc = xml_error_at(element, err);
		} else if (child->type == XML_ELEMENT_NODE && !rule) {
			rot_error_set(err, 0, "<%s> is not expected in <%s>", child->name, element->name);
			hint_allowed(err, (const char *)child->name, content->elements, content->nr_elements,
				     "expected there");
			rc = xml_error_at(child, err);
		} else if (child->type == XML_ELEMENT_NODE) {
			seen[rule - content->elements] = true;
			rc = explain_element(err, child, rule->pattern);
		}
	}
	for (size_t i = 0; i < content->nr_elements && rc == 0; i++)
		if (content->elements[i].is_required && !seen[i] && content->elements[i].name) {
			rot_error_set(err, 0, "<%s> lacks a <%s>", element->name, content->elements[i].name);
			rc = xml_error_at(element, err);
		}
	return rc;
}

static int
explain_element(struct rot_error *err, const xmlNode *element, const xmlNode *pattern)
{
	struct content content = {0};
	int rc = 0;

	collect(pattern, true, &content);
	if (explain_attributes(err, element, &content) < 0 || explain_children(err, element, &content) < 0)
		rc = -1;
	content_clear(&content);
	return rc;
}

/* 0: found nothing. */
static int
explain(struct rot_error *err, xmlDoc *doc, const struct schema *schema)
{
	const xmlNode *root = xmlDocGetRootElement(doc),
		      *start = xml_child(xmlDocGetRootElement(schema->tree), "start");
	struct content content = {0};
	const struct allowed *rule;
	int rc = -1;

	if (!start)
		return 0;
	collect(start, true, &content);
	rule = allowed_find(content.elements, content.nr_elements, (const char *)root->name);
	if (rule) {
		rc = explain_element(err, root, rule->pattern);
	} else {
		rot_error_set(err, 0, "the root element is <%s>", root->name);
		hint_allowed(err, (const char *)root->name, content.elements, content.nr_elements, "expected");
		xml_error_at(root, err);
	}
	content_clear(&content);
	return rc;
}

/* ---- validating ---- */

/* Takes tree over. */
static struct schema *
schema_new(xmlDoc *tree, const char *name, struct rot_error *err)
{
	struct schema *schema = rot_calloc(1, sizeof(*schema));
	xmlRelaxNGParserCtxt *parser = tree ? xmlRelaxNGNewDocParserCtxt(tree) : NULL;
	struct xml_complaint complaint = {0};

	schema->tree = tree;
	if (parser) {
		xmlRelaxNGSetParserStructuredErrors(parser, xml_complaint_keep_first, &complaint);
		schema->rules = xmlRelaxNGParse(parser);
		xmlRelaxNGFreeParserCtxt(parser);
		if (!schema->rules)
			rot_error_set(err, 0, "%s:%d: %s", name, complaint.line,
				      complaint.text ? complaint.text : "no schema");
	}
	xml_complaint_clear(&complaint);
	if (schema->rules)
		return schema;
	rot_error_hint(err, "rot's data folder is damaged: install rot again");
	schema_delete(schema);
	return NULL;
}

struct schema *
schema_from_text(const char *name, const char *text, struct rot_error *err)
{
	return schema_new(xml_text_read(name, text, strlen(text), err), name, err);
}

void
schema_delete(struct schema *schema)
{
	if (!schema)
		return;
	xmlRelaxNGFree(schema->rules);
	xmlFreeDoc(schema->tree);
	free(schema);
}

int
schema_validate(const struct schema *schema, xmlDoc *doc, struct rot_error *err)
{
	struct xml_complaint complaint = {0};
	xmlRelaxNGValidCtxt *validation = xmlRelaxNGNewValidCtxt(schema->rules);
	bool is_valid;

	xmlRelaxNGSetValidStructuredErrors(validation, xml_complaint_keep_first, &complaint);
	is_valid = xmlRelaxNGValidateDoc(validation, doc) == 0;
	if (!is_valid && explain(err, doc, schema) == 0) {
		rot_error_set(err, 0, "%s", complaint.text ? complaint.text : "not valid");
		xml_error_at(complaint.node && complaint.node->type == XML_ELEMENT_NODE ? complaint.node
											: xmlDocGetRootElement(doc),
			     err);
	}
	xmlRelaxNGFreeValidCtxt(validation);
	xml_complaint_clear(&complaint);
	return is_valid ? 0 : -1;
}

/* The last one that was read is kept: most documents come in groups of one kind. */
int
schema_file_validate(const char *path, xmlDoc *doc, struct rot_error *err)
{
	static struct schema *schema;
	static char *schema_path;

	if (!schema || strcmp(schema_path, path) != 0) {
		schema_delete(schema);
		free(schema_path);
		schema_path = NULL;
		schema = schema_new(xml_file_read(path, err), path, err);
		if (!schema)
			return -1;
		schema_path = rot_strdup(path);
	}
	return schema_validate(schema, doc, err);
}
