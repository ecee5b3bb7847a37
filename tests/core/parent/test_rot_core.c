/* SPDX-License-Identifier: MIT */
/* rot-core as the driver sees it, with children of every kind: see victim.c. */
#include <sys/prctl.h>

#include "CoreFailure.h"
#include "config.h"
#include "entity.h"
#include "testing.h"

/* A time limit for what does not hang. */
#define LONG "300"

static char *folder, *command, *output, *said, *progress, *rot_core, *victim, *refuse;

/* ---- running it ---- */

static void
redirect(const char *path, int fd)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(125);
	close(file);
}

/* Starts rot-core on an act of the victim; refused: number of a system call to refuse, or 0. */
static pid_t
begin(const char *act, const char *time_limit, int refused)
{
	char number[16];
	const char *arguments[] = {refuse,         number,     "1",        rot_core, "--child",       victim,
				   "--command",    command,    "--output", output,   "--progress-fd", "9",
				   "--time-limit", time_limit, NULL};
	pid_t pid;

	file_fill(command, act);
	snprintf(number, sizeof(number), "%d", refused);
	pid = fork();
	if (pid == 0) {
		redirect(said, STDERR_FILENO);
		redirect(progress, 9);
		execv(arguments[refused ? 0 : 3], (char *const *)arguments + (refused ? 0 : 3));
		_exit(124);
	}
	ck_assert(pid > 0);
	return pid;
}

/* All that it started became a child of this process when it ended; a process that lives on makes this test time out.
 */
static int
end(pid_t pid)
{
	int status, stray;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	while (waitpid(-1, &stray, __WALL) > 0)
		;
	ck_assert_int_eq(errno, ECHILD);
	return status;
}

/* Until the child of rot-core runs: "linger" makes the output file then. */
static void
wait_until_it_lingers(void)
{
	while (access(output, F_OK) < 0)
		usleep(1000);
}

static void
expect_exit(int status, int expected)
{
	autofree char *text = file_text(said);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == expected, "status %x; %s", (unsigned)status, text);
}

static void
expect_text(const char *path, const char *expected)
{
	autofree char *text = file_text(path);

	ck_assert_str_eq(text, expected);
}

static void
expect_said(const char *part)
{
	autofree char *text = file_text(said);

	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in '%s'", part, text);
}

static struct core_failure *
read_failure(void)
{
	struct rot_registry *registry = rot_registry_new();
	FILE *file = fopen(output, "re");
	struct core_failure *failure;

	ck_assert_msg(file != NULL, "no output");
	ck_assert_int_eq(rot_registry_add(registry, &core_failure_class, &why), 0);
	failure = rot_text_read(registry, file, output, &why);
	ck_assert_msg(failure != NULL, "%s", why.text);
	fclose(file);
	rot_registry_delete(registry);
	return failure;
}

/* ---- children that do their work ---- */

static const char *const good_acts[] = {
	"announced",      "clone_process",     "exec_main",         "exec_other",    "held",
	"held_over_exec", "held_over_exit",    "held_without_wire", "leave_process", "main_thread_ends_first",
	"many_threads",   "stop_and_continue", "surroundings",      "result",        "signals",
	"storm",          "threads",
};

TEST_OF(child_measures, NR_ELEMENTS(good_acts))
{
	expect_exit(end(begin(good_acts[_i], LONG, 0)), 0);
	expect_text(output, "result\n");
	expect_text(said, "");
}

/* Systems older than Linux 5.11 have a close_range that leaves them open. */
#define CLOSE_RANGE 436

TEST(child_gets_no_descriptor_but_the_wire)
{
	expect_exit(end(begin("surroundings", LONG, CLOSE_RANGE)), 0);
	expect_text(output, "result\n");
}

TEST(progress_is_reported)
{
	expect_exit(end(begin("result", LONG, 0)), 0);
	expect_text(progress, "run 1 of 3\nrun 2 of 3\nrun 3 of 3\n");
}

/* The progress is not read any more. */
TEST(progress_without_reader)
{
	int ends[2];
	pid_t pid;

	file_fill(command, "result");
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 9);
		close(ends[0]);
		close(ends[1]);
		redirect(said, STDERR_FILENO);
		execl(rot_core, rot_core, "--child", victim, "--command", command, "--output", output, "--progress-fd",
		      "9", NULL);
		_exit(124);
	}
	close(ends[0]);
	close(ends[1]);
	expect_exit(end(pid), 0);
}

