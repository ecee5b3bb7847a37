/* SPDX-License-Identifier: MIT */
/* Rules of programs: what their actions measure, exact to the last page fault (see target.c). */
#include <ctype.h>
#include <linux/perf_event.h>

#include "entities.h"
#include "permits.h"
#include "program_runner.h"
#include "testing.h"

#define SET_ID 5

/* ---- describing ---- */

static struct measurer_set *
faults_set(void)
{
	struct measurer_set *set = measurer_set_new();
	struct perf_event_measurer *measurer = perf_event_measurer_new();
	struct perf_event_definition *event = perf_event_definition_new();

	set->id = SET_ID;
	set->main_measurer = &measurer->base;
	measurer_set_additional_measurers_add(set, &tsc_measurer_new()->base);
	measurer_set_validation_measurers_add(set, &execution_time_measurer_new()->base);
	rot_string_set(&event->name, "faults");
	rot_string_set(&event->definition, "perf::PERF_COUNT_SW_PAGE_FAULTS");
	perf_event_measurer_events_add(measurer, event);
	return set;
}

static struct rule *
rule_of(void *predicate, void *action)
{
	struct rule *rule = rule_new();

	rule->predicate = predicate;
	rule->action = action;
	return rule;
}

static void
add_rule(struct program_command *command, void *predicate, void *action)
{
	program_command_rules_add(command, rule_of(predicate, action));
}

static void *
on_run(const char *event)
{
	struct measurement_run_event_predicate *predicate = measurement_run_event_predicate_new();

	rot_string_set(&predicate->event, event);
	return predicate;
}

static void *
on_thread(const char *event, const char *name, int index)
{
	struct thread_event_predicate *predicate = thread_event_predicate_new();

	rot_string_set(&predicate->event, event);
	rot_string_set(&predicate->name, name);
	predicate->index = index;
	return predicate;
}

static void *
on_program(const char *event, const char *executable)
{
	struct program_event_predicate *predicate = program_event_predicate_new();

	rot_string_set(&predicate->event, event);
	rot_string_set(&predicate->executable, executable);
	return predicate;
}

static void *
on_set(const struct rot_class *class, struct measurer_set *set)
{
	void *action = rot_entity_new(class);

	*(struct measurer_set **)rot_field_of(action, rot_class_field(class, "measurerSet")) = set;
	return action;
}

static void
lead_set(struct program_command *command, struct measurer_set *set, void *begin, void *end)
{
	add_rule(command, begin, on_set(&initialize_measurer_set_action_class, set));
	add_rule(command, begin, on_set(&start_measurer_set_action_class, set));
	add_rule(command, end, on_set(&stop_measurer_set_action_class, set));
	add_rule(command, end, on_set(&read_measurer_set_action_class, set));
	add_rule(command, end, on_set(&dispose_measurer_set_action_class, set));
}

static struct create_measurer_on_thread_action *
measure_threads(struct program_command *command)
{
	struct create_measurer_on_thread_action *action = on_set(&create_measurer_on_thread_action_class, faults_set());

	add_rule(command, on_run("start"), action);
	return action;
}

/* ---- what the run gave ---- */

static const struct program_run_output *
run_with(const char *act, const char *number, void (*amend)(struct program_command *command))
{
	const struct trial trial = {.program = "target", .arguments = {act, number}, .amend = amend};
	const struct program_command_output *output = runner_run(&trial);

	ck_assert_uint_eq(program_command_output_nr_warnings(output), 0);
	return program_command_output_outputs_at(output, 0);
}

