/* SPDX-License-Identifier: MIT */
/* From recorded outputs of the core to values: formulas, sums over threads, ratios, JSON. */
#include <jansson.h>

#include "stage.h"
#include "testing.h"

/* ---- values ---- */

TEST(test_operation_count_is_exact)
{
	struct quantity_value value;

	stage_open("zen5", 1, "operationCount:doublePrecisionFlop");
	for (int i = 0; i < 10; i++)
		count_of(add_run(0, 1, 1), 0, "packedDouble")->raw_count = 20000;
	value = stage_compute(0, false);
	ck_assert_double_eq(value.summary.value, 20000);
	ck_assert_str_eq(value.summary.estimator, "exact");
	ck_assert_double_eq(value.summary.low, 20000);
	ck_assert_uint_eq(value.summary.n, 10);
	ck_assert_uint_eq(value.summary.tainted, 0);
	ck_assert_str_eq(value.kind, "measured");
	ck_assert_str_eq(value.unit, "flop");
	ck_assert_double_eq(value.expected, 20000);
}

/* Single steps count the same twice, and times are taken as often as ever: what scatters is the time alone. */
TEST(test_rate_of_few_steps_and_many_times)
{
	struct quantity_value rate, count, intensity, time;

	stage_open("steps", 1,
		   "performance:doublePrecisionFlop:tsc operationCount:doublePrecisionFlop "
		   "operationalIntensity:doublePrecisionFlop:l1l2.read time:tsc");
	for (uint64_t i = 0; i < 10; i++)
		add_run(0, 1000 + i, 1);
	for (int i = 0; i < STEP_RUNS; i++) {
		struct measurement_run_output *run = add_steps(1);

		count_of(run, 0, "packedDouble")->raw_count = 20090;
		count_of(run, 0, "l1Fills")->raw_count = 10;
	}
	rate = stage_compute(0, false);
	count = stage_compute(1, false);
	intensity = stage_compute(2, false);
	time = stage_compute(3, false);
	ck_assert_uint_eq(time.summary.n, 10);
	ck_assert_uint_eq(rate.summary.n, 10);
	ck_assert_uint_eq(rate.nr_samples, 10);
	ck_assert_double_eq_tol(rate.summary.value, 20090 / 1004.5, 1e-9);
	ck_assert(rate.summary.low < rate.summary.value && rate.summary.value < rate.summary.high);
	ck_assert_double_eq_tol(rate.samples[9], 20090. / 1009, 1e-9);
	ck_assert_str_eq(rate.kind, "measured");
	ck_assert_str_eq(rate.source, "blocks per time stamp counter");
	ck_assert_uint_eq(count.summary.n, STEP_RUNS);
	ck_assert_uint_eq(count.nr_samples, STEP_RUNS);
	ck_assert_double_eq(count.summary.value, 20090);
	ck_assert_str_eq(count.summary.estimator, "exact");
	ck_assert_uint_eq(intensity.summary.n, STEP_RUNS);
	ck_assert_double_eq_tol(intensity.summary.value, 20090. / 640, 1e-9);
	ck_assert_str_eq(intensity.kind, "modelled");
}

/* Each thread is stepped by itself. */
TEST(test_steps_of_threads_are_summed)
{
	struct quantity_value value;

	stage_open("steps", 2, "transferredBytes:cpuL1.read time:tsc");
	for (int i = 0; i < STEP_RUNS; i++) {
		struct measurement_run_output *run = add_steps(1);

		count_of(run, 0, "loadedBytes")->raw_count = 100;
		count_of(run, 1, "loadedBytes")->raw_count = 23;
	}
	for (int i = 0; i < 6; i++)
		add_run(0, 1000, 1);
	value = stage_compute(0, false);
	ck_assert_double_eq(value.summary.value, 123);
	ck_assert_uint_eq(value.nr_threads, 2);
	ck_assert_double_eq(value.thread_samples[STEP_RUNS - 1], 100);
	ck_assert_double_eq(value.thread_samples[2 * STEP_RUNS - 1], 23);
}

