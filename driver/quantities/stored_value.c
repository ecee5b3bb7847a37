/* SPDX-License-Identifier: MIT */
/* Values of quantities read back from JSON: the other half of quantity_value_json. */
#include "quantities/stored_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "support/json.h"

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
		.estimator = json_text_at(json, "estimator"),
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
	*value = (struct quantity_value){.grade = json_text_at(json, "grade"),
					 .expected = json_number_at(json, "expected")};
	if (!json_is_object(json) || request_of(json, &value->request) < 0)
		return -1;
	value->name = json_text_at(json, "name");
	value->of = json_text_at(json, "of");
	value->unit = json_text_at(json, "unit");
	value->source = json_text_at(json, "source");
	value->kind = json_text_at(json, "kind");
	value->summary = summary_of(json);
	return isnan(value->summary.value) ? -1 : 0;
}
