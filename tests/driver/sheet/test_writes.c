/* SPDX-License-Identifier: MIT */
/* Where stores go, as times of lines tell. */
#include <math.h>

#include "sheet/writes.h"
#include "testing.h"

/* Both halves take the same, but for the factor of the second one. */
static const struct {
	double l1, l2, first, five, factor, again;
	const char *of_l1, *of_again;
} caches[] = {
	{2, 2.05, 20, 28.4, 1.01, 2.1, "L2 takes stores as fast", "write allocate: the first"},
	{2, 5, 20, 40, 1.01, 5, "write back", "write allocate: the first"},
	{5, 5, 20, 100, 1.01, 20, "L2 takes stores as fast", "no write allocate"},
	{2, 5, 20, 40, 1.5, 5, "not sure", "not sure"},
	{NAN, 5, 20, NAN, 1, NAN, "cannot be told", "cannot be told"},
};

TEST_OF(stores_tell_policies, NR_ELEMENTS(caches))
{
	const double f = caches[_i].factor;
	struct sheet_answer answers[WRITES_NR_ANSWERS];

	writes_conclude((double[]){caches[_i].l1, f * caches[_i].l1}, (double[]){caches[_i].l2, f * caches[_i].l2},
			(double[]){caches[_i].first, f * caches[_i].first},
			(double[]){caches[_i].five, f * caches[_i].five}, answers);
	ck_assert_has(answers[WRITES_L1].remark, caches[_i].of_l1);
	ck_assert_has(answers[WRITES_AGAIN].remark, caches[_i].of_again);
	if (!isnan(caches[_i].again))
		ck_assert_double_eq_tol(answers[WRITES_AGAIN].number.value, caches[_i].again, 1e-9);
}
