/* SPDX-License-Identifier: MIT */
/* Reading the samples of a pass: what disturbed a run, what is missing, and what came with it. */
#include "stage.h"
#include "testing.h"

/* The error that the samples of a pass are refused with. */
static const char *
refusal_of_samples(size_t pass)
{
	pass_samples_clear(&stage.samples[pass]);
	ck_assert_int_eq(pass_samples_read(&stage.samples[pass], stage.architecture, &stage.plan.passes[pass],
					   stage.passes[pass], stage.results[pass], &why),
			 -1);
	return why.text;
}

/* More than the counter holds, or would hold if its highest bit were to be believed: after so many seconds it may be.
 */
static const struct {
	const char *architecture, *event;
	uint64_t raw, seconds;
	double count;
	unsigned taints;
} large_counts[] = {
	/* an initial value that was lost */
	{"zen5", "instructions", UINT64_C(140737488355328) + 12345, 0, 12345, 0},
	{"zen5", "instructions", UINT64_C(1) << 46, 0, (double)(UINT64_C(1) << 46), TAINT_OVERFLOW},
	{"zen5", "instructions", (UINT64_C(1) << 46) - 1, 0, (double)((UINT64_C(1) << 46) - 1), 0},
	{"zen5", "instructions", UINT64_C(1) << 47, 2000, 0, 0},
	{"zen5", "instructions", UINT64_C(3) << 45, 1000, 1.5 * (UINT64_C(1) << 46), TAINT_OVERFLOW},
	{"zen5", "instructions", UINT64_C(3) << 45, 2000, 1.5 * (UINT64_C(1) << 46), 0},
	{"zen5", "instructions", (UINT64_C(1) << 47) + 5, 2400, (double)((UINT64_C(1) << 47) + 5), 0},
	{"zen5", "packedDouble", (UINT64_C(1) << 47) + 5, 100, 5, 0},
	{"zen5", "packedDouble", (UINT64_C(1) << 47) + 5, 140, (double)((UINT64_C(1) << 47) + 5), 0},
	{"skylake", "instructions", (UINT64_C(1) << 62) + 5, 1, (double)((UINT64_C(1) << 62) + 5), 0},
	{"skylake", "instructions", -UINT64_C(5), 1, (double)-UINT64_C(5), TAINT_OVERFLOW},
};

TEST_OF(test_long_counts_are_believed, NR_ELEMENTS(large_counts))
{
	const bool is_large = strcmp(large_counts[_i].event, "packedDouble") == 0;
	struct perf_event_count *count;
	struct quantity_value value;

	stage_open(large_counts[_i].architecture, 1, is_large ? "operationCount:doublePrecisionFlop" : "instructions");
	count = count_of(add_run(0, 1, 1), 0, large_counts[_i].event);
	count->raw_count = large_counts[_i].raw;
	count->time_enabled = count->time_running = large_counts[_i].seconds * UINT64_C(1000000000);
	value = stage_compute(0, false);
	ck_assert_double_eq(value.samples[0], large_counts[_i].count);
	ck_assert_uint_eq(value.taints[0], large_counts[_i].taints);
}

TEST(test_disturbed_samples_are_tainted)
{
	struct quantity_value value;
	struct measurement_run_output *run;
	const unsigned taints[] = {
		0, TAINT_CONTEXT_SWITCH, TAINT_MIGRATION, TAINT_MAJOR_FAULT, TAINT_MULTIPLEXED, TAINT_UNMEASURED_THREAD,
		0};

	stage_open("zen5", 2, "instructions");
	for (size_t i = 0; i < 7; i++) {
		run = add_run(0, 1, 1);
		count_of(run, 0, "instructions")->raw_count = taints[i] ? 999 : 100;
		if (taints[i] == TAINT_CONTEXT_SWITCH)
			usage_of(run, 1)->involuntary_context_switches = 1;
		if (taints[i] == TAINT_MIGRATION)
			usage_of(run, 1)->stop_cpu = 1;
		if (taints[i] == TAINT_MAJOR_FAULT)
			usage_of(run, 0)->major_faults = 3;
		if (taints[i] == TAINT_MULTIPLEXED)
			count_of(run, 1, "instructions")->time_running = 999;
		if (taints[i] == TAINT_UNMEASURED_THREAD)
			run->unmeasured_threads = 1;
	}
	usage_of(run, 0)->voluntary_context_switches = 5;
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.nr_samples, 7);
	for (size_t i = 0; i < 7; i++)
		ck_assert_uint_eq(value.taints[i], taints[i]);
	ck_assert_double_eq(value.samples[1], 999);
	ck_assert_double_eq(value.summary.value, 100);
	ck_assert_uint_eq(value.summary.n, 2);
	ck_assert_uint_eq(value.summary.tainted, 5);
}

/*
 * Three ticks of 10 ms, against work of 3.1 s, 2.9 s and 9 ms; and where the time cannot be read. Stolen from the CPU
 * that works, where that is known.
 */
