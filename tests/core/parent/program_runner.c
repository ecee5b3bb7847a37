/* SPDX-License-Identifier: MIT */
/* See program_runner.h. */
#include "program_runner.h"

#include <ctype.h>
#include <grp.h>
#include <sys/prctl.h>

#include "PerfEventCount.h"
#include "PerfEventDefinition.h"
#include "PerfEventMeasurer.h"
#include "PerfEventMeasurerOutput.h"
#include "ProgramCommand.h"
#include "Region.h"
#include "entities.h"
#include "entity.h"
#include "testing.h"

char *runner_folder, *runner_said;
static char *command_path, *output_path, *rot_core, *refuse;
static void *latest;

void
runner_set_up(void)
{
	runner_folder = temporary_folder_new();
	runner_said = rot_format("%s/said", runner_folder);
	command_path = rot_format("%s/command", runner_folder);
	output_path = rot_format("%s/output", runner_folder);
	rot_core = built_path("core/rot-core");
	refuse = built_path("tests/without_syscall");
	latest = NULL;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

void
runner_tear_down(void)
{
	rot_graph_delete(latest);
	free(runner_said);
	free(command_path);
	free(output_path);
}

static struct program *
program_of(const struct trial *trial)
{
	struct program *program = program_new();
	char *path = strchr(trial->program, '/') || trial->counts_unknown_event
			     ? rot_strdup(trial->program)
			     : built_path("tests/core/parent/%s", trial->program);

	rot_string_set(&program->executable, path);
	rot_string_set(&program->folder, trial->folder);
	rot_string_set(&program->standard_input, trial->standard_input);
	rot_string_set(&program->standard_output, trial->standard_output);
	for (size_t i = 0; i < MAX_ARGUMENTS && trial->arguments[i]; i++)
		program_arguments_add(program, trial->arguments[i]);
	if (trial->environment)
		program_environment_add(program, trial->environment);
	free(path);
	return program;
}

static void
add_regions(struct program_command *command, const struct trial *trial)
{
	for (size_t i = 0; i < MAX_REGIONS && trial->regions[i].begin; i++) {
		const struct trial_region *wanted = &trial->regions[i];
		struct region *region = region_new();

		rot_string_set(&region->name, wanted->begin);
		rot_string_set(&region->begin, wanted->begin);
		rot_string_set(&region->end, wanted->end);
		if (wanted->first_hit)
			region->first_hit = wanted->first_hit;
		region->last_hit = wanted->last_hit;
		program_command_regions_add(command, region);
	}
	if (trial->region_backend)
		rot_string_set(&command->region_backend, trial->region_backend);
}

static void
write_command(const struct trial *trial)
{
	autograph struct program_command *command = program_command_new();
	struct perf_event_measurer *pass = perf_event_measurer_new();
	FILE *file = fopen(command_path, "we");

	if (!trial->is_time_only) {
		struct perf_event_definition *event = perf_event_definition_new();

		rot_string_set(&event->name, "faults");
		rot_string_set(&event->definition,
			       trial->counts_unknown_event ? "no_such_event" : "perf::PERF_COUNT_SW_PAGE_FAULTS");
		perf_event_measurer_events_add(pass, event);
	}
	program_command_passes_add(command, pass);
	command->program = trial->program ? program_of(trial) : NULL;
	command->process_id = trial->attach_to;
	command->run_count = trial->nr_runs ? trial->nr_runs : 1;
	command->per_thread = !trial->is_total;
	command->follow_forks = !trial->leaves_forks;
	if (trial->amend)
		trial->amend(command);
	add_regions(command, trial);
	ck_assert(file && rot_text_write(command, file, NULL) == 0 && fclose(file) == 0);
}

pid_t
runner_begin(const struct trial *trial)
{
	const char *limit = trial->time_limit ? trial->time_limit : "300";
	char number[16];
	const char *arguments[] = {refuse,      number,         "1",   rot_core, "--command", command_path, "--output",
				   output_path, "--time-limit", limit, NULL};
	int first = trial->refused_call ? 0 : 3;
	pid_t pid;

	sigset_t interrupt, usual;

	write_command(trial);
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	if (trial->as_user)
		ck_assert_int_eq(chown(runner_folder, trial->as_user, (gid_t)trial->as_user), 0);
	unlink(output_path);
	unlink(runner_said);
	snprintf(number, sizeof(number), "%d", trial->refused_call);
	sigprocmask(SIG_BLOCK, &interrupt, &usual);
	pid = fork();
	if (pid == 0)
		signal(SIGINT, SIG_DFL); /* that of libcheck kills the whole test */
	sigprocmask(SIG_SETMASK, &usual, NULL);
	if (pid == 0) {
		int file = open(runner_said, O_WRONLY | O_CREAT | O_APPEND, 0600);

		dup2(file, STDOUT_FILENO);
		close(file);
		if (trial->as_user &&
		    (setgroups(0, NULL) < 0 || setgid((gid_t)trial->as_user) < 0 || setuid(trial->as_user) < 0))
			_exit(123);
		execv(arguments[first], (char *const *)arguments + first);
		_exit(124);
	}
	ck_assert(pid > 0);
	return pid;
}

int
runner_end(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	ck_assert_int_eq(errno, ECHILD);
	return status;
}

static int
nr_times_ready(void)
{
	autofree char *text = access(runner_said, F_OK) == 0 ? file_text(runner_said) : rot_strdup("");
	int nr = 0;

	for (const char *at = text; (at = strstr(at, "ready\n")); at++)
		nr++;
	return nr;
}

void
runner_wait_until_ready(int times)
{
	while (nr_times_ready() < times)
		usleep(1000);
}

pid_t
runner_begin_visited(const char *program, const char *act, const char *number)
{
	autofree char *path = built_path("tests/core/parent/%s", program);
	pid_t pid = fork();

	if (pid == 0) {
		if (freopen(runner_said, "w", stdout))
			execl(path, path, act, number, NULL);
		_exit(124);
	}
	runner_wait_until_ready(1);
	return pid;
}

void
runner_end_visited(pid_t pid)
{
	autofree char *path = rot_format("/proc/%d/status", (int)pid), *text = file_text(path);

	ck_assert_has(text, "TracerPid:\t0\n");
	ck_assert_lacks(text, "State:\tt");
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void *
read_output(const struct rot_class *class)
{
	struct rot_registry *registry = rot_registry_new();
	FILE *file = fopen(output_path, "re");

	ck_assert_msg(file != NULL, "no output");
	ck_assert_int_eq(rot_registry_add_all(registry, entities, &why), 0);
	rot_graph_delete(latest);
	latest = rot_text_read(registry, file, output_path, &why);
	ck_assert_msg(latest != NULL, "%s", why.text);
	fclose(file);
	rot_registry_delete(registry);
	if (!rot_is_a(latest, class)) {
		struct core_failure *failure = rot_cast(latest, &core_failure_class);

		ck_abort_msg("%s: %s", class->name, failure ? failure->attempted : "no failure");
	}
	return latest;
}

struct program_command_output *
runner_output(void)
{
	return read_output(&program_command_output_class);
}

struct core_failure *
runner_failure(void)
{
	return read_output(&core_failure_class);
}

struct program_command_output *
runner_run(const struct trial *trial)
{
	int status = runner_end(runner_begin(trial));
	struct program_command_output *output = runner_output();

	ck_assert_int_eq(status, 0);
	return output;
}

const struct program_run_output *
runner_visit(struct trial *trial, bool (*is_enough)(const struct program_run_output *run))
{
	static const char *const limits[] = {"0.2", "2", "20"};
	const struct program_run_output *run = NULL;

	for (int i = 0; i < NR_ELEMENTS(limits) && (!run || !is_enough(run)); i++) {
		pid_t core;

		trial->time_limit = limits[i];
		core = runner_begin(trial);
		ck_assert_int_eq(waitpid(core, NULL, 0), core);
		run = program_command_output_outputs_at(runner_output(), 0);
	}
	ck_assert(is_enough(run));
	return run;
}

struct core_failure *
runner_fail(const struct trial *trial)
{
	int status = runner_end(runner_begin(trial));

	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	return runner_failure();
}

long
runner_count(const struct program_thread_output *thread)
{
	const struct perf_event_count *count;

	if (!thread->counts)
		return -1;
	ck_assert_uint_eq(perf_event_measurer_output_nr_event_counts(thread->counts), 1);
	count = perf_event_measurer_output_event_counts_at(thread->counts, 0);
	ck_assert_uint_eq(count->time_enabled, count->time_running);
	return (long)count->raw_count;
}

int
runner_check_exact(const struct program_run_output *run)
{
	long nr_excess = 0;
	int nr = 0;

	for (size_t i = 0; i < run->threads.nr; i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, i);

		if (!isdigit((unsigned char)*thread->name))
			continue;
		ck_assert_msg(runner_count(thread) >= atol(thread->name), "thread %d of %zu: %ld instead of %s", (int)i,
			      run->threads.nr, runner_count(thread), thread->name);
		nr_excess += runner_count(thread) - atol(thread->name);
		ck_assert_uint_le(thread->start_time, thread->stop_time);
		nr++;
	}
	ck_assert_msg(nr_excess <= 1, "%ld page faults too many", nr_excess);
	return nr;
}

int
runner_nr_named(const struct program_run_output *run, const char *name)
{
	int nr = 0;

	for (size_t i = 0; i < run->threads.nr; i++)
		nr += strcmp(program_run_output_threads_at(run, i)->name, name) == 0;
	return nr;
}

bool
runner_has_warning(const struct program_command_output *output, const char *part)
{
	for (size_t i = 0; i < program_command_output_nr_warnings(output); i++) {
		if (strstr(program_command_output_warnings_at(output, i), part))
			return true;
	}
	return false;
}