TEST(test_counts_are_summed_and_times_are_the_maximum)
{
	struct quantity_value operations, time;
	size_t counts;

	stage_open("zen5", 2, "operationCount:doublePrecisionFlop time:tsc");
	counts = pass_with("scalarDouble");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(counts, 1, 1);

		count_of(run, 0, "scalarDouble")->raw_count = 100;
		count_of(run, 1, "packedDouble")->raw_count = 23;
		add_run(pass_plan_clock(&stage.plan), 5000, 1);
	}
	operations = stage_compute(0, false);
	time = stage_compute(1, false);
	ck_assert_double_eq(operations.summary.value, 123);
	ck_assert_double_eq(time.summary.value, 5001);
	ck_assert_uint_eq(operations.nr_threads, 2);
	for (size_t i = 0; i < 6; i++) {
		ck_assert_double_eq(operations.thread_samples[i], 100);
		ck_assert_double_eq(operations.thread_samples[6 + i], 23);
		ck_assert_double_eq(time.thread_samples[i], 5000);
		ck_assert_double_eq(time.thread_samples[6 + i], 5001);
	}
	ck_assert_str_eq(time.unit, "TSC tick");
}

/* V (D + Z) / (F + Z) + N - Z dirty lines reach DRAM; D are read. */
TEST(test_modelled_dram_writes)
{
	struct quantity_value all, read, write;

	stage_open("zen5", 1, "transferredBytes:llcRam transferredBytes:llcRam.read transferredBytes:llcRam.write");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		count_of(run, 0, "l2DirtyVictims")->raw_count = 100;
		count_of(run, 0, "l2DramFills")->raw_count = 300;
		count_of(run, 0, "l2Fills")->raw_count = 400;
		count_of(run, 0, "combinedLines")->raw_count = 50;
		count_of(run, 0, "combinedToCache")->raw_count = 0;
	}
	all = stage_compute(0, false);
	read = stage_compute(1, false);
	write = stage_compute(2, false);
	ck_assert_double_eq(read.summary.value, 64 * 300);
	ck_assert_double_eq(write.summary.value, 64 * (75 + 50));
	ck_assert_double_eq(all.summary.value, 64 * (300 + 75 + 50));
	ck_assert_str_eq(read.kind, "measured");
	ck_assert_str_eq(write.kind, "modelled");
	ck_assert_str_eq(all.kind, "modelled");
}

TEST(test_context_switches_are_counted)
{
	struct quantity_value value;

	stage_open("none", 2, "contextSwitches");
	for (int i = 0; i < 2; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		usage_of(run, 0)->voluntary_context_switches = 2;
		usage_of(run, 1)->involuntary_context_switches = 3;
	}
	add_run(0, 1, 1);
	value = stage_compute(0, false);
	ck_assert_double_eq(value.summary.value, 5);
	ck_assert_uint_eq(value.summary.n, 3);
	ck_assert_uint_eq(value.summary.tainted, 0);
}

/* There are two threads; the runs are not left out for what is counted. */
TEST(test_migrations_are_counted)
{
	struct quantity_value value;

	stage_open("none", 2, "migrations");
	for (int i = 0; i < 3; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		usage_of(run, 0)->start_cpu = usage_of(run, 1)->start_cpu = 1;
		usage_of(run, 0)->stop_cpu = 1;
		usage_of(run, 1)->stop_cpu = i == 0;
	}
	value = stage_compute(0, false);
	ck_assert_double_eq(value.samples[0], 0);
	ck_assert_double_eq(value.samples[1], 1);
	ck_assert_double_eq(value.summary.value, 1);
	ck_assert_uint_eq(value.summary.n, 3);
	ck_assert_uint_eq(value.summary.tainted, 0);
}

