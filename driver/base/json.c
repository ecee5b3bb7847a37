/* SPDX-License-Identifier: MIT */
/* Values as JSON and back. */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "entity.h"
#include "memory.h"
#include "number.h"

json_t *
json_number(double number)
{
	if (!isfinite(number))
		return json_null();
	if (number == floor(number) && fabs(number) < 9e15)
		return json_integer((json_int_t)number);
	return json_real(number);
}

json_t *
json_real_or_null(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *
json_text(const char *text)
{
	autofree char *clean = utf8_text(text ? text : "");

	return json_string(clean);
}

static void
add_field(json_t *json, const void *entity, const struct rot_field *field)
{
	double number;

	if (field->is_list || field->type == ROT_REFERENCE)
		return;
	if (field->type == ROT_STRING) {
		autofree char *text = rot_entity_get(entity, field->name);

		json_object_set_new(json, field->name, json_text(text));
	} else if (field->type == ROT_BOOL && rot_entity_number(entity, field->name, &number)) {
		json_object_set_new(json, field->name, json_boolean(number != 0));
	} else if (rot_entity_number(entity, field->name, &number)) {
		json_object_set_new(json, field->name, json_number(number));
	}
}

json_t *
json_entity(const void *entity)
{
	const struct rot_class *class = ((const struct rot_entity *)entity)->class;
	size_t nr = rot_class_nr_fields(class);
	json_t *json = json_object();

	for (size_t i = 0; i < nr; i++)
		add_field(json, entity, rot_class_field_at(class, i));
	return json;
}

void
json_entity_fill(void *entity, const json_t *object)
{
	json_t *value;
	const char *key;

	json_object_foreach((json_t *)object, key, value) {
		if (json_is_string(value)) {
			rot_entity_set(entity, key, json_string_value(value), NULL);
		} else if (json_is_integer(value)) {
			autofree char *text = rot_format("%lld", (long long)json_integer_value(value));

			rot_entity_set(entity, key, text, NULL);
		}
	}
}

char *
json_plain_text(const json_t *value)
{
	return json_is_string(value)   ? rot_strdup(json_string_value(value))
	       : json_is_number(value) ? rot_number_in_full(json_number_value(value))
				       : rot_strdup("");
}

double
json_number_at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *
json_text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

const json_t *
json_named(const json_t *array, const char *name)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item) {
		if (strcmp(json_text_at(item, "name"), name) == 0)
			return item;
	}
	return NULL;
}

static void
drop_reference(void *json)
{
	json_decref(json);
}

json_t *
json_in_pool(struct pool *pool, json_t *json)
{
	return pool_own(pool, json, drop_reference);
}