static long
faults_of(const struct measurer_set_output *set)
{
	const struct perf_event_measurer_output *counts =
		rot_cast(set->main_measurer_output, &perf_event_measurer_output_class);
	const struct perf_event_count *count;

	ck_assert_int_eq(set->set_id, SET_ID);
	ck_assert_ptr_nonnull(counts);
	ck_assert_uint_eq(perf_event_measurer_output_nr_event_counts(counts), 1);
	ck_assert_uint_eq(measurer_set_output_nr_additional_measurer_outputs(set), 1);
	ck_assert_uint_eq(measurer_set_output_nr_validation_measurer_outputs(set), 1);
	count = perf_event_measurer_output_event_counts_at(counts, 0);
	ck_assert_str_eq(count->name, "faults");
	ck_assert_uint_eq(count->time_enabled, count->time_running);
	return (long)count->raw_count;
}

static const struct program_thread_output *
thread_of(const struct program_run_output *run, int tid)
{
	for (size_t i = 0; i < run->threads.nr; i++) {
		if (program_run_output_threads_at(run, i)->tid == tid)
			return program_run_output_threads_at(run, i);
	}
	ck_abort_msg("no thread %d", tid);
	return NULL;
}

/* The counts of a rule on a whole thread are those of the run on it by other counters. */
static void
expect_as_counted(const struct program_run_output *run, size_t nr)
{
	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), nr);
	for (size_t i = 0; i < nr; i++) {
		const struct measurer_set_output *set = program_run_output_measurer_set_outputs_at(run, i);

		ck_assert_int_eq(faults_of(set), runner_count(thread_of(run, set->tid)));
	}
}

/* ---- measurers on all threads ---- */

static const struct {
	const char *act, *number;
	int nr_exact;
} acts[] = {
	{"threads", "1", 1},
	{"threads", "16", 16},
	{"threads", "1000", 1000},
	{"nested", "3", 8},
	{"detached", "20", 20},
	{"rounds", "4", 4},
	{"raw", "10", 10},
	{"fork_and_execute", "4", 12},
	{"exit_with_threads", "8", 8},
	{"execute_from_thread", "4", 8},
};

static void
amend_measure_threads(struct program_command *command)
{
	measure_threads(command);
}

TEST_OF(every_thread_is_measured, NR_ELEMENTS(acts))
{
	const struct program_run_output *run = run_with(acts[_i].act, acts[_i].number, amend_measure_threads);

	ck_assert_int_eq(runner_check_exact(run), acts[_i].nr_exact);
	expect_as_counted(run, (size_t)run->nr_threads);
}

/* They are in the output in the order of their start. */
static void
amend_pick_index(struct program_command *command)
{
	measure_threads(command)->start_predicate = on_thread("started", "", 9);
}

TEST(a_thread_is_picked_by_its_index)
{
	const struct program_run_output *run = run_with("threads", "16", amend_pick_index);

	expect_as_counted(run, 1);
	ck_assert_int_eq(program_run_output_measurer_set_outputs_at(run, 0)->tid,
			 program_run_output_threads_at(run, 9)->tid);
}

/* Only their end shows how threads are called. */
static void
amend_read_by_name(struct program_command *command)
{
	struct measurer_set *set = faults_set();

	add_rule(command, on_thread("started", "", -1), on_set(&initialize_measurer_set_action_class, set));
	add_rule(command, on_thread("started", "", -1), on_set(&start_measurer_set_action_class, set));
	add_rule(command, on_thread("exiting", "1?", -1), on_set(&stop_measurer_set_action_class, set));
	add_rule(command, on_thread("exiting", "1?", -1), on_set(&read_measurer_set_action_class, set));
}

TEST(threads_are_picked_by_their_name_at_the_end)
{
	const struct program_run_output *run = run_with("threads", "16", amend_read_by_name);

	expect_as_counted(run, 6);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_ge(faults_of(program_run_output_measurer_set_outputs_at(run, i)), 10);
}

/* ---- sets ---- */

static void
amend_lead_one(struct program_command *command)
{
	lead_set(command, faults_set(), on_thread("started", "", 6), on_thread("exiting", "", 6));
}

TEST(a_set_is_led_through_its_life_on_one_thread)
{
	const struct program_run_output *run = run_with("threads", "16", amend_lead_one);

	expect_as_counted(run, 1);
	ck_assert_int_eq(program_run_output_measurer_set_outputs_at(run, 0)->tid,
			 program_run_output_threads_at(run, 6)->tid);
}

