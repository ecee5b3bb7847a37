/* SPDX-License-Identifier: MIT */
/* Every key of OUTPUT.json is in doc/RESULTS.md. */
#include <jansson.h>

#include "base/files.h"
#include "json_schema.h"
#include "quantities/quantity.h"
#include "quantities/vocabulary.h"
#include "testing.h"

static char *text;

static void
setup(void)
{
	size_t length;

	text = file_read(source_path("doc/RESULTS.md"), &length, &why);
	ck_assert_msg(text != NULL, "%s", why.text);
	at_end(free, text);
}

static void
check_word(const char *word)
{
	autofree char *marked = rot_format("`%s`", word);

	ck_assert_msg(strstr(text, marked) != NULL, "%s is not in doc/RESULTS.md", marked);
}

static void
check_keys(const json_t *object)
{
	const char *key;
	json_t *member;

	ck_assert(json_is_object(object));
	json_object_foreach((json_t *)object, key, member)
		check_word(key);
}

static void
check_all_keys(const json_t *objects)
{
	const json_t *object;
	size_t i;

	json_array_foreach(objects, i, object)
		check_keys(object);
}

TEST(keys_of_experiments)
{
	json_t *json = json_file(source_path("tests/driver/experiments/golden/experiment.json"));
	const json_t *point;
	size_t i;

	check_keys(json);
	ck_assert_uint_gt(json_array_size(json_object_get(json, "points")), 0);
	ck_assert_uint_gt(json_array_size(json_object_get(json, "ceilings")), 0);
	check_all_keys(json_object_get(json, "points"));
	check_all_keys(json_object_get(json, "ceilings"));
	json_array_foreach(json_object_get(json, "points"), i, point) {
		check_all_keys(json_object_get(point, "quantities"));
		check_all_keys(json_object_get(point, "passes"));
	}
}

TEST(keys_of_programs)
{
	json_t *json = json_file(source_path("tests/driver/programs/golden/one-pass.json"));

	check_keys(json);
}

#define NR_SAMPLES 20

/* Samples with two modes, a drift, or a first run unlike the others. */
static double
sample(int kind, size_t i)
{
	const double scatter = (double)(7 * i % 10) / 10;

	return kind == 0 ? (i % 2 ? 100 : 200) + scatter : kind == 1 ? 100 + 5 * (double)i : (i ? 100 : 300) + scatter;
}

/* All that a value may have. */
static struct quantity_value
value_with_everything(int kind)
{
	struct quantity_value value = {
		.request = {.name = "time", .clock = "tsc"},
		.name = "time",
		.of = "tsc",
		.unit = "TSC tick",
		.kind = "measured",
		.source = "time stamp counter",
		.grade = "",
		.expected = 100,
		.compulsory = 90,
		.own_cost = {.is_known = true},
		.summary = summary_single(INFINITY, "median"),
		.samples = rot_calloc(NR_SAMPLES, sizeof(double)),
		.taints = rot_calloc(NR_SAMPLES, sizeof(unsigned)),
		.starts = rot_calloc(NR_SAMPLES, sizeof(size_t)),
		.nr_samples = NR_SAMPLES,
		.runs_end = "budget",
		.thread_samples = rot_calloc(NR_SAMPLES, sizeof(double)),
		.nr_threads = 1,
		.nr_breaches = 1,
	};

	for (size_t i = 0; i < NR_SAMPLES; i++)
		value.samples[i] = sample(kind, i);
	value.breaches = pool_calloc(&value.pool, 1, sizeof(*value.breaches));
	value.breaches[0] = (struct quantity_breach){"belowCeiling", pool_strdup(&value.pool, "too fast"), 2, 1, 0};
	return value;
}

TEST_OF(keys_of_values, 3)
{
	static const char *const findings[] = {"modes", "drift", "firstRun"};
	cleared_by(quantity_value_clear) struct quantity_value value = value_with_everything(_i);
	json_t *json;

	json = quantity_value_json(&value);
	ck_assert_ptr_nonnull(json_object_get(json, findings[_i]));
	check_keys(json);
	check_keys(json_object_get(json, "emptyRegion"));
	check_all_keys(json_object_get(json, "brokenRules"));
	json_decref(json);
}

