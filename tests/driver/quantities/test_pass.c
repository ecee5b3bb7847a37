/* SPDX-License-Identifier: MIT */
/* The measurements of a pass: events of workloads and threads, clocks around them. */
#include "architecture_files.h"
#include "stage.h"
#include "testing.h"

TEST(test_threads_get_the_events_of_their_pass)
{
	const struct perf_event_measurer *own, *of_threads;

	stage_open_threads("zen5", 1, 4, "operationCount:doublePrecisionFlop");
	own = rot_cast(measurement_workloads_at(stage.passes[0], 0)->measurer_set->main_measurer,
		       &perf_event_measurer_class);
	of_threads = rot_cast(rule_set(stage.passes[0])->main_measurer, &perf_event_measurer_class);
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(rule_set(stage.passes[0])), 0);
	ck_assert_uint_eq(perf_event_measurer_nr_events(of_threads), perf_event_measurer_nr_events(own));
	for (size_t i = 0; i < perf_event_measurer_nr_events(own); i++)
		ck_assert_str_eq(perf_event_measurer_events_at(of_threads, i)->definition,
				 perf_event_measurer_events_at(own, i)->definition);
	ck_assert_uint_eq(measurement_nr_rules(stage.measurement), 0);
}

TEST(test_pass_becomes_a_measurement)
{
	const struct measurer_set *set;
	const struct perf_event_measurer *events;

	stage_open("zen5", 2, "operationCount:doublePrecisionFlop time:tsc");
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
}

/* Flushing after the kernel is measured in place of the kernel. */
TEST(test_pass_is_of_an_action)
{
	struct architecture *architecture = architecture_kept("zen5");
	autograph struct measurement *measurement = measurement_new(), *pass = NULL;
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
}

/* All events at once, and nothing that steps would disturb. The second workload has caches of its own. */
TEST(test_stepped_pass_counts_alone)
{
	const struct measurer_set *set;
	const struct step_measurer *steps;

	stage_open("steps", 2, "performance:doublePrecisionFlop transferredBytes:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	ck_assert(!stage.plan.passes[0].is_stepped && stage.plan.passes[1].is_stepped);
	ck_assert_int_eq(pass_runs(&stage.plan.passes[0], 10), 10);
	ck_assert_int_eq(pass_runs(&stage.plan.passes[1], 10), STEP_RUNS);
	ck_assert_int_eq(pass_runs(&stage.plan.passes[1], 1), 1);
	set = measurement_workloads_at(stage.passes[0], 0)->measurer_set;
	ck_assert(rot_is_a(set->main_measurer, &tsc_measurer_class));
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 2);
	set = measurement_workloads_at(stage.passes[1], 1)->measurer_set;
	steps = rot_cast(set->main_measurer, &step_measurer_class);
	ck_assert_ptr_nonnull(steps);
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 0);
	ck_assert_uint_eq(measurer_set_nr_validation_measurers(set), 0);
	ck_assert_uint_eq(perf_event_measurer_nr_events(&steps->base), 25);
	ck_assert_str_eq(perf_event_measurer_events_at(&steps->base, 0)->definition, "step::instructions");
	ck_assert_uint_eq(steps->l1_bytes, 48 << 10);
	ck_assert_uint_eq(steps->l1_ways, 12);
	ck_assert_uint_eq(steps->l2_bytes, 1 << 20);
	ck_assert_uint_eq(steps->l2_ways, 8); /* nobody told */
	ck_assert_uint_eq(steps->l3_bytes, 32 << 20);
	ck_assert_uint_eq(steps->l3_ways, 16);
	ck_assert_uint_eq(steps->l1_line_bytes, 64);
}

/* Modelled caches hold what is left there by what warms them, which is stepped as well, by all threads of a kernel. */
TEST(test_warming_is_stepped)
{
	static const bool states[][2] = {{false, false}, {true, false}, {false, true}, {true, true}};

	for (int i = 0; i < 8; i++) {
		struct kernel_base *kernel;
		struct measurement *pass;
		const struct step_measurer *steps;

		stage_open_threads("steps", 1, 1 + i / 4, "instructions");
		kernel = measurement_workloads_at(stage.measurement, 0)->kernel;
		kernel->warm_code = states[i % 4][0];
		kernel->warm_data = states[i % 4][1];
		pass = pass_measurement(stage.measurement, stage.architecture, &stage.plan.passes[0]);
		steps = rot_cast(measurement_workloads_at(pass, 0)->measurer_set->main_measurer, &step_measurer_class);
		ck_assert_int_eq(steps->follows_warming, i % 4 > 0);
		rot_graph_delete(pass);
	}
}