static void
amend_lead_first(struct program_command *command)
{
	lead_set(command, faults_set(), on_run("start"), on_run("stop"));
}

/* It can still be read when the thread has long ended. */
TEST(a_set_lives_as_long_as_the_run)
{
	const struct program_run_output *run = run_with("threads", "3", amend_lead_first);
	const struct measurer_set_output *set = program_run_output_measurer_set_outputs_at(run, 0);
	const struct execution_time_measurer_output *time = rot_cast(
		measurer_set_output_validation_measurer_outputs_at(set, 0), &execution_time_measurer_output_class);

	expect_as_counted(run, 1);
	ck_assert_int_eq(set->tid, program_run_output_threads_at(run, 0)->tid);
	ck_assert_uint_ge(time->nano_seconds, program_run_output_threads_at(run, 0)->stop_time / 2);
}

/* ---- programs ---- */

/* A shell that starts one target, and something else before. */
static void
amend_measure_target(struct program_command *command)
{
	measure_threads(command)->start_predicate = on_program("executed", "parent/target");
}

TEST(a_program_that_another_starts_is_measured)
{
	char *target = built_path("tests/core/parent/target"), script[4200];
	const struct trial trial = {.program = "/bin/sh", .arguments = {"-c", script}, .amend = amend_measure_target};
	const struct program_run_output *run;
	long sum = 0;

	snprintf(script, sizeof(script), "/bin/true; %s threads 5; /bin/true", target);
	run = program_command_output_outputs_at(runner_run(&trial), 0);
	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), 7);
	for (size_t i = 0; i < 7; i++) {
		const struct measurer_set_output *set = program_run_output_measurer_set_outputs_at(run, i);
		const struct program_thread_output *thread = thread_of(run, set->tid);

		ck_assert_has(thread->executable, "/target");
		if (isdigit((unsigned char)*thread->name))
			ck_assert_int_eq(faults_of(set), runner_count(thread));
		sum += isdigit((unsigned char)*thread->name) ? faults_of(set) : 0;
	}
	ck_assert_int_ge(sum, 10);
	ck_assert_int_le(sum, 11);
}

/* ---- rules at run time, and the cost of actions ---- */

static void
amend_add_late(struct program_command *command)
{
	struct add_rule_action *late = add_rule_action_new(), *harmless = add_rule_action_new();
	struct measure_action_execution *measure = on_set(&measure_action_execution_class, faults_set());

	harmless->rule = rule_of(on_program("exited", "nobody"), on_set(&stop_measurer_set_action_class, faults_set()));
	measure->action = &harmless->base;
	late->rule = rule_of(on_thread("started", "", -1), measure);
	add_rule(command, on_thread("started", "", 5), late);
}

TEST(rules_are_added_at_run_time)
{
	const struct program_run_output *run = run_with("threads", "20", amend_add_late);

	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), 16);
	for (size_t i = 0; i < 16; i++)
		ck_assert_int_ne(program_run_output_measurer_set_outputs_at(run, i)->tid,
				 program_run_output_threads_at(run, 0)->tid);
}

/* ---- breakpoints: what threads do from one place to another; see region_target.c ---- */

