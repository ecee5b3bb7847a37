/* SPDX-License-Identifier: MIT */
/* From recorded outputs of the core to values: formulas, sums over threads, ratios, JSON. */
#include <jansson.h>

#include "stage.h"
#include "testing.h"

/* ---- values ---- */

TEST(test_operation_count_is_exact)
{
	stage_open("zen5", 1, "operationCount:doublePrecisionFlop");
	for (int i = 0; i < 10; i++)
		counted(add_run(0, 1, 1), 0, "packedDouble=20000");
	ck_assert_str_eq(stage_told(0, false), "20000 [20000, 20000] flop, exact of 10 runs, measured");
	ck_assert_double_eq(stage_compute(0, false).expected, 20000);
}

/* Single steps count the same twice, and times are taken as often as ever: what scatters is the time alone. */
TEST(test_rate_of_few_steps_and_many_times)
{
	stage_open("steps", 1,
		   "performance:doublePrecisionFlop:tsc operationCount:doublePrecisionFlop "
		   "operationalIntensity:doublePrecisionFlop:l1l2.read time:tsc");
	for (uint64_t i = 0; i < 10; i++)
		add_run(0, 1000 + i, 1);
	for (int i = 0; i < STEP_RUNS; i++)
		counted(add_steps(1), 0, "packedDouble=20090 l1Fills=10");
	ck_assert_str_eq(stage_told(0, false),
			 "20 [19.93055556, 20.06993007] flop/TSC tick, ratioOfMedians of 10 runs, measured");
	ck_assert_str_eq(stage_told(1, false), "20090 [nan, nan] flop, exact of 2 runs, measured");
	ck_assert_str_eq(stage_told(2, false), "31.390625 [nan, nan] flop/byte, ratioOfMedians of 2 runs, modelled");
	ck_assert_str_eq(stage_told(3, false), "1004.5 [1001, 1008] TSC tick, median of 10 runs, measured");
	ck_assert_double_eq_tol(stage_compute(0, false).samples[9], 20090. / 1009, 1e-9);
	ck_assert_str_eq(stage_compute(0, false).source, "blocks per time stamp counter");
	ck_assert_uint_eq(stage_compute(1, false).nr_samples, STEP_RUNS);
}

/* Each thread is stepped by itself. */
TEST(test_steps_of_threads_are_summed)
{
	struct quantity_value value;

	stage_open("steps", 2, "transferredBytes:cpuL1.read time:tsc");
	for (int i = 0; i < STEP_RUNS; i++)
		counted(counted(add_steps(1), 0, "loadedBytes=100"), 1, "loadedBytes=23");
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
		counted(counted(add_run(counts, 1, 1), 0, "scalarDouble=100"), 1, "packedDouble=23");
		add_run(pass_plan_clock(&stage.plan), 5000, 1);
	}
	operations = stage_compute(0, false);
	time = stage_compute(1, false);
	ck_assert_str_eq(stage_told(0, false), "123 [123, 123] flop, exact of 6 runs, measured");
	ck_assert_str_eq(stage_told(1, false), "5001 [5001, 5001] TSC tick, exact of 6 runs, measured");
	ck_assert_uint_eq(operations.nr_threads, 2);
	for (size_t i = 0; i < 6; i++) {
		ck_assert(operations.thread_samples[i] == 100 && operations.thread_samples[6 + i] == 23);
		ck_assert(time.thread_samples[i] == 5000 && time.thread_samples[6 + i] == 5001);
	}
}

