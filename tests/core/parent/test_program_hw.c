/* SPDX-License-Identifier: MIT */
/* Counts of threads of other people's programs, exact to the last one: see target.c. */
#include "permits.h"
#include "program_runner.h"
#include "testing.h"

static const char *const kinds[] = {"target", "target_static", "target_static_pie", "target_no_pie"};

static const struct {
	const char *act, *number;
	int nr_exact, nr_threads;
	int exit_status;
} acts[] = {
	{"threads", "1", 1, 3, 0},
	{"threads", "2", 2, 4, 0},
	{"threads", "16", 16, 18, 0},
	{"threads", "1000", 1000, 1002, 0},
	{"storm", "300", 300, 303, 0},
	{"crowd", "1000", 50, 1052, 0},
	{"nested", "3", 8, 16, 0},
	{"detached", "20", 20, 22, 0},
	{"rounds", "4", 4, 6, 0},
	{"raw", "10", 10, 12, 0},
	{"fork_and_execute", "4", 12, 22, 0},
	{"exit_with_threads", "8", 8, 10, 5},
	{"execute_from_thread", "4", 8, 12, 0},
};

/* The static ones are missing where libc cannot be linked so. */
static bool
is_built(const char *kind)
{
	bool is_there = access(built_path("tests/core/parent/%s", kind), X_OK) == 0;

	return is_there || !strstr(kind, "static");
}

/* Runs of a program of that kind: three of the first, one of the others, or three with ROT_SLOW_TESTS, or
 * ROT_TEST_RUNS. */
static int
nr_runs_of(int kind)
{
	const char *wanted = getenv("ROT_TEST_RUNS");

	if (wanted && atoi(wanted) > 0)
		return atoi(wanted);
	return kind == 0 || all_are_tested() ? 3 : 1;
}

TEST_OF(threads_are_exact, NR_ELEMENTS(kinds) * NR_ELEMENTS(acts))
{
	const int nr_runs = nr_runs_of(_i / NR_ELEMENTS(acts));
	char limit[16];
	const struct trial trial = {
		.program = kinds[_i / NR_ELEMENTS(acts)],
		.arguments = {acts[_i % NR_ELEMENTS(acts)].act, acts[_i % NR_ELEMENTS(acts)].number},
		.nr_runs = nr_runs,
		.time_limit = limit};
	struct program_command_output *output;

	snprintf(limit, sizeof(limit), "%d", 100 * nr_runs);
	if (!is_built(trial.program))
		return;
	output = runner_run(&trial);
	ck_assert_uint_eq(program_command_output_nr_warnings(output), 0);
	ck_assert_uint_eq(program_command_output_nr_outputs(output), (size_t)nr_runs);
	for (size_t i = 0; i < (size_t)nr_runs; i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		ck_assert_int_eq(runner_check_exact(run), acts[_i % NR_ELEMENTS(acts)].nr_exact);
		ck_assert_int_eq(run->nr_threads, acts[_i % NR_ELEMENTS(acts)].nr_threads);
		ck_assert_uint_eq(run->threads.nr, (size_t)run->nr_threads);
		ck_assert_int_eq(run->exit_status, acts[_i % NR_ELEMENTS(acts)].exit_status);
		ck_assert_int_eq(run->signal, 0);
		ck_assert_int_eq(run->order, (int)i);
	}
}

/* The sum over all threads, with and without the processes that the program starts. */
static long
total(const char *act, const char *number, bool leaves_forks)
{
	const struct trial trial = {
		.program = "target", .arguments = {act, number}, .is_total = true, .leaves_forks = leaves_forks};
	const struct program_command_output *output = runner_run(&trial);
	const struct program_run_output *run = program_command_output_outputs_at(output, 0);

	ck_assert_uint_eq(program_command_output_nr_warnings(output), 0);
	ck_assert_uint_eq(run->threads.nr, 1);
	ck_assert_int_eq(program_run_output_threads_at(run, 0)->tid, 0);
	ck_assert_int_eq(run->nr_stops, 0);
	return runner_count(program_run_output_threads_at(run, 0));
}