TEST(threads_that_end_at_any_moment)
{
	for (int i = 0; i < 50; i++) {
		expect_exit(end(begin("storm", LONG, 0)), 0);
		expect_text(output, "result\n");
	}
}

/* ---- children that fail ---- */

static const struct {
	const char *act, *limit, *kind; /* limit NULL: as long as it takes to get to where it hangs */
	int number;
	const char *attempted, *hint;
} failures[] = {
	{"crash", LONG, "killed", SIGSEGV, "killed by signal 11 (Segmentation fault) in run 3 of 10", "buffers"},
#ifndef ROT_SANITIZED
	{"fault", LONG, "killed", SIGSEGV, "in run 1 of 2, at victim.c:", "buffers"},
	{"fault", LONG, "killed", SIGSEGV, ", fault+0x", "buffers"},
	{"fault", LONG, "killed", SIGSEGV, "), with the address 0x10", "buffers"},
#endif
	{"crash_after_result", LONG, "killed", SIGABRT, "killed by signal 6 (Aborted) after run 3 of 3", ""},
	{"exit_3", LONG, "exited", 3, "exited with status 3 before it was ready to measure", ""},
	{"exit_in_run", LONG, "exited", 0, "exited with status 0 in run 1 of 2", "a kernel must not end the process"},
	{"no_result", LONG, "exited", 0, "exited with status 0 before it was ready to measure, without a result", ""},
	{"hang", NULL, "timeLimit", 0, " s in run 1 of 2", "timeLimit"},
	{"held_for_ever", "0.3", "timeLimit", 0, "exceeded the time limit of 0.3 s", "timeLimit"},
	{"linger", "0.1", "timeLimit", 0, "exceeded the time limit of 0.1 s", "timeLimit"},
	{"stop", NULL, "timeLimit", 0, "exceeded the time limit of ", "SIGSTOP"},
	{"suicide", LONG, "killed", SIGKILL, "killed by signal 9 (Killed)", "out of memory"},
};

static struct core_failure *
failure_within(const char *limit, int i)
{
	expect_exit(end(begin(failures[i].act, limit, 0)), 1);
	return read_failure();
}

static bool
is_told(const struct core_failure *failure, int i)
{
	return strstr(failure->attempted, failures[i].attempted) && strstr(failure->hint, failures[i].hint);
}

TEST_OF(child_fails, NR_ELEMENTS(failures))
{
	static const char *const limits[] = {"0.5", "5", "50"};
	struct core_failure *failure;

	file_fill(output, "from an earlier call");
	failure = failure_within(failures[_i].limit ? failures[_i].limit : limits[0], _i);
	for (int i = 1; i < NR_ELEMENTS(limits) && !failures[_i].limit && !is_told(failure, _i); i++) {
		core_failure_delete(failure);
		failure = failure_within(limits[i], _i);
	}
	ck_assert_str_eq(failure->kind, failures[_i].kind);
	ck_assert_int_eq(failure->number, failures[_i].number);
	ck_assert_msg(is_told(failure, _i), "%s; %s", failure->attempted, failure->hint);
	ck_assert_str_eq(failure->standard_error, "");
	expect_said(failure->attempted);
	core_failure_delete(failure);
}

TEST(child_reports_its_own_failure)
{
	expect_exit(end(begin("reports_an_error", LONG, 0)), 1);
	expect_text(output, "reported\n");
	expect_said(output);
}

TEST(child_dies_at_any_moment)
{
	for (int i = 0; i < 50; i++) {
		struct core_failure *failure;

		expect_exit(end(begin("suicide", LONG, 0)), 1);
		failure = read_failure();
		ck_assert_int_eq(failure->number, SIGKILL);
		core_failure_delete(failure);
	}
}

/* Half a MiB on each stream: the end of both is kept, the rest is said to be missing, nothing waits for ever. */
TEST(child_prints_much)
{
	struct core_failure *failure;
	const char *errors, *out;

	expect_exit(end(begin("print_much", LONG, 0)), 1);
	failure = read_failure();
	errors = failure->standard_error;
	ck_assert_ptr_eq(strstr(errors, "[the first "), errors);
	ck_assert_has(errors, "\nerror 16383 ");
	ck_assert_has(errors, "\nnul ? here\n");
	out = strstr(errors, "[standard output]\n");
	ck_assert_ptr_nonnull(out);
	ck_assert_has(out, "\noutput 16382 ");
	ck_assert_lacks(out, "error");
	ck_assert_uint_le(strlen(errors), 2 * 16384 + 200);
	ck_assert_uint_ge(strlen(errors), 2 * (16384 - 64));
	core_failure_delete(failure);
}

