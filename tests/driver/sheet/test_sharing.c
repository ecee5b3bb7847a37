/* SPDX-License-Identifier: MIT */
/* Which CPUs share caches, as simulated costs tell. */
#include <math.h>

#include "sheet/sharing.h"
#include "testing.h"

/* Two sockets of four cores with two threads each. CPU 0 is on core 0 with CPU 8; cores 0 to 3 share a last level. */
#define NR_CPUS 16

static bool
are_together(enum sharing_answer level, int cpu)
{
	return level == SHARING_LAST ? cpu % 8 < 4 : cpu % 8 == 0;
}

/* noise: of the second half; an access that misses takes so many times as long as one that hits. */
static void
simulate(struct sharing *sharing, double noise, double miss)
{
	for (int level = 0; level < SHARING_NR_ANSWERS; level++) {
		struct measured_curve *curve = &sharing->curves[level];

		*curve = (struct measured_curve){.parameter = "CPU", .nr = NR_CPUS};
		for (int cpu = 0; cpu < NR_CPUS; cpu++) {
			const double cost = are_together(level, cpu) ? 0.4 + 0.6 * miss : 1;

			curve->at[cpu] = cpu;
			curve->cycles[0][cpu] = cost;
			curve->cycles[1][cpu] = cost * (1 + noise);
		}
	}
}

TEST(shared_levels_are_found)
{
	static const int told[] = {2, 2, 8};
	autofree struct sharing *sharing = rot_calloc(1, sizeof(*sharing));
	const struct sheet_answer *answers = sharing->answers;

	for (double noise = 0; noise < 0.1; noise += 0.03) {
		simulate(sharing, noise, 3.5);
		sharing_conclude(sharing, told);
		for (int i = 0; i < SHARING_NR_ANSWERS; i++) {
			ck_assert_double_eq(answers[i].number.value, told[i]);
			ck_assert_double_eq(answers[i].number.high, told[i]);
			ck_assert_lacks(answers[i].remark, "not");
		}
		ck_assert_str_eq(answers[SHARING_L2].remark, "CPU 0 shares it with CPU 8");
		ck_assert_str_eq(answers[SHARING_LAST].remark, "CPU 0 shares it with CPUs 1 2 3 8 9 10 11");
	}
}

TEST(what_is_told_is_compared)
{
	static const int told[] = {1, 0, 16};
	autofree struct sharing *sharing = rot_calloc(1, sizeof(*sharing));
	const struct sheet_answer *answers = sharing->answers;

	simulate(sharing, 0, 3);
	sharing_conclude(sharing, told);
	ck_assert_has(answers[SHARING_L1].remark, "not as told");
	ck_assert_lacks(answers[SHARING_L2].remark, "told");
	ck_assert_has(answers[SHARING_LAST].remark, "not as told");
}

/* Times in between, of one half, or none at all widen the range. */
TEST(some_are_not_sure)
{
	static const int told[] = {2, 2, 8};
	autofree struct sharing *sharing = rot_calloc(1, sizeof(*sharing));
	const struct sheet_answer *answers = sharing->answers;

	simulate(sharing, 0, 3);
	sharing->curves[SHARING_L1].cycles[1][5] = 1.5;
	sharing->curves[SHARING_L2].cycles[0][8] = 1.1;
	sharing->curves[SHARING_LAST].cycles[0][2] = NAN;
	sharing_conclude(sharing, told);
	ck_assert_double_eq(answers[SHARING_L1].number.value, 2);
	ck_assert_double_eq(answers[SHARING_L2].number.value, 1);
	ck_assert_double_eq(answers[SHARING_LAST].number.value, 7);
	for (int i = 0; i < SHARING_NR_ANSWERS; i++) {
		ck_assert_double_eq(answers[i].number.high, answers[i].number.value + 1);
		ck_assert_double_lt(answers[i].confidence, CURVE_SURE);
		ck_assert_has(answers[i].remark, "not sure");
	}
}

/* A host of others may have taken the cache, so nothing fits; or a level, or a second CPU, is missing. */
TEST(some_cannot_be_told)
{
	static const int told[] = {2, 2, 8};
	autofree struct sharing *sharing = rot_calloc(1, sizeof(*sharing));

	simulate(sharing, 0, 1.2);
	sharing->curves[SHARING_L2].nr = 0;
	sharing->curves[SHARING_LAST].nr = 1;
	sharing_conclude(sharing, told);
	ck_assert_has(sharing->answers[SHARING_L1].remark, "about as long");
	ck_assert_has(sharing->answers[SHARING_L2].remark, "size is not known");
	ck_assert_has(sharing->answers[SHARING_LAST].remark, "one CPU alone");
	sharing->curves[SHARING_L1].cycles[1][0] = NAN;
	sharing_conclude(sharing, told);
	ck_assert_has(sharing->answers[SHARING_L1].remark, "others ran");
	for (int i = 0; i < SHARING_NR_ANSWERS; i++)
		ck_assert_double_nan(sharing->answers[i].number.value);
}
