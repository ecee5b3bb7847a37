/* SPDX-License-Identifier: MIT */
/* From recorded outputs of the core to values: formulas, modulo, taints, sums over threads, ratios, JSON. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "architecture_files.h"
#include "memory.h"
#include "quantities/compute.h"
#include "quantities/plan.h"
#include "quantities/resolve.h"
#include "quantities/samples.h"
#include "testing.h"

#define MAX_PASSES 8
#define MAX_REQUESTS 8

/* A point as quantities_measure sees it, with the core's part played by the test. */
struct stage {
	struct architecture *architecture;
	struct measurement *measurement;
	struct quantity_resolution resolutions[MAX_REQUESTS];
	size_t nr_requests;
	struct pass_plan plan;
	struct measurement *passes[MAX_PASSES];
	struct measurement_result *results[MAX_PASSES];
	struct pass_samples samples[MAX_PASSES];
};

static const struct rot_class kernel_class = {
	.name = "Crew", .base = &kernel_base_class, .size = sizeof(struct kernel_base), .comment = ""};

/* A kernel that declares so many threads; 0: NULL. */
static struct kernel_base *
kernel_with_threads(int nr_threads)
{
	struct kernel_base *kernel = nr_threads ? rot_entity_new(&kernel_class) : NULL;

	if (kernel)
		kernel->num_threads = nr_threads;
	return kernel;
}

/* requests: separated by blanks. nr_threads: of each kernel; 0: without kernels. */
static void
stage_open_threads(struct stage *stage, const char *architecture, size_t nr_workloads, int nr_threads,
		   const char *requests)
{
	const struct quantity_expectation expectation = {
		.operations = 20000, .bytes = 240000, .can_probe_clock = nr_threads <= 1};
	const struct architecture_formula *formulas[2 * MAX_REQUESTS];
	char *copy = rot_strdup(requests), *rest = NULL;
	struct rot_error err = {{0}, {0}};
	bool needs_clock = false, needs_probe = false;
	size_t nr_formulas = 0;

	*stage = (struct stage){.architecture = architecture_named(architecture), .measurement = measurement_new()};
	for (size_t i = 0; i < nr_workloads; i++) {
		struct workload *workload = workload_new();

		workload->kernel = kernel_with_threads(nr_threads);
		measurement_workloads_add(stage->measurement, workload);
	}
	for (char *text = strtok_r(copy, " ", &rest); text; text = strtok_r(NULL, " ", &rest)) {
		struct quantity_resolution *resolution = &stage->resolutions[stage->nr_requests++];
		struct quantity_request request;

		ck_assert_msg(quantity_parse(&request, text, &err) == 0, "%s", err.text);
		ck_assert_msg(quantity_resolve(resolution, stage->architecture, &request, "auto", &expectation, &err) ==
				      0,
			      "%s", err.text);
		for (int side = 0; side < (resolution->has_denominator ? 2 : 1); side++) {
			const struct quantity_part *part = side ? &resolution->denominator : &resolution->numerator;

			if (part->source == PART_COUNTED)
				formulas[nr_formulas++] = part->formula;
			needs_probe |= part->source == PART_PROBED;
			needs_clock |= part->source == PART_PROBED || part->source == PART_TSC ||
				       part->source == PART_WALL || part->source == PART_SWITCHES;
		}
	}
	free(copy);
	ck_assert_int_eq(pass_plan_make(&stage->plan, stage->architecture, formulas, nr_formulas, needs_clock, &err),
			 0);
	ck_assert_uint_le(stage->plan.nr_passes, MAX_PASSES);
	if (needs_probe)
		pass_plan_probe_clock(&stage->plan);
	for (size_t i = 0; i < stage->plan.nr_passes; i++) {
		stage->passes[i] = pass_measurement(stage->measurement, stage->architecture, &stage->plan.passes[i]);
		for (size_t k = 0; k < nr_workloads; k++)
			measurement_workloads_at(stage->passes[i], k)->measurer_set->id = (int32_t)(10 + k);
		stage->results[i] = measurement_result_new();
	}
}

static void
stage_open(struct stage *stage, const char *architecture, size_t nr_workloads, const char *requests)
{
	stage_open_threads(stage, architecture, nr_workloads, 0, requests);
}

static void
stage_close(struct stage *stage)
{
	for (size_t i = 0; i < stage->plan.nr_passes; i++) {
		rot_graph_delete(stage->passes[i]);
		rot_graph_delete(stage->results[i]);
		pass_samples_clear(&stage->samples[i]);
	}
	pass_plan_clear(&stage->plan);
	rot_graph_delete(stage->measurement);
	architecture_delete(stage->architecture);
}

