/* SPDX-License-Identifier: MIT */
/* Threads that kernels and libraries make, measured by a rule: counts are exact, for each thread and in sum. */
#include <sys/ptrace.h>

#include "CrewData.h"
#include "common/perf_event.h"
#include "config.h"
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define SET_ID 5
#define WORKLOAD_SET_ID 6
#define RUNS 25

/* Starts of the core: with RUNS each, 100 runs. Without ROT_SLOW_TESTS there is one. */
#define STARTS 4

static const char faults_event[] = "perf::PERF_COUNT_SW_PAGE_FAULTS:u";

static struct measurer_set *
faults_set(int id)
{
	struct measurer_set *set = make_set(id, &perf_event_measurer_class);
	struct perf_event_definition *definition = perf_event_definition_new();

	rot_string_set(&definition->name, "faults");
	rot_string_set(&definition->definition, faults_event);
	perf_event_measurer_events_add((struct perf_event_measurer *)set->main_measurer, definition);
	return set;
}

static struct create_measurer_on_thread_action *
add_action(struct measurement *measurement, void *predicate)
{
	struct create_measurer_on_thread_action *action = create_measurer_on_thread_action_new();

	action->measurer_set = faults_set(SET_ID);
	add_rule(measurement, predicate, action);
	return action;
}

static struct crew_data *
add_crew(struct measurement *measurement, const char *mode, int nr_threads, int pages, int rounds)
{
	struct workload *workload = workload_new();
	struct crew_data *crew = rot_entity_new(&crew_data_class);

	rot_string_set(&crew->mode, mode);
	crew->base.num_threads = nr_threads;
	crew->base.warm_code = crew->base.warm_data = true;
	crew->pages = pages;
	crew->rounds = rounds;
	workload->kernel = &crew->base;
	workload->measurer_set = faults_set(WORKLOAD_SET_ID);
	measurement_workloads_add(measurement, workload);
	return crew;
}

/* ---- what the runs gave ---- */

static uint64_t
faults_of(const struct measurer_set_output *set)
{
	struct perf_event_measurer_output *output =
		rot_cast(set->main_measurer_output, &perf_event_measurer_output_class);

	ck_assert_ptr_nonnull(output);
	return perf_event_measurer_output_event_counts_at(output, 0)->raw_count;
}

/*
 * The counts of all copies, nr of them, in ascending order. A thread of the warm-up that was still on its way out when
 * the kernel started counted nothing.
 */
static uint64_t *
all_faults(const struct measurement_run_output *run, size_t *nr)
{
	size_t nr_sets = measurement_run_output_nr_measurer_set_outputs(run);
	uint64_t *faults = rot_calloc(nr_sets + 1, sizeof(*faults));

	*nr = 0;
	for (size_t i = 0; i < nr_sets; i++) {
		const struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, i);
		size_t k = *nr;

		if (set->set_id != SET_ID || faults_of(set) == 0)
			continue;
		ck_assert_int_ne(set->tid, run_set(run, WORKLOAD_SET_ID)->tid);
		for (; k > 0 && faults[k - 1] > faults_of(set); k--)
			faults[k] = faults[k - 1];
		faults[k] = faults_of(set);
		(*nr)++;
	}
	return faults;
}

static const struct crew_case {
	const char *mode;
	const char *library;
	int nr_threads, pages, rounds;
	bool is_first_the_workload;
	bool lives_on; /* threads are there before the run begins, or when it ends */
} crews[] = {
	{"joined", NULL, 5, 7, 1, false, false},         {"pool", NULL, 4, 3, 50, false, true},
	{"short", NULL, 40, 2, 1, false, false},         {"detached", NULL, 6, 5, 2, false, false},
	{"openMp", "libgomp.so.1", 4, 9, 1, true, true},
};

