/* SPDX-License-Identifier: MIT */
#include "json_schema.h"

#include "testing.h"

static char *check(const json_t *root, const json_t *schema, const json_t *value, const char *path);

/* Is the value of the type that JSON Schema calls so? */
static bool
is_type(const json_t *value, const char *name)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "object", [JSON_ARRAY] = "array",  [JSON_STRING] = "string", [JSON_INTEGER] = "integer",
		[JSON_REAL] = "number",   [JSON_TRUE] = "boolean", [JSON_FALSE] = "boolean", [JSON_NULL] = "null"};

	if (json_is_real(value) && strcmp(name, "integer") == 0)
		return json_real_value(value) == floor(json_real_value(value));
	return strcmp(names[json_typeof(value)], name) == 0 || (json_is_integer(value) && strcmp(name, "number") == 0);
}

static bool
has_type(const json_t *value, const json_t *types)
{
	bool is_it = json_is_string(types) && is_type(value, json_string_value(types));

	for (size_t i = 0; i < json_array_size(types); i++)
		is_it = is_it || is_type(value, json_string_value(json_array_get(types, i)));
	return is_it;
}

static bool
is_one_of(const json_t *value, const json_t *values)
{
	for (size_t i = 0; i < json_array_size(values); i++)
		if (json_equal(value, json_array_get(values, i)))
			return true;
	return false;
}

/* Members that are there, and that must be. A schema without properties is of any object. */
static char *
check_members(const json_t *root, const json_t *schema, const json_t *value, const char *path)
{
	const json_t *required = json_object_get(schema, "required"), *own = json_object_get(schema, "properties"),
		     *others = json_object_get(schema, "additionalProperties");
	char *error = NULL;
	const char *key;
	json_t *member;

	for (size_t i = 0; i < json_array_size(required); i++) {
		key = json_string_value(json_array_get(required, i));
		if (!json_object_get(value, key))
			return rot_format("%s has no %s", path, key);
	}
	json_object_foreach((json_t *)value, key, member) {
		const json_t *of_member = json_object_get(own, key);
		char *below = rot_format("%s.%s", path, key);

		of_member = of_member ? of_member : others;
		if (of_member)
			error = check(root, of_member, member, below);
		else if (own)
			error = rot_format("%s is not in the schema", below);
		free(below);
		if (error)
			return error;
	}
	return NULL;
}

static char *
check_items(const json_t *root, const json_t *schema, const json_t *value, const char *path)
{
	const json_t *of_items = json_object_get(schema, "items");
	char *error = NULL;

	for (size_t i = 0; of_items && !error && i < json_array_size(value); i++) {
		autofree char *below = rot_format("%s[%zu]", path, i);

		error = check(root, of_items, json_array_get(value, i), below);
	}
	return error;
}

/* A word of the schema that is not looked at would be a promise that nobody keeps. */
static void
expect_known_words(const json_t *schema)
{
	static const char words[] = " $schema $defs title description type const enum required properties "
				    "additionalProperties items $ref ";
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)schema, key, member) {
		autofree char *word = rot_format(" %s ", key);

		ck_assert_msg(strstr(words, word) != NULL, "'%s' of the schema is not looked at", key);
	}
}

static char *
check(const json_t *root, const json_t *schema, const json_t *value, const char *path)
{
	const char *name = json_string_value(json_object_get(schema, "$ref"));
	const json_t *types = json_object_get(schema, "type"), *only = json_object_get(schema, "const"),
		     *values = json_object_get(schema, "enum");
	char *error;

	expect_known_words(schema);
	if (name) {
		ck_assert(strncmp(name, "#/$defs/", strlen("#/$defs/")) == 0);
		schema = json_object_get(json_object_get(root, "$defs"), name + strlen("#/$defs/"));
		ck_assert_msg(schema != NULL, "%s is not there", name);
		return check(root, schema, value, path);
	}
	if ((types && !has_type(value, types)) || (only && !json_equal(value, only)) ||
	    (values && !is_one_of(value, values))) {
		autofree char *text = json_dumps(value, JSON_ENCODE_ANY);

		error = rot_format("%s is %.100s", path, text);
		return error;
	}
	return json_is_object(value) ? check_members(root, schema, value, path)
				     : check_items(root, schema, value, path);
}

json_t *
json_file(const char *path)
{
	json_error_t fault;
	json_t *json = json_load_file(path, 0, &fault);

	ck_assert_msg(json != NULL, "%s: %s", path, fault.text);
	return at_end(json_decref, json);
}

char *
json_schema_error(const char *schema, const json_t *json)
{
	json_t *root = json_file(source_path("%s", schema));

	return check(root, root, json, "");
}

void
expect_schema(const char *schema, const json_t *json)
{
	autofree char *error = json_schema_error(schema, json);

	ck_assert_msg(error == NULL, "%s: %s", schema, error);
}