TEST(totals_include_all_threads)
{
	long base = total("nothing", "0", false), difference = total("threads", "100", false) - base;

	/* Twice 0 to 49 pages; the start of a program varies by a few. */
	ck_assert_int_ge(difference, 2450 - 10);
	ck_assert_int_le(difference, 2450 + 30);
}

TEST(totals_include_processes_on_request)
{
	long base = total("nothing", "0", false);

	ck_assert_int_ge(total("forks", "3", false) - base, 3000);
	ck_assert_int_lt(total("forks", "3", true) - base, 1000);
}

TEST(forks_are_followed_on_request)
{
	struct trial trial = {.program = "target", .arguments = {"forks", "3"}};
	const struct program_run_output *run = program_command_output_outputs_at(runner_run(&trial), 0);

	ck_assert_int_eq(run->nr_threads, 5);
	for (size_t i = 2; i < 5; i++) {
		const struct program_thread_output *child = program_run_output_threads_at(run, i);

		ck_assert_int_eq(child->tid, child->pid);
		ck_assert_int_ge(runner_count(child), 1000);
		ck_assert_int_lt(runner_count(child), 1100);
		ck_assert_has(child->executable, "/target");
	}
	trial.leaves_forks = true;
	ck_assert_int_eq(program_command_output_outputs_at(runner_run(&trial), 0)->nr_threads, 2);
}

TEST(exec_from_a_thread_keeps_its_counts)
{
	const struct trial trial = {.program = "target", .arguments = {"execute_from_thread"}};
	const struct program_run_output *run = program_command_output_outputs_at(runner_run(&trial), 0);
	const struct program_thread_output *first = program_run_output_threads_at(run, 0), *caller;

	ck_assert_int_eq(first->tid, first->pid);
	caller = program_run_output_threads_at(run, 3);
	ck_assert_str_eq(caller->name, "main");
	ck_assert_int_eq(caller->pid, first->pid);
	ck_assert_int_ne(caller->tid, first->tid);
	/* The new image prepares its stacks: they were counted. */
	ck_assert_int_ge(runner_count(caller), 1000);
}

/* Processes that end while the program does are not told of as running on. */
TEST(processes_that_die_with_the_program)
{
	const struct trial trial = {.program = "target", .arguments = {"leave_dying", "40"}};
	const struct program_command_output *output = runner_run(&trial);

	ck_assert_int_eq(program_command_output_outputs_at(output, 0)->nr_threads, 42);
	ck_assert(!runner_has_warning(output, "still running"));
}

TEST(programs_killed_at_any_moment)
{
	const int nr = all_are_tested() ? 100 : 25;

	for (int i = 0; i < nr; i++) {
		char delay[16];
		struct trial trial = {.program = "target", .arguments = {"kill_storm", delay}};
		const struct program_run_output *run;

		snprintf(delay, sizeof(delay), "%d", i * 3700 / nr % 3000);
		run = program_command_output_outputs_at(runner_run(&trial), 0);
		ck_assert_int_eq(run->signal, SIGKILL);
		ck_assert_int_eq(run->exit_status, -1);
		ck_assert_uint_eq(run->threads.nr, (size_t)run->nr_threads);
	}
}

/* The only child of a process; 0: it has none yet. -1: this kernel does not tell. */
static pid_t
child_of(pid_t pid)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

/* From the moment that its process is there: not yet traced, not yet counted, not yet executed. Traced, and not. */
TEST_OF(killed_programs_are_reported, 2)
{
	for (int i = 0; i < 50; i++) {
		const struct trial trial = {.program = "target",
					    .arguments = {"storm", "100000"},
					    .is_time_only = i % 2 == 0,
					    .is_total = _i == 1};
		const struct program_run_output *run;
		pid_t pid = runner_begin(&trial), child = 0;
		int rc;

		while (child == 0)
			child = child_of(pid);
		if (child < 0) {
			kill(pid, SIGKILL);
			runner_end(pid);
			return;
		}
		usleep((useconds_t)(i * i * 2));
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		rc = runner_end(pid);
		ck_assert_msg(rc == 0, "round %d: %s", i, rc == 0 ? "" : runner_failure()->attempted);
		run = program_command_output_outputs_at(runner_output(), 0);
		ck_assert_int_eq(run->signal, SIGKILL);
		ck_assert_int_eq(run->exit_status, -1);
	}
}