/* Columns of CSV files are called by these words. */
TEST(words_of_columns)
{
	for (size_t i = 0; i < nr_quantity_words; i++)
		if (quantity_words[i].role != WORD_CLOCK && !strchr(quantity_words[i].name, '.'))
			check_word(quantity_words[i].short_name);
	for (size_t i = 0; i < nr_quantity_kinds; i++) {
		autofree char *name =
			quantity_column_name(&(struct quantity_request){.name = quantity_kinds[i].name}, "us");

		name[strcspn(name, "_")] = '\0';
		ck_assert_msg(strstr(text, name) != NULL, "%s is not in doc/RESULTS.md", name);
	}
}

/* Two quantities never share a column. */
TEST(columns_have_names_of_their_own)
{
	static const char *const units[] = {"us", "cycle", "TSC tick", "reference cycle"};
	static const struct quantity_request requests[] = {
		{.name = "operationCount", .operation = "doublePrecisionFlop"},
		{.name = "operationCount", .operation = "flop"},
		{.name = "transferredBytes", .border = "llcRam"},
		{.name = "transferredBytes", .border = "llcRam.read"},
		{.name = "operationalIntensity", .operation = "flop", .border = "llcRam"},
		{.name = "contextSwitches"},
	};
	static const char *const names[] = {"operations_dp",  "operations_flop",    "bytes_ram",
					    "bytes_ram_read", "intensity_flop_ram", "context_switches"};
	static const char *const times[] = {"time_us", "time_cycle", "time_tsc_tick", "time_reference_cycle"};
	const struct quantity_request performance = {.name = "performance", .operation = "doublePrecisionFlop"},
				      time = {.name = "time"};
	char *name;

	for (int i = 0; i < NR_ELEMENTS(requests); i++) {
		name = quantity_column_name(&requests[i], "byte");
		ck_assert_str_eq(name, names[i]);
		free(name);
	}
	for (int i = 0; i < NR_ELEMENTS(units); i++) {
		name = quantity_column_name(&time, units[i]);
		ck_assert_str_eq(name, times[i]);
		check_word(name);
		free(name);
	}
	name = quantity_column_name(&performance, "flop/TSC tick");
	ck_assert_str_eq(name, "performance_dp_per_tsc_tick");
	free(name);
}

#define RESULT "driver/schemas/result-1.json"

/* With a value that has everything, so that none of its keys is forgotten; and what is wrong is seen. */
TEST_OF(values_have_the_schema, 3)
{
	cleared_by(quantity_value_clear) struct quantity_value value = value_with_everything(_i);
	json_t *result = json_file(source_path("tests/driver/experiments/golden/experiment.json")), *point, *quantity;
	char *error;

	json_object_set_new(result, "software",
			    json_pack("{s:s, s:s, s:[], s:[], s:[]}", "rot", "1", "kernel", "6", "compilers",
				      "compileLines", "facts"));
	point = json_array_get(json_object_get(result, "points"), 0);
	quantity = quantity_value_json(&value);
	json_array_append_new(json_object_get(point, "quantities"), quantity);
	expect_schema(RESULT, result);

	json_object_set_new(quantity, "n", json_string("two"));
	error = json_schema_error(RESULT, result);
	ck_assert_str_eq(error, ".points[0].quantities[3].n is \"two\"");
	free(error);
	json_object_set_new(quantity, "n", json_integer(2));
	json_object_set_new(quantity, "kind", json_string("guessed"));
	error = json_schema_error(RESULT, result);
	ck_assert_str_eq(error, ".points[0].quantities[3].kind is \"guessed\"");
	free(error);
	json_object_del(quantity, "kind");
	error = json_schema_error(RESULT, result);
	ck_assert_str_eq(error, ".points[0].quantities[3] has no kind");
	free(error);
	json_object_set_new(quantity, "kind", json_string("measured"));
	json_object_set_new(point, "colour", json_null());
	error = json_schema_error(RESULT, result);
	ck_assert_str_eq(error, ".points[0].colour is not in the schema");
	free(error);
}

UNIT_TESTS(.set_up = setup);
