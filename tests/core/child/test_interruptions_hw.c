/* SPDX-License-Identifier: MIT */
/* Actions that name a thread which raises no event: it is interrupted, and executes them itself. */
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define RUNS 20

/* Kernels of workloads that have begun wait for each other. */
static void
begin_together(struct measurement_command *command, int nr)
{
	struct wait_for_pressure_barrier_action *wait = wait_for_pressure_barrier_action_new();

	wait->barrier = pressure_barrier_new();
	wait->barrier->threshold = nr;
	add_rule(command_measurement(command), on_workload(NULL, "kernelStart"), wait);
}

/*
 * The first goes on, computing or asleep, until its own thread stops it; the second is soon done, but not before the
 * first has begun.
 */
static struct measurement_command *
endless_and_short(struct workload *workloads[2], int runs, bool sleeps)
{
	struct measurement_command *command = make_command(runs);

	for (int i = 0; i < 2; i++)
		workloads[i] = add_workload(command_measurement(command), i);
	workload_probe(workloads[0])->until_stopped = true;
	workload_probe(workloads[0])->stops_itself_only = true;
	workload_probe(workloads[0])->sleeps = sleeps;
	begin_together(command, 2);
	return command;
}

/* Executed in the first when the second has run. */
static void
add_action(struct measurement_command *command, struct workload *workloads[2], struct action_base *action)
{
	action->workload = workloads[0];
	add_rule(command_measurement(command), on_workload(workloads[1], "stop"), action);
}

static void
add_stop(struct measurement_command *command, struct workload *workloads[2])
{
	add_action(command, workloads, &stop_of(workloads[0])->base);
}

/* The first is stopped in each of the runs. */
static void
expect_stops(struct measurement_command *command, struct workload *workloads[2])
{
	add_stop(command, workloads);
	runner_trace();
	runner_run(command);
	outcome_run(0, RUNS - 1);
}

/* The kernel would go on for ever, were it stopped by another thread, or at the next event of its own. */
TEST_OF(a_workload_is_interrupted, 2)
{
	struct workload *workloads[2];
	struct measurement_command *command = endless_and_short(workloads, RUNS, _i);

	expect_stops(command, workloads);
}

static const struct rot_class *const measurers[] = {&execution_time_measurer_class, &tsc_measurer_class,
						    &resource_usage_measurer_class};

/* In the order in which they were queued: the last one ends the kernel. */
TEST_OF(a_measurer_set_is_started_and_stopped, 2 * NR_ELEMENTS(measurers))
{
	struct workload *workloads[2];
	struct measurement_command *command = endless_and_short(workloads, RUNS, _i % 2);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = make_set(8, measurers[_i / 2]);
	struct flush_kernel_buffers_action *flush = flush_kernel_buffers_action_new();

	flush->kernel = workloads[0]->kernel;
	add_rule(measurement, on_run("start"), on_set(&initialize_measurer_set_action_class, set));
	add_action(command, workloads, on_set(&start_measurer_set_action_class, set));
	add_action(command, workloads, &flush->base);
	add_action(command, workloads, on_set(&stop_measurer_set_action_class, set));
	add_stop(command, workloads);
	add_rule(measurement, on_run("stop"), on_set(&read_measurer_set_action_class, set));
	add_rule(measurement, on_run("stop"), on_set(&dispose_measurer_set_action_class, set));
	runner_trace();
	runner_run(command);
	for (int i = 0; i < RUNS; i++)
		ck_assert_ptr_nonnull(run_set(outcome_run(0, (size_t)i), 8)->main_measurer_output);
}

/* A third workload has the lock of the first's kernel for milliseconds, while the second wants it stopped. */
TEST_OF(what_is_in_use_is_tried_again, 2)
{
	struct workload *workloads[2], *third;
	struct measurement_command *command = endless_and_short(workloads, RUNS, _i);
	struct flush_kernel_buffers_action *flush = flush_kernel_buffers_action_new();
	struct wait_for_workload_action *wait = wait_for_workload_action_new();

	third = add_workload(command_measurement(command), 2);
	workload_probe(workloads[0])->pages = 4096;
	begin_together(command, 3);
	flush->kernel = workloads[0]->kernel;
	add_rule(command_measurement(command), on_workload(third, "kernelStart"), flush);
	wait->wait_for_workload = third; /* the kernel lives until it is flushed */
	add_rule(command_measurement(command), on_workload(workloads[0], "kernelStop"), wait);
	expect_stops(command, workloads);
}

/* Then the thread executes what is queued at its events, which is enough for one that raises some. */
TEST(without_ptrace_actions_wait_for_events)
{
	struct workload *workloads[2];
	struct measurement_command *command = endless_and_short(workloads, 2, false);
	struct stop_kernel_action *stop = stop_of(workloads[0]);

	stop->base.workload = workloads[0];
	workload_probe(workloads[0])->stops_itself_only = false;
	add_rule(command_measurement(command), on_run("start"), stop);
	runner_trace();
	runner_forbid(SYS_ptrace, EPERM);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* the search for leaks needs ptrace */
	runner_run(command);
	outcome_run(0, 1);
}

/* It faults as in any other function: nobody waits for a thread that was interrupted with locks in its hands. */
TEST_OF(an_action_that_faults_ends_the_core, 2)
{
	struct workload *workloads[2];
	struct measurement_command *command = endless_and_short(workloads, 1, _i);

	workload_probe(workloads[0])->stop_faults = true;
	workload_probe(workloads[1])->threads = 50; /* so that the first is in its kernel */
	add_stop(command, workloads);
	runner_trace();
	runner_run(command);
	outcome_expect_failure("killed", "killed by signal 4 (Illegal instruction)", NULL);
}

UNIT_TESTS(.needs = {permits_tracing});
