/* SPDX-License-Identifier: MIT */
/* Values of quantities: what of their runs is told of a rate, their end, and their form in JSON. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "memory.h"
#include "quantities/quantity.h"
#include "quantities/remarks.h"

/* ---- read back from JSON ---- */

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

const json_t *
stored_quantity(const json_t *point, char *(*name_of)(const json_t *json), const char *name)
{
	const json_t *quantity;
	size_t i;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		autofree char *own = name_of(quantity);

		if (strcmp(own, name) == 0)
			return quantity;
	}
	return NULL;
}

int
stored_value(const json_t *json, struct quantity_value *value)
{
	autofree char *words = stored_value_words(json);

	*value = (struct quantity_value){.grade = json_text_at(json, "grade"),
					 .expected = json_number_at(json, "expected")};
	if (!json_is_object(json) || quantity_parse(&value->request, words, NULL) < 0)
		return -1;
	value->name = json_text_at(json, "name");
	value->of = json_text_at(json, "of");
	value->unit = json_text_at(json, "unit");
	value->source = json_text_at(json, "source");
	value->kind = json_text_at(json, "kind");
	value->summary = summary_of(json);
	return isnan(value->summary.value) ? -1 : 0;
}

/* The best undisturbed run. A counter that gave 0 cycles makes an infinite rate: no run of that kind is the best. */
double
quantity_best_run(const struct quantity_value *value)
{
	double highest = NAN;

	for (size_t i = 0; i < value->nr_samples; i++)
		if (value->taints[i] == 0 && isfinite(value->samples[i]))
			highest = fmax(highest, value->samples[i]); /* of a number and NaN, the number */
	return isnan(highest) ? value->summary.value : highest;
}

double
quantity_upper_quartile(const struct quantity_value *value)
{
	autofree double *sound = rot_calloc(value->nr_samples + 1, sizeof(*sound));
	size_t nr = 0;

	for (size_t i = 0; i < value->nr_samples; i++)
		if (value->taints[i] == 0 && isfinite(value->samples[i]))
			sound[nr++] = value->samples[i];
	return nr ? summary_quantile(sound, nr, 0.75).value : value->summary.value;
}

char *
sample_taints_text(unsigned taints)
{
	char *text = rot_strdup("");

	for (const struct remark *cause = remark_next(REMARK_CAUSE, NULL); cause;
	     cause = remark_next(REMARK_CAUSE, cause))
		if (taints & cause->taint)
			rot_append(&text, "%s%s", text[0] ? ", " : "", cause->code);
	return text;
}

void
quantity_value_clear(struct quantity_value *value)
{
	pool_clear(&value->pool);
	free(value->samples);
	free(value->taints);
	free(value->starts);
	free(value->thread_samples);
	free(value->nearness);
	*value = (struct quantity_value){.nr_samples = 0};
}

void
quantity_values_clear(struct quantity_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		quantity_value_clear(&values[i]);
}

void
quantities_told_clear(struct quantities_told *told)
{
	json_decref(told->origin);
	json_decref(told->rules);
	json_decref(told->passes);
	*told = (struct quantities_told){.origin = NULL};
}

static json_t *
json_samples(const double *values, size_t nr)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(samples, json_real_or_null(values[i]));
	return samples;
}

static json_t *
json_starts(const struct quantity_value *value)
{
	json_t *starts = json_array();

	for (size_t i = 0; i < value->nr_samples; i++)
		json_array_append_new(starts, json_integer((json_int_t)value->starts[i]));
	return starts;
}

static json_t *
json_thread_samples(const struct quantity_value *value)
{
	json_t *threads = json_array();

	for (size_t i = 0; i < value->nr_threads; i++)
		json_array_append_new(threads,
				      json_samples(&value->thread_samples[i * value->nr_samples], value->nr_samples));
	return threads;
}

static json_t *
json_taints(const struct quantity_value *value)
{
	json_t *taints = json_object();

	for (const struct remark *cause = remark_next(REMARK_CAUSE, NULL); cause;
	     cause = remark_next(REMARK_CAUSE, cause)) {
		json_int_t nr = 0;

		for (size_t k = 0; k < value->nr_samples; k++)
			nr += (value->taints[k] & cause->taint) != 0;
		if (nr)
			json_object_set_new(taints, cause->code, json_integer(nr));
	}
	return taints;
}

static json_t *
json_tainted_runs(const struct quantity_value *value)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < value->nr_samples; i++)
		if (value->taints[i])
			json_array_append_new(runs, json_integer((json_int_t)i));
	return runs;
}

