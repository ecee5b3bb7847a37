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
assert_keys(struct quantity_value value, const char *expected)
{
	static const char *const keys[] = {"modes", "drift", "firstRun", "outliers"};
	json_auto_t *json = quantity_value_json(&value);

	for (size_t i = 0; i < NR_ELEMENTS(keys); i++)
		ck_assert_msg(!json_object_get(json, keys[i]) == !strstr(expected, keys[i]), "%s", keys[i]);
}

TEST(test_sound_values_have_none)
{
	struct quantity_value value = value_of("time", sound, taints, 0);
	struct quantity_doubts doubts = quantity_doubts_of(&value);

	ck_assert(!quantity_doubts_any(&doubts));
	ck_assert_int_eq(doubts.modes.finding, SERIES_NO);
	assert_keys(value, "");
}

TEST(test_two_modes)
{
	struct quantity_value value = value_of("performance", modes, taints, 0);
	struct quantity_doubts doubts = quantity_doubts_of(&value);
	json_auto_t *json = quantity_value_json(&value);
	autofree char *text = json_dumps(json_object_get(json, "modes"), JSON_COMPACT | JSON_REAL_PRECISION(12));

	ck_assert(quantity_doubts_any(&doubts));
	ck_assert_str_eq(text, "[{\"value\":3.1,\"n\":8},{\"value\":4.2,\"n\":4}]");
	ck_assert_double_eq(json_number_value(json_object_get(json, "value")), value.summary.value);
	assert_keys(value, "modes");
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
	assert_keys(value, "drift");
}

/* The first run's cause is known: it is left out, and nothing is wrong with the others. */
TEST(test_tainted_samples_are_left_out)
{
	assert_keys(value_of("time", late, taints, 0), "firstRun outliers");
	assert_keys(value_of("time", late, taints, 1), "");
	assert_keys(value_of("time", late, taints, NR), "firstRun outliers");
}

TEST(test_outliers)
{
	struct quantity_value value = value_of("time", lonely, taints, 0);
	autofree char *text = value_doubts_text(&value), *of_late = NULL;

	assert_keys(value, "outliers");
	ck_assert_str_eq(
		text, "time: 1 run differs by +40 % from the others for no cause that was seen, and is in the value");
	value = value_of("time", late, taints, 0); /* told of as the first run */
	of_late = value_doubts_text(&value);
	ck_assert_lacks(of_late, "no cause");
}

TEST(test_only_what_depends_on_time)
{
	struct quantity_value value = value_of("transferredBytes", modes, taints, 0);

	ck_assert_int_eq(quantity_doubts_of(&value).modes.finding, SERIES_UNKNOWN);
	assert_keys(value, "");
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

enum change {
	NO_CHANGE,
	GIVEN,
	MISSING,
	EXPECTED,
	MODELLED,
	DISTURB_SOME,
	DISTURB_MORE,
	BREAK_RULE,
	BREAK_IN_RUNS,
	FAIL,
	SHORT,
	UNEVEN,
	FEW_RUNS,
	FEW_EQUAL,
};

static void
change_value(struct quantity_value *value, enum change change)
{
	static struct quantity_breach breaches[] = {{.rule = "passesAgree", .text = (char *)""},
						    {.rule = "passesAgree", .text = (char *)"", .nr_runs = 2}};
	static double equal[] = {7, 7};
	static const char *const kinds[] = {[GIVEN] = "given", [EXPECTED] = "expected", [MODELLED] = "modelled"};

	switch (change) {
	case NO_CHANGE:
		break;
	case GIVEN:
	case EXPECTED:
	case MODELLED:
		value->kind = kinds[change];
		break;
	case MISSING:
		value->nr_samples = 0;
		value->summary.value = NAN;
		break;
	case DISTURB_SOME: /* 3 of 12 runs are not more than 30 %, and 4 are. */
	case DISTURB_MORE:
		*value = value_of("time", sound, taints, change == DISTURB_SOME ? 3 : 4);
		break;
	case BREAK_RULE:
	case BREAK_IN_RUNS:
		value->breaches = &breaches[change == BREAK_IN_RUNS];
		value->nr_breaches = 1;
		break;
	case FAIL:
		value->grade = "F";
		break;
	case SHORT:
		value->own_cost = (struct quantity_own_cost){.is_known = true, .top = 1, .top_share = 0.011};
		break;
	case UNEVEN:
		*value = value_of("time", modes, taints, 0);
		break;
	case FEW_RUNS:
	case FEW_EQUAL:
		value->samples = change == FEW_RUNS ? sound : equal;
		value->nr_samples = change == FEW_RUNS ? 5 : 2;
		value->summary = summary_median(value->samples, value->nr_samples);
		break;
	}
}

static const struct {
	enum change change;
	const char *caveats;
} changes[] = {
	{NO_CHANGE, "[]"},
	{GIVEN, "[]"},
	{DISTURB_SOME, "[]"},
	{BREAK_IN_RUNS, "[]"},
	{FEW_EQUAL, "[]"},
	{MISSING, "[\"missing\"]"},
	{EXPECTED, "[\"expected\"]"},
	{MODELLED, "[\"modelled\"]"},
	{DISTURB_MORE, "[\"disturbed\"]"},
	{BREAK_RULE, "[\"brokenRule\"]"},
	{FAIL, "[\"failingGrade\"]"},
	{SHORT, "[\"short\"]"},
	{UNEVEN, "[\"uneven\"]"},
	{FEW_RUNS, "[\"noInterval\"]"},
};

TEST_OF(test_caveats, NR_ELEMENTS(changes))
{
	struct quantity_value value = value_of("time", sound, taints, 0);
	json_auto_t *json = NULL;
	autofree char *text = NULL;

	change_value(&value, changes[_i].change);
	json = quantity_value_json(&value);
	text = json_dumps(json_object_get(json, "caveats"), JSON_COMPACT);
	ck_assert_str_eq(text ? text : "[]", changes[_i].caveats);
}

UNIT_TESTS(.is_in_one_process = true);