TEST(events_that_are_not_there)
{
	const struct trial trial = {.program = "/bin/true", .counts_unknown_event = true};
	const struct core_failure *failure = runner_fail(&trial);

	ck_assert_str_eq(failure->kind, "refused");
	ck_assert_has(failure->attempted, "no_such_event");
}

TEST(without_ptrace_there_is_a_total)
{
	const struct trial trial = {.program = "target", .arguments = {"threads", "5"}, .refused_call = SYS_ptrace};
	const struct program_command_output *output = runner_run(&trial);
	const struct program_run_output *run = program_command_output_outputs_at(output, 0);

	ck_assert(runner_has_warning(output, "threads are not told apart: cannot trace process"));
	ck_assert_uint_eq(run->threads.nr, 1);
	ck_assert_int_ge(runner_count(program_run_output_threads_at(run, 0)), 1000);
}

/* ---- visits ---- */

static bool
all_threads_counted(const struct program_run_output *run)
{
	for (size_t i = 0; i < run->threads.nr; i++) {
		if (runner_count(program_run_output_threads_at(run, i)) < 1)
			return false;
	}
	return true;
}

/* Counts that are not known of the time before are not zero either. */
TEST_OF(running_processes_are_visited, 2)
{
	pid_t pid = runner_begin_visited("target", "run_for_ever", "4");
	struct trial trial = {.attach_to = pid, .is_total = _i == 1};
	const struct program_run_output *run = runner_visit(&trial, all_threads_counted);

	ck_assert_int_eq(run->nr_threads, 4);
	ck_assert_uint_eq(run->threads.nr, _i == 1 ? 1 : 4);
	ck_assert_int_eq(run->voluntary_context_switches, -1);
	ck_assert_int_eq(run->involuntary_context_switches, -1);
	ck_assert_int_ge(run->maximum_resident_bytes, 4096);
	runner_end_visited(pid);
}

/* To set breakpoints in a process, and to let it go, its threads are interrupted: none of their calls fails. */
TEST_OF(visits_go_unnoticed, 2)
{
	pid_t pid = runner_begin_visited("target", "wait_for_ever", "0");
	struct trial trial = {.attach_to = pid, .time_limit = "0.05"};

	if (_i == 1) {
		trial.regions[0].begin = "forks";
		trial.region_backend = "int3";
	}
	for (int i = 0; i < 10; i++) {
		ck_assert_int_gt(waitpid(runner_begin(&trial), NULL, 0), 0);
		ck_assert_int_eq(program_command_output_outputs_at(runner_output(), 0)->nr_threads, 3);
	}
	runner_end_visited(pid);
}

/* Asked to end, or killed: the process runs on. */
TEST(visits_that_are_cut_short)
{
	pid_t pid = runner_begin_visited("target", "run_for_ever", "4");
	struct trial trial = {.attach_to = pid};

	for (int i = 0; i < 20; i++) {
		pid_t core = runner_begin(&trial);
		int status;

		usleep((useconds_t)(i * 3000));
		kill(core, i % 2 ? SIGINT : SIGKILL);
		ck_assert_int_eq(waitpid(core, &status, 0), core);
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			ck_assert_uint_ge(program_command_output_outputs_at(runner_output(), 0)->threads.nr, 4);
	}
	usleep(20000);
	runner_end_visited(pid);
}

UNIT_TESTS(.needs = {permits_counting, permits_tracing}, .set_up = runner_set_up, .tear_down = runner_tear_down);
