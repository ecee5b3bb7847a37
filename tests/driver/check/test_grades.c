/* SPDX-License-Identifier: MIT */
/* Grades; which rule was broken, by how counts are wrong; and which groups are left when some were found wrong. */
#include "check/known_work.h"
#include "check/shapes.h"
#include "quantities/architecture.h"
#include "testing.h"

static const struct {
	double deviations[6];
	size_t n;
	char letter;
	bool is_unstable;
} graded[] = {
	{{0, 0, 0, 0, 0, 0}, 6, 'A', false},
	{{0.009, 0.0, -0.009, 0, 0, 0}, 6, 'A', false},
	{{0.02, 0.02, 0.02, 0.02, 0.02, 0.02}, 6, 'B', false},
	{{-0.02, 0.001, 0, 0, 0.001, 0}, 6, 'B', false},
	{{0.07, 0.07, 0.07, 0.07, 0.07, 0.07}, 6, 'C', false},
	{{-0.5, -0.5, -0.5, -0.5, -0.5, -0.5}, 6, 'F', false}, /* half */
	{{31, 31, 31, 31, 31, 31}, 6, 'F', false},             /* poisoned */
	{{0, 0, 0, 0, 0, 31}, 6, 'F', true},                   /* right most of the time is no grade at all */
	{{-1, 0, 0, 0, 0, 0}, 6, 'F', true},
	{{NAN, NAN, NAN}, 3, 'F', false},
	{{0}, 0, 0, false},
};

TEST_OF(grades, NR_ELEMENTS(graded))
{
	const struct grade grade = grade_of(graded[_i].deviations, graded[_i].n);

	ck_assert_msg(grade.letter == graded[_i].letter, "case %d: %c", _i, grade.letter ? grade.letter : '0');
	ck_assert(grade.is_unstable == graded[_i].is_unstable);
}

TEST(bias_and_spread)
{
	const double deviations[] = {0.01, 0.02, 0.03, 0.02, 0.02, 0.02, 0.02};
	const struct grade grade = grade_of(deviations, 7);

	ck_assert_double_eq_tol(grade.bias, 0.02, 1e-12);
	ck_assert_double_eq_tol(grade.spread, 0.02, 1e-12);
	ck_assert_double_eq_tol(grade.worst, 0.03, 1e-12);
	ck_assert_double_eq_tol(grade.of.value, 1.02, 1e-12);
}

/* Work that must be none is compared with the other work of the kernel. */
TEST(deviations_are_relative)
{
	ck_assert_double_eq_tol(known_work_deviation(150, 100, 100), 0.5, 1e-12);
	ck_assert_double_eq_tol(known_work_deviation(0, 100, 400), -1, 1e-12);
	ck_assert_double_eq_tol(known_work_deviation(100, 0, 400), 0.25, 1e-12);
	ck_assert_double_nan(known_work_deviation(1, 0, 0));
}

static const struct architecture_formula formula;
static const struct candidate candidates[] = {
	{"operationCount", "doublePrecisionFlop", "measured", "", &formula, NULL},
	{"operationCount", "singlePrecisionFlop", "measured", "", &formula, NULL},
};
static struct shape shape_items[] = {
	{.large = 0, .plain = 5, .verdict = SHAPE_SOUND}, {.large = 0, .plain = 6, .verdict = SHAPE_WRONG},
	{.large = 1, .plain = 2, .verdict = SHAPE_SOUND}, {.large = 1, .plain = 3, .verdict = SHAPE_WRONG},
	{.large = 2, .plain = 0, .verdict = SHAPE_SOUND}, {.large = 2, .plain = 1, .verdict = SHAPE_REFUSED},
	{.large = 3, .plain = 0, .verdict = SHAPE_WRONG},
};

static struct shapes
shapes(void)
{
	return (struct shapes){.items = shape_items, .nr = NR_ELEMENTS(shape_items)};
}

/* The work of each of two kernels, double and single, and the counts of the events of "double". */
struct count {
	double expected[2], measured;
	size_t nr_overflowed;
	unsigned plain;
	bool is_unstable;
};