/*
 * One more run of the pass; every workload's set with its clocks, resource usage and, in a pass with events, counts of
 * 0. The context switches of the validation measurer, while the caches were prepared, must not matter.
 */
static struct measurement_run_output *
add_run(struct stage *stage, size_t pass, uint64_t ticks, uint64_t ns)
{
	struct measurement_run_output *run = measurement_run_output_new();

	for (size_t k = 0; k < measurement_nr_workloads(stage->measurement); k++) {
		struct measurer_set_output *set = measurer_set_output_new();
		struct tsc_measurer_output *tsc = tsc_measurer_output_new();
		struct execution_time_measurer_output *time = execution_time_measurer_output_new();
		struct resource_usage_measurer_output *whole = resource_usage_measurer_output_new();

		set->set_id = (int32_t)(10 + k);
		tsc->tics = ticks + k;
		time->nano_seconds = ns;
		measurer_set_output_additional_measurer_outputs_add(set, &resource_usage_measurer_output_new()->base);
		measurer_set_output_additional_measurer_outputs_add(set, &time->base);
		if (stage->plan.passes[pass].nr_events) {
			struct perf_event_measurer_output *events = perf_event_measurer_output_new();

			for (size_t i = 0; i < stage->plan.passes[pass].nr_events; i++) {
				struct perf_event_count *count = perf_event_count_new();

				rot_string_set(&count->name,
					       stage->architecture->events[stage->plan.passes[pass].events[i]].name);
				count->time_enabled = count->time_running = 1000;
				perf_event_measurer_output_event_counts_add(events, count);
			}
			set->main_measurer_output = &events->base;
			measurer_set_output_additional_measurer_outputs_add(set, &tsc->base);
		} else {
			set->main_measurer_output = &tsc->base;
		}
		whole->involuntary_context_switches = 9;
		measurer_set_output_validation_measurer_outputs_add(set, &whole->base);
		measurement_run_output_measurer_set_outputs_add(run, set);
	}
	measurement_result_outputs_add(stage->results[pass], run);
	return run;
}

/* The clock probe of a workload in a run: cycles per tick before and after. */
static void
probe_clock(struct measurement_run_output *run, size_t workload, double before, double after)
{
	struct clock_probe_measurer_output *probe = clock_probe_measurer_output_new();

	probe->start_ticks = probe->stop_ticks = 100000;
	probe->start_additions = (uint64_t)(before * 100000);
	probe->stop_additions = (uint64_t)(after * 100000);
	measurer_set_output_additional_measurer_outputs_add(
		measurement_run_output_measurer_set_outputs_at(run, workload), &probe->base);
}

static struct perf_event_count *
count_of(struct measurement_run_output *run, size_t workload, const char *event)
{
	struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, workload);
	struct perf_event_measurer_output *events =
		rot_cast(set->main_measurer_output, &perf_event_measurer_output_class);

	for (size_t i = 0; i < perf_event_measurer_output_nr_event_counts(events); i++) {
		struct perf_event_count *count = perf_event_measurer_output_event_counts_at(events, i);

		if (strcmp(count->name, event) == 0)
			return count;
	}
	ck_abort_msg("event '%s' is not in the pass", event);
	return NULL;
}

static struct resource_usage_measurer_output *
usage_of(struct measurement_run_output *run, size_t workload)
{
	return rot_cast(measurer_set_output_additional_measurer_outputs_at(
				measurement_run_output_measurer_set_outputs_at(run, workload), 0),
			&resource_usage_measurer_output_class);
}

static size_t
pass_with(const struct stage *stage, const char *event)
{
	for (size_t i = 0; i < stage->architecture->nr_events; i++) {
		if (strcmp(stage->architecture->events[i].name, event) == 0)
			return pass_plan_find(&stage->plan, i);
	}
	ck_abort_msg("no event '%s'", event);
	return 0;
}

static struct quantity_value
stage_compute(struct stage *stage, size_t request, bool use_minimum)
{
	struct rot_error err = {{0}, {0}};
	struct quantity_value value;

	for (size_t i = 0; i < stage->plan.nr_passes; i++) {
		pass_samples_clear(&stage->samples[i]);
		ck_assert_msg(pass_samples_read(&stage->samples[i], stage->architecture, &stage->plan.passes[i],
						stage->passes[i], stage->results[i], &err) == 0,
			      "%s", err.text);
	}
	ck_assert_msg(quantity_compute(&value, &stage->resolutions[request], stage->architecture, &stage->plan,
				       stage->samples, use_minimum, &err) == 0,
		      "%s", err.text);
	return value;
}

/* ---- the measurement of a pass ---- */

