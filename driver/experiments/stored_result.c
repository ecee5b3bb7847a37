/* SPDX-License-Identifier: MIT */
/* OUTPUT.json read back. */
#include "experiments/stored_result.h"

#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "memory.h"
#include "plots/page.h"

static const char schema[] = "rot.result/1";

/* ---- files ---- */

static int
check(const struct stored_result *result, struct rot_error *err)
{
	const char *found = json_text_at(result->json, "schema");
	const json_t *points = json_object_get(result->json, "points");
	size_t i;
	json_t *point;

	if (!*found) {
		rot_error_set(err, 0, "'%s' is no result of rot: it has no \"schema\"", result->path);
		return rot_error_hint(err,
				      "results are the .json files of rot measure, and of rot run -o NAME or -j FILE");
	}
	if (strcmp(found, schema) != 0) {
		rot_error_set(err, 0, "'%s' has the schema '%s'", result->path, found);
		return rot_error_hint(err, "this rot reads '%s'", schema);
	}
	if (!json_is_array(points) || json_array_size(points) == 0)
		return rot_error_set(err, 0, "'%s' has no \"points\"", result->path);
	json_array_foreach(points, i, point) {
		if (!json_is_object(point) || !json_is_array(json_object_get(point, "quantities")))
			return rot_error_set(err, 0, "'%s': point %zu has no \"quantities\"", result->path, i + 1);
	}
	return 0;
}

/* "folder/a.json", "folder/a.html" -> "a" */
static char *
name_of_path(struct pool *pool, const char *path)
{
	const char *base = path_name(path);
	const bool has_ending = path_ends_in(base, ".json") || path_ends_in(base, ".html");
	size_t length = strlen(base);

	return pool_strndup(pool, base, has_ending && length > 5 ? length - 5 : length);
}

/* Older results of kernels and regions say "steps" for blocks. */
static void
say_blocks(json_t *quantity)
{
	const char *rest = json_text_at(quantity, "source"), *at = strstr(rest, "steps");
	autofree char *source = NULL;

	if (!at)
		return;
	for (; at; at = strstr(rest, "steps")) {
		rot_append(&source, "%.*sblocks", (int)(at - rest), rest);
		rest = at + strlen("steps");
	}
	rot_append(&source, "%s", rest);
	json_object_set_new(quantity, "source", json_text(source));
}

static void
read_points(struct pool *pool, struct stored_result *result)
{
	const json_t *points = stored_result_points(result), *point;
	json_t *quantity;
	size_t i, k;

	result->points = pool_calloc(pool, json_array_size(points), sizeof(*result->points));
	json_array_foreach(points, i, point) {
		const json_t *quantities = json_object_get(point, "quantities");
		struct stored_point *own = &result->points[result->nr_points++];

		own->json = point;
		own->values = pool_calloc(pool, json_array_size(quantities), sizeof(*own->values));
		json_array_foreach(quantities, k, quantity) {
			say_blocks(quantity);
			own->nr_values += stored_value(quantity, &own->values[own->nr_values]) == 0;
		}
	}
}

static int
take_json(struct pool *pool, struct stored_result *result, struct rot_error *err)
{
	struct machine *machine;

	json_in_pool(pool, result->json);
	if (check(result, err) < 0)
		return -1;
	read_points(pool, result);
	machine = pool_own(pool, machine_new(), rot_graph_delete);
	json_entity_fill(machine, json_object_get(result->json, "machine"));
	result->machine = machine;
	return 0;
}

int
stored_result_read(struct pool *pool, struct stored_result *result, const char *path, struct rot_error *err)
{
	json_error_t why;
	size_t length;
	autofree char *bytes = file_read(path, &length, err);

	*result = (struct stored_result){.path = pool_strdup(pool, path), .name = name_of_path(pool, path)};
	if (!bytes)
		return -1;
	if (page_is_page(bytes, length)) {
		result->json = page_read_result(path, bytes, length, err);
		return result->json ? take_json(pool, result, err) : -1;
	}
	result->json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &why);
	if (!result->json) {
		rot_error_set(err, 0, "%s:%d:%d: no JSON: %s", path, why.line, why.column, why.text);
		return rot_error_hint(err,
				      "results are the .json files of rot measure, and of rot run -o NAME or -j FILE");
	}
	return take_json(pool, result, err);
}

const json_t *
stored_result_points(const struct stored_result *result)
{
	return json_object_get(result->json, "points");
}

bool
stored_result_same_machine(const struct stored_result *a, const struct stored_result *b)
{
	const struct machine *x = a->machine, *y = b->machine;

	return strcmp(x->cpu_vendor, y->cpu_vendor) == 0 && strcmp(x->cpu_name, y->cpu_name) == 0 &&
	       strcmp(x->hypervisor, y->hypervisor) == 0 && x->cpu_family == y->cpu_family &&
	       x->cpu_model == y->cpu_model && x->cpu_stepping == y->cpu_stepping && x->llc_bytes == y->llc_bytes &&
	       x->memory_bytes == y->memory_bytes;
}