/* Twelve runs in six starts that differ by 100, and their runs by 1: the interval is of starts, as far as they go. */
TEST(test_intervals_are_of_starts)
{
	struct summary of_runs, of_starts;

	for (int told = 0; told < 2; told++) {
		struct quantity_value value;

		stage_open("none", 1, "time:tsc");
		for (int i = 0; i < 12; i++)
			add_run(0, (uint64_t)(1000 + 100 * (i / 2) + i % 2), 1)->order = told ? i % 2 : i;
		value = stage_compute(0, false);
		ck_assert_double_eq(value.summary.value, 1250.5);
		ck_assert_uint_eq(value.starts[11], told ? 5 : 0);
		*(told ? &of_starts : &of_runs) = value.summary;
	}
	ck_assert_double_eq(of_runs.low, 1100);
	ck_assert_double_eq(of_runs.high, 1401);
	ck_assert(of_starts.low < 1100 && of_starts.high > 1401);
}

/* Flops and cycles in one pass: run by run they agree, although both vary. */
TEST(test_ratio_of_one_pass_is_joint)
{
	struct quantity_value value;

	stage_open("zen5", 1, "performance:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (uint64_t i = 1; i <= 8; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		count_of(run, 0, "allFlops")->raw_count = 2000 * i;
		count_of(run, 0, "coreCycles")->raw_count = 1000 * i;
	}
	usage_of(measurement_result_outputs_at(stage.results[0], 0), 0)->major_faults = 1;
	value = stage_compute(0, false);
	ck_assert_double_eq_tol(value.summary.value, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.low, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.high, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.maximum, 2, 1e-12);
	ck_assert_uint_eq(value.summary.n, 7);
	ck_assert_uint_eq(value.summary.tainted, 1);
	ck_assert_str_eq(value.unit, "flop/cycle");
}

TEST(test_ratio_of_two_passes)
{
	struct quantity_value value;
	size_t cycles;

	stage_open("zen5", 1, "performance:doublePrecisionFlop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	cycles = pass_with("coreCycles");
	for (uint64_t i = 0; i < 7; i++) {
		struct measurement_run_output *flops = add_run(1 - cycles, 1, 1), *time = add_run(cycles, 1, 1);

		count_of(flops, 0, "packedDouble")->raw_count = 20000;
		count_of(time, 0, "coreCycles")->raw_count = 10000 + 10 * i;
		usage_of(time, 0)->involuntary_context_switches = i == 6;
	}
	add_run(1 - cycles, 1, 1); /* without one of the other pass it is of no use */
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.nr_samples, 7);
	ck_assert_double_eq_tol(value.summary.value, 20000.0 / 10025, 1e-12);
	ck_assert_double_eq_tol(value.samples[6], 20000.0 / 10060, 1e-12);
	ck_assert_uint_eq(value.taints[6], TAINT_CONTEXT_SWITCH);
	ck_assert_uint_eq(value.summary.n, 6);
	ck_assert(value.summary.low <= value.summary.value && value.summary.value <= value.summary.high);
	value = stage_compute(0, true);
	ck_assert_double_eq_tol(value.summary.value, 2, 1e-12);
	ck_assert_str_eq(value.summary.estimator, "medianPerMinimum");
	ck_assert(isnan(value.summary.low));
}

/* Ticks (5000 and 5001) times the mean of before and after, summed over the workloads like counted cycles. */
TEST(test_core_cycles_from_the_probed_clock)
{
	struct quantity_value cycles, performance;

	stage_open("none", 2, "time:coreCycles performance:flop:coreCycles");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(0, 5000, 1);

		probe_clock(run, 0, 1.5, 1.502);
		probe_clock(run, 1, 2, i == 5 ? 2.03 : 2);
	}
	cycles = stage_compute(0, false);
	performance = stage_compute(1, false);
	ck_assert_double_eq_tol(cycles.summary.value, 5000 * 1.501 + 5001 * 2, 1e-6);
	ck_assert_str_eq(cycles.unit, "cycle");
	ck_assert_str_eq(cycles.kind, "modelled");
	ck_assert_uint_eq(cycles.summary.n, 5);
	ck_assert_uint_eq(cycles.taints[4], 0);
	ck_assert_uint_eq(cycles.taints[5], TAINT_CLOCK);
	ck_assert_double_eq_tol(performance.summary.value, 20000 / (5000 * 1.501 + 5001 * 2), 1e-9);
	ck_assert_str_eq(performance.unit, "flop/cycle");
}