/* The last level of the machine is the second then. */
TEST(test_two_levels_are_modelled)
{
	autograph struct perf_event_measurer *measurer = NULL;
	const struct step_measurer *steps;

	stage_open("steps", 1, "instructions");
	stage.machine->llc_bytes = stage.machine->l2_bytes;
	measurer = pass_measurer(stage.architecture, &stage.plan.passes[0]);
	steps = rot_cast(measurer, &step_measurer_class);
	ck_assert_uint_eq(steps->l2_bytes, 1 << 20);
	ck_assert_uint_eq(steps->l3_bytes, 0);
}

/* Each of two workloads that share caches models its half, but of the last level, which is modelled once for both. CPU
 * 0 shares them with itself on any machine. */
TEST(test_shared_caches_are_divided)
{
	autograph struct measurement *pass = NULL;
	const struct step_measurer *steps;

	stage_open("steps", 2, "instructions");
	for (size_t i = 0; i < 2; i++)
		measurement_workloads_at(stage.measurement, i)->cpu = 0;
	pass = pass_measurement(stage.measurement, stage.architecture, &stage.plan.passes[0]);
	steps = rot_cast(measurement_workloads_at(pass, 1)->measurer_set->main_measurer, &step_measurer_class);
	ck_assert_uint_eq(steps->l1_bytes, 24 << 10);
	ck_assert_uint_eq(steps->l2_bytes, 512 << 10);
	ck_assert_uint_eq(steps->l3_bytes, 32 << 20);
}

/* First, so that the wall time and the others do not hold it; only where core cycles are asked for. */
TEST(test_clock_is_probed_around_the_others)
{
	const struct measurer_set *set;

	stage_open("none", 1, "time:coreCycles time:microSeconds");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	set = measurement_workloads_at(stage.passes[0], 0)->measurer_set;
	ck_assert_uint_eq(measurer_set_nr_additional_measurers(set), 3);
	ck_assert(rot_is_a(measurer_set_additional_measurers_at(set, 0), &clock_probe_measurer_class));
	ck_assert(rot_is_a(set->main_measurer, &tsc_measurer_class));
	stage_open("zen5", 1, "time:coreCycles time:microSeconds");
	set = measurement_workloads_at(stage.passes[pass_plan_clock(&stage.plan)], 0)->measurer_set;
	for (size_t i = 0; i < measurer_set_nr_additional_measurers(set); i++)
		ck_assert(!rot_is_a(measurer_set_additional_measurers_at(set, i), &clock_probe_measurer_class));
}

static struct measurer_set_output *
add_set(struct measurement_run_output *run, int32_t id, uint64_t ticks)
{
	struct measurer_set_output *set = measurer_set_output_new();
	struct tsc_measurer_output *tsc = tsc_measurer_output_new();

	set->set_id = id;
	tsc->tics = ticks;
	set->main_measurer_output = &tsc->base;
	measurement_run_output_measurer_set_outputs_add(run, set);
	return set;
}

/* A load in front of two workloads: it keeps its empty set, and what its thread went through is in no value. */
TEST(test_loads_are_not_measured)
{
	struct architecture *architecture = architecture_kept("none");
	autograph struct measurement *measurement = measurement_new(), *pass = NULL;
	autograph struct measurement_result *result = measurement_result_new();
	struct measurement_run_output *run = measurement_run_output_new();
	cleared_by(pass_samples_clear) struct pass_samples samples = {.nr_runs = 0};
	const struct pass clocks = {.nr_events = 0};

	for (int i = 0; i < 3; i++)
		measurement_workloads_add(measurement, workload_new());
	measurement_workloads_at(measurement, 0)->measurer_set = measurer_set_new();
	ck_assert(workload_is_load(measurement_workloads_at(measurement, 0)));
	ck_assert(!workload_is_load(measurement_workloads_at(measurement, 1)));
	pass = pass_measurement(measurement, architecture, &clocks);
	ck_assert_ptr_null(measurement_workloads_at(pass, 0)->measurer_set->main_measurer);
	for (int i = 0; i < 3; i++)
		measurement_workloads_at(pass, (size_t)i)->measurer_set->id = i;
	for (int i = 2; i > 0; i--)
		add_set(run, i, 10 * (uint64_t)i);
	rot_entity_delete(add_set(run, 0, 1000)->main_measurer_output);
	measurement_run_output_measurer_set_outputs_at(run, 2)->main_measurer_output = NULL;
	measurement_result_outputs_add(result, run);
	ck_assert_ok(pass_samples_read(&samples, architecture, &clocks, pass, result, &why));
	ck_assert_double_eq(samples.runs[0].tsc_ticks, 20);
	ck_assert_uint_eq(samples.nr_threads, 2);
	ck_assert_double_eq(samples.runs[0].threads[0].tsc_ticks, 10);
	ck_assert_double_eq(samples.runs[0].threads[1].tsc_ticks, 20);
}