/* V (D + Z) / (F + Z) + N - Z dirty lines reach DRAM; D are read: 64 bytes of 300, 75 + 50, and both. */
TEST(test_modelled_dram_writes)
{
	stage_open("zen5", 1, "transferredBytes:llcRam transferredBytes:llcRam.read transferredBytes:llcRam.write");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (int i = 0; i < 6; i++)
		counted(add_run(0, 1, 1), 0,
			"l2DirtyVictims=100 l2DramFills=300 l2Fills=400 combinedLines=50 combinedToCache=0");
	ck_assert_str_eq(stage_told(0, false), "27200 [27200, 27200] byte, exact of 6 runs, modelled");
	ck_assert_str_eq(stage_told(1, false), "19200 [19200, 19200] byte, exact of 6 runs, measured");
	ck_assert_str_eq(stage_told(2, false), "8000 [8000, 8000] byte, exact of 6 runs, modelled");
}

TEST(test_context_switches_are_counted)
{
	stage_open("none", 2, "contextSwitches");
	for (int i = 0; i < 3; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		usage_of(run, 0)->voluntary_context_switches = i < 2 ? 2 : 0;
		usage_of(run, 1)->involuntary_context_switches = i < 2 ? 3 : 0;
	}
	ck_assert_str_eq(stage_told(0, false), "5 [nan, nan] switch, median of 3 runs, measured");
}

/* There are two threads; the runs are not left out for what is counted. */
TEST(test_migrations_are_counted)
{
	struct quantity_value value;

	stage_open("none", 2, "migrations");
	for (int i = 0; i < 3; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		usage_of(run, 0)->start_cpu = usage_of(run, 1)->start_cpu = usage_of(run, 0)->stop_cpu = 1;
		usage_of(run, 1)->stop_cpu = i == 0;
	}
	value = stage_compute(0, false);
	ck_assert(value.samples[0] == 0 && value.samples[1] == 1);
	ck_assert_str_eq(stage_told(0, false), "1 [nan, nan] migration, median of 3 runs, measured");
}

/* Twelve runs in six starts that differ by 100, and their runs by 1: the interval is of starts, as far as they go. */
TEST_OF(test_intervals_are_of_starts, 2)
{
	stage_open("none", 1, "time:tsc");
	for (int i = 0; i < 12; i++)
		add_run(0, (uint64_t)(1000 + 100 * (i / 2) + i % 2), 1)->order = _i ? i % 2 : i;
	ck_assert_uint_eq(stage_compute(0, false).starts[11], _i ? 5 : 0);
	ck_assert_str_eq(stage_told(0, false), _i ? "1250.5 [1000.5, 1500.5] TSC tick, median of 12 runs, measured"
						  : "1250.5 [1100, 1401] TSC tick, median of 12 runs, measured");
}

