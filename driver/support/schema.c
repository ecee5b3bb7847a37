/* SPDX-License-Identifier: MIT */
/* Documents against a RELAX NG schema, with messages that name the place and what was expected there. */
#include "support/schema.h"

#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "support/xml_file.h"

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

static const xmlNode *
find_define(const xmlNode *pattern, const char *name)
{
	const xmlNode *grammar = xmlDocGetRootElement(pattern->doc);

	for (const xmlNode *define = grammar->children; define; define = define->next) {
		char *own = xml_is(define, "define") ? xml_attribute(define, "name", NULL) : NULL;
		bool found = own && strcmp(own, name) == 0;

		free(own);
		if (found)
			return define;
	}
	return NULL;
}

static void
allowed_add(struct allowed **list, size_t *nr, const xmlNode *pattern, bool is_required)
{
	*list = rot_realloc(*list, *nr + 1, sizeof(**list));
	(*list)[(*nr)++] = (struct allowed){pattern, xml_attribute(pattern, "name", NULL), is_required};
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
			char *name = xml_attribute(p, "name", NULL);
			const xmlNode *define = name ? find_define(p, name) : NULL;

			free(name);
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

/* The nearest name if there is one, and all that are possible. */
static void
hint_names(struct rot_error *err, const char *word, const char *const *names, size_t nr, const char *what)
{
	const char *nearest = rot_nearest(word, names, nr);
	char *text = rot_format("%s%s%s%s%s", nearest ? "did you mean '" : "", nearest ? nearest : "",
				nearest ? "'? " : "", what, nr ? ":" : " nothing");

	for (size_t i = 0; i < nr; i++) {
		char *longer = rot_format("%s%s %s", text, i ? "," : "", names[i] ? names[i] : "anything");

		free(text);
		text = longer;
	}
	rot_error_hint(err, "%s", text);
	free(text);
}

static void
hint_allowed(struct rot_error *err, const char *word, const struct allowed *list, size_t nr, const char *what)
{
	const char **names = rot_calloc(nr + 1, sizeof(*names));

	for (size_t i = 0; i < nr; i++)
		names[i] = list[i].name;
	hint_names(err, word, names, nr, what);
	free(names);
}

static void
collect_choices(const xmlNode *pattern, const char ***values, size_t *nr)
{
	for (const xmlNode *p = pattern->children; p; p = p->next) {
		if (xml_is(p, "choice")) {
			collect_choices(p, values, nr);
		} else if (xml_is(p, "value") && p->children) {
			*values = rot_realloc(*values, *nr + 1, sizeof(**values));
			(*values)[(*nr)++] = (const char *)p->children->content;
		}
	}
}

static int
explain_value(struct rot_error *err, const xmlNode *element, const xmlAttr *a, const struct allowed *rule)
{
	const char **choices = NULL;
	size_t nr = 0;
	char *value = xml_attribute(element, (const char *)a->name, NULL);
	bool is_valid = true;

	collect_choices(rule->pattern, &choices, &nr);
	for (size_t i = 0; i < nr; i++) {
		is_valid = strcmp(choices[i], value ? value : "") == 0;
		if (is_valid)
			break;
	}
	if (!is_valid) {
		rot_error_set(err, 0, "<%s %s=\"%s\">: not a possible value", element->name, a->name, value);
		hint_names(err, value, choices, nr, "expected");
		xml_error_at(element, err);
	}
	free(value);
	free(choices);
	return is_valid ? 0 : -1;
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
	for (size_t i = 0; i < content->nr_attributes; i++) {
		const struct allowed *rule = &content->attributes[i];

		if (rule->is_required && rule->name && !xmlHasProp(element, (const xmlChar *)rule->name)) {
			rot_error_set(err, 0, "<%s> lacks the attribute '%s'", element->name, rule->name);
			return xml_error_at(element, err);
		}
	}
	return 0;
}

static int explain_element(struct rot_error *err, const xmlNode *element, const xmlNode *pattern);

static int
explain_children(struct rot_error *err, const xmlNode *element, const struct content *content)
{
	bool *seen = rot_calloc(content->nr_elements + 1, sizeof(*seen));
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
	free(seen);
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

static int
explain(struct rot_error *err, xmlDoc *doc, const char *schema_path)
{
	xmlDoc *schema = xmlReadFile(schema_path, NULL, XML_PARSE_NOBLANKS | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	const xmlNode *root = xmlDocGetRootElement(doc),
		      *start = schema ? xmlDocGetRootElement(schema)->children : NULL;
	struct content content = {0};
	int rc = 0;

	while (start && !xml_is(start, "start"))
		start = start->next;
	if (start) {
		const struct allowed *rule;

		collect(start, true, &content);
		rule = allowed_find(content.elements, content.nr_elements, (const char *)root->name);
		if (rule) {
			rc = explain_element(err, root, rule->pattern);
		} else {
			rot_error_set(err, 0, "the root element is <%s>", root->name);
			hint_allowed(err, (const char *)root->name, content.elements, content.nr_elements, "expected");
			rc = xml_error_at(root, err);
		}
		content_clear(&content);
	}
	xmlFreeDoc(schema);
	return rc;
}

/* ---- validating ---- */

int
schema_validate(xmlDoc *doc, const char *schema_path, struct rot_error *err)
{
	struct xml_complaint complaint = {0};
	xmlRelaxNGParserCtxt *parser = xmlRelaxNGNewParserCtxt(schema_path);
	xmlRelaxNG *schema;
	xmlRelaxNGValidCtxt *validation = NULL;
	int rc = -1;

	xmlRelaxNGSetParserStructuredErrors(parser, xml_complaint_keep_first, &complaint);
	schema = xmlRelaxNGParse(parser);
	if (!schema) {
		rot_error_set(err, 0, "cannot read the schema '%s': %s", schema_path,
			      complaint.text ? complaint.text : "unknown reason");
		rot_error_hint(err, "rot's data folder is damaged: install rot again");
		goto out;
	}
	validation = xmlRelaxNGNewValidCtxt(schema);
	xmlRelaxNGSetValidStructuredErrors(validation, xml_complaint_keep_first, &complaint);
	if (xmlRelaxNGValidateDoc(validation, doc) == 0) {
		rc = 0;
	} else if (explain(err, doc, schema_path) == 0) {
		rot_error_set(err, 0, "%s", complaint.text ? complaint.text : "not valid");
		xml_error_at(complaint.node && complaint.node->type == XML_ELEMENT_NODE ? complaint.node
											: xmlDocGetRootElement(doc),
			     err);
	}
out:
	xmlRelaxNGFreeValidCtxt(validation);
	xmlRelaxNGFree(schema);
	xmlRelaxNGFreeParserCtxt(parser);
	xml_complaint_clear(&complaint);
	return rc;
}
