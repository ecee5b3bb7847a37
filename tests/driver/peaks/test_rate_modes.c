/* SPDX-License-Identifier: MIT */
/* Two modes of a rate, on made-up rates of processes. */
#include <check.h>
#include <math.h>

#include "peaks/rate_modes.h"
#include "testing.h"

static const struct {
	double rates[12];
	size_t nr;
	bool are_two;
	double low, high, usual;
	size_t nr_usual;
} cases[] = {
	/* Stores to an L3, in an order as it was met. */
	{{25.0, 24.9, 30.1, 25.0, 24.8, 24.9, 29.9, 25.0, 25.1, 24.9, 24.7, 25.0}, 12, true, 29.5, 30.1, 24.95, 10},
	/* What one process reached is not believed, */
	{{25, 25, 25, 25, 25, 31, 25, 25}, 8, false, 0, 0, 0, 0},
	/* nor what it reached beyond two that agree. */
	{{25, 25, 25, 25, 30, 35, 30, 25}, 8, true, 29.4, 30, 25, 5},
	/* The upper one is the usual one. */
	{{31, 31, 25, 31, 31, 25, 31, 31}, 8, false, 0, 0, 0, 0},
	/* Three modes: the upper one counts, the others are the usual. */
	{{25, 28, 25, 28, 25, 31, 25, 31}, 8, true, 30.38, 31, 25, 6},
	/* Noise of one mode, */
	{{30.0, 30.4, 29.8, 30.9, 30.1, 30.2, 29.5, 30.3}, 8, false, 0, 0, 0, 0},
	/* and too few. */
	{{31}, 1, false, 0, 0, 0, 0},
	{{0}, 0, false, 0, 0, 0, 0},
	{{NAN, 31, NAN, 31, 25, 25, 25, NAN}, 8, true, 30.38, 31, 25, 3},
};

START_TEST(modes_are_told_apart)
{
	const struct rate_modes modes = rate_modes_find(cases[_i].rates, cases[_i].nr);
	size_t nr = 0;

	for (size_t i = 0; i < cases[_i].nr; i++)
		nr += isfinite(cases[_i].rates[i]);
	ck_assert_uint_eq(modes.nr, nr);
	ck_assert_int_eq(modes.are_two, cases[_i].are_two);
	if (!modes.are_two)
		return;
	ck_assert_double_eq_tol(modes.low, cases[_i].low, 0.01);
	ck_assert_double_eq_tol(modes.high, cases[_i].high, 0.01);
	ck_assert_double_eq_tol(modes.usual, cases[_i].usual, 1e-9);
	ck_assert_uint_eq(modes.nr_usual, cases[_i].nr_usual);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rate_modes");
	TCase *tcase = tcase_create("pure");

	tcase_add_loop_test(tcase, modes_are_told_apart, 0, NR_ELEMENTS(cases));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
