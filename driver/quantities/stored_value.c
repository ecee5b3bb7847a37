/* SPDX-License-Identifier: MIT */
/* Values of quantities read back from JSON: the other half of quantity_value_json. */
#include "quantities/stored_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "support/json.h"

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

char *
stored_value_source(const json_t *json)
{
	static const char old[] = "steps";
	const char *rest = json_text_at(json, "source"), *at;
	char *source = rot_strdup("");

	for (; (at = strstr(rest, old)); rest = at + strlen(old))
		rot_append(&source, "%.*sblocks", (int)(at - rest), rest);
	rot_append(&source, "%s", rest);
	return source;
}

static const char *
stored_grade(const json_t *json)
{
	static const char *const known[] = {"A", "B", "C", "D", "E", "F"};
	const char *text = json_text_at(json, "grade");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(text, known[i]) == 0)
			return known[i];
	return "";
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
	autofree char *text = stored_value_words(json);

	return quantity_parse(request, text, NULL);
}

int
stored_value(const json_t *json, struct quantity_value *value)
{
	*value = (struct quantity_value){.grade = stored_grade(json), .expected = json_number_at(json, "expected")};
	if (!json_is_object(json) || request_of(json, &value->request) < 0)
		return -1;
	value->name = rot_strdup(json_text_at(json, "name"));
	value->of = rot_strdup(json_text_at(json, "of"));
	value->unit = rot_strdup(json_text_at(json, "unit"));
	value->source = stored_value_source(json);
	value->kind = kind_of(json);
	value->summary = summary_of(json);
	return isnan(value->summary.value) ? -1 : 0;
}
