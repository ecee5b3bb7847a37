/* SPDX-License-Identifier: MIT */
/* The order of a run: what happens in the main thread and in that of a workload, exactly. */
#include "runner.h"
#include "testing.h"

/* Workload 0: validation 1, additional 2 and 3, main 4; overall set 9 with main 90. */
static struct measurement_command *
describe(bool warm_code, bool warm_data)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_workload(measurement, 0);
	struct measurer_base *measurers[3];

	workload->kernel->warm_code = warm_code;
	workload->kernel->warm_data = warm_data;
	workload->measurer_set = make_set(5, &tsc_measurer_class);
	workload->measurer_set->main_measurer->id = 4;
	for (int i = 0; i < 3; i++) {
		measurers[i] = rot_entity_new(&execution_time_measurer_class);
		measurers[i]->id = i + 1;
	}
	measurer_set_validation_measurers_add(workload->measurer_set, measurers[0]);
	measurer_set_additional_measurers_add(workload->measurer_set, measurers[1]);
	measurer_set_additional_measurers_add(workload->measurer_set, measurers[2]);
	measurement->overall_measurer_set = make_set(9, &execution_time_measurer_class);
	measurement_configurators_add(measurement, (struct configurator_base *)sleep_configurator_new());
	return command;
}

static const char main_thread[] = "configurator beforeMeasurement\n"
				  "run begins\n"
				  "configurator beforeRun\n"
				  "set initialize 9\n"
				  "event run start\n"
				  "measurer start 90\n"
				  "measurer stop 90\n"
				  "event run stop\n"
				  "set output 9\n"
				  "set dispose 9\n"
				  "configurator afterRun\n"
				  "run ends\n"
				  "configurator afterMeasurement\n";

static const struct {
	bool warm_code, warm_data;
	const char *preparation;
} states[] = {
	{false, false,
	 "measurers warmed\ncaches: clear\nprobe buffers\ncaches: flush buffers\ncaches: flush code\nmeasurers "
	 "warmed\n"},
	{false, true,
	 "measurers warmed\ncaches: clear\nprobe buffers\ncaches: read buffers\nprobe warm_data\ncaches: flush code\n"
	 "measurers warmed\n"},
	{true, false,
	 "measurers warmed\ncaches: clear\ncaches: warm code\nprobe warm_code\nprobe buffers\ncaches: flush buffers\n"
	 "measurers warmed\n"},
	{true, true,
	 "probe buffers\ncaches: read buffers\nprobe warm_data\ncaches: warm code\nprobe warm_code\nmeasurers "
	 "warmed\n"},
};

static const char workload_before[] = "event thread started\n"
				      "kernel initialize 0\n"
				      "probe initialize\n"
				      "set initialize 5\n"
				      "event workload start\n"
				      "measurer start 1\n";

static const char workload_after[] = "event workload kernelStart\n"
				     "measurer start 2\n"
				     "measurer start 3\n"
				     "main measurer start 4\n"
				     "probe run\n"
				     "main measurer stop 4\n"
				     "measurer stop 3\n"
				     "measurer stop 2\n"
				     "event workload kernelStop\n"
				     "measurer stop 1\n"
				     "event workload stop\n"
				     "set output 5\n"
				     "kernel dispose 0\n"
				     "probe dispose\n"
				     "set dispose 5\n"
				     "event thread exiting\n";

/* The hooks of the kernel and the measurers tell what is done to the caches, and when. */
TEST_OF(order_is_that_of_the_thesis, 4)
{
	runner_run(describe(states[_i].warm_code, states[_i].warm_data));
	autofree char *expected = rot_format("%s%s%s", workload_before, states[_i].preparation, workload_after);
	struct measurement_run_output *run = outcome_run(0, 0);
	char *main = journal_of("main"), *workload = journal_of("workload 0");

	ck_assert_str_eq(main, main_thread);
	ck_assert_str_eq(workload, expected);
	ck_assert_uint_eq(measurement_run_output_nr_measurer_set_outputs(run), 2);
	ck_assert_int_eq(measurement_run_output_measurer_set_outputs_at(run, 0)->set_id, 5);
	ck_assert_int_eq(measurement_run_output_measurer_set_outputs_at(run, 1)->set_id, 9);
	ck_assert_int_eq(run->unmeasured_threads, 0);
	ck_assert_int_gt(run->start_time, 0);
	free(main);
	free(workload);
}

/* A kernel that waits for others at the event has probed the clock before; it is probed again after the other
 * measurers. */
TEST(the_clock_is_probed_ahead)
{
	struct measurement_command *command = describe(true, true);
	struct workload *workload = measurement_workloads_at(command_measurement(command), 0);
	struct measurer_base *probe = rot_entity_new(&clock_probe_measurer_class);
	autofree char *journal = NULL;

	probe->id = 6;
	measurer_set_additional_measurers_add(workload->measurer_set, probe);
	runner_run(command);
	outcome_run(0, 0);
	journal = journal_of("workload 0");
	ck_assert_has(journal, "measurer start 6\nevent workload kernelStart\nmeasurer start 2\nmeasurer start 3\n"
			       "main measurer start 4\nprobe run\nmain measurer stop 4\nmeasurer stop 3\n"
			       "measurer stop 2\nmeasurer stop 6\nevent workload kernelStop\n");
}

/* Without a hook of its own, warm code is a run: the kernel without hooks shows it. */
TEST(kernel_without_hooks_is_run_to_warm_its_code)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = workload_new();
	struct plain_data *plain = rot_entity_new(&plain_data_class);
	autofree char *journal = NULL;

	plain->base.warm_code = true;
	workload->kernel = &plain->base;
	measurement_workloads_add(command_measurement(command), workload);
	runner_run(command);
	outcome_run(0, 0);
	journal = journal_of("workload 0");
	ck_assert_has(journal, "caches: warm code\nplain run\ncaches: flush");
	ck_assert_has(journal, "main measurer start\nplain run\nmain measurer stop");
}

/* Two passes of three runs: every run of both has its place, and measurer and set keep their ids. */
TEST(passes_are_interleaved)
{
	struct measurement_command *command = make_command(3);

	measurement_command_measurements_add(command, measurement_new());
	for (int i = 0; i < 2; i++) {
		struct workload *workload = add_workload(measurement_command_measurements_at(command, (size_t)i), 0);

		workload->measurer_set = make_set(3 + i, &tsc_measurer_class);
	}
	runner_run(command);
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = outcome_run((size_t)i % 2, (size_t)i / 2);
		struct measurer_set_output *set = run_set(run, 3 + i % 2);

		ck_assert_int_eq(run->order, i);
		ck_assert_ptr_nonnull(set);
		ck_assert_int_gt(set->tid, 0);
		ck_assert_int_eq(set->main_measurer_output->measurer_id, 30 + i % 2 * 10);
	}
}
