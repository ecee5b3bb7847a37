/* SPDX-License-Identifier: MIT */
/* Cliques of made-up matrices of CPUs. */
#include <math.h>
#include <string.h>

#include "sheet/cores.h"
#include "testing.h"

static const struct {
	size_t nr;
	double ns[4][4], slowdown; /* of CPUs 0 and 1 */
	int clique[4], nr_cliques;
	const char *shown;
} machines[] = {
	/* two complexes of two cores */
	{4,
	 {{0, 45, 200, 190}, {45, 0, 210, 195}, {200, 210, 0, 50}, {190, 195, 50, 0}},
	 1,
	 {0, 0, 1, 1},
	 2,
	 "CPUs 0 1 | 2 3"},
	/* all alike */
	{3, {{0, 45, 50}, {45, 0, 48}, {50, 48, 0}}, 1, {0, 0, 0}, 1, "  1   45    -   48"},
	/* two threads of a core are nearer than cores are, which says nothing of complexes */
	{3, {{0, 12, 50}, {12, 0, 48}, {50, 48, 0}}, 1.9, {0, 0, 0}, 1, "delays the other: CPUs 0 1\n"},
	/* a pair that is not told is no gap */
	{3, {{0, NAN, 50}, {NAN, 0, 48}, {50, 48, 0}}, NAN, {0, 0, 0}, 1, "  0    -    -   50"},
	{2, {{0, 179}, {179, 0}}, 1, {0, 0}, 1, "  0    -  179"},
	{1, {{0}}, 1, {0}, 1, "one CPU"},
};

TEST_OF(near_cpus_are_a_clique, NR_ELEMENTS(machines))
{
	struct cores cores = {.nr = machines[_i].nr, .nr_allowed = machines[_i].nr};
	json_auto_t *json = NULL;
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < cores.nr; i++) {
		cores.cpus[i] = (int)i;
		for (size_t k = 0; k < cores.nr; k++) {
			cores.ns[i][k] = i == k ? NAN : machines[_i].ns[i][k];
			cores.highest[i][k] = 1.1 * cores.ns[i][k];
			cores.slowdown[i][k] = i + k == 1 ? machines[_i].slowdown : 1;
		}
	}
	cores_conclude(&cores);
	ck_assert_uint_eq(cores.nr_levels, machines[_i].nr_cliques > 1);
	for (size_t i = 0; i < cores.nr && cores.nr_levels > 0; i++)
		ck_assert_int_eq(cores.levels[0].clique[i], machines[_i].clique[i]);
	cores_print(&cores, out);
	fclose(out);
	ck_assert_has(text, machines[_i].shown);
	json = cores_json(&cores);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "pairs")), cores.nr * (cores.nr - 1) / 2);
}

/* Two packages of two complexes of two cores of two threads: what is nearer lies deeper in the tree. */
TEST(cliques_of_cliques_are_a_tree)
{
	struct cores cores = {.nr = CORES_MAX, .nr_allowed = CORES_MAX};
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < CORES_MAX; i++) {
		cores.cpus[i] = (int)i;
		for (size_t k = 0; k < CORES_MAX; k++) {
			const double noise = 1 + 0.01 * (double)((3 * i + 5 * k) % 20);

			cores.ns[i][k] = noise * (i / 2 == k / 2 ? 9 : i / 4 == k / 4 ? 24 : i / 8 == k / 8 ? 80 : 190);
			cores.slowdown[i][k] = i / 2 == k / 2 ? 1.9 : 1;
		}
	}
	cores_conclude(&cores);
	ck_assert_uint_eq(cores.nr_levels, 2);
	for (size_t i = 0; i < CORES_MAX; i++) {
		ck_assert_int_eq(cores.levels[0].clique[i], (int)i / 4);
		ck_assert_int_eq(cores.levels[1].clique[i], (int)i / 8);
	}
	cores_print(&cores, out);
	fclose(out);
	ck_assert_has(text, "at most 28 ns: CPUs 0 1 2 3 | 4 5 6 7 |");
	ck_assert_has(text, "delays the other: CPUs 0 1 | 2 3 |");
	ck_assert_has(text, "at most 95 ns: CPUs 0 1 2 3 4 5 6 7 |");
}
