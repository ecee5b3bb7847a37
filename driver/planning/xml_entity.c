/* SPDX-License-Identifier: MIT */
/* Entities as controllers write them. */
#include "planning/xml_entity.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "number.h"
#include "planning/controller_file.h"
#include "rule_check.h"

/* An entity that can be referred to, or a member that waits for one. */
struct label {
	const char *name;
	void *entity;
};

struct pending {
	const char *name;
	const xmlNode *element;
	const struct rot_field *field;
	void *owner;
};

/* Where an entity was made. */
struct origin {
	const void *entity;
	const xmlNode *element;
};

struct entity_reading {
	struct pool *pool; /* of what is below */
	const struct rot_registry *registry;
	const struct expression_scope *scope;
	struct label *labels;
	size_t nr_labels;
	struct pending *pending;
	size_t nr_pending;
	struct origin *origins;
	size_t nr_origins;
};

static int fill_entity(struct entity_reading *reading, void *entity, const xmlNode *element, struct rot_error *err);

/* ---- fields by the name of an element ---- */

static const struct rot_field *
field_of_element(const struct rot_class *class, const xmlNode *element)
{
	const char *name = (const char *)element->name;
	autofree char *plural = rot_format("%ss", name);
	const struct rot_field *field = rot_class_field(class, name), *list = rot_class_field(class, plural);

	return field ? field : list && list->is_list ? list : NULL;
}

struct names {
	const char **items;
	size_t nr;
};

static void
names_add(struct names *names, const char *name)
{
	rot_add(names->items, names->nr) = name;
}

/* Empties names. */
static int
hint_names(struct names *names, const char *word, const char *what, const char *none, struct rot_error *err)
{
	if (names->nr)
		rot_nearest_hint_all(err, word, names->items, names->nr, what);
	else
		rot_error_hint(err, "%s", none);
	free(names->items);
	return -1;
}

static int
unknown_field(const struct rot_class *class, const xmlNode *element, struct rot_error *err)
{
	size_t nr = rot_class_nr_fields(class);
	struct names names = {0};

	for (size_t i = 0; i < nr; i++) {
		const struct rot_field *field = rot_class_field_at(class, i);

		if (field->is_list || field->type == ROT_REFERENCE)
			names_add(&names, field->name);
	}
	rot_error_set(err, 0, "%s has no field for <%s>", class->name, element->name);
	hint_names(&names, (const char *)element->name, "possible",
		   "it holds no other entities: write its fields as attributes", err);
	return xml_error_at(element, err);
}

/* ---- classes ---- */

static int
unknown_class(const struct entity_reading *reading, const struct rot_class *target, const char *name,
	      const xmlNode *element, struct rot_error *err)
{
	struct names names = {0};

	for (size_t i = 0; i < rot_registry_size(reading->registry); i++) {
		const struct rot_class *class = rot_registry_at(reading->registry, i);

		if (!class->is_abstract && rot_class_is_a(class, target))
			names_add(&names, class->name);
	}
	hint_names(&names, name, "possible", "there is none", err);
	return xml_error_at(element, err);
}

static const struct rot_class *
class_of_element(const struct entity_reading *reading, const struct rot_class *target, const xmlNode *element,
		 struct rot_error *err)
{
	const char *type = xml_evaluated(reading->pool, element, "type", target->name, reading->scope, err);
	const struct rot_class *class = type ? rot_registry_find(reading->registry, type) : NULL;

	if (!type)
		return NULL;
	if (!class || class->is_abstract || !rot_class_is_a(class, target)) {
		if (!class)
			rot_error_set(err, 0, "<%s type=\"%s\">: no such class", element->name, type);
		else if (class->is_abstract && class == target)
			rot_error_set(err, 0, "<%s> must say its type, as there are several", element->name);
		else
			rot_error_set(err, 0, "<%s type=\"%s\">: not a possible %s", element->name, type, target->name);
		unknown_class(reading, target, type, element, err);
		return NULL;
	}
	return class;
}

/* ---- members ---- */

static void *
label_find(const struct entity_reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->nr_labels; i++)
		if (strcmp(reading->labels[i].name, name) == 0)
			return reading->labels[i].entity;
	return NULL;
}

static void
member_set(void *owner, const struct rot_field *field, void *entity)
{
	if (field->is_list)
		rot_list_add(rot_field_of(owner, field), ROT_REFERENCE, &entity);
	else
		*(void **)rot_field_of(owner, field) = entity;
}

static int
read_reference(struct entity_reading *reading, void *owner, const struct rot_field *field, const xmlNode *element,
	       struct rot_error *err)
{
	const char *ref = xml_unevaluated(reading->pool, element, "ref", NULL),
		   *id = xml_unevaluated(reading->pool, element, "id", NULL);
	const struct rot_class *class;
	void *entity;

