/* SPDX-License-Identifier: MIT */
/* Rules: which events they answer, what their actions do, in which thread. */
#include "runner.h"
#include "testing.h"

/* Where the journal has the first (or last) of these lines; the test fails if there is none. */
static const char *
first_of(const char *line)
{
	const char *at = strstr(outcome.journal, line);

	ck_assert_msg(at != NULL, "no '%s' in\n%s", line, outcome.journal);
	return at;
}

static const char *
last_of(const char *line)
{
	const char *last = first_of(line);

	for (const char *at = last; at; at = strstr(at + 1, line))
		last = at;
	return last;
}

/* The lines must follow each other among those of the thread; in the journal others' may be between them. */
static void
expect_in_thread(const char *thread, const char *lines)
{
	autofree char *own = journal_of(thread);

	ck_assert_msg(strstr(own, lines) != NULL, "in '%s' no\n%sin\n%s", thread, lines, outcome.journal);
}

/* Two workloads, of which the first takes long to prepare: its caches are cleared. */
static struct measurement_command *
two_workloads(struct workload *workloads[2])
{
	struct measurement_command *command = make_command(2);

	for (int i = 0; i < 2; i++)
		workloads[i] = add_workload(command_measurement(command), i);
	workloads[0]->kernel->warm_data = false;
	return command;
}

static struct wait_for_pressure_barrier_action *
wait_for_both(void)
{
	struct wait_for_pressure_barrier_action *wait = wait_for_pressure_barrier_action_new();

	wait->barrier = pressure_barrier_new();
	wait->barrier->threshold = 2;
	return wait;
}

TEST(pressure_barrier_holds_kernels_until_all_are_prepared)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);

	command->run_count = 1;
	add_rule(command_measurement(command), on_workload(NULL, "kernelStart"), wait_for_both());
	runner_run(command);
	outcome_run(0, 0);
	ck_assert(last_of("action WaitForPressureBarrier") < first_of("main measurer start"));
}

/* Pressure belongs to a run: the second run would not wait otherwise. One of pressure 2 opens alone. */
TEST(pressure_starts_from_zero_in_every_run)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	const char *second;

	add_rule(command_measurement(command), on_workload(NULL, "kernelStart"), wait_for_both());
	runner_run(command);
	outcome_run(0, 1);
	second = last_of("main: run begins");
	ck_assert(last_of("action WaitForPressureBarrier") < strstr(second, "main measurer start"));
}

static struct wait_for_workload_action *
wait_for(struct workload *workload)
{
	struct wait_for_workload_action *wait = wait_for_workload_action_new();

	wait->wait_for_workload = workload;
	return wait;
}

/* The barrier sees to it that there is a kernel to be stopped, whichever thread is faster. */
TEST(stop_kernel_ends_a_kernel_that_goes_on)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);

	workload_probe(workloads[0])->until_stopped = true;
	add_rule(command_measurement(command), on_workload(NULL, "start"), wait_for_both());
	add_rule(command_measurement(command), on_workload(workloads[1], "stop"), stop_of(workloads[0]));
	runner_run(command);
	outcome_run(0, 1);
	expect_in_thread("workload 1", "action StopKernel\nprobe stop\n");
}

TEST(wait_for_workload_waits_until_its_kernel_has_stopped)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);

	command->run_count = 1;
	add_rule(command_measurement(command), on_workload(workloads[1], "start"), wait_for(workloads[0]));
	runner_run(command);
	outcome_run(0, 0);
	ck_assert(first_of("workload 0: main measurer stop") < first_of("workload 1: main measurer start"));
}

TEST(an_action_is_measured_in_the_thread_that_raised_the_event)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	struct measure_action_execution *measure = measure_action_execution_new();
	struct flush_kernel_buffers_action *flush = flush_kernel_buffers_action_new();
	struct measurement_run_output *run;

	flush->kernel = workloads[1]->kernel;
	measure->action = (struct action_base *)flush;
	measure->measurer_set = make_set(7, &execution_time_measurer_class);
	workloads[1]->measurer_set = make_set(6, &tsc_measurer_class);
	add_rule(command_measurement(command), on_workload(workloads[1], "kernelStop"), measure);
	runner_run(command);
	run = outcome_run(0, 1);
	ck_assert_ptr_nonnull(run_set(run, 7));
	ck_assert_int_eq(run_set(run, 7)->tid, run_set(run, 6)->tid);
	ck_assert_int_eq(run_set(run, 7)->main_measurer_output->measurer_id, 70);
	ck_assert(rot_is_a(run_set(run, 7)->main_measurer_output, &execution_time_measurer_output_class));
	expect_in_thread("workload 1",
			 "measurer start 70\naction FlushKernelBuffers\nprobe buffers\nmeasurer stop 70\n");
}

