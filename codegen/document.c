/* SPDX-License-Identifier: MIT */
/* Entities in XML documents: entities first, then the references between them. */
#include "document.h"

#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

#include "building.h"
#include "escape.h"
#include "memory.h"
#include "value.h"
#include "xml_file.h"

/* Entities within entities that are followed; what rot_xml_write gives stays far below. */
#define MAX_DEPTH 1000

struct reader {
	const char *name;
	xmlDocPtr document; /* the element of an entity has the entity's number + 1 in _private */
	struct building building;
	struct pending { /* references by xml:id, which may lead forward */
		xmlNodePtr node;
		struct rot_entity *holder;
		const struct rot_field *field;
		size_t item;
	} * pending;
	size_t nr_pending;
	size_t depth;
	struct rot_error *err;
};

static int read_entity(struct reader *reader, xmlNodePtr node);

static const char *
name_of(const xmlNode *node)
{
	return (const char *)node->name;
}

/* Puts the position, and the field if it is not NULL, in front of the message. Returns -1. */
static int
fail_at(const struct reader *reader, const xmlNode *node, const struct rot_entity *entity,
	const struct rot_field *field)
{
	if (field)
		rot_error_prefix(reader->err, "class %s, field %s", entity->class->name, field->name);
	return rot_error_prefix(reader->err, "%s:%ld", reader->name, xmlGetLineNo(node));
}

/* Sets *element to the first element at or behind *element, or NULL. -1: there is text on the way. */
static int
skip_to_element(const struct reader *reader, xmlNodePtr *element)
{
	xmlNodePtr node = *element;

	for (; node && node->type != XML_ELEMENT_NODE; node = node->next) {
		if (node->type == XML_COMMENT_NODE || node->type == XML_PI_NODE || xmlIsBlankNode(node))
			continue;
		rot_error_set(reader->err, 0, "there is text between the elements");
		return fail_at(reader, node->parent, NULL, NULL);
	}
	*element = node;
	return 0;
}

/* Calls read for each child element; entity and field are handed on. */
static int
each_child(struct reader *reader, xmlNodePtr parent, struct rot_entity *entity, const struct rot_field *field,
	   int (*read)(struct reader *reader, xmlNodePtr node, struct rot_entity *entity,
		       const struct rot_field *field))
{
	xmlNodePtr child = parent->children;
	int rc = skip_to_element(reader, &child);

	while (rc == 0 && child) {
		rc = read(reader, child, entity, field);
		child = child->next;
		if (rc == 0)
			rc = skip_to_element(reader, &child);
	}
	return rc;
}

/* ---- primitive values ---- */

static int
read_value(struct reader *reader, const struct rot_field *field, void *slot, const char *text)
{
	autofree char *decoded = escape_decode(text);
	const char *wrong =
		decoded ? value_parse(field, slot, decoded) : "has an unknown escape ('\\' is written '\\\\')";

	if (!wrong)
		return 0;
	rot_error_set(reader->err, 0, "'%s' %s", text, wrong);
	if (field->values)
		rot_error_hint(reader->err, "allowed: %s", field->values);
	return -1;
}

/* The number of an entity is unique, and so must be its xml:id. */
static int
check_id(const struct reader *reader, xmlNodePtr node, const xmlAttr *id)
{
	xmlChar *value = xmlNodeListGetString(reader->document, id->children, 1);
	const xmlAttr *first = value ? xmlGetID(reader->document, value) : NULL;
	int rc = 0;

	if (strcmp((const char *)id->name, "id") != 0 || strcmp((const char *)id->ns->prefix, "xml") != 0)
		rc = rot_error_set(reader->err, 0, "unexpected attribute '%s:%s'", (const char *)id->ns->prefix,
				   (const char *)id->name);
	else if (!value || xmlValidateNCName(value, 0) != 0 || first != id)
		rc = rot_error_set(reader->err, 0, "xml:id '%s' is not a name or exists already",
				   value ? (const char *)value : "");
	xmlFree(value);
	return rc < 0 ? fail_at(reader, node, NULL, NULL) : 0;
}

static int
read_attribute(struct reader *reader, xmlNodePtr node, struct rot_entity *entity, const xmlAttr *from)
{
	const struct rot_field *field = rot_class_field(entity->class, (const char *)from->name);
	char *text;
	int rc;

	if (from->ns)
		return check_id(reader, node, from);
	if (!field || field->is_list || field->type == ROT_REFERENCE) {
		rot_entity_set(entity, (const char *)from->name, "", reader->err);
		return fail_at(reader, node, NULL, NULL);
	}
	text = xml_attribute(node, field->name, NULL);
	rc = read_value(reader, field, rot_field_of(entity, field), text);
	free(text);
	return rc < 0 ? fail_at(reader, node, entity, field) : 0;
}

/* ---- references and lists ---- */

/* node: an element with a ref. */
static void
note_pending(struct reader *reader, xmlNodePtr node, struct rot_entity *holder, const struct rot_field *field,
	     size_t item)
{
	size_t nr = reader->nr_pending;

	reader->pending = rot_grow(reader->pending, nr, sizeof(*reader->pending));
	reader->pending[nr] = (struct pending){.node = node, .holder = holder, .field = field, .item = item};
	reader->nr_pending++;
}

/* An entity inside the reference that leads to it. */
static int
read_target(struct reader *reader, xmlNodePtr node, struct rot_entity *holder, const struct rot_field *field,
	    size_t item)
{
	size_t target = reader->building.nr;

	if (read_entity(reader, node) < 0)
		return -1;
	building_refer(&reader->building, holder, field, item, target, xmlGetLineNo(node));
	return 0;
}