/* Flops and cycles in one pass: run by run they agree, although both vary. */
TEST(test_ratio_of_one_pass_is_joint)
{
	stage_open("zen5", 1, "performance:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (int i = 1; i <= 8; i++)
		counted(add_run(0, 1, 1), 0, "allFlops=%d coreCycles=%d", 2000 * i, 1000 * i);
	usage_of(measurement_result_outputs_at(stage.results[0], 0), 0)->major_faults = 1;
	ck_assert_str_eq(stage_told(0, false), "2 [2, 2] flop/cycle, ratioOfMedians of 7 runs without 1, measured");
	ck_assert_double_eq_tol(stage_compute(0, false).summary.maximum, 2, 1e-12);
}

/* A run without one of the other pass is of no use, whichever it is of. */
TEST_OF(test_ratio_of_two_passes, 2)
{
	struct quantity_value value;
	size_t cycles;

	stage_open("zen5", 1, "performance:doublePrecisionFlop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	cycles = pass_with("coreCycles");
	for (int i = 0; i < 7; i++) {
		struct measurement_run_output *time = add_run(cycles, 1, 1);

		counted(add_run(1 - cycles, 1, 1), 0, "packedDouble=20000");
		counted(time, 0, "coreCycles=%d", 10000 + 10 * i);
		usage_of(time, 0)->involuntary_context_switches = i == 6;
	}
	counted(add_run((size_t)_i, 1, 1), 0, (size_t)_i == cycles ? "coreCycles=1" : "packedDouble=1");
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.nr_samples, 7);
	ck_assert_double_eq_tol(value.samples[6], 20000.0 / 10060, 1e-12);
	ck_assert_uint_eq(value.taints[6], TAINT_CONTEXT_SWITCH);
	ck_assert_str_eq(stage_told(0, false),
			 "1.995012469 [1.990049751, 2] flop/cycle, ratioOfMedians of 6 runs without 1, measured");
	ck_assert_str_eq(stage_told(0, true),
			 "2 [nan, nan] flop/cycle, medianPerMinimum of 6 runs without 1, measured");
}

/* All runs of one side but the first are disturbed: there is no interval, however many the other side has. */
TEST_OF(test_ratio_with_one_run, 2)
{
	size_t cycles;

	stage_open("zen5", 1, "performance:doublePrecisionFlop");
	cycles = pass_with("coreCycles");
	for (int i = 0; i < 7; i++) {
		struct measurement_run_output *runs[] = {add_run(1 - cycles, 1, 1), add_run(cycles, 1, 1)};

		counted(runs[0], 0, "packedDouble=20000");
		counted(runs[1], 0, "coreCycles=10000");
		usage_of(runs[_i], 0)->major_faults = i > 0;
	}
	ck_assert_has(stage_told(0, false), "2 [nan, nan] flop/cycle, ratioOfMedians");
	ck_assert_double_eq(stage_compute(0, false).summary.confidence, 0);
}

TEST(test_estimators_of_tainted_runs)
{
	static const struct {
		const char *estimator;
		bool is_it;
	} rows[] = {{NULL, false},
		    {"", false},
		    {"median", false},
		    {"medianOfTainted", true},
		    {"medianOfTaintedRuns", false},
		    {"Tainted", false}};

	for (size_t i = 0; i < NR_ELEMENTS(rows); i++) {
		const struct quantity_value value = {.summary.estimator = rows[i].estimator};

		ck_assert_msg(quantity_is_of_tainted(&value) == rows[i].is_it, "row %zu", i);
	}
}

/* From source and number of runs. */
TEST(test_counted_once)
{
	static const struct {
		const char *source;
		size_t n;
		bool is_it;
	} rows[] = {{"blocks", 1, true},
		    {"blocks per blocks", 1, true},
		    {"blocks", 2, false},
		    {"blocks per time stamp counter", 1, false},
		    {NULL, 1, false}};

	for (size_t i = 0; i < NR_ELEMENTS(rows); i++) {
		const struct quantity_value value = {.source = rows[i].source, .summary.n = rows[i].n};

		ck_assert_msg(quantity_is_counted_once(&value) == rows[i].is_it, "row %zu", i);
	}
}

/* Ticks (5000 and 5001) times the mean of before and after, summed over the workloads like counted cycles. */
TEST(test_core_cycles_from_the_probed_clock)
{
	struct quantity_value cycles;

	stage_open("none", 2, "time:coreCycles performance:flop:coreCycles");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(0, 5000, 1);

		probe_clock(run, 0, 1.5, 1.502);
		probe_clock(run, 1, 2, i == 5 ? 2.03 : 2);
	}
	cycles = stage_compute(0, false);
	ck_assert(cycles.taints[4] == 0 && cycles.taints[5] == TAINT_CLOCK);
	ck_assert_str_eq(stage_told(0, false), "17507 [nan, nan] cycle, exact of 5 runs without 1, modelled");
	ck_assert_str_eq(stage_told(1, false),
			 "1.142400183 [nan, nan] flop/cycle, ratioOfMedians of 5 runs without 1, expected");
}

TEST(test_expected_work_per_measured_time)
{
	stage_open("none", 1, "performance:flop:microSeconds time:microSeconds");
	for (uint64_t i = 0; i < 7; i++)
		add_run(0, 1, 10000 + i);
	ck_assert_str_eq(stage_told(0, false),
			 "1999400180 [1998800720, 2000000000] flop/s, ratioOfMedians of 7 runs, expected");
	ck_assert_str_eq(stage_told(1, false), "10.003 [10, 10.006] us, median of 7 runs, measured");
	ck_assert_str_eq(stage_told(1, true), "10 [nan, nan] us, minimum of 7 runs, measured");
}