	for (const xmlNode *other = field->is_list ? NULL : element->prev; other; other = other->prev)
		if (xml_is(other, (const char *)element->name)) {
			rot_error_set(err, 0, "<%s> is there twice in <%s>", element->name, element->parent->name);
			return xml_error_at(element, err);
		}
	if (ref) {
		pool_add(reading->pool, reading->pending, reading->nr_pending) =
			(struct pending){ref, element, field, owner};
		if (field->is_list)
			member_set(owner, field, NULL); /* keeps the place */
		return 0;
	}
	class = class_of_element(reading, field->target, element, err);
	if (!class)
		return -1;
	entity = rot_entity_new(class);
	member_set(owner, field, entity);
	pool_add(reading->pool, reading->origins, reading->nr_origins) = (struct origin){entity, element};
	if (id && label_find(reading, id)) {
		rot_error_set(err, 0, "<%s id=\"%s\">: another entity has this id", element->name, id);
		return xml_error_at(element, err);
	}
	if (id)
		pool_add(reading->pool, reading->labels, reading->nr_labels) = (struct label){id, entity};
	return fill_entity(reading, entity, element, err);
}

/* Items of primitive lists go through an entity field's parser by way of the only type in use: text. */
static int
read_item(struct entity_reading *reading, void *owner, const struct rot_field *field, const xmlNode *element,
	  struct rot_error *err)
{
	char *value = xml_evaluated(reading->pool, element, "value", NULL, reading->scope, err);
	double number;
	bool is_number;

	if (!value && !xmlHasProp(element, (const xmlChar *)"value")) {
		rot_error_set(err, 0, "<%s> lacks the attribute 'value'", element->name);
		return xml_error_at(element, err);
	}
	if (!value)
		return -1;
	is_number = rot_number_parse(value, &number);
	if (field->type == ROT_STRING) {
		rot_list_add(rot_field_of(owner, field), ROT_STRING, &value);
	} else if (field->type == ROT_DOUBLE && is_number) {
		rot_list_add(rot_field_of(owner, field), ROT_DOUBLE, &number);
	} else if (field->type == ROT_INT && is_number && number == (int32_t)number) {
		rot_list_add(rot_field_of(owner, field), ROT_INT, &(int32_t){(int32_t)number});
	} else {
		rot_error_set(err, 0, "<%s value=\"%s\">: not a possible value", element->name, value);
		return xml_error_at(element, err);
	}
	return 0;
}

static int
set_attribute(const struct entity_reading *reading, void *entity, const xmlNode *element, const char *name,
	      struct rot_error *err)
{
	const char *value = xml_evaluated(reading->pool, element, name, NULL, reading->scope, err);

	if (!value)
		return -1;
	return rot_entity_set(entity, name, value, err) < 0 ? xml_error_at(element, err) : 0;
}

