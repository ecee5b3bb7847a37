/* SPDX-License-Identifier: MIT */
/* Other people's programs as the driver has them run: how they start, end and are disturbed. See target.c. */
#include "permits.h"
#include "program_runner.h"
#include "testing.h"

static const struct program_run_output *
run_of(const struct trial *trial)
{
	return program_command_output_outputs_at(runner_run(trial), 0);
}

/* ---- ends ---- */

/* Traced, and not. */
TEST_OF(status_is_kept, 2)
{
	const struct trial exits = {
		.program = "target", .arguments = {"exit", "77"}, .is_time_only = true, .is_total = _i == 1};
	const struct trial dies = {
		.program = "target", .arguments = {"kill", "15"}, .is_time_only = true, .is_total = _i == 1};
	const struct program_run_output *run = run_of(&exits);

	ck_assert_int_eq(run->exit_status, 77);
	ck_assert_int_eq(run->signal, 0);
	ck_assert_uint_gt(run->wall_time, 0);
	ck_assert_int_gt(run->maximum_resident_bytes, 0);
	ck_assert_ptr_null(program_run_output_threads_at(run, 0)->counts);
	run = run_of(&dies);
	ck_assert_int_eq(run->exit_status, -1);
	ck_assert_int_eq(run->signal, SIGTERM);
}

static const struct {
	const char *program, *content, *kind, *attempted;
	int number, mode;
} failures[] = {
	{"/no/such/program", NULL, "notFound", "cannot run '/no/such/program': No such file", ENOENT, 0},
	{"/dev/null/program", NULL, "notFound", "cannot run '/dev/null/program': Not a directory", ENOTDIR, 0},
	{"/usr", NULL, "notExecutable", "cannot run '/usr', a folder", EISDIR, 0},
	{"./script", "echo\n", "notExecutable", "cannot run './script': Permission denied", EACCES, 0600},
	{"./script", "echo\n", "notExecutable", "cannot run './script': Exec format error", ENOEXEC, 0700},
	{"./script", "\177ELF and no more", "notExecutable", "cannot run './script': Exec format error", ENOEXEC, 0700},
	{"./script", "\001\002\003", "notExecutable", "cannot run './script': Exec format error", ENOEXEC, 0700},
	{"./script", "#!/no/such\n", "notExecutable", "the interpreter or loader that it names is missing", ENOENT,
	 0700},
};

TEST_OF(program_cannot_be_run, NR_ELEMENTS(failures))
{
	const struct trial trial = {.program = failures[_i].program,
				    .folder = runner_folder,
				    .is_time_only = true,
				    .arguments = {"argument"}};
	const struct core_failure *failure;

	if (failures[_i].content) {
		char *path = folder_write(runner_folder, "script", failures[_i].content);

		ck_assert_int_eq(chmod(path, (mode_t)failures[_i].mode), 0);
	}
	failure = runner_fail(&trial);
	ck_assert_str_eq(failure->kind, failures[_i].kind);
	ck_assert_int_eq(failure->number, failures[_i].number);
	ck_assert_has(failure->attempted, failures[_i].attempted);
}

TEST(surroundings_are_missing)
{
	const struct trial folder = {.program = "target", .folder = "/no/such", .is_time_only = true};
	const struct trial input = {.program = "target", .standard_input = "/no/such", .is_time_only = true};
	const struct trial output = {.program = "target", .standard_output = "/no/such", .is_time_only = true};
	const struct trial process = {.attach_to = 0x7ffffff0, .is_time_only = true};

	ck_assert_has(runner_fail(&folder)->attempted, "cannot run in folder '/no/such'");
	ck_assert_has(runner_fail(&input)->attempted, "cannot read standard input from '/no/such'");
	ck_assert_has(runner_fail(&output)->attempted, "cannot write standard output to '/no/such'");
	ck_assert_has(runner_fail(&process)->attempted, "No such process");
}

TEST_OF(time_limit_kills_all, 2)
{
	const struct trial trial = {.program = "target",
				    .arguments = {"linger", "5"},
				    .time_limit = "0.3",
				    .is_time_only = true,
				    .is_total = _i == 1};

	ck_assert_str_eq(runner_fail(&trial)->kind, "timeLimit");
}

/* runner_end sees that nothing lives on. Traced, and not. */
TEST_OF(time_limit_kills_processes, 2)
{
	const struct trial trial = {.program = "target",
				    .arguments = {"family", "6"},
				    .time_limit = "0.5",
				    .is_time_only = true,
				    .is_total = _i == 1};

	ck_assert_str_eq(runner_fail(&trial)->kind, "timeLimit");
}

/* ---- surroundings ---- */

TEST(surroundings_are_passed_on)
{
	autofree char *path = folder_write(runner_folder, "input", "read\n"),
		      *expected = rot_format("%s set read\n", runner_folder), *text = NULL;
	const struct trial trial = {.program = "target",
				    .arguments = {"print_environment"},
				    .folder = runner_folder,
				    .environment = "ROT_TEST=set",
				    .standard_input = path,
				    .is_time_only = true};

	run_of(&trial);
	text = file_text(runner_said);
	ck_assert_str_eq(text, expected);
}

