/* SPDX-License-Identifier: MIT */
/* Doubts of values: from which samples, of which quantities, and in JSON. */
#include <jansson.h>

#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "testing.h"

#define NR 12

/* A measured value with these samples, of which the first nr_tainted are tainted. */
static struct quantity_value
value_of(const char *name, double *samples, unsigned *taints, size_t nr_tainted)
{
	struct quantity_value value = {
		.name = (char *)name,
		.of = (char *)"microSeconds",
		.unit = (char *)"us",
		.kind = "measured",
		.source = (char *)"",
		.grade = "",
		.expected = NAN,
		.samples = samples,
		.taints = taints,
		.nr_samples = NR,
	};

	for (size_t i = 0; i < NR; i++)
		taints[i] = i < nr_tainted ? TAINT_CONTEXT_SWITCH : 0;
	value.summary = summary_median(samples + nr_tainted % NR, NR - nr_tainted % NR);
	value.summary.tainted = nr_tainted;
	return value;
}

static double sound[NR] = {100, 101, 99, 102, 98, 100.5, 99.5, 101.5, 98.5, 100.2, 99.8, 100.1};
static double modes[NR] = {3.1, 4.2, 3.11, 4.19, 3.09, 3.1, 4.21, 3.12, 3.08, 4.2, 3.1, 3.1};
static double late[NR] = {140, 101, 99, 102, 98, 100.5, 99.5, 101.5, 98.5, 100.2, 99.8, 100.1};
static unsigned taints[NR];

static double lonely[NR] = {100, 101, 99, 102, 98, 100.5, 140, 101.5, 98.5, 100.2, 99.8, 100.1};

static void
assert_keys(const struct quantity_value *value, const char *expected)
{
	static const char *const keys[] = {"modes", "drift", "firstRun", "outliers"};
	json_auto_t *json = quantity_value_json(value);

	for (size_t i = 0; i < NR_ELEMENTS(keys); i++)
		ck_assert_msg(!json_object_get(json, keys[i]) == !strstr(expected, keys[i]), "%s", keys[i]);
}

TEST(test_sound_values_have_none)
{
	struct quantity_value value = value_of("time", sound, taints, 0);
	struct quantity_doubts doubts = quantity_doubts_of(&value);

	ck_assert(!quantity_doubts_any(&doubts));
	ck_assert_int_eq(doubts.modes.finding, SERIES_NO);
	assert_keys(&value, "");
}

TEST(test_two_modes)
{
	struct quantity_value value = value_of("performance", modes, taints, 0);
	struct quantity_doubts doubts = quantity_doubts_of(&value);
	double value_before = value.summary.value;
	json_t *json = quantity_value_json(&value), *low = json_array_get(json_object_get(json, "modes"), 0),
	       *high = json_array_get(json_object_get(json, "modes"), 1);

	ck_assert(quantity_doubts_any(&doubts));
	ck_assert_double_eq_tol(json_number_value(json_object_get(low, "value")), 3.1, 1e-12);
	ck_assert_double_eq_tol(json_number_value(json_object_get(high, "value")), 4.2, 1e-12);
	ck_assert_int_eq(json_integer_value(json_object_get(low, "n")), 8);
	ck_assert_int_eq(json_integer_value(json_object_get(high, "n")), 4);
	ck_assert_double_eq(json_number_value(json_object_get(json, "value")), value_before);
	json_decref(json);
	assert_keys(&value, "modes");
}

TEST(test_drift)
{
	double rising[NR];
	struct quantity_value value;
	json_auto_t *json = NULL;

	for (size_t i = 0; i < NR; i++)
		rising[i] = 100 + (double)i;
	value = value_of("throughput", rising, taints, 0);
	json = quantity_value_json(&value);
	ck_assert_double_eq_tol(json_number_value(json_object_get(json, "drift")), 11 / 105.5, 1e-12);
	assert_keys(&value, "drift");
}

/* The first run's cause is known: it is left out, and nothing is wrong with the others. */
TEST(test_tainted_samples_are_left_out)
{
	struct quantity_value value = value_of("time", late, taints, 0);

	assert_keys(&value, "firstRun outliers");
	value = value_of("time", late, taints, 1);
	assert_keys(&value, "");
	value = value_of("time", late, taints, NR);
	assert_keys(&value, "firstRun outliers");
}

