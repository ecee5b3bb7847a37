/* SPDX-License-Identifier: MIT */
/* A/A: what is said of simulated measurements, which differ or do not. */
#include <jansson.h>

#include "../statistics/draw.h"
#include "base/json.h"
#include "check/aa.h"
#include "quantities/quantity.h"
#include "testing.h"

#define NR_RUNS 10
#define NR_COMPARISONS 200

static struct aa aa;

static void
set_up(void)
{
	draw_state = 1;
	aa = (struct aa){
		.options = {.controller = "simulated", .nr_runs = NR_RUNS},
		.nr_subjects = 2,
		.nr_points = 2,
		.nr_rounds = NR_COMPARISONS,
	};
	aa.subjects = pool_calloc(&aa.pool, 2, sizeof(struct aa_subject));
	for (size_t i = 0; i < 2; i++) {
		aa.subjects[i].words = "time:tsc";
		aa.subjects[i].point = pool_format(&aa.pool, "point %zu", i);
	}
}

static void
tear_down(void)
{
	pool_clear(&aa.pool);
}

/* A measurement of nr runs, of which the last is disturbed and far off. */
static struct quantity_value
measured(double location, double scale, size_t nr)
{
	struct quantity_value value = {.grade = "", .kind = "measured", .expected = NAN};

	ck_assert_int_eq(quantity_parse(&value.request, "time:tsc", NULL), 0);
	value.name = "time";
	value.of = "tsc";
	value.unit = "tick";
	value.source = "drawn";
	value.nr_samples = nr + 1;
	value.samples = rot_calloc(nr + 1, sizeof(*value.samples));
	value.taints = rot_calloc(nr + 1, sizeof(*value.taints));
	for (size_t i = 0; i < nr; i++)
		value.samples[i] = location + scale * draw_standard_normal();
	value.samples[nr] = 100 * location;
	value.taints[nr] = TAINT_CONTEXT_SWITCH;
	value.summary = summary_median(value.samples, nr);
	value.summary.tainted = 1;
	return value;
}

static void
compare(double between, double within, size_t nr_runs)
{
	for (int i = 0; i < 2 * NR_COMPARISONS; i++) {
		cleared_by(quantity_value_clear) struct quantity_value
			first = measured(1000 + between * draw_standard_normal(), within, nr_runs),
			second = measured(1000 + between * draw_standard_normal(), within, nr_runs);

		aa_subject_add(&aa.pool, &aa.subjects[i % 2], &first, &second);
	}
}

static struct aa_row
only_row(void)
{
	size_t nr;
	struct aa_row *rows = aa_rows(&aa.pool, &aa, &nr);

	ck_assert_uint_eq(nr, 1);
	return rows[0];
}

static char *
printed(void)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	aa_print(&aa, out);
	fclose(out);
	return text;
}

TEST(alike_measurements_are_called_alike)
{
	struct aa_row row;
	autofree char *text = NULL;

	compare(0, 10, NR_RUNS);
	row = only_row();
	ck_assert_uint_eq(row.nr_compared, 2 * NR_COMPARISONS);
	ck_assert_msg(row.rate.value <= 0.06, "%g", row.rate.value);
	ck_assert(!aa_is_too_often(&row));
	ck_assert_msg(row.widening <= 1.05, "%g", row.widening);
	ck_assert_double_eq_tol(row.within, 0.01, 0.003);
	ck_assert_double_eq_tol(row.between / row.by_chance, 1, 0.2);
	text = printed();
	ck_assert_msg(strstr(text, "No quantity is shown") && !strstr(text, "! "), "%s", text);
}

/* They are as far apart as their runs: a median of ten is known three times as well. */
TEST(measurements_that_differ_are_found)
{
	struct aa_row row;
	autofree char *text = NULL;

	compare(10, 10, NR_RUNS);
	row = only_row();
	ck_assert_msg(row.rate.value > 0.25, "%g", row.rate.value);
	ck_assert(aa_is_too_often(&row));
	ck_assert_msg(row.widening > 1.5 && row.widening < 6, "%g", row.widening);
	ck_assert_msg(row.between > 1.5 * row.by_chance, "%g %g", row.between, row.by_chance);
	text = printed();
	ck_assert_has(text, "intervals are too narrow here, and must be");
	ck_assert_has(text, "longer than a measurement differs");
}