TEST(test_stolen_time_taints_long_runs)
{
	static const struct {
		uint64_t ns;
		int64_t ticks, own_ticks;
		unsigned taints;
	} runs[] = {{3100000000, 3, -1, 0},  {2900000000, 3, -1, TAINT_STEAL}, {9000000, 3, 3, 0},
		    {2900000000, -1, -1, 0}, {2900000000, 300, 2, 0},          {2900000000, 3, 3, TAINT_STEAL},
		    {2900000000, 300, 0, 0}};
	struct quantity_value value;

	stage_open("none", 1, "time:microSeconds");
	for (size_t i = 0; i < NR_ELEMENTS(runs); i++) {
		struct measurement_run_output *run = add_run(0, 1, runs[i].ns);
		struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, 0);
		struct resource_usage_measurer_output *whole =
			rot_cast(measurer_set_output_validation_measurer_outputs_at(set, 0),
				 &resource_usage_measurer_output_class);

		whole->steal_ticks = runs[i].ticks;
		whole->own_steal_ticks = runs[i].own_ticks;
	}
	value = stage_compute(0, false);
	for (size_t i = 0; i < NR_ELEMENTS(runs); i++)
		ck_assert_uint_eq(value.taints[i], runs[i].taints);
}

TEST(test_all_tainted_is_said)
{
	struct quantity_value value;

	stage_open("zen5", 1, "instructions");
	for (int i = 0; i < 3; i++)
		usage_of(counted(add_run(0, 1, 1), 0, "instructions=%d", 100 + i), 0)->involuntary_context_switches = 1;
	value = stage_compute(0, false);
	ck_assert(quantity_is_of_tainted(&value));
	ck_assert_str_eq(stage_told(0, false),
			 "101 [nan, nan] instruction, medianOfTainted of 3 runs without 3, measured");
}

/* Disturbances by the system are in the value and told; what the counters did wrong is left out still. */
TEST(test_disturbed_runs_are_kept)
{
	struct quantity_value value;
	autofree char *causes = NULL;

	stage_open("zen5", 1, "instructions");
	for (uint64_t i = 0; i < 5; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		count_of(run, 0, "instructions")->raw_count = i == 4 ? UINT64_C(1) << 46 : 100 + i;
		usage_of(run, 0)->involuntary_context_switches = i == 1;
		usage_of(run, 0)->stop_cpu = i == 3;
	}
	stage.resolutions[0].kept_taints = TAINTS_OF_SYSTEM;
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.summary.n, 4);
	ck_assert_double_eq(value.summary.maximum, 103);
	ck_assert_str_eq(value.summary.estimator, "median");
	ck_assert_uint_eq(value.summary.tainted, 1);
	ck_assert_uint_eq(value.taints[1], TAINT_CONTEXT_SWITCH);
	causes = sample_taints_text(value.taints[1] | value.taints[3] | value.taints[4]);
	ck_assert_str_eq(causes, "contextSwitch, migration, overflow");
}

TEST(test_missing_probe_is_an_error)
{
	stage_open("none", 1, "time:coreCycles");
	add_run(0, 5000, 1);
	ck_assert_has(refusal_of_samples(0), "was not probed");
}

TEST(test_missing_output_is_an_error)
{
	struct measurement_run_output *run;

	stage_open("zen5", 1, "instructions");
	run = add_run(0, 1, 1);
	rot_string_set(&count_of(run, 0, "instructions")->name, "other");
	ck_assert_str_eq(refusal_of_samples(0), "run 1: event 'instructions' was not counted");
	measurement_run_output_measurer_set_outputs_at(run, 0)->set_id = 99;
	ck_assert_str_eq(refusal_of_samples(0), "run 1: 1 of 1 workloads gave no output");
}

/* The overall set of a run: a ping-pong (0 ns: not told), and a clock that is of more than the kernels. */
static void
play_ping_pong(struct measurement_run_output *run, bool is_main, double before, double after)
{
	struct measurer_set_output *set = measurer_set_output_new();
	struct ping_pong_measurer_output *ping_pong = ping_pong_measurer_output_new();
	struct execution_time_measurer_output *time = execution_time_measurer_output_new();

	ping_pong->before = before;
	ping_pong->after = after;
	ping_pong->slowdown_before = before / 100;
	ping_pong->slowdown_after = after / 100;
	time->nano_seconds = 1000000;
	set->set_id = 50;
	set->main_measurer_output = is_main ? &ping_pong->base : &time->base;
	measurer_set_output_additional_measurer_outputs_add(set, is_main ? &time->base : &ping_pong->base);
	measurement_run_output_measurer_set_outputs_add(run, set);
}

TEST_OF(test_times_of_cache_lines, 2)
{
	static const struct {
		double before, after, min, max;
	} times[] = {{60, 50, 50, 60}, {0, 200, 200, 200}, {200, 0, 200, 200}, {0, 0, 0, 0}, {45, 210, 45, 210}};

	stage_open("zen5", 2, "time:microSeconds");
	stage.passes[0]->overall_measurer_set = measurer_set_new();
	stage.passes[0]->overall_measurer_set->id = 50;
	for (size_t i = 0; i < NR_ELEMENTS(times); i++)
		play_ping_pong(add_run(0, 1, 7000), _i == 1, times[i].before, times[i].after);
	ck_assert_int_eq(pass_samples_read(&stage.samples[0], stage.architecture, &stage.plan.passes[0],
					   stage.passes[0], stage.results[0], NULL),
			 0);
	for (size_t i = 0; i < NR_ELEMENTS(times); i++) {
		const struct nearness *nearness = &stage.samples[0].runs[i].nearness;

		ck_assert_double_eq(nearness->line_ns_min, times[i].min);
		ck_assert_double_eq(nearness->line_ns_max, times[i].max);
		ck_assert_double_eq(nearness->slowdown_min, times[i].min / 100);
		ck_assert_double_eq(nearness->slowdown_max, times[i].max / 100);
		ck_assert_double_eq(stage.samples[0].runs[i].wall_ns, 7000);
	}
}

UNIT_TESTS(.is_in_one_process = true);
