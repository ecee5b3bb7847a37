/* SPDX-License-Identifier: MIT */
/* Answers of windows of an access beside a load: those whose load was not there do not count. */
#include <math.h>
#include <stdbool.h>

#include "entities.h"
#include "sheet/loaded.h"
#include "testing.h"

/* A queue: the nearer to 40 GB/s, the longer. disturbed: of ten windows, how many the load was not there in. */
static void
fill(struct loaded_level levels[LOADED_NR_LEVELS], double most, unsigned disturbed)
{
	for (size_t i = 0; i < LOADED_NR_LEVELS; i++) {
		const double load = most * (double)i / (LOADED_NR_LEVELS - 1);

		levels[i].nr = 100;
		for (size_t k = 0; k < levels[i].nr; k++) {
			const bool is_disturbed = k / 2 % 10 < disturbed;

			levels[i].windows[k] = is_disturbed
						       ? (struct loaded_window){100, load / 3}
						       : (struct loaded_window){100 + 100 * load / (41 - load), load};
		}
	}
}

static const struct {
	double most;
	unsigned disturbed;
	double full, half_more, high;
} loads[] = {
	{40, 0, 4100, 14.5, 14.6},
	{40, 6, 4100, 14.5, 14.6},
	{10, 0, 132.3, 10, INFINITY},
};

TEST_OF(latency_is_told_beside_the_load_that_was_there, NR_ELEMENTS(loads))
{
	autofree struct loaded_level *levels = rot_calloc(LOADED_NR_LEVELS, sizeof(*levels));
	autofree struct loaded *loaded = rot_calloc(1, sizeof(*loaded));
	const struct sheet_answer *answers = loaded->answers;

	fill(levels, loads[_i].most, loads[_i].disturbed);
	loaded_conclude(levels, 40, "give it", loaded);
	ck_assert_uint_eq(loaded->curve.nr, LOADED_NR_LEVELS);
	ck_assert_double_eq_tol(answers[LOADED_ALONE].number.value, 100, 1e-9);
	ck_assert_double_eq_tol(answers[LOADED_MOST].number.value, loads[_i].most, 1e-9);
	ck_assert_double_eq_tol(answers[LOADED_FULL].number.value, loads[_i].full, 0.1);
	ck_assert_double_eq_tol(answers[LOADED_HALF_MORE].number.value, loads[_i].half_more, 0.1);
	ck_assert_int_eq(isinf(answers[LOADED_HALF_MORE].number.high) != 0, isinf(loads[_i].high) != 0);
	for (int i = 0; i < LOADED_HALF_MORE; i++)
		ck_assert_msg(!answers[i].remark, "%s: %s", answers[i].name, answers[i].remark);
}

/* The rate that modules allow is a bound: one CPU reads less. */
TEST(what_modules_allow_is_told_or_asked_for)
{
	autofree struct loaded_level *levels = rot_calloc(LOADED_NR_LEVELS, sizeof(*levels));
	autofree struct loaded *loaded = rot_calloc(1, sizeof(*loaded));
	const struct sheet_answer *most = &loaded->answers[LOADED_MOST];

	fill(levels, 20, 0);
	loaded_conclude(levels, 0, "give it", loaded);
	ck_assert_str_eq(most->remark, "give it");
	loaded_conclude(levels, 38.4, "give it", loaded);
	ck_assert_double_eq(most->told, 38.4);
	ck_assert_ptr_null(most->remark);
	loaded_conclude(levels, 19, "give it", loaded);
	ck_assert_has(most->remark, "more than the key memoryBandwidth allows");
}

TEST(a_level_without_windows_is_left_out)
{
	autofree struct loaded_level *levels = rot_calloc(LOADED_NR_LEVELS, sizeof(*levels));
	autofree struct loaded *loaded = rot_calloc(1, sizeof(*loaded));

	fill(levels, 40, 0);
	levels[3].nr = 4;
	loaded_conclude(levels, 0, "give it", loaded);
	ck_assert_uint_eq(loaded->curve.nr, LOADED_NR_LEVELS - 1);
	levels[0].nr = 4;
	loaded_conclude(levels, 0, "give it", loaded);
	for (int i = 0; i < LOADED_NR_ANSWERS; i++) {
		ck_assert_double_nan(loaded->answers[i].number.value);
		ck_assert_has(loaded->answers[i].remark, "cannot be told: others had the CPUs");
	}
}

/* The memory that rot may use, and the last level, MiB. */
static const struct {
	int64_t memory, llc;
	size_t nr_cpus;
	unsigned nr_readers;
	bool is_enough;
} machines[] = {
	{262144, 32, 192, 32, true},                          /* no more than that */
	{24576, 32, 2, 1, true},     {4096, 32, 32, 8, true}, /* 31 with 32 MiB each would be a quarter of the memory */
	{1024, 32, 32, 2, true},     {1024, 33, 32, 2, false}, /* a sixteenth of the memory is 64 MiB */
	{256, 32, 2, 1, false},
};

TEST_OF(loads_take_an_eighth_of_the_memory_that_caches_do_not_hold, NR_ELEMENTS(machines))
{
	autograph struct machine *machine = machine_new();
	struct loaded_sizes sizes;

	machine->memory_limit_bytes = machines[_i].memory << 20;
	machine->llc_bytes = machines[_i].llc << 20;
	ck_assert_int_eq(loaded_choose_sizes(&sizes, machine, machines[_i].nr_cpus), machines[_i].is_enough);
	ck_assert_uint_eq(sizes.nr_readers, machines[_i].nr_readers);
	ck_assert_int_le((int64_t)(64 * sizes.nr_lines + sizes.nr_readers * sizes.reader_bytes),
			 (machines[_i].memory << 20) / 8);
	ck_assert_uint_ge(sizes.nr_readers * sizes.reader_bytes, 64 * sizes.nr_lines);
}
