/* SPDX-License-Identifier: MIT */
/* Rules that answer breakpoints in kernels: what they measure is exact to the last page fault (see probe_visit). */
#include "config.h"

#include "CrewData.h"
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define RUNS 3
#define VISITS 9
#define SET 8

static struct breakpoint_event_predicate *
at(const char *place, const char *event, int64_t first, int64_t last)
{
	struct breakpoint_event_predicate *predicate = breakpoint_event_predicate_new();

	rot_string_set(&predicate->place, place);
	rot_string_set(&predicate->event, event);
	predicate->first_hit = first;
	predicate->last_hit = last;
	return predicate;
}

static struct measurer_set *
page_faults(void)
{
	struct measurer_set *set = make_set(SET, &perf_event_measurer_class);
	struct perf_event_definition *definition = perf_event_definition_new();

	rot_string_set(&definition->name, "faults");
	rot_string_set(&definition->definition, "perf::PERF_COUNT_SW_PAGE_FAULTS:u");
	perf_event_measurer_events_add((struct perf_event_measurer *)set->main_measurer, definition);
	return set;
}

static int64_t
faults_of(const struct measurement_run_output *run)
{
	const struct perf_event_measurer_output *output =
		rot_cast(run_set(run, SET)->main_measurer_output, &perf_event_measurer_output_class);

	return perf_event_measurer_output_event_counts_at(output, 0)->raw_count;
}

/* The sanitizer's own memory beside that of the program has pages, too. */
#ifdef ROT_SANITIZED
#define MORE_FAULTS 3
#else
#define MORE_FAULTS 0
#endif

static void
expect_faults(const struct measurement_run_output *run, int nr)
{
	ck_assert_int_ge(faults_of(run), nr);
	ck_assert_int_le(faults_of(run), nr + MORE_FAULTS);
}

static struct workload *
add_visitor(struct measurement *measurement)
{
	struct workload *workload = add_workload(measurement, 0);

	workload_probe(workload)->visits = VISITS;
	workload_probe(workload)->pages = VISITS * (VISITS + 1) / 2;
	return workload;
}

static void
add_set(struct measurement *measurement, struct workload *workload, struct measurer_set *set)
{
	add_rule(measurement, on_workload(workload, "start"), on_set(&initialize_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "stop"), on_set(&read_measurer_set_action_class, set));
	add_rule(measurement, on_workload(workload, "stop"), on_set(&dispose_measurer_set_action_class, set));
}

/* "FILE:LINE" of a line in the kernels of the tests, the first that has the text (free). */
static char *
line_with(const char *text)
{
	char *path = source_path("tests/core/child/kernels.c"), *source = file_text(path), *place;
	const char *found = strstr(source, text);
	int line = 1;

	ck_assert_msg(found != NULL, "'%s' is not in '%s'", text, path);
	for (const char *at = source; at < found; at++)
		line += *at == '\n';
	place = rot_format("tests/core/child/kernels.c:%d", line);
	return place;
}

static struct breakpoint_event_predicate *
before_call(int64_t hit)
{
	autofree char *place = line_with("= probe_visit(");
	struct breakpoint_event_predicate *predicate = at(place, "reached", hit, hit);

	return predicate;
}

/* The i-th call of the function touches i fresh pages. It is named, or the line that calls it. */
TEST_OF(one_call_of_a_function_is_measured, 4)
{
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = page_faults();
	const int64_t hit = _i == 0 ? 1 : _i == 1 ? 4 : VISITS;

	add_set(measurement, add_visitor(measurement), set);
	add_rule(measurement, _i == 3 ? before_call(hit) : at("probe_visit", "entered", hit, hit),
		 on_set(&start_measurer_set_action_class, set));
	add_rule(measurement, at("probe_visit", "left", hit, hit), on_set(&stop_measurer_set_action_class, set));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++)
		expect_faults(outcome_run(0, i), hit);
}