/* Queued before the thread exists; executed there at its first event, and the stop is kept until there is a kernel. */
TEST(an_action_that_names_a_workload_is_executed_in_its_thread)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	struct stop_kernel_action *stop = stop_of(workloads[0]);

	workload_probe(workloads[0])->until_stopped = true;
	stop->base.workload = workloads[0];
	add_rule(command_measurement(command), on_run("start"), stop);
	runner_run(command);
	outcome_run(0, 1);
	expect_in_thread(
		"workload 0",
		"event thread started\naction StopKernel\nkernel initialize 0\nprobe initialize\nprobe stop\n");
}

/* Thread events are raised in the thread itself: once its kernel has stopped, it need not wait for itself. */
TEST(threads_raise_their_start_and_their_end)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	struct thread_event_predicate *exiting = thread_event_predicate_new();

	rot_string_set(&exiting->event, "exiting");
	add_rule(command_measurement(command), exiting, wait_for(workloads[1]));
	runner_run(command);
	outcome_run(0, 1);
	expect_in_thread("workload 1", "event thread exiting\naction WaitForWorkload\n");
}

TEST(a_workload_that_waits_for_itself_is_an_error)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	struct thread_event_predicate *started = thread_event_predicate_new();

	add_rule(command_measurement(command), started, wait_for(workloads[1]));
	runner_run(command);
	outcome_expect_failure("error", "workload 1 would wait for itself", NULL);
}

static void
add_set_rule(struct measurement *measurement, const char *event, const struct rot_class *class,
	     struct measurer_set *set)
{
	add_rule(measurement, on_run(event), on_set(class, set));
}

TEST(rules_lead_a_measurer_set_through_its_life)
{
	struct measurement_command *command = make_command(2);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = make_set(8, &execution_time_measurer_class);

	add_workload(measurement, 0);
	add_set_rule(measurement, "start", &initialize_measurer_set_action_class, set);
	add_set_rule(measurement, "start", &start_measurer_set_action_class, set);
	add_set_rule(measurement, "stop", &stop_measurer_set_action_class, set);
	add_set_rule(measurement, "stop", &read_measurer_set_action_class, set);
	add_set_rule(measurement, "stop", &dispose_measurer_set_action_class, set);
	runner_run(command);
	ck_assert_ptr_nonnull(run_set(outcome_run(0, 0), 8));
	ck_assert_ptr_nonnull(run_set(outcome_run(0, 1), 8));
	first_of("main: set dispose 8\n");
}

TEST(a_set_that_is_not_initialized_cannot_be_started)
{
	struct measurement_command *command = make_command(1);

	add_set_rule(command_measurement(command), "start", &start_measurer_set_action_class, make_set(8, NULL));
	runner_run(command);
	outcome_expect_failure("error", "StartMeasurerSetAction: measurer set 8 is not initialized", NULL);
}

/* There is no time between a start and a stop of which one never was. */
TEST_OF(a_set_that_was_never_started_has_no_output, 2)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = make_set(8, &execution_time_measurer_class);

	add_set_rule(measurement, "start", &initialize_measurer_set_action_class, set);
	if (_i == 1)
		add_set_rule(measurement, "stop", &stop_measurer_set_action_class, set);
	add_set_rule(measurement, "stop", &read_measurer_set_action_class, set);
	runner_run(command);
	ck_assert_ptr_null(run_set(outcome_run(0, 0), 8));
}

TEST(a_set_that_was_not_stopped_cannot_be_read)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = make_set(8, &execution_time_measurer_class);

	add_set_rule(measurement, "start", &initialize_measurer_set_action_class, set);
	add_set_rule(measurement, "start", &start_measurer_set_action_class, set);
	add_set_rule(measurement, "stop", &read_measurer_set_action_class, set);
	runner_run(command);
	outcome_expect_failure("error", "ReadMeasurerSetAction: measurer set 8 was started and not stopped", NULL);
}

static struct create_measurer_on_thread_action *
create_on_threads(struct measurer_set *set)
{
	struct create_measurer_on_thread_action *action = create_measurer_on_thread_action_new();

	action->measurer_set = set;
	return action;
}