/* The set that the last rule puts on threads. */
static struct measurer_set *
rule_set(const struct measurement *measurement)
{
	const struct rule *rule = measurement_rules_at(measurement, measurement_nr_rules(measurement) - 1);

	return ((struct create_measurer_on_thread_action *)rot_cast(rule->action,
								    &create_measurer_on_thread_action_class))
		->measurer_set;
}

START_TEST(test_threads_get_the_events_of_their_pass)
{
	struct stage stage;
	const struct perf_event_measurer *own, *of_threads;

	stage_open_threads(&stage, "zen5", 1, 4, "operationCount:doublePrecisionFlop");
	own = rot_cast(measurement_workloads_at(stage.passes[0], 0)->measurer_set->main_measurer,
		       &perf_event_measurer_class);
	of_threads = rot_cast(rule_set(stage.passes[0])->main_measurer, &perf_event_measurer_class);
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(rule_set(stage.passes[0])), 0);
	ck_assert_uint_eq(perf_event_measurer_nr_events(of_threads), perf_event_measurer_nr_events(own));
	for (size_t i = 0; i < perf_event_measurer_nr_events(own); i++)
		ck_assert_str_eq(perf_event_measurer_events_at(of_threads, i)->definition,
				 perf_event_measurer_events_at(own, i)->definition);
	ck_assert_uint_eq(measurement_nr_rules(stage.measurement), 0);
	stage_close(&stage);
}
END_TEST

START_TEST(test_pass_becomes_a_measurement)
{
	struct stage stage;
	const struct measurer_set *set;
	const struct perf_event_measurer *events;

	stage_open(&stage, "zen5", 2, "operationCount:doublePrecisionFlop time:tsc");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	ck_assert_ptr_null(measurement_workloads_at(stage.measurement, 0)->measurer_set);
	set = measurement_workloads_at(stage.passes[0], 1)->measurer_set;
	ck_assert(rot_is_a(set->main_measurer, &tsc_measurer_class));
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 2);
	set = measurement_workloads_at(stage.passes[1], 0)->measurer_set;
	ck_assert_ptr_ne(set, measurement_workloads_at(stage.passes[1], 1)->measurer_set);
	events = rot_cast(set->main_measurer, &perf_event_measurer_class);
	ck_assert_ptr_nonnull(events);
	ck_assert_uint_eq(perf_event_measurer_nr_events(events), 2);
	ck_assert_str_eq(perf_event_measurer_events_at(events, 0)->definition, "perf_raw::r8f03");
	ck_assert_str_eq(perf_event_measurer_events_at(events, 1)->definition, "perf_raw::raf03");
	ck_assert_str_eq(events->scrub_event, "perf_raw::r5ac8");
	ck_assert_int_eq(events->scrub_count, 5);
	ck_assert(events->count_user && !events->count_kernel);
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 3);
	ck_assert(rot_is_a(measurer_set_validation_measurers_at(set, 0), &resource_usage_measurer_class));
	stage_close(&stage);
}
END_TEST

/* What flushing after the kernel does is measured in place of the kernel. */
START_TEST(test_pass_is_of_an_action)
{
	struct architecture *architecture = architecture_named("zen5");
	struct measurement *measurement = measurement_new(), *pass;
	struct measure_action_execution *action = measure_action_execution_new(), *copy;
	struct rule *rule = rule_new();

	measurement_workloads_add(measurement, workload_new());
	action->action = &flush_kernel_buffers_action_new()->base;
	rule->action = &action->base;
	measurement_rules_add(measurement, rule);
	ck_assert_ptr_eq(measured_action(measurement), action->action);
	pass = pass_measurement(measurement, architecture, &(struct pass){.nr_events = 1});
	copy = rot_cast(measurement_rules_at(pass, 0)->action, &measure_action_execution_class);
	ck_assert_ptr_null(measurement_workloads_at(pass, 0)->measurer_set);
	ck_assert(rot_is_a(copy->measurer_set->main_measurer, &perf_event_measurer_class));
	ck_assert_ptr_null(action->measurer_set);
	ck_assert_ptr_null(measured_action(pass));
	rot_graph_delete(pass);
	rot_graph_delete(measurement);
	architecture_delete(architecture);
}
END_TEST

/* ---- values ---- */

START_TEST(test_operation_count_is_exact)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "zen5", 1, "operationCount:doublePrecisionFlop");
	for (int i = 0; i < 10; i++)
		count_of(add_run(&stage, 0, 1, 1), 0, "packedDouble")->raw_count = 20000;
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.summary.value, 20000);
	ck_assert_str_eq(value.summary.estimator, "exact");
	ck_assert_double_eq(value.summary.low, 20000);
	ck_assert_uint_eq(value.summary.n, 10);
	ck_assert_uint_eq(value.summary.tainted, 0);
	ck_assert_str_eq(value.kind, "measured");
	ck_assert_str_eq(value.unit, "flop");
	ck_assert_double_eq(value.expected, 20000);
	quantity_value_clear(&value);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

