/* SPDX-License-Identifier: MIT */
/* Answers of times of hazards, of gaps of a clock and of clocks of cores. */
#include <math.h>
#include <string.h>

#include "sheet/clocks.h"
#include "sheet/hazards.h"
#include "sheet/scheduling.h"
#include "testing.h"

static const struct {
	double met[2], without[2], value, high;
	const char *remark; /* NULL: none */
} hazards[] = {
	{{15.02, 15.04}, {1.01, 1.0}, 14.02, 14.04, NULL},
	{{1.0, 1.003}, {1.01, 1.005}, 0, 0, NULL},
	{{15, 19}, {1, 1}, 14, 18, "the halves of the runs differ"},
	{{NAN, 15}, {1, 1}, NAN, NAN, "cannot be told"},
	{{15, 15}, {1, NAN}, 14, 14, NULL},
	{{15, 15}, {NAN, NAN}, NAN, NAN, "cannot be told"},
};

TEST_OF(a_hazard_costs_what_it_adds, NR_ELEMENTS(hazards))
{
	const struct survey_times met = {.cycles = {hazards[_i].met[0], hazards[_i].met[1]}},
				  without = {.cycles = {hazards[_i].without[0], hazards[_i].without[1]}};
	struct sheet_answer answer = hazard_conclude("branch", &met, &without, false);

	if (isnan(hazards[_i].value))
		ck_assert_double_nan(answer.number.value);
	else
		ck_assert_double_eq_tol(answer.number.value, hazards[_i].value, 1e-9);
	if (!isnan(hazards[_i].high))
		ck_assert_double_eq_tol(answer.number.high, hazards[_i].high, 1e-9);
	if (hazards[_i].remark)
		ck_assert_has(answer.remark, hazards[_i].remark);
	else
		ck_assert_ptr_null(answer.remark);
}

/* A lucky run is no reason to tell that sharing is cheap. */
TEST(a_hazard_that_varies_costs_what_is_usual)
{
	const struct survey_times met = {.cycles = {3, 40}, .median = 41, .most = 60}, without = {.cycles = {1, 1.1}};
	struct sheet_answer answer = hazard_conclude("false sharing", &met, &without, true);

	ck_assert_double_eq_tol(answer.number.low, 2, 1e-9);
	ck_assert_double_eq_tol(answer.number.value, 40, 1e-9);
	ck_assert_double_eq_tol(answer.number.high, 59, 1e-9);
	ck_assert_ptr_null(answer.remark);
}

/* Interrupts of 20 us are no slots; of slots the median counts. */
TEST(slots_are_long_gaps_beside_another)
{
	struct scheduling_gaps alone = {
		.observed_ns = 500000000, .least_step_ns = 20, .nr = 3, .ns = {6000, 90000, 8000}};
	struct scheduling_gaps beside = {.observed_ns = 500000000, .least_step_ns = 20};
	struct scheduling scheduling;
	const struct sheet_answer *answers = scheduling.answers;

	for (size_t i = 0; i < 40; i++)
		beside.ns[beside.nr++] = i % 4 ? 20000 : 3000000 + 100000 * i;
	scheduling_conclude(&alone, &beside, &scheduling);
	ck_assert_double_eq(answers[SCHEDULING_RESOLUTION].number.value, 20);
	ck_assert_double_eq(answers[SCHEDULING_INTERRUPTIONS].number.value, 6);
	ck_assert_double_eq(answers[SCHEDULING_LONGEST].number.value, 90);
	ck_assert_double_eq_tol(answers[SCHEDULING_SLOT].number.value, 4.8, 0.2);
	ck_assert_double_lt(answers[SCHEDULING_SLOT].number.low, answers[SCHEDULING_SLOT].number.value);
	ck_assert_double_eq(scheduling.curves[0].cycles[0][0], 6);
	ck_assert_double_eq(scheduling.curves[1].cycles[0][0], 20);
	ck_assert_double_eq(scheduling.curves[1].cycles[1][scheduling.curves[1].nr - 1], 6600);
	ck_assert_ptr_null(answers[SCHEDULING_SLOT].remark);
	for (alone.nr = 0; alone.nr < 5; alone.nr++)
		alone.ns[alone.nr] = 4000000;
	scheduling_conclude(&alone, &beside, &scheduling);
	ck_assert_has(answers[SCHEDULING_SLOT].remark, "not sure: others had the CPU");
	beside.nr = 8;
	scheduling_conclude(&alone, &beside, &scheduling);
	ck_assert_double_nan(answers[SCHEDULING_SLOT].number.value);
	ck_assert_has(answers[SCHEDULING_SLOT].remark, "cannot be told");
}

TEST(clocks_without_registers_are_left_out)
{
	struct clocks clocks = {.cpus = {1, 2}, .nr = 2};
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (int i = 0; i < 2; i++)
		for (int width = 0; width < CLOCKS_NR_WIDTHS; width++)
			clocks.ghz[i][width] = (struct sheet_number){width < 3 ? 4.5 - i : NAN, 4, 4.5};
	clocks_print(&clocks, out);
	fclose(out);
	ck_assert_has(text, "2    3.50  3.50  3.50");
	ck_assert(!strstr(text, "AVX512"));
}
