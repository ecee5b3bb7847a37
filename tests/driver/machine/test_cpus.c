/* SPDX-License-Identifier: MIT */
/* The order of CPUs: cores of their own first. */
#include "machine/cpus.h"
#include "testing.h"

#define MAX 6

static const struct {
	size_t nr;
	int cpus[MAX], cores[MAX], spread[MAX];
	size_t nr_cores;
} rows[] = {
	{2, {0, 1}, {0, 1}, {0, 1}, 2},
	{4, {0, 1, 2, 3}, {0, 0, 2, 2}, {0, 2, 1, 3}, 2},
	{4, {0, 1, 2, 3}, {0, 1, 0, 1}, {0, 1, 2, 3}, 2},
	{6, {0, 1, 2, 4, 5, 7}, {0, 0, 0, 4, 5, 4}, {0, 4, 5, 1, 7, 2}, 3},
	{1, {3}, {2}, {3}, 1}, /* the other of its core is not allowed */
	{0, {0}, {0}, {0}, 0},
};

TEST_OF(each_core_comes_once_first, NR_ELEMENTS(rows))
{
	int cpus[MAX];

	for (size_t i = 0; i < MAX; i++)
		cpus[i] = rows[_i].cpus[i];
	ck_assert_uint_eq(cpus_spread(cpus, rows[_i].cores, rows[_i].nr), rows[_i].nr_cores);
	for (size_t i = 0; i < rows[_i].nr; i++)
		ck_assert_int_eq(cpus[i], rows[_i].spread[i]);
}

static const struct {
	const char *list;
	int cpu;
	bool holds;
} lists[] = {
	{"0", 0, true},     {"0", 1, false},        {"0-3", 3, true},        {"0-3", 4, false},
	{"0-3,8", 8, true}, {"0-3,8", 5, false},    {"2,4-5", 0, false},     {"2,4-5", 5, true},
	{"", 0, false},     {"nonsense", 0, false}, {"1,nonsense", 1, true}, {"1,nonsense", 0, false},
	{"10", 1, false},   {"0-3,8\n", 8, true},
};

TEST_OF(lists_hold_cpus, NR_ELEMENTS(lists))
{
	ck_assert(cpu_list_holds(lists[_i].list, lists[_i].cpu) == lists[_i].holds);
}

TEST(this_machine_has_some)
{
	size_t nr_cores, nr;
	autofree int *cpus = NULL;

	nr = allowed_cpus(&cpus, &nr_cores);
	ck_assert_uint_ge(nr, 1);
	ck_assert_uint_ge(nr_cores, 1);
	ck_assert_uint_le(nr_cores, nr);
	ck_assert_int_ge(cpus[nr - 1], 0);
}