TEST(test_expected_work_per_measured_time)
{
	struct quantity_value value, time;

	stage_open("none", 1, "performance:flop:microSeconds time:microSeconds");
	for (uint64_t i = 0; i < 7; i++)
		add_run(0, 1, 10000 + i);
	value = stage_compute(0, false);
	time = stage_compute(1, false);
	ck_assert_str_eq(value.unit, "flop/s");
	ck_assert_double_eq_tol(value.summary.value, 20000 / 10003e-9, 1);
	ck_assert_str_eq(value.kind, "expected");
	ck_assert_uint_eq(value.summary.n, 7);
	ck_assert(value.summary.low < value.summary.value);
	ck_assert_str_eq(time.unit, "us");
	ck_assert_double_eq_tol(time.summary.value, 10.003, 1e-9);
	time = stage_compute(1, true);
	ck_assert_double_eq_tol(time.summary.value, 10, 1e-9);
	ck_assert_str_eq(time.summary.estimator, "minimum");
}

TEST(test_nothing_measured)
{
	struct quantity_value value;

	stage_open("none", 1, "operationalIntensity:flop:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 0);
	value = stage_compute(0, false);
	ck_assert_double_eq_tol(value.summary.value, 20000.0 / 240000, 1e-15);
	ck_assert_str_eq(value.summary.estimator, "expected");
	ck_assert_uint_eq(value.nr_samples, 0);
}

/* A formula whose events need two passes is computed from run i of both. */
TEST(test_spread_formula)
{
	struct quantity_value value;
	static const char *const events[] = {"scalar", "packed128Double", "packedFour", "packedEight",
					     "packed512Single"};

	stage_open("skylake-server", 1, "operationCount:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	for (int i = 0; i < 2; i++) {
		struct measurement_run_output *runs[] = {add_run(0, 1, 1), add_run(1, 1, 1)};

		for (size_t k = 0; k < 5; k++)
			count_of(runs[pass_with(events[k])], 0, events[k])->raw_count = 10;
	}
	usage_of(measurement_result_outputs_at(stage.results[0], 0), 0)->involuntary_context_switches = 1;
	usage_of(measurement_result_outputs_at(stage.results[1], 1), 0)->major_faults = 1;
	value = stage_compute(0, false);
	ck_assert_double_eq(value.samples[0], 10 * (1 + 2 + 4 + 8 + 16));
	ck_assert_uint_eq(value.taints[0], TAINT_CONTEXT_SWITCH);
	ck_assert_uint_eq(value.taints[1], TAINT_MAJOR_FAULT);
}

/* As add_run; and a copy of the threads' set, with the same counts of 0. */
static struct measurement_run_output *
add_run_with_copies(size_t pass, size_t nr)
{
	struct measurement_run_output *run = add_run(pass, 100, 100);
	struct measurer_set_output *own = measurement_run_output_measurer_set_outputs_at(run, 0);

	for (size_t i = 0; i < nr; i++) {
		struct measurer_set_output *set = measurer_set_output_new();

		set->set_id = 30;
		set->tid = (int32_t)(1000 + i);
		set->main_measurer_output = rot_graph_clone(own->main_measurer_output, NULL);
		measurement_run_output_measurer_set_outputs_add(run, set);
	}
	return run;
}

/*
 * The workload's own count and those of the threads are summed, of which one slept all the time; a count that a thread
 * lacks is missed.
 */
TEST(test_threads_of_a_kernel_are_summed)
{
	struct measurement_run_output *run;
	struct quantity_value value;
	size_t pass;

	stage_open_threads("zen5", 1, 3, "instructions time:tsc");
	pass = pass_with("instructions");
	ck_assert_uint_eq(measurement_nr_rules(stage.passes[!pass]), 0);
	ck_assert_uint_eq(measurement_nr_rules(stage.passes[pass]), 1);
	rule_set(stage.passes[pass])->id = 30;
	run = add_run_with_copies(pass, 3);
	for (size_t i = 0; i < 3; i++)
		count_of(run, i, "instructions")->raw_count = (uint64_t)1 << (4 * i);
	count_of(run, 3, "instructions")->time_enabled = count_of(run, 3, "instructions")->time_running = 0;
	run = add_run(!pass, 500, 500);
	run->unmeasured_threads = 2;
	value = stage_compute(0, false);
	ck_assert_double_eq(value.samples[0], 0x111);
	ck_assert_uint_eq(value.taints[0], 0);
	value = stage_compute(1, false);
	ck_assert_uint_eq(value.taints[0], 0);

	run = measurement_result_outputs_at(stage.results[pass], 0);
	run->unmeasured_threads = 1;
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.taints[0], TAINT_UNMEASURED_THREAD);
	rot_string_set(&count_of(run, 2, "instructions")->name, "other");
	pass_samples_clear(&stage.samples[pass]);
	ck_assert_int_eq(pass_samples_read(&stage.samples[pass], stage.architecture, &stage.plan.passes[pass],
					   stage.passes[pass], stage.results[pass], &why),
			 -1);
}

