/* SPDX-License-Identifier: MIT */
/* Stepping through regions block by block counts what the processor's own single steps do, and changes no result. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "permits.h"
#include "stepped_functions.h"
#include "stepping.h"
#include "testing.h"

#define NO_LIMIT UINT64_MAX

#define COUNT_NAME(name, text) text,
static const char *const names[] = {STEP_COUNTS(COUNT_NAME)};

static void
expect_same(const char *name, const struct stepping *got, const struct stepping *wanted)
{
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		ck_assert_msg(got->region.counts[i] == wanted->region.counts[i], "%s: %llu %s instead of %llu", name,
			      (unsigned long long)got->region.counts[i], names[i],
			      (unsigned long long)wanted->region.counts[i]);
	ck_assert_uint_eq(got->region.nr_unknown, wanted->region.nr_unknown);
	ck_assert_mem_eq(got->results, wanted->results, sizeof(got->results));
}

static void
expect_whole(const char *name, const struct stepping *stepping)
{
	ck_assert_msg(!stepping->region.is_cut, "%s: cut at %llx", name, (unsigned long long)stepping->region.cut_at);
	ck_assert_msg(stepping->status == 0, "%s: status %d after %llu instructions", name, stepping->status,
		      (unsigned long long)stepping->region.counts[0]);
	ck_assert_msg(stepping->region.counts[STEP_INSTRUCTIONS] > 0, "%s", name);
}

START_TEST(counts_are_those_of_single_steps)
{
	const struct stepped_case *this = &stepped_cases[_i];
	struct stepping by_blocks, by_processor, native;
	struct stepping *results[] = {&native, &by_blocks, &by_processor};

	if (this->is_there && !this->is_there()) {
		fprintf(stderr, "this processor cannot %s\n", this->name);
		return;
	}
	stepping_run(this->function, NO_LIMIT, results);
	expect_whole(this->name, &by_blocks);
	expect_whole(this->name, &by_processor);
	expect_same(this->name, &by_blocks, &by_processor);
	ck_assert_mem_eq(by_blocks.results, native.results, sizeof(native.results));
}
END_TEST

/* Signals, threads and processes meanwhile. */
START_TEST(results_are_the_same)
{
	const struct stepped_case *this = &stepped_scenes[_i];
	struct stepping by_blocks, native;
	struct stepping *results[STEPPING_NR_WAYS] = {&native, &by_blocks};

	stepping_run(this->function, NO_LIMIT, results);
	ck_assert_int_eq(native.status, 0);
	expect_whole(this->name, &by_blocks);
	ck_assert_mem_eq(by_blocks.results, native.results, sizeof(native.results));
}
END_TEST

static const struct listed_test tests[] = {
	{&results_are_the_same, NR_STEPPED_SCENES},
	{&counts_are_those_of_single_steps, NR_STEPPED_CASES},
};

const struct suite test_suite = SUITE("stepping", tests, .needs = {permits_tracing});
