/* SPDX-License-Identifier: MIT */
/* Documents against a RELAX NG schema, with messages that name the place and what was expected there. */
#include "controllers/schema.h"

#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"

/* What libxml2 gives to error handlers became const in 2.12. */
#if LIBXML_VERSION >= 21200
#define XML_ERROR const xmlError
#else
#define XML_ERROR xmlError
#endif

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

struct explanation {
	char *(*where)(const xmlNode *element);
	struct rot_error *err;
};

static char *
attribute(const xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
	char *copy = value ? rot_strdup((const char *)value) : NULL;

	xmlFree(value);
	return copy;
}

static bool
is_named(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* ---- reading the schema ---- */

static const xmlNode *
find_define(const xmlNode *pattern, const char *name)
{
	const xmlNode *grammar = xmlDocGetRootElement(pattern->doc);

	for (const xmlNode *define = grammar->children; define; define = define->next) {
		char *own = is_named(define, "define") ? attribute(define, "name") : NULL;
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
	(*list)[(*nr)++] = (struct allowed){pattern, attribute(pattern, "name"), is_required};
}

/* All that may stand directly inside an element of this pattern. */
static void
collect(const xmlNode *pattern, bool is_required, struct content *content)
{
	for (const xmlNode *p = pattern->children; p; p = p->next) {
		if (p->type != XML_ELEMENT_NODE)
			continue;
		if (is_named(p, "element")) {
			allowed_add(&content->elements, &content->nr_elements, p, is_required);
		} else if (is_named(p, "attribute")) {
			allowed_add(&content->attributes, &content->nr_attributes, p, is_required);
		} else if (is_named(p, "ref")) {
			char *name = attribute(p, "name");
			const xmlNode *define = name ? find_define(p, name) : NULL;

			free(name);
			if (define)
				collect(define, is_required, content);
		} else if (is_named(p, "text") || is_named(p, "data")) {
			content->has_text = true;
		} else {
			bool may_be_absent =
				is_named(p, "optional") || is_named(p, "zeroOrMore") || is_named(p, "choice");

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

static int
fail_at(const struct explanation *e, const xmlNode *element)
{
	char *where = e->where(element);

	rot_error_prefix(e->err, "%s", where);
	free(where);
	return -1;
}

/* The nearest name if there is one, and all that are possible. */
static void
hint_names(const struct explanation *e, const char *word, const char *const *names, size_t nr, const char *what)
{
	const char *nearest = rot_nearest(word, names, nr);
	char *text = rot_format("%s%s%s%s%s", nearest ? "did you mean '" : "", nearest ? nearest : "",
				nearest ? "'? " : "", what, nr ? ":" : " nothing");

	for (size_t i = 0; i < nr; i++) {
		char *longer = rot_format("%s%s %s", text, i ? "," : "", names[i] ? names[i] : "anything");

		free(text);
		text = longer;
	}
	rot_error_hint(e->err, "%s", text);
	free(text);
}

static void
hint_allowed(const struct explanation *e, const char *word, const struct allowed *list, size_t nr, const char *what)
{
	const char **names = rot_calloc(nr + 1, sizeof(*names));

	for (size_t i = 0; i < nr; i++)
		names[i] = list[i].name;
	hint_names(e, word, names, nr, what);
	free(names);
}

static void
collect_choices(const xmlNode *pattern, const char ***values, size_t *nr)
{
	for (const xmlNode *p = pattern->children; p; p = p->next) {
		if (is_named(p, "choice")) {
			collect_choices(p, values, nr);
		} else if (is_named(p, "value") && p->children) {
			*values = rot_realloc(*values, *nr + 1, sizeof(**values));
			(*values)[(*nr)++] = (const char *)p->children->content;
		}
	}
}

static int
explain_value(const struct explanation *e, const xmlNode *element, const xmlAttr *a, const struct allowed *rule)
{
	const char **choices = NULL;
	size_t nr = 0;
	char *value = attribute(element, (const char *)a->name);
	bool is_valid = true;

	collect_choices(rule->pattern, &choices, &nr);
	for (size_t i = 0; i < nr; i++) {
		is_valid = strcmp(choices[i], value ? value : "") == 0;
		if (is_valid)
			break;
	}
	if (!is_valid) {
		rot_error_set(e->err, 0, "<%s %s=\"%s\">: not a possible value", element->name, a->name, value);
		hint_names(e, value, choices, nr, "expected");
		fail_at(e, element);
	}
	free(value);
	free(choices);
	return is_valid ? 0 : -1;
}

static int
explain_attributes(const struct explanation *e, const xmlNode *element, const struct content *content)
{
	for (const xmlAttr *a = element->properties; a; a = a->next) {
		const struct allowed *rule =
			allowed_find(content->attributes, content->nr_attributes, (const char *)a->name);

		if (!rule) {
			rot_error_set(e->err, 0, "<%s> has no attribute '%s'", element->name, a->name);
			hint_allowed(e, (const char *)a->name, content->attributes, content->nr_attributes, "possible");
			return fail_at(e, element);
		}
		if (explain_value(e, element, a, rule) < 0)
			return -1;
	}
	for (size_t i = 0; i < content->nr_attributes; i++) {
		const struct allowed *rule = &content->attributes[i];

		if (rule->is_required && rule->name && !xmlHasProp(element, (const xmlChar *)rule->name)) {
			rot_error_set(e->err, 0, "<%s> lacks the attribute '%s'", element->name, rule->name);
			return fail_at(e, element);
		}
	}
	return 0;
}

static int explain_element(const struct explanation *e, const xmlNode *element, const xmlNode *pattern);

static int
explain_children(const struct explanation *e, const xmlNode *element, const struct content *content)
{
	bool *seen = rot_calloc(content->nr_elements + 1, sizeof(*seen));
	int rc = 0;

	for (const xmlNode *child = element->children; child && rc == 0; child = child->next) {
		const struct allowed *rule =
			allowed_find(content->elements, content->nr_elements, (const char *)child->name);

		if (child->type == XML_TEXT_NODE && !content->has_text && !xmlIsBlankNode(child)) {
			rot_error_set(e->err, 0, "<%s> holds text, which means nothing there", element->name);
			rc = fail_at(e, element);
		} else if (child->type == XML_ELEMENT_NODE && !rule) {
			rot_error_set(e->err, 0, "<%s> is not expected in <%s>", child->name, element->name);
			hint_allowed(e, (const char *)child->name, content->elements, content->nr_elements,
				     "expected there");
			rc = fail_at(e, child);
		} else if (child->type == XML_ELEMENT_NODE) {
			seen[rule - content->elements] = true;
			rc = explain_element(e, child, rule->pattern);
		}
	}
	for (size_t i = 0; i < content->nr_elements && rc == 0; i++)
		if (content->elements[i].is_required && !seen[i] && content->elements[i].name) {
			rot_error_set(e->err, 0, "<%s> lacks a <%s>", element->name, content->elements[i].name);
			rc = fail_at(e, element);
		}
	free(seen);
	return rc;
}

static int
explain_element(const struct explanation *e, const xmlNode *element, const xmlNode *pattern)
{
	struct content content = {0};
	int rc = 0;

	collect(pattern, true, &content);
	if (explain_attributes(e, element, &content) < 0 || explain_children(e, element, &content) < 0)
		rc = -1;
	content_clear(&content);
	return rc;
}

static int
explain(const struct explanation *e, xmlDoc *doc, const char *schema_path)
{
	xmlDoc *schema = xmlReadFile(schema_path, NULL, XML_PARSE_NOBLANKS | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	const xmlNode *root = xmlDocGetRootElement(doc),
		      *start = schema ? xmlDocGetRootElement(schema)->children : NULL;
	struct content content = {0};
	int rc = 0;

	while (start && !is_named(start, "start"))
		start = start->next;
	if (start) {
		const struct allowed *rule;

		collect(start, true, &content);
		rule = allowed_find(content.elements, content.nr_elements, (const char *)root->name);
		if (rule) {
			rc = explain_element(e, root, rule->pattern);
		} else {
			rot_error_set(e->err, 0, "the root element is <%s>", root->name);
			hint_allowed(e, (const char *)root->name, content.elements, content.nr_elements, "expected");
			rc = fail_at(e, root);
		}
		content_clear(&content);
	}
	xmlFreeDoc(schema);
	return rc;
}

/* ---- validating ---- */

/* libxml2's first complaint, for what explain does not know. */
struct complaint {
	const xmlNode *node;
	char *text;
};

static void
keep_first(void *context, XML_ERROR *error)
{
	struct complaint *complaint = context;

	if (complaint->text)
		return;
	complaint->node = error->node;
	complaint->text = rot_strdup(error->message);
	complaint->text[strcspn(complaint->text, "\n")] = '\0';
}

int
schema_validate(xmlDoc *doc, const char *schema_path, char *(*where)(const xmlNode *element), struct rot_error *err)
{
	struct explanation e = {where, err};
	struct complaint complaint = {0};
	xmlRelaxNGParserCtxt *parser = xmlRelaxNGNewParserCtxt(schema_path);
	xmlRelaxNG *schema;
	xmlRelaxNGValidCtxt *validation = NULL;
	int rc = -1;

	xmlRelaxNGSetParserStructuredErrors(parser, keep_first, &complaint);
	schema = xmlRelaxNGParse(parser);
	if (!schema) {
		rot_error_set(err, 0, "cannot read the schema '%s': %s", schema_path,
			      complaint.text ? complaint.text : "unknown reason");
		rot_error_hint(err, "rot's data folder is damaged: install rot again");
		goto out;
	}
	validation = xmlRelaxNGNewValidCtxt(schema);
	xmlRelaxNGSetValidStructuredErrors(validation, keep_first, &complaint);
	if (xmlRelaxNGValidateDoc(validation, doc) == 0) {
		rc = 0;
	} else if (explain(&e, doc, schema_path) == 0) {
		rot_error_set(err, 0, "%s", complaint.text ? complaint.text : "not valid");
		fail_at(&e, complaint.node && complaint.node->type == XML_ELEMENT_NODE ? complaint.node
										       : xmlDocGetRootElement(doc));
	}
out:
	xmlRelaxNGFreeValidCtxt(validation);
	xmlRelaxNGFree(schema);
	xmlRelaxNGFreeParserCtxt(parser);
	free(complaint.text);
	return rc;
}