static int
read_reference(struct reader *reader, xmlNodePtr node, struct rot_entity *entity, const struct rot_field *field)
{
	xmlNodePtr child = node->children, second;

	if (skip_to_element(reader, &child) < 0)
		return -1;
	if (xmlHasProp(node, (const xmlChar *)"ref"))
		note_pending(reader, node, entity, field, 0);
	else if (child && read_target(reader, child, entity, field, 0) < 0)
		return -1;
	second = child && !xmlHasProp(node, (const xmlChar *)"ref") ? child->next : child;
	if (skip_to_element(reader, &second) < 0)
		return -1;
	if (!second)
		return 0;
	rot_error_set(reader->err, 0, "a reference holds one entity, not also <%s>", name_of(second));
	return fail_at(reader, second, entity, field);
}

static int
read_item(struct reader *reader, xmlNodePtr node, struct rot_entity *entity, const struct rot_field *field)
{
	struct rot_list *list = rot_field_of(entity, field);
	bool is_item = strcmp(name_of(node), "item") == 0;
	char *value;
	int rc = 0;

	building_add_item(entity, field);
	if (field->type == ROT_REFERENCE && !is_item)
		return read_target(reader, node, entity, field, list->nr - 1);
	if (field->type == ROT_REFERENCE) {
		if (xmlHasProp(node, (const xmlChar *)"ref"))
			note_pending(reader, node, entity, field, list->nr - 1);
		return 0;
	}
	value = is_item ? xml_attribute(node, "value", NULL) : NULL;
	if (!value)
		rc = rot_error_set(reader->err, 0, "expected <item value=\"...\"/>, found <%s>", name_of(node));
	else
		rc = read_value(reader, field, value_slot(field, list->items, list->nr - 1), value);
	free(value);
	return rc < 0 ? fail_at(reader, node, entity, field) : 0;
}

/* The field is the one the element names. */
static int
read_field(struct reader *reader, xmlNodePtr node, struct rot_entity *entity, const struct rot_field *field)
{
	field = rot_class_field(entity->class, name_of(node));

	if (!field) {
		rot_entity_set(entity, name_of(node), "", reader->err);
		return fail_at(reader, node, NULL, NULL);
	}
	for (const xmlNode *other = node->prev; other; other = other->prev)
		if (other->type == XML_ELEMENT_NODE && xmlStrEqual(other->name, node->name)) {
			rot_error_set(reader->err, 0, "given twice");
			return fail_at(reader, node, entity, field);
		}
	if (field->is_list)
		return each_child(reader, node, entity, field, read_item);
	if (field->type == ROT_REFERENCE)
		return read_reference(reader, node, entity, field);
	rot_error_set(reader->err, 0, "is an attribute, not an element");
	return fail_at(reader, node, entity, field);
}

/* ---- entities ---- */

static int
read_entity(struct reader *reader, xmlNodePtr node)
{
	struct rot_entity *entity;
	int rc = 0;

	if (reader->depth >= MAX_DEPTH) {
		rot_error_set(reader->err, 0, "entities are nested too deeply (more than %d); use xml:id and ref",
			      MAX_DEPTH);
		return fail_at(reader, node, NULL, NULL);
	}
	entity = building_add(&reader->building, name_of(node), xmlGetLineNo(node), reader->err);
	if (!entity)
		return fail_at(reader, node, NULL, NULL);
	node->_private = (void *)(uintptr_t)reader->building.nr;
	reader->depth++;
	for (const xmlAttr *from = node->properties; from && rc == 0; from = from->next)
		rc = read_attribute(reader, node, entity, from);
	if (rc == 0)
		rc = each_child(reader, node, entity, NULL, read_field);
	reader->depth--;
	return rc;
}

static int
resolve_pending(struct reader *reader, const struct pending *pending)
{
	autofree char *ref = xml_attribute(pending->node, "ref", NULL);
	const xmlAttr *id = xmlGetID(reader->document, (const xmlChar *)ref);
	size_t number = id ? (size_t)(uintptr_t)id->parent->_private : 0;

	if (number)
		building_refer(&reader->building, pending->holder, pending->field, pending->item, number - 1,
			       xmlGetLineNo(pending->node));
	else
		rot_error_set(reader->err, 0, "no entity has the xml:id '%s'", ref);
	return number ? 0 : fail_at(reader, pending->node, pending->holder, pending->field);
}

static int
read_root(struct reader *reader, xmlNodePtr node, struct rot_entity *entity, const struct rot_field *field)
{
	(void)entity, (void)field;
	return read_entity(reader, node);
}

void *
document_read(const struct rot_registry *registry, const char *xml, size_t len, const char *name, struct rot_error *err)
{
	struct reader reader = {.name = name, .err = err, .building = {.registry = registry}};
	void *root = NULL;
	int rc = -1;

	reader.document = xml_text_read(name, xml, len, err);
	if (reader.document) {
		xmlNodePtr top = xmlDocGetRootElement(reader.document);
		bool is_graph = strcmp(name_of(top), "graph") == 0;

		rc = is_graph ? each_child(&reader, top, NULL, NULL, read_root) : read_entity(&reader, top);
	}
	for (size_t i = 0; i < reader.nr_pending && rc == 0; i++)
		rc = resolve_pending(&reader, &reader.pending[i]);
	if (rc == 0)
		root = building_finish(&reader.building, name, err);
	building_clear(&reader.building);
	xmlFreeDoc(reader.document);
	free(reader.pending);
	return root;
}