/* Twenty names of one place are twenty events. */
TEST(any_number_of_rules_is_for_one_place)
{
	static const char *const names[] = {"probe_alias_%d", "probe_more_%d"};
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_visitor(measurement);

	for (int i = 0; i < 20; i++) {
		struct measurer_set *set = make_set(SET + i, &execution_time_measurer_class);
		char place[32];

		snprintf(place, sizeof(place), names[i / 10], i % 10);
		add_set(measurement, workload, set);
		add_rule(measurement, at(place, "entered", 2, 2), on_set(&start_measurer_set_action_class, set));
		add_rule(measurement, at("probe_visit", "left", 2, 2), on_set(&stop_measurer_set_action_class, set));
	}
	runner_trace();
	runner_run(command);
	for (int i = 0; i < 20; i++)
		ck_assert_msg(run_set(outcome_run(0, RUNS - 1), SET + i) != NULL, "set %d", i);
}

/* Breakpoints are in their memory as well, until they are executed; nobody lets such a thread go but the tracer. */
TEST(programs_that_a_kernel_starts_are_not_held)
{
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct create_measurer_on_thread_action *create = create_measurer_on_thread_action_new();
	struct measurer_set *set = page_faults();
	struct workload *workload = add_visitor(measurement);

	workload_probe(workload)->programs = 2;
	create->measurer_set = page_faults();
	create->measurer_set->id = SET + 1;
	add_rule(measurement, on_run("start"), create);
	add_set(measurement, workload, set);
	add_rule(measurement, at("probe_visit", "entered", 2, 2), on_set(&start_measurer_set_action_class, set));
	add_rule(measurement, at("probe_visit", "left", 2, 2), on_set(&stop_measurer_set_action_class, set));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++)
		expect_faults(outcome_run(0, i), 2);
}

/* From the third call to the end of the fifth, by a rule that is added when the workload starts. */
TEST(rules_for_breakpoints_are_added_at_run_time)
{
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = page_faults();
	struct workload *workload = add_visitor(measurement);
	struct add_rule_action *add = add_rule_action_new();

	add->rule = rule_new();
	add->rule->predicate = &at("probe_visit", "reached", 3, 3)->base;
	add->rule->action = on_set(&start_measurer_set_action_class, set);
	add_set(measurement, workload, set);
	add_rule(measurement, on_workload(workload, "start"), add);
	add_rule(measurement, at("probe_visit", "left", 5, 5), on_set(&stop_measurer_set_action_class, set));
	runner_trace();
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++)
		expect_faults(outcome_run(0, i), 3 + 4 + 5);
}

/* A visitor that would go on for ever. */
static struct workload *
add_endless(struct measurement *measurement)
{
	struct workload *workload = add_visitor(measurement);

	workload_probe(workload)->until_stopped = true;
	return workload;
}

/* In the kernel's own thread, in one that it made, and in a function of a library. */
TEST_OF(a_breakpoint_stops_a_kernel, 3)
{
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_endless(measurement);

	workload_probe(workload)->visits = _i == 0 ? VISITS : 0;
	workload_probe(workload)->threads = _i == 2 ? VISITS : _i;
	workload_probe(workload)->thread_visits = VISITS;
	add_rule(measurement, at(_i == 2 ? "pthread_create" : "probe_visit", "entered", VISITS, 0), stop_of(workload));
	runner_trace();
	runner_run(command);
	outcome_run(0, RUNS - 1);
}

/* ---- what cannot be ---- */

static void
run_with(void *predicate, bool has_set)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = page_faults();
	struct workload *workload = add_visitor(measurement);

	if (has_set)
		add_set(measurement, workload, set);
	add_rule(measurement, predicate, on_set(&start_measurer_set_action_class, set));
	runner_run(command);
}

TEST(a_place_that_is_not_found_is_named)
{
	runner_trace();
	run_with(at("probe_visiting", "entered", 1, 0), true);
	outcome_expect_failure("error", "'probe_visiting', which is not observed", NULL);
	ck_assert_has(((struct core_failure *)outcome.output)->attempted, "probe_visit");
}