static const struct {
	struct count counts[2];
	bool is_not_scrubbed;
	const char *part;
} cases[] = {
	{{{{100, 0}, 50, 0, 0, false}, {{400, 0}, 200, 0, 0, false}}, false, "always 0.5 times"},
	{{{{100, 0}, 50, 0, 0, false}, {{400, 0}, 300, 0, 0, false}}, false, ""},
	{{{{100, 0}, 50, 0, 6, false}, {{400, 0}, 200, 0, 6, false}}, false, "groups of 6 plain"},
	{{{{100, 0}, 50, 0, 5, false}, {{400, 0}, 200, 0, 5, false}}, false, "always 0.5 times"},
	{{{{100, 0}, 0, 0, 0, false}, {{0, 100}, 100, 0, 0, false}},
	 false,
	 "operationCount:singlePrecisionFlop should"},
	{{{{100, 0}, 0, 0, 0, false}, {{100, 100}, 100, 0, 0, false}},
	 false,
	 "operationCount:singlePrecisionFlop should"},
	{{{{100, 0}, 0, 0, 0, false}, {{400, 0}, 0, 0, 0, false}}, false, "nothing of 'first'"},
	{{{{100, 0}, 100, 0, 0, false}, {{400, 0}, 0, 0, 0, false}}, false, "nothing of 'second'"},
	{{{{100, 0}, 100, 0, 0, false}, {{400, 0}, 12800, 0, 0, false}}, true, "scrubs"},
	{{{{100, 0}, 100, 0, 0, false}, {{400, 0}, 12800, 9, 0, false}}, false, "upper half"},
	{{{{100, 0}, 100, 0, 0, true}, {{400, 0}, 400, 0, 0, false}}, false, "in most runs"},
};

static struct known_work_row
make_row(const struct candidate *candidate, const char *kernel, const struct count *count, size_t k, double measured)
{
	double deviation = known_work_deviation(measured, count->expected[k], count->expected[0] + count->expected[1]);
	const double deviations[6] = {deviation, deviation, deviation,
				      deviation, deviation, count->is_unstable ? 30 : deviation};
	struct known_work_row row = {.candidate = candidate,
				     .kernel = rot_strdup(kernel),
				     .expected = count->expected[k],
				     .measured = measured,
				     .grade = grade_of(deviations, 6),
				     .nr_overflowed = count->nr_overflowed,
				     .nr_plain = count->plain};

	return row;
}

TEST_OF(names_the_rule, NR_ELEMENTS(cases))
{
	static const char *const kernels[] = {"first", "second"};
	struct known_work_row rows[4];
	struct known_work work = {
		.candidates = (struct candidate *)candidates, .nr_candidates = 2, .rows = rows, .nr = 4};
	struct shapes tried = shapes();
	struct diagnosis_context context = {.work = &work, .shapes = &tried, .is_scrubbed = !cases[_i].is_not_scrubbed};
	autofree char *text = NULL;

	tried.is_scrub_needed = cases[_i].is_not_scrubbed;
	for (size_t i = 0; i < 2; i++) {
		const struct count *count = &cases[_i].counts[i];

		rows[2 * i] = make_row(&candidates[0], kernels[i], count, 0, count->measured);
		rows[2 * i + 1] = make_row(&candidates[1], kernels[i], count, 1, count->expected[1]);
	}
	text = diagnosis_of(&context, &candidates[0]);
	ck_assert_msg(cases[_i].part[0] ? strstr(text, cases[_i].part) != NULL : text[0] == '\0', "case %d: '%s'", _i,
		      text);
	for (size_t i = 0; i < 4; i++)
		free((char *)rows[i].kernel);
}

/* By the file, and what is left of it. */
static const struct {
	unsigned large, plain, low, proved_large, proved_plain, proved_low;
} groups[] = {
	{0, 5, 0, 0, 5, 0}, {0, 6, 0, 0, 5, 0}, {0, 8, 0, 0, 5, 0}, {1, 2, 0, 1, 2, 0},
	{1, 3, 0, 1, 2, 0}, {2, 0, 0, 2, 0, 0}, {2, 2, 0, 2, 0, 0}, {3, 0, 0, 2, 0, 0},
	{0, 1, 4, 0, 1, 4}, {0, 2, 4, 0, 1, 4}, {0, 1, 7, 0, 0, 5},
};

TEST_OF(leaves_what_was_proved, NR_ELEMENTS(groups))
{
	struct architecture_group group = {.limit = {[EVENT_LARGE] = groups[_i].large,
						     [EVENT_PLAIN] = groups[_i].plain,
						     [EVENT_LOW] = groups[_i].low}};
	struct architecture architecture = {.groups = &group, .nr_groups = 1};
	const struct shapes tried = shapes(), none = {.nr = 0};

	shapes_prove(&tried, &architecture);
	ck_assert_uint_eq(group.proved[EVENT_LARGE], groups[_i].proved_large);
	ck_assert_uint_eq(group.proved[EVENT_PLAIN], groups[_i].proved_plain);
	ck_assert_uint_eq(group.proved[EVENT_LOW], groups[_i].proved_low);
	ck_assert_uint_eq(group.limit[EVENT_PLAIN], groups[_i].plain);
	shapes_prove(&none, &architecture);
	ck_assert_uint_eq(group.proved[EVENT_LARGE], groups[_i].large);
	ck_assert_uint_eq(group.proved[EVENT_PLAIN], groups[_i].plain);
}