/* The file loses what was in it, also what an earlier run wrote. */
TEST(output_goes_to_a_file)
{
	autofree char *input = folder_write(runner_folder, "input", "read\n"),
		      *output = folder_write(runner_folder, "written", "something that was there before\n"),
		      *expected = rot_format("%s set read\n", runner_folder), *text = NULL;
	const struct trial trial = {.program = "target",
				    .arguments = {"print_environment"},
				    .folder = runner_folder,
				    .environment = "ROT_TEST=set",
				    .standard_input = input,
				    .standard_output = output,
				    .nr_runs = 2,
				    .is_time_only = true};

	run_of(&trial);
	text = file_text(output);
	ck_assert_str_eq(text, expected);
}

/* Limits, blocked and ignored signals, process group: as without rot-core. */
TEST_OF(process_is_as_its_starter_left_it, 2)
{
	const char *script = "ulimit -n; grep -E '^Sig(Blk|Ign)|^TracerPid' /proc/self/status | sed 's/TracerPid.*//'; "
			     "cut -d ' ' -f 5 /proc/self/stat";
	const struct trial trial = {
		.program = "/bin/sh", .arguments = {"-c", script}, .is_time_only = true, .is_total = _i == 1};
	char *with = NULL, *without = NULL;
	pid_t pid;

	signal(SIGHUP, SIG_IGN);
	run_of(&trial);
	with = file_text(runner_said);
	pid = fork();
	if (pid == 0) {
		if (freopen(runner_said, "w", stdout))
			execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(124);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	without = file_text(runner_said);
	ck_assert_str_eq(with, without);
}

/* ---- disturbed ---- */

static const int passed_on[] = {SIGTERM, SIGINT};

TEST_OF(signals_are_passed_on, 4)
{
	const struct trial trial = {.program = "target",
				    .arguments = {"linger_for_signals", "3"},
				    .is_time_only = true,
				    .is_total = _i / 2 == 1,
				    .nr_runs = 2};
	pid_t pid = runner_begin(&trial);
	const struct program_command_output *output;

	runner_wait_until_ready(1);
	ck_assert_int_eq(kill(pid, passed_on[_i % 2]), 0);
	if (passed_on[_i % 2] == SIGINT) {
		/* It did not die of it, so the second run follows. */
		runner_wait_until_ready(2);
		ck_assert_int_eq(kill(pid, SIGTERM), 0);
	}
	ck_assert_int_eq(runner_end(pid), 0);
	output = runner_output();
	ck_assert_int_eq(program_command_output_outputs_at(output, 0)->exit_status, 42);
	ck_assert_uint_eq(program_command_output_nr_outputs(output), passed_on[_i % 2] == SIGINT ? 2 : 1);
}

/* runner_end sees that nothing lives on. */
TEST_OF(death_ends_the_program, 2)
{
	for (int i = 0; i < 20; i++) {
		const struct trial trial = {
			.program = "target", .arguments = {"linger", "5"}, .is_time_only = true, .is_total = _i == 1};
		pid_t pid = runner_begin(&trial);

		usleep((useconds_t)(i * 700));
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert(WIFSIGNALED(runner_end(pid)));
	}
}

/* A process that the program leaves behind runs on, and is not waited for. */
TEST_OF(processes_left_behind_run_on, 2)
{
	autofree char *input = rot_format("%s/input", runner_folder);
	int status, end = mkfifo(input, 0600) < 0 ? -1 : open(input, O_RDWR | O_CLOEXEC);
	const struct trial trial = {.program = "target",
				    .arguments = {"leave_child"},
				    .standard_input = input,
				    .is_time_only = true,
				    .is_total = _i == 1};
	pid_t pid = runner_begin(&trial);

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(program_command_output_outputs_at(runner_output(), 0)->exit_status, 0);
	runner_wait_until_ready(1);
	close(end);
	ck_assert_int_gt(waitpid(-1, &status, 0), 0);
	ck_assert_int_eq(status, 0);
}

/* The acts of victim.c that check for themselves what tracing must not change. */
static const char *const transparent_acts[] = {
	"signals",
	"stop_and_continue",
	"exec_main",
	"exec_other",
};

TEST_OF(tracing_is_not_noticed, NR_ELEMENTS(transparent_acts))
{
	autofree char *act = folder_write(runner_folder, "act", transparent_acts[_i]),
		      *result = rot_format("%s/result", runner_folder);
	const struct trial trial = {.program = "victim",
				    .arguments = {"--command", act, "--output", result, "--wire", "-1"},
				    .is_time_only = true};
	const struct program_run_output *run;

	for (int i = 0; i < 5 && permits_tracing(); i++) {
		run = run_of(&trial);
		ck_assert_int_eq(run->signal, 0);
		ck_assert_int_eq(run->exit_status, 0);
		ck_assert_uint_eq(run->threads.nr, (size_t)run->nr_threads);
	}
}

UNIT_TESTS(.set_up = runner_set_up, .tear_down = runner_tear_down);