START_TEST(test_counts_are_summed_and_times_are_the_maximum)
{
	struct stage stage;
	struct quantity_value operations, time;
	size_t counts;

	stage_open(&stage, "zen5", 2, "operationCount:doublePrecisionFlop time:tsc");
	counts = pass_with(&stage, "scalarDouble");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(&stage, counts, 1, 1);

		count_of(run, 0, "scalarDouble")->raw_count = 100;
		count_of(run, 1, "packedDouble")->raw_count = 23;
		add_run(&stage, pass_plan_clock(&stage.plan), 5000, 1);
	}
	operations = stage_compute(&stage, 0, false);
	time = stage_compute(&stage, 1, false);
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
	quantity_value_clear(&operations);
	quantity_value_clear(&time);
	stage_close(&stage);
}
END_TEST

/* V (D + Z) / (F + Z) + N - Z dirty lines reach DRAM; D are read. */
START_TEST(test_modelled_dram_writes)
{
	struct stage stage;
	struct quantity_value all, read, write;

	stage_open(&stage, "zen5", 1,
		   "transferredBytes:llcRam transferredBytes:llcRam.read transferredBytes:llcRam.write");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, 1);

		count_of(run, 0, "l2DirtyVictims")->raw_count = 100;
		count_of(run, 0, "l2DramFills")->raw_count = 300;
		count_of(run, 0, "l2Fills")->raw_count = 400;
		count_of(run, 0, "combinedLines")->raw_count = 50;
		count_of(run, 0, "combinedToCache")->raw_count = 0;
	}
	all = stage_compute(&stage, 0, false);
	read = stage_compute(&stage, 1, false);
	write = stage_compute(&stage, 2, false);
	ck_assert_double_eq(read.summary.value, 64 * 300);
	ck_assert_double_eq(write.summary.value, 64 * (75 + 50));
	ck_assert_double_eq(all.summary.value, 64 * (300 + 75 + 50));
	ck_assert_str_eq(read.kind, "measured");
	ck_assert_str_eq(write.kind, "modelled");
	ck_assert_str_eq(all.kind, "modelled");
	quantity_value_clear(&all);
	quantity_value_clear(&read);
	quantity_value_clear(&write);
	stage_close(&stage);
}
END_TEST

START_TEST(test_lost_initial_value_is_removed)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "zen5", 1, "instructions");
	count_of(add_run(&stage, 0, 1, 1), 0, "instructions")->raw_count = UINT64_C(140737488355328) + 12345;
	count_of(add_run(&stage, 0, 1, 1), 0, "instructions")->raw_count = UINT64_C(1) << 46;
	count_of(add_run(&stage, 0, 1, 1), 0, "instructions")->raw_count = (UINT64_C(1) << 46) - 1;
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.samples[0], 12345);
	ck_assert_uint_eq(value.taints[0], 0);
	ck_assert_uint_eq(value.taints[1], TAINT_OVERFLOW);
	ck_assert_uint_eq(value.taints[2], 0);
	ck_assert_uint_eq(value.summary.n, 2);
	ck_assert_uint_eq(value.summary.tainted, 1);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

