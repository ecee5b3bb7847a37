/* SPDX-License-Identifier: MIT */
/* Lines that are fetched before they are asked for, as made-up curves tell. */
#include <math.h>

#include "sheet/prefetch.h"
#include "testing.h"

/* Cycles in order, at random, and of pairs, of which the first is within a line; each at 64, 128, 256, 512, 1024. */
static const struct {
	double in_order[5], at_random[5], pairs[6], factor; /* of the second half */
	double stride, stride_high, beside, beside_high;
	const char *remark, *remark_beside; /* NULL: none */
} machines[] = {
	{{12, 20, 60, 560, 600},
	 {600, 600, 600, 600, 600},
	 {300, 330, 340, 600, 590, 600},
	 1.01,
	 256,
	 511,
	 128,
	 255,
	 NULL,
	 NULL},
	{{12, 20, 20, 60, 70},
	 {600, 600, 600, 600, 600},
	 {300, 310, 310, 320, 320, 320},
	 1,
	 1024,
	 INFINITY,
	 1024,
	 INFINITY,
	 "at least",
	 "at least"},
	{{600, 600, 600, 600, 600},
	 {600, 600, 600, 600, 600},
	 {300, 590, 600, 600, 590, 600},
	 1,
	 0,
	 0,
	 0,
	 0,
	 "none is",
	 "none comes"},
	{{12, 20, 280, 580, 600},
	 {600, 600, 600, 600, 600},
	 {300, 330, 420, 600, 590, 600},
	 1.2,
	 256,
	 511,
	 128,
	 255,
	 "not sure",
	 "not sure"},
};

TEST_OF(distances_that_are_fetched_are_told, NR_ELEMENTS(machines))
{
	static const double at[] = {8, 64, 128, 256, 512, 1024};
	autofree struct prefetch *prefetch = rot_calloc(1, sizeof(*prefetch));
	const struct sheet_answer *answers = prefetch->answers;

	for (int kind = 0; kind < PREFETCH_NR_CURVES; kind++) {
		struct measured_curve *curve = &prefetch->curves[kind];
		const double *cycles = kind == PREFETCH_IN_ORDER    ? machines[_i].in_order
				       : kind == PREFETCH_AT_RANDOM ? machines[_i].at_random
								    : machines[_i].pairs;

		for (size_t i = kind != PREFETCH_PAIRS; i < NR_ELEMENTS(at); i++) {
			curve->at[curve->nr] = at[i];
			curve->cycles[0][curve->nr] = cycles[curve->nr];
			curve->cycles[1][curve->nr] = cycles[curve->nr] * machines[_i].factor;
			curve->nr++;
		}
	}
	prefetch_conclude(prefetch);
	ck_assert_double_eq(answers[PREFETCH_STRIDE].number.value, machines[_i].stride);
	ck_assert_double_eq(answers[PREFETCH_STRIDE].number.high, machines[_i].stride_high);
	ck_assert_double_eq(answers[PREFETCH_BESIDE].number.value, machines[_i].beside);
	ck_assert_double_eq(answers[PREFETCH_BESIDE].number.high, machines[_i].beside_high);
	for (int i = 0; i < PREFETCH_NR_ANSWERS; i++) {
		const char *remark = i == PREFETCH_STRIDE ? machines[_i].remark : machines[_i].remark_beside;

		if (remark)
			ck_assert_has(answers[i].remark, remark);
		else
			ck_assert_ptr_null(answers[i].remark);
	}
}
