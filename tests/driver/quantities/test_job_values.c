/* SPDX-License-Identifier: MIT */
/* From the runs of all passes to values: those that break a rule are left out of every value, and the rule is told
 * once. */
#include "configuration/configuration.h"
#include "quantities/job.h"
#include "rot.h"
#include "stage.h"
#include "testing.h"

#define NR_RUNS 8
#define LINES 10000
#define INSTRUCTIONS 1000000

enum { L2L3, LLC_RAM, FLOPS, NR_VALUES };

/* Runs of which so many, from the first odd one on, have twice the lines from memory, or instructions beside the
 * operations. */
struct odd {
	size_t first, nr_lines, nr_instructions;
};

static void
count(struct measurement_run_output *run, const char *event, uint64_t nr)
{
	count_of(run, 0, event)->raw_count = nr;
}

static bool
is_odd(size_t run, size_t first, size_t nr)
{
	return run >= first && run < first + nr;
}

static void
measure(const struct odd *odd)
{
	const size_t of_lines = pass_with("l2Fills"), of_flops = pass_with("packedDouble");

	for (size_t i = 0; i < NR_RUNS; i++) {
		struct measurement_run_output *lines = add_run(of_lines, 1000, 1000),
					      *flops = add_run(of_flops, 1000, 1000);

		count(lines, "l2Fills", LINES);
		count(lines, "l2DramFills", is_odd(i, odd->first, odd->nr_lines) ? 2 * LINES : LINES);
		count(lines, "instructions", INSTRUCTIONS);
		count(flops, "packedDouble", 5);
		count(flops, "instructions",
		      is_odd(i, odd->first, odd->nr_instructions) ? 2 * INSTRUCTIONS : INSTRUCTIONS);
	}
}

/* Values of what was asked, from what was measured so. */
static void
compute(struct quantity_value *values, const struct odd *odd)
{
	struct rot rot = {.configuration = configuration_new()};
	struct measuring_job job = {.rot = &rot, .nr_requests = NR_VALUES};

	stage_open("zen5", 1,
		   "transferredBytes:l2l3.read transferredBytes:llcRam.read operationCount:doublePrecisionFlop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	for (size_t i = 0; i < 2; i++) /* on this processor two large events leave no room for it */
		if (stage.plan.passes[i].nr_events == 2)
			stage.plan.passes[i].events[stage.plan.passes[i].nr_events++] =
				architecture_formula(stage.architecture, "instructions", "")->events[0];
	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_gt(stage.plan.passes[i].nr_events, 2);
	measure(odd);
	stage_compute(0, false); /* reads the samples */
	job.architecture = stage.architecture;
	job.measurement = stage.measurement;
	job.resolutions = stage.resolutions;
	job.plan = stage.plan;
	job.passes = stage.passes;
	job.samples = stage.samples;
	ck_assert_ok(job_compute(&job, values, &why));
	configuration_delete(rot.configuration);
}

static void
clear(struct quantity_value *values)
{
	for (size_t i = 0; i < NR_VALUES; i++)
		quantity_value_clear(&values[i]);
}

TEST(broken_runs_are_left_out_of_all_passes)
{
	struct quantity_value values[NR_VALUES];

	compute(values, &(struct odd){.first = 3, .nr_lines = 2});
	for (size_t v = 0; v < NR_VALUES; v++) {
		ck_assert_uint_eq(values[v].nr_samples, NR_RUNS);
		for (size_t i = 0; i < NR_RUNS; i++)
			ck_assert_uint_eq(values[v].taints[i], i == 3 || i == 4 ? TAINT_BROKEN_RULE : 0);
		ck_assert_uint_eq(values[v].summary.tainted, 2);
		ck_assert_uint_eq(values[v].nr_breaches, v == LLC_RAM);
	}
	ck_assert_double_eq(values[LLC_RAM].summary.maximum, 64. * LINES);
	ck_assert_double_eq(values[LLC_RAM].samples[3], 2 * 64. * LINES);
	ck_assert_str_eq(values[LLC_RAM].breaches[0].rule, "bordersOrdered");
	ck_assert_uint_eq(values[LLC_RAM].breaches[0].nr_runs, 2);
	clear(values);
}

/* Then the value is doubtful, and not the runs. */
TEST(a_rule_that_most_runs_break_is_of_the_value)
{
	struct quantity_value values[NR_VALUES];

	compute(values, &(struct odd){.first = 2, .nr_lines = 6});
	for (size_t v = 0; v < NR_VALUES; v++) {
		ck_assert_uint_eq(values[v].summary.tainted, 0);
		ck_assert_uint_eq(values[v].nr_breaches, v == LLC_RAM);
	}
	ck_assert_double_eq(values[LLC_RAM].summary.value, 2 * 64. * LINES);
	ck_assert_uint_eq(values[LLC_RAM].breaches[0].nr_runs, 0);
	clear(values);
}

/* The runs of that pass alone are left out; all values are told. */
TEST(runs_with_other_instructions_are_left_out)
{
	struct quantity_value values[NR_VALUES];

	compute(values, &(struct odd){.first = 5, .nr_instructions = 1});
	for (size_t v = 0; v < NR_VALUES; v++) {
		for (size_t i = 0; i < NR_RUNS; i++)
			ck_assert_uint_eq(values[v].taints[i], v == FLOPS && i == 5 ? TAINT_BROKEN_RULE : 0);
		ck_assert_uint_eq(values[v].nr_breaches, 1);
		ck_assert_str_eq(values[v].breaches[0].rule, "passesAgree");
		ck_assert_uint_eq(values[v].breaches[0].nr_runs, 1);
	}
	clear(values);
}

TEST(sound_runs_break_nothing)
{
	struct quantity_value values[NR_VALUES];

	compute(values, &(struct odd){.first = 0});
	for (size_t v = 0; v < NR_VALUES; v++) {
		ck_assert_uint_eq(values[v].nr_breaches, 0);
		ck_assert_uint_eq(values[v].summary.tainted, 0);
	}
	ck_assert_double_eq(values[FLOPS].summary.value, 5);
	ck_assert_double_eq(values[L2L3].summary.value, 64. * LINES);
	clear(values);
}