START_TEST(test_disturbed_samples_are_tainted)
{
	struct stage stage;
	struct quantity_value value;
	struct measurement_run_output *run;
	const unsigned taints[] = {
		0, TAINT_CONTEXT_SWITCH, TAINT_MIGRATION, TAINT_MAJOR_FAULT, TAINT_MULTIPLEXED, TAINT_UNMEASURED_THREAD,
		0};

	stage_open(&stage, "zen5", 2, "instructions");
	for (size_t i = 0; i < 7; i++) {
		run = add_run(&stage, 0, 1, 1);
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
	value = stage_compute(&stage, 0, false);
	ck_assert_uint_eq(value.nr_samples, 7);
	for (size_t i = 0; i < 7; i++)
		ck_assert_uint_eq(value.taints[i], taints[i]);
	ck_assert_double_eq(value.samples[1], 999);
	ck_assert_double_eq(value.summary.value, 100);
	ck_assert_uint_eq(value.summary.n, 2);
	ck_assert_uint_eq(value.summary.tainted, 5);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* Three ticks of 10 ms, against work of 3.1 s, 2.9 s and 9 ms; and where the time cannot be read. */
START_TEST(test_stolen_time_taints_long_runs)
{
	static const struct {
		uint64_t ns;
		int64_t ticks;
		unsigned taints;
	} runs[] = {{3100000000, 3, 0}, {2900000000, 3, TAINT_STEAL}, {9000000, 3, 0}, {2900000000, -1, 0}};
	struct quantity_value value;
	struct stage stage;

	stage_open(&stage, "none", 1, "time:microSeconds");
	for (size_t i = 0; i < 4; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, runs[i].ns);
		struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, 0);
		struct resource_usage_measurer_output *whole =
			rot_cast(measurer_set_output_validation_measurer_outputs_at(set, 0),
				 &resource_usage_measurer_output_class);

		whole->steal_ticks = runs[i].ticks;
	}
	value = stage_compute(&stage, 0, false);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(value.taints[i], runs[i].taints);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

START_TEST(test_all_tainted_is_said)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "zen5", 1, "instructions");
	for (int i = 0; i < 3; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, 1);

		count_of(run, 0, "instructions")->raw_count = (uint64_t)(100 + i);
		usage_of(run, 0)->involuntary_context_switches = 1;
	}
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.summary.value, 101);
	ck_assert_str_eq(value.summary.estimator, "medianOfTainted");
	ck_assert_uint_eq(value.summary.n, 3);
	ck_assert_uint_eq(value.summary.tainted, 3);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

START_TEST(test_context_switches_are_counted)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "none", 2, "contextSwitches");
	for (int i = 0; i < 2; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, 1);

		usage_of(run, 0)->voluntary_context_switches = 2;
		usage_of(run, 1)->involuntary_context_switches = 3;
	}
	add_run(&stage, 0, 1, 1);
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.summary.value, 5);
	ck_assert_uint_eq(value.summary.n, 3);
	ck_assert_uint_eq(value.summary.tainted, 0);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* Flops and cycles in one pass: run by run they agree, although both vary. */
START_TEST(test_ratio_of_one_pass_is_joint)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "zen5", 1, "performance:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	for (uint64_t i = 1; i <= 8; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, 1);

		count_of(run, 0, "allFlops")->raw_count = 2000 * i;
		count_of(run, 0, "coreCycles")->raw_count = 1000 * i;
	}
	usage_of(measurement_result_outputs_at(stage.results[0], 0), 0)->major_faults = 1;
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq_tol(value.summary.value, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.low, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.high, 2, 1e-12);
	ck_assert_double_eq_tol(value.summary.maximum, 2, 1e-12);
	ck_assert_uint_eq(value.summary.n, 7);
	ck_assert_uint_eq(value.summary.tainted, 1);
	ck_assert_str_eq(value.unit, "flop/cycle");
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

START_TEST(test_ratio_of_two_passes)
{
	struct stage stage;
	struct quantity_value value;
	size_t cycles;

	stage_open(&stage, "zen5", 1, "performance:doublePrecisionFlop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	cycles = pass_with(&stage, "coreCycles");
	for (uint64_t i = 0; i < 7; i++) {
		struct measurement_run_output *flops = add_run(&stage, 1 - cycles, 1, 1),
					      *time = add_run(&stage, cycles, 1, 1);

		count_of(flops, 0, "packedDouble")->raw_count = 20000;
		count_of(time, 0, "coreCycles")->raw_count = 10000 + 10 * i;
		usage_of(time, 0)->involuntary_context_switches = i == 6;
	}
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq_tol(value.summary.value, 20000.0 / 10025, 1e-12);
	ck_assert_double_eq_tol(value.samples[6], 20000.0 / 10060, 1e-12);
	ck_assert_uint_eq(value.taints[6], TAINT_CONTEXT_SWITCH);
	ck_assert_uint_eq(value.summary.n, 6);
	ck_assert(value.summary.low <= value.summary.value && value.summary.value <= value.summary.high);
	quantity_value_clear(&value);
	value = stage_compute(&stage, 0, true);
	ck_assert_double_eq_tol(value.summary.value, 2, 1e-12);
	ck_assert_str_eq(value.summary.estimator, "medianPerMinimum");
	ck_assert(isnan(value.summary.low));
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* Expected flops over measured wall time: flop/s. */
/* First, so that the wall time and the others do not hold it; only where core cycles are asked for. */
START_TEST(test_clock_is_probed_around_the_others)
{
	struct stage stage;
	const struct measurer_set *set;

	stage_open(&stage, "none", 1, "time:coreCycles time:microSeconds");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	set = measurement_workloads_at(stage.passes[0], 0)->measurer_set;
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 3);
	ck_assert(rot_is_a(measurer_set_additional_measurers_at(set, 0), &clock_probe_measurer_class));
	ck_assert(rot_is_a(set->main_measurer, &tsc_measurer_class));
	stage_close(&stage);
	stage_open(&stage, "zen5", 1, "time:coreCycles time:microSeconds");
	set = measurement_workloads_at(stage.passes[pass_plan_clock(&stage.plan)], 0)->measurer_set;
	for (size_t i = 0; i < measurer_set_nr_additional_measurers(set); i++)
		ck_assert(!rot_is_a(measurer_set_additional_measurers_at(set, i), &clock_probe_measurer_class));
	stage_close(&stage);
}
END_TEST

/* Ticks (5000 and 5001) times the mean of before and after, summed over the workloads like counted cycles. */
START_TEST(test_core_cycles_from_the_probed_clock)
{
	struct stage stage;
	struct quantity_value cycles, performance;

	stage_open(&stage, "none", 2, "time:coreCycles performance:flop:coreCycles");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 5000, 1);

		probe_clock(run, 0, 1.5, 1.502);
		probe_clock(run, 1, 2, i == 5 ? 2.03 : 2);
	}
	cycles = stage_compute(&stage, 0, false);
	performance = stage_compute(&stage, 1, false);
	ck_assert_double_eq_tol(cycles.summary.value, 5000 * 1.501 + 5001 * 2, 1e-6);
	ck_assert_str_eq(cycles.unit, "cycle");
	ck_assert_str_eq(cycles.kind, "modelled");
	ck_assert_uint_eq(cycles.summary.n, 5);
	ck_assert_uint_eq(cycles.taints[4], 0);
	ck_assert_uint_eq(cycles.taints[5], TAINT_CLOCK);
	ck_assert_double_eq_tol(performance.summary.value, 20000 / (5000 * 1.501 + 5001 * 2), 1e-9);
	ck_assert_str_eq(performance.unit, "flop/cycle");
	quantity_value_clear(&cycles);
	quantity_value_clear(&performance);
	stage_close(&stage);
}
END_TEST

