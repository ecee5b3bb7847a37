/* SPDX-License-Identifier: MIT */
/* OUTPUT.json read back. */
#include "stored/stored_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "support/files.h"
#include "support/json.h"

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
	json_array_foreach(points, i, point)
	{
		if (!json_is_object(point) || !json_is_array(json_object_get(point, "quantities")))
			return rot_error_set(err, 0, "'%s': point %zu has no \"quantities\"", result->path, i + 1);
	}
	return 0;
}

static struct machine *
read_machine(const json_t *json)
{
	struct machine *machine = machine_new();

	json_entity_fill(machine, json_object_get(json, "machine"));
	return machine;
}

/* "folder/a.json" -> "a" */
static char *
name_of(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length = strlen(base);

	return rot_strndup(base, path_ends_in(base, ".json") && length > 5 ? length - 5 : length);
}

int
stored_result_read(struct stored_result *result, const char *path, struct rot_error *err)
{
	json_error_t why;
	size_t length;
	char *bytes = file_read(path, &length, err);

	*result = (struct stored_result){.path = rot_strdup(path), .name = name_of(path)};
	if (!bytes)
		return -1;
	result->json = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &why);
	free(bytes);
	if (!result->json) {
		rot_error_set(err, 0, "%s:%d:%d: no JSON: %s", path, why.line, why.column, why.text);
		return rot_error_hint(err,
				      "results are the .json files of rot measure, and of rot run -o NAME or -j FILE");
	}
	if (check(result, err) < 0)
		return -1;
	result->machine = read_machine(result->json);
	return 0;
}

void
stored_result_clear(struct stored_result *result)
{
	free(result->path);
	free(result->name);
	json_decref(result->json);
	rot_graph_delete(result->machine);
	*result = (struct stored_result){.path = NULL};
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

/* ---- values ---- */

/* One of those that summaries have, which are not copied. */
static const char *
estimator_of(const json_t *json)
{
	static const char *const known[] = {"median",
					    "exact",
					    "minimum",
					    "ratioOfMedians",
					    "expected",
					    "given",
					    "medianOfTainted",
					    "minimumOfTainted",
					    "ratioOfMediansOfTainted",
					    "exactOfTainted",
					    "medianPerMinimum",
					    "medianPerMinimumOfTainted"};
	const char *text = json_text_at(json, "estimator");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(text, known[i]) == 0)
			return known[i];
	return "as stored";
}

static const char *
kind_of(const json_t *json)
{
	static const char *const known[] = {"measured", "modelled", "expected", "given"};
	const char *text = json_text_at(json, "kind");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(text, known[i]) == 0)
			return known[i];
	return "measured";
}

/* How many; 0 where nothing sensible is said. */
static size_t
count(const json_t *object, const char *key)
{
	double value = json_number_at(object, key);

	return value > 0 && value < 1e9 ? (size_t)value : 0;
}

static struct summary
summary_of(const json_t *json)
{
	struct summary summary = {
		.estimator = estimator_of(json),
		.value = json_is_true(json_object_get(json, "infinite")) ? INFINITY : json_number_at(json, "value"),
		.low = json_number_at(json, "low"),
		.high = json_number_at(json, "high"),
		.confidence = json_number_at(json, "confidence"),
		.minimum = json_number_at(json, "minimum"),
		.maximum = json_number_at(json, "maximum"),
		.quartile25 = json_number_at(json, "quartile25"),
		.quartile75 = json_number_at(json, "quartile75"),
		.n = count(json, "n"),
		.tainted = count(json, "tainted"),
	};

	return summary;
}

char *
stored_value_words(const json_t *json)
{
	const char *of = json_text_at(json, "of"), *clock = json_text_at(json, "clock");
	bool has_of = *of && strcmp(of, clock) != 0;
	char *words = rot_format("%s%s%s%s%s", json_text_at(json, "name"), has_of ? ":" : "", has_of ? of : "",
				 *clock ? ":" : "", clock);

	for (char *slash = strchr(words, '/'); slash; slash = strchr(slash, '/'))
		*slash = ':';
	return words;
}

static int
request_of(const json_t *json, struct quantity_request *request)
{
	char *text = stored_value_words(json);
	int rc = quantity_parse(request, text, NULL);

	free(text);
	return rc;
}

int
stored_value(const json_t *json, struct quantity_value *value)
{
	*value = (struct quantity_value){.grade = "", .expected = NAN};
	if (!json_is_object(json) || request_of(json, &value->request) < 0)
		return -1;
	value->name = rot_strdup(json_text_at(json, "name"));
	value->of = rot_strdup(json_text_at(json, "of"));
	value->unit = rot_strdup(json_text_at(json, "unit"));
	value->source = rot_strdup(json_text_at(json, "source"));
	value->kind = kind_of(json);
	value->summary = summary_of(json);
	return isnan(value->summary.value) ? -1 : 0;
}