/* Some measurers can only measure the thread that starts and stops them; which, is told before anything runs. */
static const struct {
	const struct rot_class *class;
	const char *text;
} not_foreign[] = {
	{&resource_usage_measurer_class, "ResourceUsageMeasurer: what a thread used cannot be read from outside"},
	{&file_measurer_class, "FileMeasurer: a file is none of a thread's"},
	{&list_events_measurer_class, "ListEventsMeasurer: events are those of the machine, not of a thread"},
	{&clock_probe_measurer_class, "ClockProbeMeasurer: it times instructions of the thread that starts it"},
	{&ping_pong_measurer_class, "PingPongMeasurer: it is of two CPUs, not of a thread"},
	{&step_measurer_class, "StepMeasurer: the thread that starts it is the one that is translated"},
	{NULL, "it needs"}, /* no measurer: only the parent is missing */
};

TEST_OF(measurers_that_cannot_be_on_foreign_threads_are_refused, 2 * NR_ELEMENTS(not_foreign))
{
	struct measurement_command *command = make_command(1);
	struct measurer_set *set = make_set(3, _i % 2 ? NULL : not_foreign[_i / 2].class);

	if (_i % 2 && not_foreign[_i / 2].class)
		measurer_set_additional_measurers_add(set, rot_entity_new(not_foreign[_i / 2].class));
	add_rule(command_measurement(command), on_run("start"), create_on_threads(set));
	runner_run(command);
	if (not_foreign[_i / 2].class)
		outcome_expect_failure("refused", not_foreign[_i / 2].text, NULL);
	else
		outcome_expect_failure("refused", "CreateMeasurerOnThreadAction", not_foreign[_i / 2].text);
	ck_assert_lacks(outcome.journal, "run begins");
}

TEST(measurers_on_foreign_threads_need_a_set)
{
	struct measurement_command *command = make_command(1);

	add_rule(command_measurement(command), on_run("start"), create_on_threads(NULL));
	runner_run(command);
	outcome_expect_failure("error", "CreateMeasurerOnThreadAction: no measurer set is named", NULL);
}

/* In a rule's own predicate, and in those of an action. */
TEST_OF(a_predicate_that_names_a_workload_of_another_measurement_is_refused, 5)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct create_measurer_on_thread_action *create = create_on_threads(make_set(3, NULL));
	struct stop_kernel_action *stop = stop_kernel_action_new();
	struct workload_event_predicate *predicate = on_workload(workload_new(), "kernelStop");
	struct event_predicate_base **of_action[] = {NULL, &create->start_predicate, &create->stop_predicate,
						     &create->read_predicate, &create->dispose_predicate};

	predicate->workload->id = 77;
	stop->kernel = add_workload(measurement, 0)->kernel;
	add_rule(measurement, _i == 0 ? (void *)predicate : (void *)on_run("start"), stop);
	add_rule(measurement, on_run("start"), create);
	if (_i > 0)
		*of_action[_i] = &predicate->base;
	runner_run(command);
	outcome_expect_failure("error", "a WorkloadEventPredicate names workload 77, which is not in the measurement",
			       NULL);
	ck_assert_lacks(outcome.journal, "run begins");
}

TEST(a_kernel_that_cannot_be_stopped_is_told_before_anything_runs)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = workload_new();
	struct stop_kernel_action *stop = stop_kernel_action_new();

	workload->kernel = rot_entity_new(&plain_data_class);
	stop->kernel = workload->kernel;
	measurement_workloads_add(command_measurement(command), workload);
	add_rule(command_measurement(command), on_run("start"), stop);
	runner_run(command);
	outcome_expect_failure("error", "kernel Plain cannot be stopped", NULL);
	ck_assert_lacks(outcome.journal, "run begins");
}

/* Workload 0 fails; 1 waits at a barrier that nobody opens, 2 runs until it is stopped: neither may hang. */
TEST(a_failure_releases_those_who_wait_and_those_who_go_on)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct workload *workloads[3];

	for (int i = 0; i < 3; i++)
		workloads[i] = add_workload(measurement, i);
	rot_string_set(&workload_probe(workloads[0])->failure, "no such thing");
	workload_probe(workloads[2])->until_stopped = true;
	add_rule(measurement, on_workload(workloads[1], "start"), wait_for_both());
	runner_run(command);
	outcome_expect_failure("error", "cannot initialize kernel Probe of workload 0: no such thing", NULL);
}

