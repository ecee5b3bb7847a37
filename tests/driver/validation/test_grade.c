/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "testing.h"
#include "validation/grade.h"
#include "validation/known_work.h"

static const struct {
	double deviations[6];
	size_t n;
	char letter;
	bool is_unstable;
} cases[] = {
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

START_TEST(grades)
{
	const struct grade grade = grade_of(cases[_i].deviations, cases[_i].n);

	ck_assert_msg(grade.letter == cases[_i].letter, "case %d: %c", _i, grade.letter ? grade.letter : '0');
	ck_assert(grade.is_unstable == cases[_i].is_unstable);
}
END_TEST

START_TEST(bias_and_spread)
{
	const double deviations[] = {0.01, 0.02, 0.03, 0.02, 0.02, 0.02, 0.02};
	const struct grade grade = grade_of(deviations, 7);

	ck_assert_double_eq_tol(grade.bias, 0.02, 1e-12);
	ck_assert_double_eq_tol(grade.spread, 0.02, 1e-12);
	ck_assert_double_eq_tol(grade.worst, 0.03, 1e-12);
	ck_assert_double_eq_tol(grade.of.value, 1.02, 1e-12);
}
END_TEST

START_TEST(weaker_letters)
{
	ck_assert(grade_weaker('A', 'F') == 'F');
	ck_assert(grade_weaker('C', 'B') == 'C');
	ck_assert(grade_weaker(0, 'A') == 'A');
}
END_TEST

/* Work that must be none is compared with the other work of the kernel. */
START_TEST(deviations)
{
	ck_assert_double_eq_tol(known_work_deviation(150, 100, 100), 0.5, 1e-12);
	ck_assert_double_eq_tol(known_work_deviation(0, 100, 400), -1, 1e-12);
	ck_assert_double_eq_tol(known_work_deviation(100, 0, 400), 0.25, 1e-12);
	ck_assert_double_nan(known_work_deviation(1, 0, 0));
}
END_TEST

static const struct listed_test tests[] = {
	{&grades, sizeof(cases) / sizeof(*cases)},
	{&bias_and_spread, 1},
	{&weaker_letters, 1},
	{&deviations, 1},
};

UNIT_TESTS("grades of validation", tests);
