/* SPDX-License-Identifier: MIT */
/* From the runs of all passes to values: those that break a rule are left out of every value, and the rule is told
 * once. */
#include "base/configuration.h"
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
measure(const struct odd *odd)
{
	for (size_t i = 0; i < NR_RUNS; i++) {
		const bool is_odd = i >= odd->first, has_lines = is_odd && i < odd->first + odd->nr_lines,
			   has_instructions = is_odd && i < odd->first + odd->nr_instructions;

		counted(add_run(pass_with("l2Fills"), 1000, 1000), 0, "l2Fills=%d l2DramFills=%d instructions=%d",
			LINES, (1 + has_lines) * LINES, INSTRUCTIONS);
		counted(add_run(pass_with("packedDouble"), 1000, 1000), 0, "packedDouble=5 instructions=%d",
			(1 + has_instructions) * INSTRUCTIONS);
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

/* Runs that are left out: a bit for each run, for each value; and the rule that is told, of how many runs. */
static const struct {
	struct odd odd;
	unsigned left_out[NR_VALUES];
	const char *rules[NR_VALUES];
	size_t nr_runs;
} cases[] = {
	{{.first = 0}, {0}, {NULL}, 0},
	/* of all passes */
	{{.first = 3, .nr_lines = 2}, {0x18, 0x18, 0x18}, {[LLC_RAM] = "bordersOrdered"}, 2},
	/* what most runs break: the value is doubtful, and not the runs */
	{{.first = 2, .nr_lines = 6}, {0}, {[LLC_RAM] = "bordersOrdered"}, 0},
	/* of that pass alone; all values are told */
	{{.first = 5, .nr_instructions = 1}, {[FLOPS] = 0x20}, {"passesAgree", "passesAgree", "passesAgree"}, 1},
};

TEST_OF(runs_are_left_out, NR_ELEMENTS(cases))
{
	const bool are_doubtful = cases[_i].odd.nr_lines > NR_RUNS / 2;
	struct quantity_value values[NR_VALUES];

	compute(values, &cases[_i].odd);
	for (size_t v = 0; v < NR_VALUES; v++) {
		unsigned left_out = 0;

		ck_assert_uint_eq(values[v].nr_samples, NR_RUNS);
		for (size_t i = 0; i < NR_RUNS; i++)
			left_out |= (unsigned)(values[v].taints[i] == TAINT_BROKEN_RULE) << i;
		ck_assert_uint_eq(left_out, cases[_i].left_out[v]);
		ck_assert_uint_eq(values[v].summary.tainted, (unsigned)__builtin_popcount(left_out));
		ck_assert_uint_eq(values[v].nr_breaches, cases[_i].rules[v] != NULL);
		if (cases[_i].rules[v]) {
			ck_assert_str_eq(values[v].breaches[0].rule, cases[_i].rules[v]);
			ck_assert_uint_eq(values[v].breaches[0].nr_runs, cases[_i].nr_runs);
		}
	}
	ck_assert_double_eq(values[FLOPS].summary.value, 5);
	ck_assert_double_eq(values[L2L3].summary.value, 64. * LINES);
	ck_assert_double_eq(values[LLC_RAM].summary.maximum, (are_doubtful ? 2 : 1) * 64. * LINES);
	if (cases[_i].odd.nr_lines)
		ck_assert_double_eq(values[LLC_RAM].samples[3], 2 * 64. * LINES);
	for (size_t v = 0; v < NR_VALUES; v++)
		quantity_value_clear(&values[v]);
}