static int
fill_children(struct entity_reading *reading, void *entity, const xmlNode *element, bool pass_over_unknown,
	      struct rot_error *err)
{
	for (const xmlNode *child = xml_child(element, NULL); child; child = xml_next(child, NULL)) {
		const struct rot_class *class = ((struct rot_entity *)entity)->class;
		const struct rot_field *field = field_of_element(class, child);
		int rc;

		if (!field && pass_over_unknown)
			continue;
		if (!field)
			return unknown_field(class, child, err);
		if (field->type == ROT_REFERENCE) {
			rc = read_reference(reading, entity, field, child, err);
		} else if (field->is_list) {
			rc = read_item(reading, entity, field, child, err);
		} else {
			rot_error_set(err, 0, "'%s' of %s is a plain value", field->name, class->name);
			rot_error_hint(err, "write it as an attribute: %s=\"...\"", field->name);
			rc = xml_error_at(child, err);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int
fill_entity(struct entity_reading *reading, void *entity, const xmlNode *element, struct rot_error *err)
{
	for (const xmlAttr *a = element->properties; a; a = a->next) {
		const char *name = (const char *)a->name;

		if (strcmp(name, "type") != 0 && strcmp(name, "id") != 0 &&
		    set_attribute(reading, entity, element, name, err) < 0)
			return -1;
	}
	return fill_children(reading, entity, element, false, err);
}

/* ---- references ---- */

static int
resolve(const struct entity_reading *reading, const struct pending *pending, struct rot_error *err)
{
	void *entity = label_find(reading, pending->name);
	struct names names = {0};

	if (!entity) {
		for (size_t i = 0; i < reading->nr_labels; i++)
			names_add(&names, reading->labels[i].name);
		rot_error_set(err, 0, "<%s ref=\"%s\">: no entity has this id", pending->element->name, pending->name);
		hint_names(&names, pending->name, "there are", "give the entity that is meant an attribute id", err);
		return xml_error_at(pending->element, err);
	}
	if (!rot_is_a(entity, pending->field->target)) {
		rot_error_set(err, 0, "<%s ref=\"%s\">: that is a %s, not a %s", pending->element->name, pending->name,
			      ((struct rot_entity *)entity)->class->name, pending->field->target->name);
		return xml_error_at(pending->element, err);
	}
	if (pending->field->is_list) {
		struct rot_list *list = rot_field_of(pending->owner, pending->field);
		void **items = list->items;

		for (size_t i = 0; i < list->nr; i++)
			if (!items[i]) {
				items[i] = entity;
				return 0;
			}
	}
	member_set(pending->owner, pending->field, entity);
	return 0;
}

static int
resolve_all(struct entity_reading *reading, struct rot_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < reading->nr_pending && rc == 0; i++)
		rc = resolve(reading, &reading->pending[i], err);
	return rc;
}

/* measurement: NULL for rules of a program.   element: of them all, where the reason has none of its own. */
static int
check_rules(const struct entity_reading *reading, const struct rot_list *rules, const struct measurement *measurement,
	    const xmlNode *element, struct rot_error *err)
{
	for (size_t i = 0; i < rules->nr; i++) {
		const void *culprit;

		if (rule_check(((struct rule **)rules->items)[i], measurement, false, &culprit, err) == 0)
			continue;
		for (size_t j = 0; j < reading->nr_origins; j++)
			if (reading->origins[j].entity == culprit)
				element = reading->origins[j].element;
		return xml_error_at(element, err);
	}
	return 0;
}

struct measurement *
xml_measurement(const xmlNode *element, const struct rot_registry *registry, const struct expression_scope *scope,
		struct rot_error *err)
{
	autopool pool = {0};
	struct entity_reading reading = {.pool = &pool, .registry = registry, .scope = scope};
	autograph struct measurement *measurement = measurement_new();

	if (fill_children(&reading, measurement, element, true, err) == 0 && resolve_all(&reading, err) == 0 &&
	    check_rules(&reading, &measurement->rules, measurement, element, err) == 0)
		return rot_keep(&measurement);
	return NULL;
}

/* ---- programs ---- */

/* Attributes that the workload has not are the program's. */
static int
set_program_attributes(const struct entity_reading *reading, struct program_workload *workload, const xmlNode *element,
		       struct rot_error *err)
{
	for (const xmlAttr *a = element->properties; a; a = a->next) {
		const char *name = (const char *)a->name;
		bool is_of_workload = rot_class_field(&program_workload_class, name) != NULL;

		if (strcmp(name, "passes") == 0)
			continue;
		if (set_attribute(reading, is_of_workload ? (void *)workload : workload->program, element, name, err) <
		    0)
			return -1;
	}
	return 0;
}

static int
check_environment(const struct program *program, const xmlNode *element, struct rot_error *err)
{
	for (size_t i = 0; i < program_nr_environment(program); i++) {
		const char *variable = program_environment_at(program, i);

		if (strchr(variable, '=') && variable[0] != '=')
			continue;
		rot_error_set(err, 0, "<environment value=\"%s\">: not NAME=value", variable);
		return xml_error_at(element, err);
	}
	return 0;
}

/* "program" is what the whole is called where regions have their names. */
static int
check_regions(const struct program_workload *workload, const xmlNode *element, struct rot_error *err)
{
	for (size_t i = 0; i < program_workload_nr_regions(workload); i++) {
		const char *name = program_workload_regions_at(workload, i)->name;
		bool is_taken = !name[0] || strcmp(name, "program") == 0;

		for (size_t j = 0; j < i; j++)
			is_taken = is_taken || strcmp(name, program_workload_regions_at(workload, j)->name) == 0;
		if (!is_taken)
			continue;
		rot_error_set(err, 0, "<region name=\"%s\">: each region needs a name of its own, other than program",
			      name);
		return xml_error_at(element, err);
	}
	return 0;
}

struct program_workload *
xml_program_workload(const xmlNode *element, const struct rot_registry *registry, const struct expression_scope *scope,
		     struct rot_error *err)
{
	autopool pool = {0};
	struct entity_reading reading = {.pool = &pool, .registry = registry, .scope = scope};
	autograph struct program_workload *workload = program_workload_new();

	workload->program = program_new();
	if (set_program_attributes(&reading, workload, element, err) == 0 &&
	    fill_children(&reading, workload, element, true, err) == 0 &&
	    fill_children(&reading, workload->program, element, true, err) == 0 && resolve_all(&reading, err) == 0 &&
	    check_environment(workload->program, element, err) == 0 && check_regions(workload, element, err) == 0 &&
	    check_rules(&reading, &workload->rules, NULL, element, err) == 0)
		return rot_keep(&workload);
	return NULL;
}