TEST(test_nothing_measured)
{
	stage_open("none", 1, "operationalIntensity:flop:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 0);
	ck_assert_str_eq(stage_told(0, false), "0.08333333333 [nan, nan] flop/byte, expected of 1 runs, expected");
	ck_assert_uint_eq(stage_compute(0, false).nr_samples, 0);
}

/* A formula whose events need two passes is computed from run i of both. */
TEST(test_spread_formula)
{
	static const char *const events[] = {"scalar", "packed128Double", "packedFour", "packedEight",
					     "packed512Single"};
	struct quantity_value value;

	stage_open("skylake-server", 1, "operationCount:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	for (int i = 0; i < 2; i++) {
		struct measurement_run_output *runs[] = {add_run(0, 1, 1), add_run(1, 1, 1)};

		for (size_t k = 0; k < 5; k++)
			counted(runs[pass_with(events[k])], 0, "%s=10", events[k]);
	}
	usage_of(measurement_result_outputs_at(stage.results[0], 0), 0)->involuntary_context_switches = 1;
	usage_of(measurement_result_outputs_at(stage.results[1], 1), 0)->major_faults = 1;
	value = stage_compute(0, false);
	ck_assert_double_eq(value.samples[0], 10 * (1 + 2 + 4 + 8 + 16));
	ck_assert(value.taints[0] == TAINT_CONTEXT_SWITCH && value.taints[1] == TAINT_MAJOR_FAULT);
}

/* Adds a run, and a copy of the threads' set, with the same counts of 0. */
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

/* Values of these keys, in this order. */
static void
expect_json(struct quantity_value value, const char *keys, const char *text)
{
	json_auto_t *all = quantity_value_json(&value), *some = json_object();
	autofree char *copy = rot_strdup(keys), *got = NULL;

	for (char *key = strtok(copy, " "); key; key = strtok(NULL, " "))
		if (json_object_get(all, key))
			json_object_set(some, key, json_object_get(all, key));
	got = json_dumps(some, JSON_COMPACT);
	ck_assert_str_eq(got, text);
}

TEST(test_json)
{
	stage_open("zen5", 1, "performance:flop");
	for (int i = 0; i < 7; i++) {
		struct measurement_run_output *run = counted(add_run(0, 1, 1), 0, "allFlops=2000 coreCycles=1000");

		usage_of(run, 0)->involuntary_context_switches = usage_of(run, 0)->stop_cpu = i == 3;
	}
	expect_json(
		stage_compute(0, false),
		"name of clock unit kind source value n tainted taints samples expected infinite",
		"{\"name\":\"performance\",\"of\":\"flop\",\"clock\":\"coreCycles\",\"unit\":\"flop/cycle\","
		"\"kind\":\"measured\",\"source\":\"r0f03 per r0076 (user mode)\",\"value\":2.0,\"n\":6,\"tainted\":1,"
		"\"taints\":{\"contextSwitch\":1,\"migration\":1},\"samples\":[2.0,2.0,2.0,2.0,2.0,2.0,2.0],"
		"\"expected\":null}");
}

/* Warm data: no bytes move, the intensity is infinite. */
TEST(test_json_of_infinity)
{
	stage_open("zen5", 1, "operationalIntensity:flop:llcRam.read");
	for (int i = 0; i < 6; i++)
		counted(add_run(0, 1, 1), 0, "allFlops=2000");
	ck_assert(isinf(stage_compute(0, false).summary.value));
	expect_json(stage_compute(0, false), "value infinite samples",
		    "{\"value\":null,\"infinite\":true,\"samples\":[null,null,null,null,null,null]}");
}

UNIT_TESTS(.is_in_one_process = true);
