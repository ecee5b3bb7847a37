/* SPDX-License-Identifier: MIT */
/* How many threads work at once, as made-up curves tell. */
#include <math.h>

#include "sheet/contexts.h"
#include "sheet/cores.h"
#include "testing.h"

/* Times of four CPUs: two cores of two threads each, four cores, and four cores that other programs disturb. */
static const struct {
	double times[2][9];
	size_t nr_cores; /* by pairs */
	double value;
	const char *remark; /* NULL: none */
} machines[] = {
	{{{1, 1, 1.9, 1.9, 3.9, 4, 4, 4, 5}, {1, 1, 1.9, 1.9, 3.9, 4, 4, 4, 5}}, 2, 2, "threads of one core"},
	{{{1, 1, 1, 1.01, 2, 2, 2, 2, 3}, {1, 1, 1, 1, 2, 2, 2, 2, 3}}, 4, 4, "not as told"},
	{{{1, 1, 1, 1.01, 2, 2, 2, 2, 3}, {1, 1, 1, 1, 2, 2, 2, 2, 3}}, 2, 4, "fewer cores"},
	{{{1, 1, 1, 1, 2, 2, 2, 2, 3}, {1, 1.8, 1.7, 2, 2.2, 2.5, 3, 3, 3}}, 4, 4, "not sure"},
};

TEST_OF(threads_are_told_from_cores, NR_ELEMENTS(machines))
{
	autofree struct contexts *contexts = rot_calloc(1, sizeof(*contexts));

	for (int kind = 0; kind < CONTEXTS_NR_ANSWERS; kind++)
		for (size_t i = 0; i < 9; i++) {
			struct measured_curve *curve = &contexts->curves[kind];

			curve->at[curve->nr++] = (double)i + 1;
			for (int half = 0; half < 2; half++)
				curve->cycles[half][i] = kind != CONTEXTS_WAITING ? machines[_i].times[half][i]
							 : i < 4                  ? 1
										  : 2;
		}
	contexts_conclude(contexts, 4, 2, machines[_i].nr_cores);
	ck_assert_double_eq(contexts->answers[CONTEXTS_WAITING].number.value, 4);
	ck_assert_ptr_null(contexts->answers[CONTEXTS_WAITING].remark);
	ck_assert_double_eq(contexts->answers[CONTEXTS_L1].number.value, machines[_i].value);
	ck_assert_has(contexts->answers[CONTEXTS_L1].remark, machines[_i].remark);
}

TEST(one_cpu_is_the_reason_where_there_is_one)
{
	autofree struct contexts *contexts = rot_calloc(1, sizeof(*contexts));

	contexts_conclude(contexts, 1, 1, 1);
	for (int kind = 0; kind < CONTEXTS_NR_ANSWERS; kind++)
		ck_assert_has(contexts->answers[kind].remark, "one CPU alone");
}

/* CPUs 0 and 1, and 2 and 3, delay each other. */
TEST(contention_tells_cores)
{
	static const int order[] = {0, 2, 1, 3};
	struct cores cores = {.cpus = {0, 1, 2, 3}, .nr = 4};

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++)
			cores.slowdown[i][k] = i == k ? NAN : i / 2 == k / 2 ? 1.9 : 1;
	ck_assert_uint_eq(cores_spread(&cores), 2);
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(cores.cpus[i], order[i]);
}
