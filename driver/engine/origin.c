/* SPDX-License-Identifier: MIT */
#include "engine/origin.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "entities.h"

json_t *
origin_new(void)
{
	return json_pack("{s:[], s:[], s:[], s:[]}", "hashes", "compilers", "compileLines", "facts");
}

static void
add_text(json_t *origin, const char *key, const char *text)
{
	json_t *texts = json_object_get(origin, key), *own = json_text(text), *known;
	bool is_new = *text;
	size_t i;

	json_array_foreach(texts, i, known) {
		is_new = is_new && !json_equal(known, own);
	}
	if (is_new)
		json_array_append(texts, own);
	json_decref(own);
}

static void
add_date(json_t *origin, const char *date)
{
	if (!*date)
		return;
	if (!json_object_get(origin, "first") || strcmp(date, json_text_at(origin, "first")) < 0)
		json_object_set_new(origin, "first", json_text(date));
	if (strcmp(date, json_text_at(origin, "last")) > 0)
		json_object_set_new(origin, "last", json_text(date));
}

void
origin_add(json_t *origin, const struct measurement_result *result)
{
	add_text(origin, "hashes", result->description_hash);
	add_text(origin, "compilers", result->compiler);
	for (size_t i = 0; i < measurement_result_nr_compile_lines(result); i++)
		add_text(origin, "compileLines", measurement_result_compile_lines_at(result, i));
	/* A result may have got more runs long after it was made. */
	for (size_t i = 0; i < measurement_result_nr_outputs(result); i++) {
		const struct measurement_run_output *run = measurement_result_outputs_at(result, i);
		char date[CLOCK_DATE_SIZE] = "";

		for (size_t k = 0; k < measurement_run_output_nr_facts(run); k++)
			add_text(origin, "facts", measurement_run_output_facts_at(run, k));
		if (run->start_time > 0)
			clock_date_of((time_t)run->start_time, date);
		add_date(origin, date);
	}
	add_date(origin, result->created);
}

void
origin_merge(json_t *origin, json_t *other)
{
	const char *key;
	json_t *value, *text;
	size_t i;

	json_object_foreach(other, key, value) {
		json_array_foreach(value, i, text) {
			add_text(origin, key, json_string_value(text));
		}
	}
	add_date(origin, json_text_at(other, "first"));
	add_date(origin, json_text_at(other, "last"));
}
