/* SPDX-License-Identifier: MIT */
/* The child under its parent: threads that the kernel makes are seen, commands of configurators are not disturbed. */
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define RUNS 3
#define THREADS 4

/*
 * Threads of the kernel come and go within each run; those of the workloads are not among them. One that is still on
 * its way out when the next run begins is counted there, too.
 */
TEST(threads_of_a_kernel_are_counted)
{
	struct measurement_command *command = make_command(RUNS);

	workload_probe(add_workload(command_measurement(command), 0))->threads = THREADS;
	add_workload(command_measurement(command), 1);
	runner_trace();
	runner_run(command);
	ck_assert_int_eq(outcome_run(0, 0)->unmeasured_threads, THREADS);
	for (size_t i = 1; i < RUNS; i++) {
		ck_assert_int_ge(outcome_run(0, i)->unmeasured_threads, THREADS);
		ck_assert_int_le(outcome_run(0, i)->unmeasured_threads, 2 * THREADS);
	}
}

/* The tracer goes elsewhere, if there is somewhere else. */
TEST(a_workload_has_its_cpu_for_itself)
{
	static const char elsewhere[] =
		"tracer=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)\n"
		"cpus() { sed -n 's/^Cpus_allowed_list://p' /proc/$1/status; }\n"
		"for i in $(seq 100); do test \"$(cpus $tracer)\" != \"$(cpus $PPID)\" && exit; sleep 0.1; done; false";
	struct measurement_command *command = make_command(1);
	struct run_command_configurator *configurator = run_command_configurator_new();
	cpu_set_t own;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(own), &own), 0);
	while (!CPU_ISSET(cpu, &own))
		cpu++;
	if (CPU_COUNT(&own) > 1)
		run_command_configurator_before_run_add(configurator, shell(elsewhere));
	measurement_configurators_add(command_measurement(command), &configurator->base);
	add_workload(command_measurement(command), 0)->cpu = cpu;
	runner_trace();
	runner_run(command);
	outcome_run(0, 0);
}

/* The command has a thread-like life of its own: it is neither traced nor counted, and its failure is told. */
TEST_OF(commands_are_left_alone, 2)
{
	struct measurement_command *command = make_command(1);
	struct run_command_configurator *configurator = run_command_configurator_new();

	run_command_configurator_before_run_add(configurator,
						shell("test $(sed -n 's/^TracerPid:[^0-9]*//p' /proc/$$/status) = 0"));
	if (_i == 1)
		run_command_configurator_after_run_add(configurator, shell("echo no >&2; false"));
	measurement_configurators_add(command_measurement(command), &configurator->base);
	add_workload(command_measurement(command), 0);
	runner_trace();
	runner_run(command);
	if (_i == 1)
		outcome_expect_failure("error", "the command 'sh' failed with exit status 1: no", NULL);
	else
		ck_assert_int_eq(outcome_run(0, 0)->unmeasured_threads, 0);
}

UNIT_TESTS(.needs = {permits_tracing});