static const struct passage {
	const char *arguments[4];
	const char *begin, *begin_event, *end, *end_event;
	int first_hit, last_hit;
	int nr_threads; /* that come there */
	long faults;    /* of each         */
} passages[] = {
	{{"main", "20"}, "region_one", "entered", "region_one", "left", 1, 0, 1, 20},
	{{"main", "20"}, "region_one", "entered", "region_one", "left", 3, 5, 1, 3},
	{{"threads", "4", "25"}, "region_one", "entered", "region_one", "left", 1, 0, 4, 25},
	{{"nested", "7"}, "region_outer", "entered", "region_outer", "left", 1, 0, 1, 35},
	{{"nested", "7"}, "region_three", "entered", "region_three", "left", 1, 0, 1, 21},
	{{"nested", "7"}, "region_outer", "reached", "region_three", "left", 1, 0, 1, 28},
	{{"recursive", "3", "5"}, "region_recursive", "entered", "region_recursive", "left", 1, 0, 1, 15},
	{{"tail", "6"}, "region_tail", "entered", "region_tail", "left", 1, 0, 1, 12},
	/* a part for a team is no call of the function */
	{{"team", "6"}, "region_team", "entered", "region_team", "left", 3, 5, 1, 9},
	{{"phases", "6"}, "phase_begin", "reached", "phase_end", "reached", 1, 0, 1, 24},
	{{"load", "8"}, "library_region", "entered", "library_region", "left", 1, 0, 1, 8},
	{{"reload", "4", "2"}, "library_region", "entered", "library_region", "left", 1, 0, 1, 8},
	{{"forks", "2", "3"}, "region_one", "entered", "region_one", "left", 1, 0, 3, 3},
	{{"execute", "5"}, "region_one", "entered", "region_one", "left", 1, 0, 1, 10},
};
static const struct passage *passage;

static void *
on_breakpoint(const char *place, const char *event)
{
	struct breakpoint_event_predicate *predicate = breakpoint_event_predicate_new();

	rot_string_set(&predicate->place, place);
	rot_string_set(&predicate->event, event);
	predicate->first_hit = passage->first_hit;
	predicate->last_hit = passage->last_hit;
	return predicate;
}

static void
amend_passage(struct program_command *command)
{
	struct create_measurer_on_thread_action *action = measure_threads(command);

	action->start_predicate = on_breakpoint(passage->begin, passage->begin_event);
	action->stop_predicate = on_breakpoint(passage->end, passage->end_event);
}

static const struct program_run_output *
run_passage(int i, void (*amend)(struct program_command *command))
{
	struct trial trial = {.program = "region_target", .amend = amend};
	const struct program_command_output *output;

	passage = &passages[i];
	for (size_t k = 0; k < NR_ELEMENTS(passage->arguments); k++)
		trial.arguments[k] = passage->arguments[k];
	output = runner_run(&trial);
	for (size_t k = 0; k < program_command_output_nr_warnings(output); k++)
		ck_abort_msg("%s", program_command_output_warnings_at(output, k));
	ck_assert_int_eq(program_command_output_outputs_at(output, 0)->exit_status, 0);
	return program_command_output_outputs_at(output, 0);
}

TEST_OF(threads_are_measured_from_place_to_place, NR_ELEMENTS(passages))
{
	const struct program_run_output *run = run_passage(_i, amend_passage);

	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), (size_t)passage->nr_threads);
	for (int i = 0; i < passage->nr_threads; i++)
		ck_assert_int_eq(faults_of(program_run_output_measurer_set_outputs_at(run, (size_t)i)),
				 passage->faults);
}

/* A set that is read at each hit gives an output for each. */
static void
amend_lead_at_hits(struct program_command *command)
{
	struct measurer_set *set = faults_set();
	void *left = on_breakpoint(passage->end, passage->end_event);

	add_rule(command, on_thread("started", "", -1), on_set(&initialize_measurer_set_action_class, set));
	add_rule(command, on_breakpoint(passage->begin, passage->begin_event),
		 on_set(&start_measurer_set_action_class, set));
	add_rule(command, left, on_set(&stop_measurer_set_action_class, set));
	add_rule(command, left, on_set(&read_measurer_set_action_class, set));
}

TEST(each_hit_is_measured)
{
	const struct program_run_output *run = run_passage(4, amend_lead_at_hits);

	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), 7);
	for (size_t i = 0; i < 7; i++)
		ck_assert_int_eq(faults_of(program_run_output_measurer_set_outputs_at(run, i)), 3);
}