static void
expect_exact(const struct measurement_run_output *run, const struct crew_case *expected)
{
	size_t nr, first = expected->is_first_the_workload ? 1 : 0, nr_expected = (size_t)expected->nr_threads - first;
	uint64_t *faults = all_faults(run, &nr), sum = 0, expected_sum = 0, own = first * (size_t)expected->pages;
	bool is_uniform = strcmp(expected->mode, "short") == 0;

	ck_assert_uint_eq(nr, nr_expected);
	for (size_t i = 0; i < nr; i++) {
		uint64_t pages =
			(uint64_t)expected->pages * (uint64_t)expected->rounds * (is_uniform ? 1 : i + first + 1);

#ifndef ROT_SANITIZED
		ck_assert_uint_eq(faults[i], pages);
#else
		ck_assert_uint_ge(faults[i], pages);
#endif
		sum += faults[i];
		expected_sum += pages;
	}
#ifndef ROT_SANITIZED
	ck_assert_uint_eq(sum, expected_sum);
#endif
	/* creating threads touches fresh memory as well */
	ck_assert_uint_ge(faults_of(run_set(run, WORKLOAD_SET_ID)), own);
	free(faults);
}

/* ---- counts ---- */

/* Started and stopped around the kernel, so that warming up is not counted. */
TEST_OF(counts_are_exact_for_each_thread_and_in_sum, STARTS *NR_ELEMENTS(crews))
{
	const bool is_left_out = _i % STARTS > 0 && !all_are_tested();
	const struct crew_case *expected = &crews[_i / STARTS];
	struct measurement_command *command = make_command(RUNS);
	struct create_measurer_on_thread_action *action;

	if (is_left_out || !runner_has_library(expected->library)) {
		rot_graph_delete(command);
		return;
	}
	add_crew(command_measurement(command), expected->mode, expected->nr_threads, expected->pages, expected->rounds);
	action = add_action(command_measurement(command), on_run("start"));
	action->start_predicate = &on_workload(NULL, "kernelStart")->base;
	action->stop_predicate = &on_workload(NULL, "kernelStop")->base;
	action->read_predicate = &on_workload(NULL, "kernelStop")->base;
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++) {
		expect_exact(outcome_run(0, i), expected);
		if (!expected->lives_on)
			ck_assert_int_eq(outcome_run(0, i)->unmeasured_threads, 0);
	}
}

/* Without predicates a copy counts all of its thread's life: here the kernel runs twice, once to warm up. */
TEST(a_copy_without_predicates_counts_the_whole_life)
{
	struct measurement_command *command = make_command(3);

	add_crew(command_measurement(command), "joined", 3, 4, 1);
	add_action(command_measurement(command), on_run("start"));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 3; i++) {
		size_t nr;
		autofree uint64_t *faults = all_faults(outcome_run(0, i), &nr);

		ck_assert_uint_eq(nr, 6);
		for (size_t k = 0; k < nr; k++)
			ck_assert_uint_ge(faults[k], 4 * (k / 2 + 1));
	}
}

TEST(a_thousand_short_threads_are_all_measured)
{
	struct measurement_command *command = make_command(1);
	struct create_measurer_on_thread_action *action;
	const struct crew_case expected = {"short", NULL, 1000, 1, 1, false, false};

	add_crew(command_measurement(command), "short", expected.nr_threads, expected.pages, expected.rounds);
	action = add_action(command_measurement(command), on_run("start"));
	action->start_predicate = &on_workload(NULL, "kernelStart")->base;
	runner_trace();
	runner_run(command);
	expect_exact(outcome_run(0, 0), &expected);
	ck_assert_int_eq(outcome_run(0, 0)->unmeasured_threads, 0);
}

/* The pool lives when the rule is executed. */
TEST(threads_that_are_there_already_get_a_copy)
{
	const struct crew_case *expected = &crews[1];
	struct measurement_command *command = make_command(RUNS);

	add_crew(command_measurement(command), expected->mode, expected->nr_threads, expected->pages, expected->rounds);
	add_action(command_measurement(command), on_workload(NULL, "kernelStart"))->stop_predicate =
		&on_workload(NULL, "kernelStop")->base;
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++)
		expect_exact(outcome_run(0, i), expected);
}

