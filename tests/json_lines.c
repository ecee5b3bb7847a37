/* SPDX-License-Identifier: MIT */
/*
 * Prints a JSON text line by line, so that tests in sh can look for values with grep and awk:
 *
 *	json_lines FILE		{"points": [{"label": "a b", "n": 2}]} is
 *				points[0].label = a b
 *				points[0].n = 2
 *
 * Empty objects and arrays are {} and []. Exit status 1 if the file is no JSON, with a message.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const char *path, json_t *value);

static void
print_below(const char *path, const char *key, json_t *value)
{
	char *below = NULL;

	if (asprintf(&below, "%s%s%s", path, *path && *key != '[' ? "." : "", key) < 0)
		abort();
	print(below, value);
	free(below);
}

static void
print_array(const char *path, const json_t *array)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		char key[32];

		snprintf(key, sizeof(key), "[%zu]", i);
		print_below(path, key, json_array_get(array, i));
	}
	if (json_array_size(array) == 0)
		printf("%s = []\n", path);
}

static void
print_object(const char *path, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		print_below(path, key, value);
	}
	if (json_object_size(object) == 0)
		printf("%s = {}\n", path);
}

static void
print(const char *path, json_t *value)
{
	char *text;

	if (json_is_array(value)) {
		print_array(path, value);
	} else if (json_is_object(value)) {
		print_object(path, value);
	} else if (json_is_string(value)) {
		printf("%s = %s\n", path, json_string_value(value));
	} else {
		text = json_dumps(value, JSON_ENCODE_ANY);
		printf("%s = %s\n", path, text);
		free(text);
	}
}

int
main(int argc, char **argv)
{
	json_error_t error;
	json_t *json;

	if (argc != 2) {
		fputs("usage: json_lines FILE\n", stderr);
		return 1;
	}
	json = json_load_file(argv[1], JSON_DECODE_ANY, &error);
	if (!json) {
		fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
		return 1;
	}
	print("", json);
	json_decref(json);
	return 0;
}