/*
 * Nothing but the start of the core makes runs differ, ten starts of five runs each. They take turns, so that the order
 * of runs, which comparisons look at too, does not tell.
 */
static struct quantity_value
measured_in_starts(bool are_told)
{
	struct quantity_value value = measured(1000, 1, 50);

	value.starts = rot_calloc(value.nr_samples, sizeof(*value.starts));
	for (size_t i = 0; i < value.nr_samples; i++)
		value.starts[i] = i % 10;
	for (size_t i = 0; i < 10; i++) {
		const double start = 10 * draw_standard_normal();

		for (size_t k = i; k < 50; k += 10)
			value.samples[k] += start;
	}
	if (!are_told) {
		free(value.starts);
		value.starts = NULL;
	}
	return value;
}

/* Starts of a loop are told, and not told. */
TEST_OF(starts_that_are_told_raise_no_alarms, 2)
{
	const bool are_told = _i == 0;
	struct aa_row row;

	for (int i = 0; i < NR_COMPARISONS; i++) {
		cleared_by(quantity_value_clear) struct quantity_value first = measured_in_starts(are_told),
								       second = measured_in_starts(are_told);

		aa_subject_add(&aa.pool, &aa.subjects[0], &first, &second);
	}
	row = only_row();
	ck_assert_msg(are_told ? row.rate.value <= 0.06 : row.rate.value > 0.25, "%g", row.rate.value);
}

TEST(too_few_runs_are_no_verdict)
{
	struct aa_row row;

	compare(10, 10, 5);
	row = only_row();
	ck_assert_uint_eq(row.nr_compared, 0);
	ck_assert_uint_eq(row.nr_unknown, 2 * NR_COMPARISONS);
	ck_assert(isnan(row.rate.value) && isnan(row.widening) && !aa_is_too_often(&row));
}

/* Counts that are exact are the same twice, and spread nowhere. */
TEST(exact_counts_are_the_same)
{
	struct aa_row row;

	compare(0, 0, NR_RUNS);
	row = only_row();
	ck_assert_uint_eq(row.nr_compared, 2 * NR_COMPARISONS);
	ck_assert_uint_eq(row.nr_different, 0);
	ck_assert(isnan(row.within) && isnan(row.between));
}

TEST(needed_widths)
{
	const struct summary ends_at_1 = {.value = 1.1, .low = 1, .high = 1.21},
			     holds_1 = {.value = 0.99, .low = 0.9, .high = 1.1},
			     misses_1 = {.value = 1.2, .low = 1.1, .high = 1.3}, none = {.value = 1.2, .low = NAN},
			     without_width = {.value = 1.2, .low = 1.2, .high = 1.2};

	ck_assert_double_eq_tol(aa_needed(&ends_at_1), 1, 1e-9);
	ck_assert_double_lt(aa_needed(&holds_1), 1);
	ck_assert_double_eq_tol(aa_needed(&misses_1), log(1.2) / log(1.2 / 1.1), 1e-9);
	ck_assert_double_nan(aa_needed(&none));
	ck_assert(isinf(aa_needed(&without_width)));
}

TEST(json_has_all)
{
	json_t *json, *row;

	compare(10, 10, NR_RUNS);
	json = aa_json(&aa);
	row = json_array_get(json_object_get(json, "quantities"), 0);
	ck_assert_str_eq(json_text_at(json, "schema"), "rot.aa/1");
	ck_assert_double_eq(json_number_at(row, "compared"), 2 * NR_COMPARISONS);
	ck_assert(json_is_true(json_object_get(row, "isTooOften")));
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), 2);
	json_decref(json);
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