/* The start is an event of each thread, the stop one of the workload: warming up is counted, the kernel is not. */
TEST(a_workload_stops_what_threads_started)
{
	const struct crew_case *expected = &crews[1];
	const uint64_t once = (uint64_t)expected->pages * (uint64_t)expected->rounds * (1 + 2 + 3 + 4);
	struct measurement_command *command = make_command(1);
	struct create_measurer_on_thread_action *action;
	uint64_t *faults, sum = 0;
	size_t nr;

	add_crew(command_measurement(command), expected->mode, expected->nr_threads, expected->pages, expected->rounds);
	action = add_action(command_measurement(command), on_run("start"));
	action->start_predicate = &thread_event_predicate_new()->base;
	action->stop_predicate = &on_workload(NULL, "kernelStart")->base;
	runner_trace();
	runner_run(command);
	faults = all_faults(outcome_run(0, 0), &nr);
	ck_assert_uint_eq(nr, (size_t)expected->nr_threads);
	for (size_t i = 0; i < nr; i++)
		sum += faults[i];
	ck_assert_uint_ge(sum, once);
	ck_assert_uint_lt(sum, 2 * once);
	free(faults);
}

/* Two passes: one with the rule, one without, interleaved. */
TEST(threads_without_a_rule_are_counted_as_unmeasured)
{
	struct measurement_command *command = make_command(5);

	add_crew(command_measurement(command), "joined", 3, 4, 1);
	add_action(command_measurement(command), on_run("start"));
	measurement_command_measurements_add(command, measurement_new());
	add_crew(measurement_command_measurements_at(command, 1), "joined", 3, 4, 1);
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(outcome_run(0, i)->unmeasured_threads, 0);
		ck_assert_int_ge(outcome_run(1, i)->unmeasured_threads, 6);
		ck_assert_ptr_null(run_set(outcome_run(1, i), SET_ID));
	}
}

/* Not before all threads of earlier runs have ended, of which the core has two. */
static const char end_threads[] =
	": >\"$CREW_END\"; while [ $(ls /proc/$PPID/task | wc -l) -gt 2 ]; do sleep 0.01; done; rm \"$CREW_END\"";

/* Threads that end while a run is prepared did nothing in it. */
TEST(threads_of_an_earlier_run_are_not_counted)
{
	struct measurement_command *command = make_command(3);
	struct run_command_configurator *configurator = run_command_configurator_new();
	char *folder = temporary_folder_new(), *path = rot_format("%s/end", folder);

	setenv("CREW_END", path, 1);
	run_command_configurator_before_run_add(configurator, shell(end_threads));
	measurement_configurators_add(command_measurement(command), &configurator->base);
	add_crew(command_measurement(command), "lingering", 3, 4, 1);
	add_action(command_measurement(command), on_run("start"));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(outcome_run(0, i)->unmeasured_threads, 0);
	free(path);
}

static void
set_event(struct create_measurer_on_thread_action *action, const char *event)
{
	struct perf_event_measurer *measurer =
		rot_cast(action->measurer_set->main_measurer, &perf_event_measurer_class);

	rot_string_set(&perf_event_measurer_events_at(measurer, 0)->definition, event);
}

/* Thread events of the kernel's threads are raised on their behalf; StopKernel waits for nothing, so it is executed. */
TEST(rules_answer_events_of_foreign_threads)
{
	struct measurement_command *command = make_command(3);
	struct measurement *measurement = command_measurement(command);
	struct workload *endless = add_workload(measurement, 1);
	struct thread_event_predicate *exiting = thread_event_predicate_new();
	struct stop_kernel_action *stop = stop_kernel_action_new();

	/* one thread of the kernel, which goes on until that has ended */
	workload_probe(endless)->threads = 1;
	workload_probe(endless)->until_stopped = true;
	stop->kernel = endless->kernel;
	rot_string_set(&exiting->event, "exiting");
	add_action(measurement, on_run("start"));
	add_rule(measurement, exiting, stop);
	runner_trace();
	runner_run(command);
	outcome_run(0, 2);
}

/*
 * Threads start one after the other. Threads that are picked by index, or by the name of their creator, are
 * counted, and no others. The rule comes at run time: when the kernel warms up it is there.
 */
