/* SPDX-License-Identifier: MIT */
/* How many variables get registers, as recorded curves of a Zen 5 tell. */
#include <math.h>

#include "sheet/ranges.h"
#include "testing.h"

/* From 3 variables on. The first two are of gcc, and those below of clang: integers that it spills cost nothing here.
 */
static const double recorded[RANGES_NR_ANSWERS][22] = {
	{1.00,  0.50,  0.50,  0.34,  0.34,  0.27,  0.27,  0.236, 0.237, 0.218, 0.219,
	 0.202, 0.205, 0.245, 0.269, 0.278, 0.287, 0.296, 0.307, 0.314, 0.323, 0.328},
	{2.00,  1.00,  1.00,  0.71,  0.71,  0.50,  0.50,  0.502, 0.502, 0.501, 0.501,
	 0.501, 0.501, 0.501, 0.668, 0.850, 0.727, 0.702, 0.700, 0.666, 0.697, 0.690},
	{1.01,  0.50,  0.50,  0.34,  0.34,  0.27,  0.27,  0.239, 0.240, 0.220, 0.220,
	 0.205, 0.211, 0.220, 0.204, 0.208, 0.207, 0.204, 0.205, 0.216, 0.228, 0.268},
	{2.00,  1.01,  1.01,  0.71,  0.71,  0.50,  0.50,  0.506, 0.505, 0.503, 0.504,
	 0.505, 0.504, 0.504, 0.751, 0.782, 0.675, 0.726, 0.718, 0.674, 0.720, 0.900},
};

static struct ranges *
ranges_of_two(double disturbance)
{
	struct ranges *ranges = rot_calloc(1, sizeof(*ranges));

	for (int kind = 0; kind < RANGES_NR_ANSWERS; kind++) {
		struct measured_curve *curve = &ranges->curves[kind];

		for (size_t i = 0; i < NR_ELEMENTS(recorded[kind]); i++) {
			curve->at[curve->nr++] = 3 + (double)i;
			curve->cycles[0][i] = recorded[kind][i];
			curve->cycles[1][i] = recorded[kind][i] * (i % 3 ? 1.001 : 1 + disturbance);
		}
	}
	return ranges;
}

TEST(registers_are_told_where_spilling_costs)
{
	static const double values[] = {15, 16, NAN, 16};
	autofree struct ranges *ranges = ranges_of_two(0);

	ranges_conclude(ranges);
	for (int i = 0; i < RANGES_NR_ANSWERS; i++) {
		const struct sheet_answer *answer = &ranges->answers[i];

		if (isnan(values[i])) {
			ck_assert_has(answer->remark, "not sure");
			continue;
		}
		ck_assert_double_eq(answer->number.value, values[i]);
		ck_assert_msg(!answer->remark, "%s: %s", answer->name, answer->remark);
	}
}

TEST(a_compiler_that_is_missing_is_told)
{
	autofree struct ranges *ranges = ranges_of_two(0);

	ranges->curves[2].nr = ranges->curves[3].nr = 0;
	ranges_conclude(ranges);
	ck_assert_has(ranges->answers[3].remark, "no such compiler");
	ck_assert_ptr_null(ranges->answers[3].curve);
	ck_assert_double_eq(ranges->answers[0].number.value, 15);
}

TEST(disturbed_additions_are_not_sure)
{
	autofree struct ranges *ranges = ranges_of_two(0.4);

	ranges_conclude(ranges);
	for (int i = 0; i < RANGES_NR_ANSWERS; i++)
		ck_assert_ptr_nonnull(ranges->answers[i].remark);
}