/* ---- JSON ---- */

TEST(test_json)
{
	struct quantity_value value;
	json_auto_t *json = NULL;

	stage_open("zen5", 1, "performance:flop");
	for (uint64_t i = 0; i < 7; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		count_of(run, 0, "allFlops")->raw_count = 2000;
		count_of(run, 0, "coreCycles")->raw_count = 1000;
		usage_of(run, 0)->involuntary_context_switches = i == 3;
		usage_of(run, 0)->stop_cpu = i == 3;
	}
	value = stage_compute(0, false);
	json = quantity_value_json(&value);
	ck_assert_str_eq(json_string_value(json_object_get(json, "name")), "performance");
	ck_assert_str_eq(json_string_value(json_object_get(json, "of")), "flop");
	ck_assert_str_eq(json_string_value(json_object_get(json, "clock")), "coreCycles");
	ck_assert_str_eq(json_string_value(json_object_get(json, "unit")), "flop/cycle");
	ck_assert_str_eq(json_string_value(json_object_get(json, "kind")), "measured");
	ck_assert_str_eq(json_string_value(json_object_get(json, "source")), "r0f03 per r0076 (user mode)");
	ck_assert_double_eq(json_number_value(json_object_get(json, "value")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "n")), 6);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "tainted")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "taints"), "contextSwitch")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "taints"), "migration")), 1);
	ck_assert_uint_eq(json_object_size(json_object_get(json, "taints")), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "samples")), 7);
	ck_assert(json_is_null(json_object_get(json, "expected")));
	ck_assert_ptr_null(json_object_get(json, "infinite"));
}

/* Warm data: no bytes move, the intensity is infinite. */
TEST(test_json_of_infinity)
{
	struct quantity_value value;
	json_auto_t *json = NULL;

	stage_open("zen5", 1, "operationalIntensity:flop:llcRam.read");
	for (int i = 0; i < 6; i++)
		count_of(add_run(0, 1, 1), 0, "allFlops")->raw_count = 2000;
	value = stage_compute(0, false);
	ck_assert(isinf(value.summary.value));
	json = quantity_value_json(&value);
	ck_assert(json_is_null(json_object_get(json, "value")));
	ck_assert(json_is_true(json_object_get(json, "infinite")));
	ck_assert_uint_eq(json_array_size(json_object_get(json, "samples")), 6);
}

UNIT_TESTS(.is_in_one_process = true);