TEST_OF(threads_are_picked_by_index_and_name, 2)
{
	struct measurement_command *command = make_command(3);
	struct measurement *measurement = command_measurement(command);
	struct add_rule_action *add = add_rule_action_new();
	struct create_measurer_on_thread_action *action;
	struct thread_event_predicate *started = thread_event_predicate_new();

	add_crew(measurement, "short", 5, 3, 1);
	action = add_action(measurement, on_workload(NULL, "start"));
	add->rule = measurement_rules_at(measurement, 0);
	measurement->rules.nr = 0;
	add_rule(measurement, on_run("start"), add);
	action->start_predicate = &started->base;
	started->index = _i ? -1 : 7;
	rot_string_set(&started->name, _i ? "rot-work*" : "");
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 3; i++) {
		const struct crew_case expected = {"short", NULL, 1, 3, 1, false, false};
		size_t nr;

		free(all_faults(outcome_run(0, i), &nr));
		ck_assert_uint_eq(nr, _i ? 10 : 1);
		if (_i == 0)
			expect_exact(outcome_run(0, i), &expected);
	}
}

/* OpenBLAS makes its threads when it is loaded, and keeps them: they have work in every run. */
TEST(threads_of_open_blas_are_measured)
{
	struct measurement_command *command = make_command(5);
	struct create_measurer_on_thread_action *action;

	if (!runner_has_library("libopenblas.so.0") || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		rot_graph_delete(command);
		return;
	}
	add_crew(command_measurement(command), "blas", 2, 1, 1);
	action = add_action(command_measurement(command), on_run("start"));
	set_event(action, "perf::PERF_COUNT_SW_TASK_CLOCK");
	action->start_predicate = &on_workload(NULL, "kernelStart")->base;
	action->stop_predicate = &on_workload(NULL, "kernelStop")->base;
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < 5; i++) {
		size_t nr;

		free(all_faults(outcome_run(0, i), &nr));
		ck_assert_uint_ge(nr, 1);
		ck_assert_int_eq(outcome_run(0, i)->unmeasured_threads, 0);
	}
}

/* ---- what cannot be ---- */

/* Whatever happens while a thread is made: a clear failure, and never a hang. */
TEST(an_event_that_cannot_be_counted_is_told)
{
	struct measurement_command *command = make_command(1);
	struct create_measurer_on_thread_action *action;

	add_crew(command_measurement(command), "joined", 3, 4, 1);
	action = add_action(command_measurement(command), on_run("start"));
	set_event(action, "nonsense::FOO");
	runner_trace();
	runner_run(command);
	outcome_expect_failure("refused", "CreateMeasurerOnThreadAction: cannot count 'nonsense::FOO'", NULL);
}

/* In a run that has failed no rule stops it, and it is the only workload: nobody but the run itself can end it. */
TEST_OF(an_endless_kernel_is_ended_with_a_run_that_fails, 2)
{
	struct measurement_command *command = make_command(1);
	struct workload *endless = add_workload(command_measurement(command), 1);

	workload_probe(endless)->threads = 1;
	workload_probe(endless)->until_stopped = true;
	workload_probe(endless)->sleeps = _i;
	set_event(add_action(command_measurement(command), on_run("start")), "nonsense::FOO");
	runner_trace();
	runner_run(command);
	outcome_expect_failure("refused", "CreateMeasurerOnThreadAction: cannot count 'nonsense::FOO'", NULL);
}

/* Some of its threads are being made, some are measured, some end. */
TEST_OF(a_kernel_that_ends_the_process_is_told, 20)
{
	struct measurement_command *command = make_command(1);

	add_crew(command_measurement(command), _i % 2 ? "dies" : "exits", 3 + _i, 1, 1);
	add_action(command_measurement(command), on_run("start"));
	runner_trace();
	runner_run(command);
	if (_i % 2)
		outcome_expect_failure("killed", "killed by signal 9 (Killed) in run 1 of 1", NULL);
	else
		outcome_expect_failure("exited", "exited with status 3 in run 1 of 1", NULL);
}

TEST_OF(without_ptrace_it_is_refused, 2)
{
	struct measurement_command *command = make_command(1);

	add_crew(command_measurement(command), "joined", 3, 4, 1);
	add_action(command_measurement(command), on_run("start"));
	if (_i == 0) {
		runner_trace();
		runner_forbid(SYS_ptrace, EPERM);
	}
	runner_run(command);
	outcome_expect_failure("refused", "CreateMeasurerOnThreadAction", "ptrace");
}

UNIT_TESTS(.needs = {permits_tracing, permits_counting});