TEST(test_outliers)
{
	struct quantity_value value = value_of("time", lonely, taints, 0);
	char *text = value_doubts_text(&value);

	assert_keys(&value, "outliers");
	ck_assert_str_eq(
		text, "time: 1 run differs by +40 % from the others for no cause that was seen, and is in the value");
	free(text);
	value = value_of("time", late, taints, 0); /* told of as the first run */
	text = value_doubts_text(&value);
	ck_assert_lacks(text, "no cause");
	free(text);
}

TEST(test_only_what_depends_on_time)
{
	struct quantity_value value = value_of("transferredBytes", modes, taints, 0);
	struct quantity_doubts doubts = quantity_doubts_of(&value);

	ck_assert_int_eq(doubts.modes.finding, SERIES_UNKNOWN);
	assert_keys(&value, "");
	value = value_of("time", modes, taints, 0);
	value.nr_samples = 0;
	ck_assert_int_eq(quantity_doubts_of(&value).modes.finding, SERIES_UNKNOWN);
}

TEST(test_no_number_is_left_out)
{
	double samples[NR];
	struct quantity_value value;

	memcpy(samples, modes, sizeof(samples));
	samples[0] = NAN;
	samples[1] = INFINITY;
	value = value_of("performance", samples, taints, 0);
	ck_assert_uint_eq(quantity_doubts_of(&value).modes.nr_low, 7);
	ck_assert_uint_eq(quantity_doubts_of(&value).modes.nr_high, 3);
}

/* ---- caveats ---- */

static struct quantity_breach breach = {.rule = "passesAgree", .text = (char *)""};

static void
change_nothing(struct quantity_value *value)
{
	(void)value;
}

static void
be_given(struct quantity_value *value)
{
	value->kind = "given";
}

static void
miss(struct quantity_value *value)
{
	value->nr_samples = 0;
	value->summary.value = NAN;
}

static void
expect(struct quantity_value *value)
{
	value->kind = "expected";
}

static void
model(struct quantity_value *value)
{
	value->kind = "modelled";
}

/* 3 of 12 runs are not more than 30 %, and 4 are. */
static void
disturb_some(struct quantity_value *value)
{
	*value = value_of("time", sound, taints, 3);
}

static void
disturb_more(struct quantity_value *value)
{
	*value = value_of("time", sound, taints, 4);
}

static void
break_rule(struct quantity_value *value)
{
	breach.nr_runs = 0;
	value->breaches = &breach;
	value->nr_breaches = 1;
}

static void
break_rule_in_runs(struct quantity_value *value)
{
	break_rule(value);
	breach.nr_runs = 2;
}

static void
fail_validation(struct quantity_value *value)
{
	value->grade = "F";
}

static void
be_short(struct quantity_value *value)
{
	value->own_cost = (struct quantity_own_cost){.is_known = true, .top = 1, .top_share = 0.011};
}

static void
be_uneven(struct quantity_value *value)
{
	*value = value_of("time", modes, taints, 0);
}

static void
have_few_runs(struct quantity_value *value)
{
	value->nr_samples = 5;
	value->summary = summary_median(value->samples, 5);
}

static void
have_few_equal_runs(struct quantity_value *value)
{
	static double equal[] = {7, 7};

	value->samples = equal;
	value->nr_samples = 2;
	value->summary = summary_median(equal, 2);
}

static const struct {
	void (*change)(struct quantity_value *value);
	const char *caveats;
} changes[] = {
	{change_nothing, ""},
	{be_given, ""},
	{disturb_some, ""},
	{break_rule_in_runs, ""},
	{have_few_equal_runs, ""},
	{miss, "missing"},
	{expect, "expected"},
	{model, "modelled"},
	{disturb_more, "disturbed"},
	{break_rule, "brokenRule"},
	{fail_validation, "failingGrade"},
	{be_short, "short"},
	{be_uneven, "uneven"},
	{have_few_runs, "noInterval"},
};

TEST_OF(test_caveats, NR_ELEMENTS(changes))
{
	struct quantity_value value = value_of("time", sound, taints, 0);
	json_t *json, *caveats;

	changes[_i].change(&value);
	json = quantity_value_json(&value);
	caveats = json_object_get(json, "caveats");
	ck_assert(quantity_has_caveat(&value) == (changes[_i].caveats[0] != '\0'));
	ck_assert_uint_eq(json_array_size(caveats), changes[_i].caveats[0] != '\0');
	if (changes[_i].caveats[0])
		ck_assert_str_eq(json_string_value(json_array_get(caveats, 0)), changes[_i].caveats);
	json_decref(json);
}

UNIT_TESTS(.is_in_one_process = true);
