/* SPDX-License-Identifier: MIT */
/* Kernels that are measured by steps: what is counted, and what is said where they cannot be. */
#include "config.h"

#include "StepMeasurer.h"
#include "StepMeasurerOutput.h"
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define RUNS 5
#define SET 8

static const char *const events[] = {"instructions", "l1Fills", "memoryReads"};
enum { INSTRUCTIONS, FILLS, READS };

static struct measurer_set *
by_steps(int id)
{
	struct measurer_set *set = make_set(id, &step_measurer_class);
	struct step_measurer *measurer = (struct step_measurer *)set->main_measurer;

	measurer->l1_bytes = 32768;
	measurer->l1_ways = 8;
	for (int i = 0; i < NR_ELEMENTS(events); i++) {
		struct perf_event_definition *definition = perf_event_definition_new();

		rot_string_set(&definition->name, events[i]);
		free(definition->definition);
		definition->definition = rot_format("step::%s", events[i]);
		perf_event_measurer_events_add(&measurer->base, definition);
	}
	return set;
}

static void
add_set(struct measurement *measurement, struct workload *workload, struct measurer_set *set)
{
	add_rule(measurement, on_workload(workload, "start"), on_set(&initialize_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "kernelStart"), on_set(&start_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "kernelStop"), on_set(&stop_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "stop"), on_set(&read_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "stop"), on_set(&dispose_measurer_set_action_class, set));
}

static int64_t
count_of(const struct measurement_run_output *run, int set, int event)
{
	const struct perf_event_measurer_output *output =
		rot_cast(run_set(run, set)->main_measurer_output, &perf_event_measurer_output_class);

	return perf_event_measurer_output_event_counts_at(output, (size_t)event)->raw_count;
}

static struct workload *
add_visitor(struct measurement *measurement, int id, int visits)
{
	struct workload *workload = add_workload(measurement, id);

	workload_probe(workload)->visits = visits;
	workload_probe(workload)->pages = visits * (visits + 1) / 2;
	return workload;
}

static void
run_visitor(int visits, int threads, int runs)
{
	struct measurement_command *command = make_command(runs);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_visitor(measurement, 0, visits);

	workload_probe(workload)->threads = threads;
	workload_probe(workload)->thread_visits = threads > 0 ? 50 : 0;
	add_set(measurement, workload, by_steps(SET));
	runner_trace();
	runner_run(command);
}

/* The journal of the tests, which is in the region as well, does not do the same each time. */
static void
expect_near(int64_t count, int64_t wanted)
{
	ck_assert_int_ge(10 * count, 9 * wanted);
	ck_assert_int_le(10 * count, 11 * wanted);
}

/* n visits store to n (n + 1) / 2 bytes, each on a page of its own. */
TEST(counts_are_near_in_each_run)
{
	int64_t fills[2];

	for (int n = 0; n < 2; n++) {
		run_visitor(20 * n, 0, RUNS);
		const struct measurement_run_output *first = outcome_run(0, 0);

		fills[n] = count_of(first, SET, FILLS);
		for (size_t i = 1; i < RUNS; i++)
			expect_near(count_of(outcome_run(0, i), SET, INSTRUCTIONS), count_of(first, SET, INSTRUCTIONS));
	}
	ck_assert_int_ge(fills[1] - fills[0], 200);
#ifndef ROT_SANITIZED /* whose own memory has lines as well */
	ck_assert_int_le(fills[1] - fills[0], 220);
#endif
}

TEST(kernels_with_threads_end)
{
	run_visitor(3, 3, 2);

	ck_assert_int_gt(count_of(outcome_run(0, 1), SET, INSTRUCTIONS), 1000);
}

/* One after the other. */
TEST(two_workloads_are_counted)
{
	struct measurement_command *command = make_command(2);
	struct measurement *measurement = command_measurement(command);

	for (int i = 0; i < 2; i++)
		add_set(measurement, add_visitor(measurement, i, 12), by_steps(SET + i));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 2; i++) {
		const struct measurement_run_output *run = outcome_run(0, i);

		expect_near(count_of(run, SET, INSTRUCTIONS), count_of(run, SET + 1, INSTRUCTIONS));
		ck_assert_int_ge(count_of(run, SET, FILLS), 78);
	}
}

static struct breakpoint_event_predicate *
at_visit(int hit)
{
	struct breakpoint_event_predicate *predicate = breakpoint_event_predicate_new();

	rot_string_set(&predicate->place, "probe_visit");
	rot_string_set(&predicate->event, "entered");
	predicate->first_hit = predicate->last_hit = hit;
	return predicate;
}

/* All that is executed behind them is counted, and nothing of what stops the kernel at the last. */
TEST(breakpoints_are_there_as_well)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_visitor(measurement, 0, 12);
	int64_t with;

	workload_probe(workload)->until_stopped = true;
	add_set(measurement, workload, by_steps(SET));
	add_rule(measurement, at_visit(12), stop_of(workload));
	runner_trace();
	runner_run(command);
	ck_assert_int_ge(count_of(outcome_run(0, 0), SET, FILLS), 78);
	with = count_of(outcome_run(0, 0), SET, INSTRUCTIONS);
	run_visitor(12, 0, 1);
	expect_near(with, count_of(outcome_run(0, 0), SET, INSTRUCTIONS));
}

/* Visits 78 pages, whose lines all fit in the last level. */
static void
run_warmed(bool warm_code, bool warm_data)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = add_visitor(command_measurement(command), 0, 12);
	struct measurer_set *set = by_steps(SET);
	struct step_measurer *measurer = (struct step_measurer *)set->main_measurer;

	measurer->l3_bytes = 4 << 20;
	measurer->follows_warming = warm_code || warm_data;
	workload->measurer_set = set;
	workload->kernel->warm_code = warm_code;
	workload->kernel->warm_data = warm_data;
	runner_trace();
	runner_run(command);
}

TEST(caches_hold_what_was_warmed)
{
	int64_t reads[2][2], instructions[2][2];

	for (int i = 0; i < 4; i++) {
		run_warmed(i / 2, i % 2);
		const struct measurement_run_output *run = outcome_run(0, 0);

		reads[i / 2][i % 2] = count_of(run, SET, READS);
		instructions[i / 2][i % 2] = count_of(run, SET, INSTRUCTIONS);
	}
	for (int code = 0; code < 2; code++) {
		ck_assert_int_ge(reads[code][0], 78);
		ck_assert_int_le(reads[code][1], reads[code][0] - 78);
		for (int data = 0; data < 2; data++)
			expect_near(instructions[code][data], instructions[0][0]);
	}
	ck_assert_int_le(reads[1][0], reads[0][0]);
}

TEST(without_ptrace_it_is_refused)
{
	runner_forbid(SYS_ptrace, EPERM);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* the search for leaks needs ptrace */
	run_visitor(3, 0, 1);
	outcome_expect_failure("refused", "cannot count by blocks", "ptrace");
}

UNIT_TESTS(.needs = {permits_tracing});