START_TEST(test_missing_probe_is_an_error)
{
	struct rot_error err = {{0}, {0}};
	struct stage stage;

	stage_open(&stage, "none", 1, "time:coreCycles");
	add_run(&stage, 0, 5000, 1);
	ck_assert_int_eq(pass_samples_read(&stage.samples[0], stage.architecture, &stage.plan.passes[0],
					   stage.passes[0], stage.results[0], &err),
			 -1);
	ck_assert_msg(strstr(err.text, "was not probed") != NULL, "%s", err.text);
	stage_close(&stage);
}
END_TEST

START_TEST(test_expected_work_per_measured_time)
{
	struct stage stage;
	struct quantity_value value, time;

	stage_open(&stage, "none", 1, "performance:flop:microSeconds time:microSeconds");
	for (uint64_t i = 0; i < 7; i++)
		add_run(&stage, 0, 1, 10000 + i);
	value = stage_compute(&stage, 0, false);
	time = stage_compute(&stage, 1, false);
	ck_assert_str_eq(value.unit, "flop/s");
	ck_assert_double_eq_tol(value.summary.value, 20000 / 10003e-9, 1);
	ck_assert_str_eq(value.kind, "expected");
	ck_assert_uint_eq(value.summary.n, 7);
	ck_assert(value.summary.low < value.summary.value);
	ck_assert_str_eq(time.unit, "us");
	ck_assert_double_eq_tol(time.summary.value, 10.003, 1e-9);
	quantity_value_clear(&value);
	quantity_value_clear(&time);
	time = stage_compute(&stage, 1, true);
	ck_assert_double_eq_tol(time.summary.value, 10, 1e-9);
	ck_assert_str_eq(time.summary.estimator, "minimum");
	quantity_value_clear(&time);
	stage_close(&stage);
}
END_TEST

