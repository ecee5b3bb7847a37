/* SPDX-License-Identifier: MIT */
/* Single entities: making, setting and getting fields. */
#include "entity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "value.h"

/* Strings are never NULL; other members without a default stay zero. */
static void
set_default(void *entity, const struct rot_field *field)
{
	const char *wrong = NULL;

	if (field->is_list || field->type == ROT_REFERENCE)
		return;
	if (field->default_text)
		wrong = value_types[field->type].parse(rot_field_of(entity, field), field->default_text);
	else if (field->type == ROT_STRING)
		rot_string_set(rot_field_of(entity, field), "");
	assert(!wrong);
	(void)wrong;
}

void *
rot_entity_new(const struct rot_class *class)
{
	size_t nr = rot_class_nr_fields(class);
	struct rot_entity *entity;

	assert(!class->is_abstract);
	entity = rot_calloc(1, class->instance_size ? *class->instance_size : class->size);
	entity->class = class;
	for (size_t i = 0; i < nr; i++)
		set_default(entity, rot_class_field_at(class, i));
	return entity;
}

void
rot_entity_delete(void *entity)
{
	const struct rot_class *class = entity ? ROT_ENTITY(entity)->class : NULL;
	size_t nr = rot_class_nr_fields(class);

	for (size_t i = 0; i < nr; i++) {
		const struct rot_field *field = rot_class_field_at(class, i);
		size_t nr_values;
		void *slots = value_slots(entity, field, &nr_values);

		for (size_t k = 0; k < nr_values && field->type == ROT_STRING; k++)
			free(*(char **)value_slot(field, slots, k));
		if (field->is_list)
			free(slots);
	}
	free(entity);
}

bool
rot_is_a(const void *entity, const struct rot_class *class)
{
	return entity && rot_class_is_a(((const struct rot_entity *)entity)->class, class);
}

void *
rot_cast(void *entity, const struct rot_class *class)
{
	return rot_is_a(entity, class) ? entity : NULL;
}

void *
rot_field_of(const void *entity, const struct rot_field *field)
{
	return (char *)entity + field->offset;
}

int
rot_entity_set(void *entity, const char *name, const char *text, struct rot_error *err)
{
	const struct rot_class *class = ROT_ENTITY(entity)->class;
	const struct rot_field *field = rot_class_field(class, name);
	const char *wrong;

	if (!field) {
		/* Names that nearly match belong into the hint. */
		size_t nr = rot_class_nr_fields(class);
		autofree const char **names = rot_calloc(nr, sizeof(*names));

		for (size_t i = 0; i < nr; i++)
			names[i] = rot_class_field_at(class, i)->name;
		rot_error_set(err, 0, "class %s has no field '%s'", class->name, name);
		rot_nearest_hint(err, name, names, nr, "");
		return -1;
	}
	if (field->is_list || field->type == ROT_REFERENCE)
		return rot_error_set(err, 0, "class %s, field %s: a %s cannot be set from text", class->name, name,
				     field->is_list ? "list" : "reference");
	wrong = value_parse(field, rot_field_of(entity, field), text);
	if (!wrong)
		return 0;
	rot_error_set(err, 0, "class %s, field %s: '%s' %s", class->name, name, text, wrong);
	if (field->values)
		rot_error_hint(err, "allowed: %s", field->values);
	return -1;
}

/* The field of that name if it holds one primitive value. */
static const struct rot_field *
primitive_field(const void *entity, const char *name)
{
	const struct rot_field *field = rot_class_field(((const struct rot_entity *)entity)->class, name);

	return field && !field->is_list && field->type != ROT_REFERENCE ? field : NULL;
}

char *
rot_entity_get(const void *entity, const char *name)
{
	const struct rot_field *field = primitive_field(entity, name);
	char room[VALUE_ROOM];

	return field ? rot_strdup(value_types[field->type].text(rot_field_of(entity, field), room)) : NULL;
}

bool
rot_entity_number(const void *entity, const char *name, double *value)
{
	const struct rot_field *field = primitive_field(entity, name);

	if (!field || !value_types[field->type].number)
		return false;
	*value = value_types[field->type].number(rot_field_of(entity, field));
	return true;
}

void
rot_list_add(struct rot_list *list, enum rot_type type, const void *value)
{
	size_t size = value_types[type].size;
	char item[sizeof(uint64_t)];
	char *copy;

	if (type == ROT_STRING) {
		copy = rot_strdup(value_string(value));
		value = &copy;
	}
	memcpy(item, value, size);
	list->items = rot_grow(list->items, list->nr, size);
	memcpy((char *)list->items + list->nr * size, item, size);
	list->nr++;
}

void
rot_string_set(char **member, const char *value)
{
	char *copy = rot_strdup(value);

	free(*member);
	*member = copy;
}