/* ---- rules that are added at run time ---- */

static struct add_rule_action *
add_later(void *predicate, void *action)
{
	struct add_rule_action *add = add_rule_action_new();

	add->rule = rule_new();
	add->rule->predicate = predicate;
	add->rule->action = action;
	return add;
}

static int
count_lines(const char *line)
{
	int nr = 0;

	for (const char *at = outcome.journal; (at = strstr(at, line)); at++)
		nr++;
	return nr;
}

/* Neither for the event in progress, nor twice, nor in the next run before it is added again. */
TEST(an_added_rule_answers_the_events_that_follow)
{
	struct workload *workloads[2];
	struct measurement_command *command = two_workloads(workloads);
	struct measurement *measurement = command_measurement(command);
	struct stop_kernel_action *stop = stop_kernel_action_new();
	struct add_rule_action *on_stop = add_later(on_run("stop"), stop);

	stop->kernel = workloads[0]->kernel;
	add_rule(measurement, on_run("start"), add_later(on_run("start"), stop));
	add_rule(measurement, on_run("start"), on_stop);
	add_rule(measurement, on_workload(NULL, "kernelStop"), on_stop);
	runner_run(command);
	outcome_run(0, 1);
	ck_assert_int_eq(count_lines("action AddRule"), 8);
	ck_assert_int_eq(count_lines("action StopKernel"), 2);
	expect_in_thread("main", "event run stop\naction StopKernel\n");
}

TEST_OF(added_rules_are_checked_before_anything_runs, 8)
{
	static const char *const texts[] = {"AddRuleAction: no rule is named",
					    "a rule has no action",
					    "a rule has no predicate",
					    "a WorkloadEventPredicate names workload 77",
					    "StopKernelAction: no kernel is named",
					    "StopKernelAction: the kernel is of no workload of the measurement",
					    "MeasureActionExecution: no measurer set is named",
					    "actions are nested more than 16 deep"};
	struct measurement_command *command = make_command(1);
	struct workload_event_predicate *foreign = on_workload(workload_new(), "start");
	struct add_rule_action *itself = add_later(on_run("start"), NULL);
	struct stop_kernel_action *stop = stop_kernel_action_new();
	struct measure_action_execution *measure = measure_action_execution_new();
	struct add_rule_action *const wrong[] = {add_rule_action_new(),
						 add_later(on_run("start"), NULL),
						 add_later(NULL, stop_kernel_action_new()),
						 add_later(foreign, stop_kernel_action_new()),
						 add_later(on_run("start"), stop_kernel_action_new()),
						 add_later(on_run("start"), stop),
						 add_later(on_run("start"), measure),
						 itself};

	foreign->workload->id = 77;
	stop->kernel = rot_entity_new(&plain_data_class);
	measure->action = &wait_for_both()->base;
	itself->rule->action = &itself->base;
	for (int i = 0; i < (int)NR_ELEMENTS(wrong); i++) {
		if (i != _i)
			rot_graph_delete(wrong[i]);
	}
	add_rule(command_measurement(command), on_run("start"), wrong[_i]);
	runner_run(command);
	outcome_expect_failure("error", texts[_i], NULL);
	ck_assert_lacks(outcome.journal, "run begins");
}

/* ---- predicates that mean nothing for kernels ---- */

TEST_OF(predicates_that_cannot_match_are_refused, 2)
{
	struct measurement_command *command = make_command(1);
	struct thread_event_predicate *thread = thread_event_predicate_new();
	struct program_event_predicate *program = program_event_predicate_new();
	void *const predicates[] = {program, thread};
	static const char *const texts[] = {
		"ProgramEventPredicate: it is of programs, and this is a measurement of kernels",
		"threads that exit with the name 'worker*'"};
	struct stop_kernel_action *stop = stop_kernel_action_new();

	rot_string_set(&thread->event, "exiting");
	rot_string_set(&thread->name, "worker*");
	stop->kernel = add_workload(command_measurement(command), 0)->kernel;
	add_rule(command_measurement(command), predicates[_i], stop);
	for (int i = 0; i < (int)NR_ELEMENTS(predicates); i++) {
		if (i != _i)
			rot_graph_delete(predicates[i]);
	}
	runner_run(command);
	outcome_expect_failure("error", texts[_i], _i == 1 ? "index" : NULL);
}
