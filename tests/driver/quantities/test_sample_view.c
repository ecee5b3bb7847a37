/* SPDX-License-Identifier: MIT */
/* Views of the runs of a value, and how far these are off and apart. */
#include "quantities/sample_view.h"
#include "testing.h"

#define NR 8

/* The last one was disturbed. */
static double samples[NR] = {110, 100, 105, 125, 120, 100, 115, 5000};
static unsigned taints[NR] = {[NR - 1] = TAINT_CONTEXT_SWITCH};

static struct quantity_value
measured(void)
{
	return (struct quantity_value){
		.name = (char *)"time",
		.of = (char *)"",
		.unit = (char *)"cycle",
		.kind = "measured",
		.grade = "",
		.expected = 80,
		.summary = {.tainted = 1},
		.samples = samples,
		.taints = taints,
		.nr_samples = NR,
	};
}

static const struct {
	int line;
	struct sample_view view;
	size_t nr;
	double seen[NR];
} views[] = {
	{__LINE__, {SAMPLES_ALONE, false, 0}, 7, {110, 100, 105, 125, 120, 100, 115}},
	{__LINE__, {SAMPLES_ALONE, false, 2}, 3, {100, 105, 100}},
	{__LINE__, {SAMPLES_TO_EXPECTED, false, 0}, 7, {1.375, 1.25, 1.3125, 1.5625, 1.5, 1.25, 1.4375}},
	{__LINE__, {SAMPLES_TO_EXPECTED, true, 2}, 3, {0.25, 0.3125, 0.25}},
	{__LINE__, {SAMPLES_TO_MINIMUM, true, 1}, 7, {0.1, 0, 0.05, 0.25, 0.2, 0, 0.15}},
	{__LINE__, {SAMPLES_TO_MINIMUM, false, 7}, 1, {1}},
	{__LINE__, {SAMPLES_TO_MINIMUM, false, 8}, 0, {0}},
};

TEST_OF(views_see_undisturbed_runs, NR_ELEMENTS(views))
{
	const struct quantity_value value = measured();
	size_t nr;
	autofree double *seen = sample_view_of(&views[_i].view, &value, &nr);

	ck_assert_msg(nr == views[_i].nr, "line %d: %zu", views[_i].line, nr);
	for (size_t i = 0; i < nr; i++)
		ck_assert_msg(fabs(seen[i] - views[_i].seen[i]) < 1e-12, "line %d: %g", views[_i].line, seen[i]);
}

TEST(what_is_not_measured_has_no_runs)
{
	const struct sample_view alone = {.reference = SAMPLES_ALONE}, expected = {.reference = SAMPLES_TO_EXPECTED};
	struct quantity_value value = measured();
	size_t nr;

	value.expected = 0;
	free(sample_view_of(&expected, &value, &nr));
	ck_assert_uint_eq(nr, 0);
	ck_assert(isnan(sample_view_reference(&expected, &value)));
	value.expected = NAN;
	ck_assert_uint_eq(sample_accuracy_of(&expected, &value).nr, 0);
	ck_assert_uint_eq(sample_accuracy_of(&alone, &value).nr, 7);
	value.kind = "modelled";
	ck_assert(quantity_is_of_runs(&value));
	value.kind = "expected";
	ck_assert(!quantity_is_of_runs(&value));
	ck_assert_uint_eq(sample_accuracy_of(&alone, &value).nr, 0);
}

/* A value of which every run was disturbed still has them, and one that keeps what disturbed it. */
TEST(disturbed_runs_are_better_than_none)
{
	double kept[NR];
	struct quantity_value value = measured();

	ck_assert_uint_eq(quantity_kept_samples(&value, kept), NR - 1);
	value.summary.tainted = NR;
	ck_assert_uint_eq(quantity_kept_samples(&value, kept), NR);
	ck_assert_double_eq(kept[NR - 1], 5000);
	value.summary.tainted = 0;
	value.kept_taints = TAINT_CONTEXT_SWITCH | TAINT_STEAL;
	ck_assert_uint_eq(quantity_kept_samples(&value, kept), NR);
	value.kept_taints = TAINT_STEAL;
	ck_assert_uint_eq(quantity_kept_samples(&value, kept), NR - 1);
}

TEST(accuracy_has_a_sign_and_precision_a_unit)
{
	const struct sample_view expected = {.reference = SAMPLES_TO_EXPECTED},
				 minima = {.reference = SAMPLES_TO_EXPECTED, .minimum_of = 2};
	struct quantity_value value = measured();
	struct sample_accuracy accuracy = sample_accuracy_of(&expected, &value);

	ck_assert_uint_eq(accuracy.nr, 7);
	ck_assert_double_eq_tol(accuracy.off, 110.0 / 80 - 1, 1e-12);
	ck_assert_double_eq_tol(accuracy.spread, (120 - 100) / 80.0,
				1e-12); /* quartiles of seven: the 2nd and the 6th */
	accuracy = sample_accuracy_of(&minima, &value);
	ck_assert_uint_eq(accuracy.nr, 3);
	ck_assert_double_eq_tol(accuracy.off, 0.25, 1e-12);
	ck_assert_double_eq_tol(accuracy.spread, (105 - 100) / 80.0, 1e-12);
	accuracy = sample_accuracy_of(&(struct sample_view){.minimum_of = 7}, &value);
	ck_assert_uint_eq(accuracy.nr, 1);
	ck_assert(isnan(accuracy.spread));
	value.expected = 220;
	ck_assert_double_eq_tol(sample_accuracy_of(&expected, &value).off, -1, 1e-12); /* half is as far off as twice */
}

/* The whole range of the least runs counts, also where the quartiles lie within it. */
TEST(least_runs_have_a_range)
{
	static double pairs[] = {100, 200, 110, 200, 120, 200, 130, 200, 140, 200};
	static unsigned none[NR_ELEMENTS(pairs)];
	struct quantity_value value = measured();

	value.samples = pairs;
	value.taints = none;
	value.nr_samples = NR_ELEMENTS(pairs);
	value.summary.tainted = 0;
	ck_assert_double_eq_tol(sample_accuracy_of(&(struct sample_view){.minimum_of = 2}, &value).spread, 40.0 / 120,
				1e-12);
}