TEST(child_cannot_be_started)
{
	struct core_failure *failure;

	victim[strlen(victim) - 1] = 'x';
	expect_exit(end(begin("result", LONG, 0)), 1);
	failure = read_failure();
	ck_assert_str_eq(failure->kind, "error");
	ck_assert_int_eq(failure->number, ENOENT);
	ck_assert_has(failure->attempted, victim);
	ck_assert_has(failure->attempted, "No such file or directory");
	core_failure_delete(failure);
}

TEST(output_cannot_be_written)
{
	free(output);
	output = rot_format("%s/no such folder/output", folder);
	expect_exit(end(begin("crash", LONG, 0)), 1);
	expect_said("No such file or directory");
}

/* ---- no tracing ---- */

TEST(tracing_is_refused)
{
	expect_exit(end(begin("result", LONG, SYS_ptrace)), 0);
	expect_text(output, "result\n");
	expect_said("warning: cannot trace process");
	expect_said("without tracing");
	expect_said("hint: in a container: --cap-add=SYS_PTRACE");
}

TEST(untraced_child_fails)
{
	struct core_failure *failure;

	expect_exit(end(begin("crash", LONG, SYS_ptrace)), 1);
	failure = read_failure();
	ck_assert_has(failure->attempted, "killed by signal 11 (Segmentation fault) in run 3 of 10");
	core_failure_delete(failure);
	expect_exit(end(begin("hang", "0.1", SYS_ptrace)), 1);
	failure = read_failure();
	ck_assert_str_eq(failure->kind, "timeLimit");
	core_failure_delete(failure);
}

/* ---- being ended ---- */

static const int stop_signals[] = {SIGTERM, SIGINT, SIGHUP};

TEST_OF(interruption_ends_all, NR_ELEMENTS(stop_signals))
{
	pid_t pid = begin("linger", LONG, 0);

	wait_until_it_lingers();
	ck_assert_int_eq(kill(pid, stop_signals[_i]), 0);
	expect_exit(end(pid), 128 + stop_signals[_i]);
	ck_assert_int_lt(access(output, F_OK), 0);
	expect_said("interrupted");
}

/* Killed without warning, traced and untraced, at any moment: end() sees that nothing is left. */
TEST_OF(death_ends_all, 2)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = begin("linger", LONG, _i ? SYS_ptrace : 0);
		int status;

		usleep((useconds_t)(i % 25 * 400));
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		status = end(pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* The driver dies: rot-core, its child, and all threads go with it. */
TEST(death_of_the_driver_ends_all)
{
	pid_t driver = fork();

	if (driver == 0) {
		begin("linger", LONG, 0);
		while (true)
			pause();
	}
	wait_until_it_lingers();
	ck_assert_int_eq(kill(driver, SIGKILL), 0);
	end(driver);
}

/* ---- usage ---- */

static const char *const wrong_uses[][9] = {
	{"--child", "x", "--command", "x"},
	{"--child", "x", "--command", "x", "--output", "x", "more"},
	{"--child", "x", "--command", "x", "--output", "x", "--time-limit", "0"},
	{"--child", "x", "--command", "x", "--output", "x", "--time-limit", "1s"},
	{"--child", "x", "--command", "x", "--output", "x", "--time-limit", "nan"},
	{"--child", "x", "--command", "x", "--output", "x", "--progress-fd", "77"},
	{"--child", "x", "--command", "x", "--output", "x", "--nonsense"},
};

TEST_OF(wrong_use, NR_ELEMENTS(wrong_uses))
{
	const char *arguments[10] = {"rot-core"};
	pid_t pid;

	memcpy(arguments + 1, wrong_uses[_i], sizeof(wrong_uses[_i]));
	pid = fork();
	if (pid == 0) {
		redirect(said, STDERR_FILENO);
		execv(rot_core, (char *const *)arguments);
		_exit(124);
	}
	expect_exit(end(pid), 2);
	expect_said("usage: rot-core --child");
}

/* ---- set-up ---- */

static void
set_up(void)
{
	folder = temporary_folder_new();
	command = rot_format("%s/command", folder);
	output = rot_format("%s/output", folder);
	said = rot_format("%s/said", folder);
	progress = rot_format("%s/progress", folder);
	rot_core = built_path("core/rot-core");
	victim = built_path("tests/core/parent/victim");
	refuse = built_path("tests/without_syscall");
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void
tear_down(void)
{
	char *all[] = {command, output, said, progress, rot_core, victim, refuse};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