START_TEST(test_nothing_measured)
{
	struct stage stage;
	struct quantity_value value;

	stage_open(&stage, "none", 1, "operationalIntensity:flop:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 0);
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq_tol(value.summary.value, 20000.0 / 240000, 1e-15);
	ck_assert_str_eq(value.summary.estimator, "expected");
	ck_assert_uint_eq(value.nr_samples, 0);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* A formula whose events need two passes is computed from run i of both. */
START_TEST(test_spread_formula)
{
	struct stage stage;
	struct quantity_value value;
	static const char *const events[] = {"scalar", "packed128Double", "packedFour", "packedEight",
					     "packed512Single"};

	stage_open(&stage, "skylake-server", 1, "operationCount:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	for (int i = 0; i < 2; i++) {
		struct measurement_run_output *runs[] = {add_run(&stage, 0, 1, 1), add_run(&stage, 1, 1, 1)};

		for (size_t k = 0; k < 5; k++)
			count_of(runs[pass_with(&stage, events[k])], 0, events[k])->raw_count = 10;
	}
	usage_of(measurement_result_outputs_at(stage.results[1], 1), 0)->major_faults = 1;
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.samples[0], 10 * (1 + 2 + 4 + 8 + 16));
	ck_assert_uint_eq(value.taints[0], 0);
	ck_assert_uint_eq(value.taints[1], TAINT_MAJOR_FAULT);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* As add_run; and a copy of the threads' set, with the same counts of 0. */
static struct measurement_run_output *
add_run_with_copies(struct stage *stage, size_t pass, size_t nr)
{
	struct measurement_run_output *run = add_run(stage, pass, 100, 100);
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

/* The workload's own count and those of the threads are summed; a count that a thread lacks is missed. */
START_TEST(test_threads_of_a_kernel_are_summed)
{
	struct stage stage;
	struct rot_error err = {{0}, {0}};
	struct measurement_run_output *run;
	struct quantity_value value;
	size_t pass;

	stage_open_threads(&stage, "zen5", 1, 3, "instructions time:tsc");
	pass = pass_with(&stage, "instructions");
	ck_assert_uint_eq(measurement_nr_rules(stage.passes[!pass]), 0);
	ck_assert_uint_eq(measurement_nr_rules(stage.passes[pass]), 1);
	rule_set(stage.passes[pass])->id = 30;
	run = add_run_with_copies(&stage, pass, 2);
	for (size_t i = 0; i < 3; i++)
		count_of(run, i, "instructions")->raw_count = (uint64_t)1 << (4 * i);
	run = add_run(&stage, !pass, 500, 500);
	run->unmeasured_threads = 2;
	value = stage_compute(&stage, 0, false);
	ck_assert_double_eq(value.samples[0], 0x111);
	ck_assert_uint_eq(value.taints[0], 0);
	quantity_value_clear(&value);
	value = stage_compute(&stage, 1, false);
	ck_assert_uint_eq(value.taints[0], 0);
	quantity_value_clear(&value);

	run = measurement_result_outputs_at(stage.results[pass], 0);
	run->unmeasured_threads = 1;
	value = stage_compute(&stage, 0, false);
	ck_assert_uint_eq(value.taints[0], TAINT_UNMEASURED_THREAD);
	quantity_value_clear(&value);
	rot_string_set(&count_of(run, 2, "instructions")->name, "other");
	pass_samples_clear(&stage.samples[pass]);
	ck_assert_int_eq(pass_samples_read(&stage.samples[pass], stage.architecture, &stage.plan.passes[pass],
					   stage.passes[pass], stage.results[pass], &err),
			 -1);
	stage_close(&stage);
}
END_TEST

START_TEST(test_missing_output_is_an_error)
{
	struct stage stage;
	struct rot_error err = {{0}, {0}};
	struct measurement_run_output *run;

	stage_open(&stage, "zen5", 1, "instructions");
	run = add_run(&stage, 0, 1, 1);
	rot_string_set(&count_of(run, 0, "instructions")->name, "other");
	ck_assert_int_eq(pass_samples_read(&stage.samples[0], stage.architecture, &stage.plan.passes[0],
					   stage.passes[0], stage.results[0], &err),
			 -1);
	ck_assert_str_eq(err.text, "run 1: event 'instructions' was not counted");
	pass_samples_clear(&stage.samples[0]);
	measurement_run_output_measurer_set_outputs_at(run, 0)->set_id = 99;
	ck_assert_int_eq(pass_samples_read(&stage.samples[0], stage.architecture, &stage.plan.passes[0],
					   stage.passes[0], stage.results[0], &err),
			 -1);
	ck_assert_str_eq(err.text, "run 1: 1 of 1 workloads gave no output");
	stage_close(&stage);
}
END_TEST

/* The overall set of a run: a ping-pong (0 ns: not told), and a clock that is of more than the kernels. */
static void
play_ping_pong(struct measurement_run_output *run, bool is_main, double before, double after)
{
	struct measurer_set_output *set = measurer_set_output_new();
	struct ping_pong_measurer_output *ping_pong = ping_pong_measurer_output_new();
	struct execution_time_measurer_output *time = execution_time_measurer_output_new();

	ping_pong->before = before;
	ping_pong->after = after;
	time->nano_seconds = 1000000;
	set->set_id = 50;
	set->main_measurer_output = is_main ? &ping_pong->base : &time->base;
	measurer_set_output_additional_measurer_outputs_add(set, is_main ? &time->base : &ping_pong->base);
	measurement_run_output_measurer_set_outputs_add(run, set);
}

START_TEST(test_times_of_cache_lines)
{
	static const struct {
		double before, after, min, max;
	} times[] = {{60, 50, 50, 60}, {0, 200, 200, 200}, {200, 0, 200, 200}, {0, 0, 0, 0}, {45, 210, 45, 210}};
	struct stage stage;

	stage_open(&stage, "zen5", 2, "time:microSeconds");
	stage.passes[0]->overall_measurer_set = measurer_set_new();
	stage.passes[0]->overall_measurer_set->id = 50;
	for (size_t i = 0; i < NR_ELEMENTS(times); i++)
		play_ping_pong(add_run(&stage, 0, 1, 7000), _i == 1, times[i].before, times[i].after);
	ck_assert_int_eq(pass_samples_read(&stage.samples[0], stage.architecture, &stage.plan.passes[0],
					   stage.passes[0], stage.results[0], NULL),
			 0);
	for (size_t i = 0; i < NR_ELEMENTS(times); i++) {
		ck_assert_double_eq(stage.samples[0].runs[i].line_ns_min, times[i].min);
		ck_assert_double_eq(stage.samples[0].runs[i].line_ns_max, times[i].max);
		ck_assert_double_eq(stage.samples[0].runs[i].wall_ns, 7000);
	}
	stage_close(&stage);
}
END_TEST

/* ---- JSON ---- */

START_TEST(test_json)
{
	struct stage stage;
	struct quantity_value value;
	json_t *json;

	stage_open(&stage, "zen5", 1, "performance:flop");
	for (uint64_t i = 0; i < 7; i++) {
		struct measurement_run_output *run = add_run(&stage, 0, 1, 1);

		count_of(run, 0, "allFlops")->raw_count = 2000;
		count_of(run, 0, "coreCycles")->raw_count = 1000;
		usage_of(run, 0)->involuntary_context_switches = i == 3;
		usage_of(run, 0)->stop_cpu = i == 3;
	}
	value = stage_compute(&stage, 0, false);
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
	json_decref(json);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

/* Warm data: no bytes move, the intensity is infinite. */
START_TEST(test_json_of_infinity)
{
	struct stage stage;
	struct quantity_value value;
	json_t *json;

	stage_open(&stage, "zen5", 1, "operationalIntensity:flop:llcRam.read");
	for (int i = 0; i < 6; i++)
		count_of(add_run(&stage, 0, 1, 1), 0, "allFlops")->raw_count = 2000;
	value = stage_compute(&stage, 0, false);
	ck_assert(isinf(value.summary.value));
	json = quantity_value_json(&value);
	ck_assert(json_is_null(json_object_get(json, "value")));
	ck_assert(json_is_true(json_object_get(json, "infinite")));
	ck_assert_uint_eq(json_array_size(json_object_get(json, "samples")), 6);
	json_decref(json);
	quantity_value_clear(&value);
	stage_close(&stage);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("compute");
	TCase *values = tcase_create("values"), *json = tcase_create("json");

	tcase_add_test(values, test_pass_becomes_a_measurement);
	tcase_add_test(values, test_pass_is_of_an_action);
	tcase_add_test(values, test_operation_count_is_exact);
	tcase_add_test(values, test_counts_are_summed_and_times_are_the_maximum);
	tcase_add_test(values, test_threads_get_the_events_of_their_pass);
	tcase_add_test(values, test_threads_of_a_kernel_are_summed);
	tcase_add_test(values, test_modelled_dram_writes);
	tcase_add_test(values, test_lost_initial_value_is_removed);
	tcase_add_test(values, test_disturbed_samples_are_tainted);
	tcase_add_test(values, test_stolen_time_taints_long_runs);
	tcase_add_test(values, test_all_tainted_is_said);
	tcase_add_test(values, test_context_switches_are_counted);
	tcase_add_test(values, test_ratio_of_one_pass_is_joint);
	tcase_add_test(values, test_ratio_of_two_passes);
	tcase_add_test(values, test_clock_is_probed_around_the_others);
	tcase_add_test(values, test_core_cycles_from_the_probed_clock);
	tcase_add_test(values, test_missing_probe_is_an_error);
	tcase_add_test(values, test_expected_work_per_measured_time);
	tcase_add_test(values, test_nothing_measured);
	tcase_add_test(values, test_spread_formula);
	tcase_add_test(values, test_missing_output_is_an_error);
	tcase_add_loop_test(values, test_times_of_cache_lines, 0, 2);
	tcase_add_test(json, test_json);
	tcase_add_test(json, test_json_of_infinity);
	suite_add_tcase(suite, values);
	suite_add_tcase(suite, json);
	return suite_run(suite);
}