/* The kernel waits for a rule that will never be followed. */
TEST(a_kernel_ends_where_a_place_is_not_found)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_endless(measurement);

	add_rule(measurement, at("probe_visiting", "entered", 1, 0), stop_of(workload));
	runner_trace();
	runner_run(command);
	outcome_expect_failure("error", "'probe_visiting', which is not observed", NULL);
}

TEST(a_kernel_is_stopped_after_another_action_failed)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct workload *workload = add_endless(measurement);

	add_rule(measurement, at("probe_visit", "entered", 2, 0),
		 on_set(&start_measurer_set_action_class, page_faults()));
	add_rule(measurement, at("probe_visit", "left", VISITS, 0), stop_of(workload));
	runner_trace();
	runner_run(command);
	outcome_expect_failure("error", "could not execute a StartMeasurerSetAction", "must be initialized");
}

/* The library is there when the kernel is initialized; from the second run on its threads are as well. */
TEST(a_function_of_a_library_that_the_kernel_loads_is_measured)
{
	struct measurement_command *command = make_command(RUNS);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = page_faults();
	struct workload *workload = workload_new();
	struct crew_data *crew = rot_entity_new(&crew_data_class);

	workload->kernel = &crew->base;
	crew->base.num_threads = 2;
	crew->base.warm_code = crew->base.warm_data = true;
	rot_string_set(&crew->mode, "openMp");
	crew->pages = 7;
	crew->rounds = 3;
	measurement_workloads_add(measurement, workload);
	add_set(measurement, workload, set);
	add_rule(measurement, at("libgomp.so.1:GOMP_parallel", "entered", 1, 0),
		 on_set(&start_measurer_set_action_class, set));
	add_rule(measurement, at("libgomp.so.1:GOMP_parallel", "left", 1, 0),
		 on_set(&stop_measurer_set_action_class, set));
	if (!runner_has_library("libgomp.so.1")) {
		rot_graph_delete(command);
		return;
	}
	runner_trace();
	runner_run(command);
	for (size_t i = 1; i < RUNS; i++)
		ck_assert_int_eq(faults_of(outcome_run(0, i)), 7 * 3);
}

TEST(a_set_that_is_not_initialized_is_named)
{
	runner_trace();
	run_with(at("probe_visit", "entered", 2, 0), false);
	outcome_expect_failure("error",
			       "a thread that came to 'probe_visit' could not execute a StartMeasurerSetAction",
			       "must be initialized");
}

TEST_OF(without_ptrace_breakpoints_are_refused, 2)
{
	if (_i == 0) {
		runner_trace();
		runner_forbid(SYS_ptrace, EPERM);
		setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* the search for leaks needs ptrace */
	}
	run_with(at("probe_visit", "entered", 2, 0), true);
	outcome_expect_failure("refused", "cannot answer breakpoints", "ptrace");
}

/* Before anything runs. */
TEST_OF(actions_that_wait_are_refused, 5)
{
	static const char *const texts[] = {"a thread at a breakpoint may hold the locks", "names another thread",
					    "hits 5 to 4 are none", "no place is named", "the place is longer"};
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct measurer_set *set = page_faults();
	struct workload *workload = add_visitor(measurement);
	struct action_base *action =
		on_set(_i == 0 ? &initialize_measurer_set_action_class : &start_measurer_set_action_class, set);
	struct breakpoint_event_predicate *predicate = at(_i == 3 ? "" : "probe_visit", "entered", _i == 2 ? 5 : 1, 4);

	if (_i == 1)
		action->workload = workload;
	if (_i == 4) {
		char place[1000] = {0};

		memset(place, 'p', sizeof(place) - 1);
		rot_string_set(&predicate->place, place);
	}
	add_rule(measurement, predicate, action);
	runner_run(command);
	outcome_expect_failure("error", texts[_i], NULL);
	ck_assert_lacks(outcome.journal, "run begins");
}

UNIT_TESTS(.needs = {permits_tracing});