static void
amend_no_place(struct program_command *command)
{
	passage = &passages[0];
	measure_threads(command)->start_predicate = on_breakpoint("no_such_function", "entered");
}

TEST(a_place_that_is_not_there_is_told)
{
	const struct trial trial = {.program = "region_target", .arguments = {"main", "1"}, .amend = amend_no_place};

	ck_assert(runner_has_warning(runner_run(&trial), "no thread was seen to come to 'no_such_function' (entered)"));
}

/* ---- what is told ---- */

static void
amend_start_nothing(struct program_command *command)
{
	add_rule(command, on_run("start"), on_set(&start_measurer_set_action_class, faults_set()));
}

TEST(a_set_that_is_not_initialized_is_told)
{
	const struct trial trial = {.program = "/bin/true", .amend = amend_start_nothing};

	ck_assert(runner_has_warning(runner_run(&trial),
				     "StartMeasurerSetAction: measurer set 5 is not initialized on the threads"));
}

static void
amend_stop_kernel(struct program_command *command)
{
	add_rule(command, on_run("start"), stop_kernel_action_new());
}

static void
amend_unknown_event(struct program_command *command)
{
	struct create_measurer_on_thread_action *action = measure_threads(command);
	struct perf_event_measurer *measurer =
		rot_cast(action->measurer_set->main_measurer, &perf_event_measurer_class);

	rot_string_set(&perf_event_measurer_events_at(measurer, 0)->definition, "no_such_event");
}

static void
amend_total(struct program_command *command)
{
	measure_threads(command);
	command->per_thread = false;
}

static const struct {
	void (*amend)(struct program_command *command);
	const char *kind, *text;
	int refused_call;
} refusals[] = {
	{amend_stop_kernel, "error", "rule at place 0: StopKernelAction: a program has no kernel", 0},
	{amend_unknown_event, "refused", "measurer set 5 of a rule: cannot count 'no_such_event'", 0},
	{amend_total, "error", "the command has rules and asks for one total", 0},
	{amend_measure_threads, "refused", "rules need the threads to be traced: cannot trace process", SYS_ptrace},
};

TEST_OF(what_cannot_be_is_refused, NR_ELEMENTS(refusals))
{
	const struct trial trial = {.program = "target",
				    .arguments = {"nothing"},
				    .amend = refusals[_i].amend,
				    .refused_call = refusals[_i].refused_call};
	const struct core_failure *failure = runner_fail(&trial);

	ck_assert_str_eq(failure->kind, refusals[_i].kind);
	ck_assert_has(failure->attempted, refusals[_i].text);
}

/* ---- disturbances ---- */

TEST(programs_killed_at_any_moment)
{
	for (int i = 0; i < 30; i++) {
		char delay[16];
		const struct trial trial = {
			.program = "target", .arguments = {"kill_storm", delay}, .amend = amend_measure_threads};
		const struct program_run_output *run;

		snprintf(delay, sizeof(delay), "%d", i * 97 % 3000);
		run = program_command_output_outputs_at(runner_run(&trial), 0);
		ck_assert_int_eq(run->signal, SIGKILL);
		ck_assert_uint_le(program_run_output_nr_measurer_set_outputs(run), (size_t)run->nr_threads);
	}
}

static bool
all_sets_counted(const struct program_run_output *run)
{
	for (size_t i = 0; i < program_run_output_nr_measurer_set_outputs(run); i++) {
		if (faults_of(program_run_output_measurer_set_outputs_at(run, i)) < 1)
			return false;
	}
	return true;
}

TEST(running_processes_are_visited)
{
	pid_t pid = runner_begin_visited("target", "run_for_ever", "4");
	struct trial trial = {.attach_to = pid, .amend = amend_measure_threads};
	const struct program_run_output *run = runner_visit(&trial, all_sets_counted);

	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(run), 4);
	runner_end_visited(pid);
}

UNIT_TESTS(.needs = {permits_counting, permits_tracing}, .set_up = runner_set_up, .tear_down = runner_tear_down);