/* Keys only for what was found: "modes", "drift", "firstRun", "outliers". */
static void
add_doubts(json_t *json, const struct quantity_value *value)
{
	const struct quantity_doubts doubts = quantity_doubts_of(value);
	const struct series_modes *modes = &doubts.modes;

	if (modes->finding == SERIES_YES)
		json_object_set_new(json, "modes",
				    json_pack("[{s:o, s:I}, {s:o, s:I}]", "value", json_real_or_null(modes->low), "n",
					      (json_int_t)modes->nr_low, "value", json_real_or_null(modes->high), "n",
					      (json_int_t)modes->nr_high));
	if (doubts.drift.finding == SERIES_YES)
		json_object_set_new(json, "drift", json_real_or_null(doubts.drift.change));
	if (doubts.first.finding == SERIES_YES)
		json_object_set_new(json, "firstRun", json_real_or_null(doubts.first.difference));
	if (doubts.outliers.finding == SERIES_YES)
		json_object_set_new(json, "outliers",
				    json_pack("{s:I, s:o}", "n", (json_int_t)doubts.outliers.nr, "difference",
					      json_real_or_null(doubts.outliers.difference)));
}

static void
add_caveats(json_t *json, const struct quantity_value *value)
{
	json_auto_t *codes = json_array();

	for (const struct remark *caveat = remark_next(REMARK_CAVEAT, NULL); caveat;
	     caveat = remark_next(REMARK_CAVEAT, caveat))
		if (caveat->applies(value))
			json_array_append_new(codes, json_string(caveat->code));
	if (json_array_size(codes))
		json_object_set(json, "caveats", codes);
}

/* {"value", "share"}, and of the denominator of a ratio {"per", "perShare"}; null: that part was not measured. */
static json_t *
json_own_cost(const struct quantity_own_cost *cost)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "value", json_real_or_null(cost->top), "share",
			 json_real_or_null(cost->top_share), "per", json_real_or_null(cost->bottom), "perShare",
			 json_real_or_null(cost->bottom_share));
}

static json_t *
json_breaches(const struct quantity_value *value)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < value->nr_breaches; i++) {
		const struct quantity_breach *breach = &value->breaches[i];

		json_t *rule = json_pack("{s:s, s:o, s:o, s:s}", "rule", breach->rule, "found",
					 json_real_or_null(breach->found), "bound", json_real_or_null(breach->bound),
					 "text", breach->text);

		if (breach->nr_runs)
			json_object_set_new(rule, "runs", json_integer((json_int_t)breach->nr_runs));
		json_array_append_new(rules, rule);
	}
	return rules;
}

json_t *
quantity_value_json(const struct quantity_value *value)
{
	const struct summary *summary = &value->summary;
	const struct {
		const char *key;
		double number;
	} numbers[] = {
		{"low", summary->low},
		{"high", summary->high},
		{"confidence", summary->confidence},
		{"minimum", summary->minimum},
		{"maximum", summary->maximum},
		{"quartile25", summary->quartile25},
		{"quartile75", summary->quartile75},
		{"expected", value->expected},
	};
	json_t *json =
		json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:s, s:s, s:s}", "name", value->name, "of", value->of,
			  "unit", value->unit, "value", json_real_or_null(summary->value), "estimator",
			  summary->estimator, "n", (json_int_t)summary->n, "tainted", (json_int_t)summary->tainted,
			  "kind", value->kind, "source", value->source, "grade", value->grade);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(json, numbers[i].key, json_real_or_null(numbers[i].number));
	json_object_update_new(
		json, json_pack("{s:o*, s:s*, s:o, s:o*, s:o*, s:o, s:o, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*}",
				"infinite", isinf(summary->value) ? json_true() : NULL, "clock", value->request.clock,
				"samples", json_samples(value->samples, value->nr_samples), "starts",
				value->starts ? json_starts(value) : NULL, "threadSamples",
				value->nr_threads ? json_thread_samples(value) : NULL, "taints", json_taints(value),
				"taintedSamples", json_tainted_runs(value), "runsEnd",
				value->runs_end && *value->runs_end ? value->runs_end : NULL, "whyExpected",
				value->why_expected && *value->why_expected ? value->why_expected : NULL, "compulsory",
				value->compulsory > 0 ? json_real_or_null(value->compulsory) : NULL, "emptyRegion",
				value->own_cost.is_known ? json_own_cost(&value->own_cost) : NULL, "brokenRules",
				value->nr_breaches ? json_breaches(value) : NULL, "ofMachine",
				value->is_of_machine ? json_true() : NULL));
	add_doubts(json, value);
	add_caveats(json, value);
	return json;
}
