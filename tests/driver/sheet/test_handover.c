/* SPDX-License-Identifier: MIT */
/* Lines that CPUs hand to each other, as made-up curves tell. */
#include <math.h>

#include "sheet/handover.h"
#include "testing.h"

static const struct {
	double second[5], best, largest;
	size_t nr;
	const char *remark; /* NULL: none */
} curves[] = {
	{{1, 8, 17.8, 17.4, 12}, 17.8, 12, 5, NULL}, {{1, 8, NAN, 17.4, NAN}, 17.4, 17.4, 5, NULL},
	{{1, 8, 12, 11, 8}, 12, 8, 5, "not sure"},   {{NAN, NAN, NAN, NAN, NAN}, NAN, NAN, 5, "others had one"},
	{{0}, NAN, NAN, 0, "one CPU alone"},
};

TEST_OF(blocks_tell_what_cpus_hand_over, NR_ELEMENTS(curves))
{
	static const double first[] = {1, 8, 18, 17.5, 12};
	autofree struct handover *handover = rot_calloc(1, sizeof(*handover));
	const struct sheet_answer *best = &handover->answers[HANDOVER_BEST],
				  *largest = &handover->answers[HANDOVER_LARGEST];

	handover->curve.nr = curves[_i].nr;
	for (size_t i = 0; i < handover->curve.nr; i++) {
		handover->curve.at[i] = (double)(1 << i);
		handover->curve.cycles[0][i] = first[i];
		handover->curve.cycles[1][i] = curves[_i].second[i];
	}
	handover_conclude(handover);
	if (isnan(curves[_i].best)) {
		ck_assert_double_nan(best->number.value);
		ck_assert_double_nan(largest->number.value);
	} else {
		ck_assert_double_eq(best->number.value, curves[_i].best);
		ck_assert_double_eq(largest->number.value, curves[_i].largest);
	}
	if (curves[_i].remark)
		ck_assert_has(best->remark, curves[_i].remark);
	else
		ck_assert_ptr_null(best->remark);
}
