/* SPDX-License-Identifier: MIT */
/* Programs from descriptions, with the real rot-core: what is run, what comes from the cache, and what decides that. */
#include "base/messages.h"
#include "engine/origin.h"
#include "engine/program_measuring.h"
#include "fixture.h"
#include "testing.h"

#define MAX_PASSES 4

static char *before;

/* The program is a script that notes each of its runs. */
static void
setup(void)
{
	before = getcwd(NULL, 0);
	fixture_setup();
	fixture_replace_core("echo start >>${0%/*}/../../log/core; exec REAL \"$@\"");
	ck_assert_int_eq(chdir(fixture_folder), 0);
	fixture_write("program", "#!/bin/sh\necho run >>log/program\nexit ${1:-0}\n", true);
	fixture_write("input", "one", false);
	fixture_write("data", "two", false);
	unsetenv("OMP_NUM_THREADS");
}

static void
teardown(void)
{
	ck_assert_int_eq(chdir(before), 0);
	fixture_teardown();
	free(before);
}

static struct program_workload *
workload_new_test(void)
{
	struct program_workload *workload = program_workload_new();
	struct program_file *input = program_file_new();

	workload->program = program_new();
	workload->pass = perf_event_measurer_new();
	rot_string_set(&workload->program->executable, "./program");
	rot_string_set(&workload->program->standard_input, "input");
	program_environment_add(workload->program, "ROT_TEST=1");
	rot_string_set(&input->file, "data");
	program_workload_inputs_add(workload, input);
	return workload;
}

/* Passes differ in the number of their measurer. */
static int
perform_passes(const struct program_workload *workload, size_t nr_passes, int nr_runs,
	       struct program_command_output **output, struct rot_error *err)
{
	struct program_workload *passes[MAX_PASSES];
	json_auto_t *origin = origin_new();
	int rc = 0;

	*output = NULL;
	for (size_t i = 0; i < nr_passes; i++) {
		passes[i] = rot_graph_clone(workload, NULL);
		passes[i]->pass->base.id = (int32_t)i;
		rc = rc < 0 ? -1 : program_workload_identify(&rot, passes[i], err);
	}
	if (rc == 0)
		rc = program_measuring_perform(&rot, passes, nr_passes, nr_runs, output, origin, err);
	for (size_t i = 0; i < nr_passes; i++)
		rot_graph_delete(passes[i]);
	return rc;
}

static void
perform(const struct program_workload *workload, size_t nr_passes, int nr_runs)
{
	autograph struct program_command_output *output = NULL;

	ck_assert_ok(perform_passes(workload, nr_passes, nr_runs, &output, &why));
	ck_assert_uint_eq(program_command_output_nr_outputs(output), nr_passes * (size_t)nr_runs);
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		ck_assert_int_eq(run->pass, (int)(i / (size_t)nr_runs));
		ck_assert(run->wall_time > 0);
	}
	ck_assert(output->backend[0] != '\0');
}

TEST(runs_are_kept)
{
	autograph struct program_workload *workload = workload_new_test();

	perform(workload, 1, 2);
	ck_assert_int_eq(fixture_count("program"), 2);
	perform(workload, 1, 2);
	fixture_restart();
	perform(workload, 1, 2);
	ck_assert_int_eq(fixture_count("program"), 2);
	ck_assert_int_eq(fixture_count("core"), 1);
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 2);
	perform(workload, 1, 5);
	ck_assert_int_eq(fixture_count("program"), 5);
	perform(workload, 3, 2);
	ck_assert_int_eq(fixture_count("program"), 9);
	ck_assert_int_eq(fixture_count("core"), 3);
}

TEST(remeasure_runs_again)
{
	autograph struct program_workload *workload = workload_new_test();

	perform(workload, 1, 2);
	fixture_restart();
	fixture_configure("useCachedResults", "false");
	perform(workload, 1, 2);
	ck_assert_int_eq(fixture_count("program"), 4);
	perform(workload, 1, 2);
	ck_assert_int_eq(fixture_count("program"), 4);
}

/* A rot-core of other sources may count otherwise. One that was compiled otherwise is the same. */
TEST(another_core_runs_again)
{
	autograph struct program_workload *workload = workload_new_test();

	perform(workload, 1, 1);
	fixture_replace_core("# changed\nexec REAL \"$@\"");
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 1);
	fixture_write("built/core/rot-core.sha256", "changed\n", false);
	fixture_configure("shouldCheckCoreHash", "false");
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 1);
	fixture_configure("shouldCheckCoreHash", "true");
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 2);
}

/* ---- what decides ---- */

static void
change_program(struct program_workload *workload)
{
	(void)workload;
	fixture_write("program", "#!/bin/sh\necho run >>log/program\necho changed\n", true);
}

static void
change_interpreter(struct program_workload *workload)
{
	(void)workload;
	fixture_write("program", "#!/bin/bash\necho run >>log/program\nexit ${1:-0}\n", true);
}

static void
change_input(struct program_workload *workload)
{
	(void)workload;
	fixture_write("input", "ONE", false);
}

static void
change_data(struct program_workload *workload)
{
	(void)workload;
	fixture_write("data", "TWO", false);
}

static void
change_argument(struct program_workload *workload)
{
	program_arguments_add(workload->program, "0");
}

static void
change_own_environment(struct program_workload *workload)
{
	program_environment_add(workload->program, "ROT_OTHER=1");
}

static void
change_environment(struct program_workload *workload)
{
	(void)workload;
	setenv("OMP_NUM_THREADS", "3", 1);
}

static void
change_folder(struct program_workload *workload)
{
	fixture_write("folder/log/program", "run\n", false);
	fixture_write("folder/data", "two", false);
	rot_string_set(&workload->program->executable, "../program");
	rot_string_set(&workload->program->folder, "folder");
}

static void
change_output(struct program_workload *workload)
{
	rot_string_set(&workload->program->standard_output, "output");
}

static void
change_forks(struct program_workload *workload)
{
	workload->follow_forks = false;
}

static void (*const changes[])(struct program_workload *workload) = {
	change_program,         change_interpreter, change_input,  change_data,   change_argument,
	change_own_environment, change_environment, change_folder, change_output, change_forks,
};

TEST_OF(changes_run_again, NR_ELEMENTS(changes))
{
	autograph struct program_workload *workload = workload_new_test();
	int nr_before;

	perform(workload, 1, 1);
	nr_before = fixture_count("program");
	changes[_i](workload);
	perform(workload, 1, 1);
	if (workload->program->folder[0])
		ck_assert_int_eq(fixture_count("../folder/log/program"), nr_before + 1);
	else
		ck_assert_int_eq(fixture_count("program"), nr_before + 1);
	perform(workload, 1, 1);
	if (!workload->program->folder[0])
		ck_assert_int_eq(fixture_count("program"), nr_before + 1);
}

TEST(the_rest_does_not_matter)
{
	autograph struct program_workload *workload = workload_new_test();

	perform(workload, 1, 1);
	setenv("ROT_TEST_UNKNOWN", "3", 1);
	setenv("ROT_TEST", "3", 1); /* is set by the description */
	fixture_write("other", "x", false);
	ck_assert_int_eq(chmod("program", 0700), 0);
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 1);
}

/* ---- ends ---- */

TEST(bad_ends_are_errors_and_not_kept)
{
	autograph struct program_workload *workload = workload_new_test();
	struct program_command_output *output;

	fixture_write("program", "#!/bin/sh\necho run >>log/program\necho why >&2\nexit $1\n", true);
	program_arguments_add(workload->program, "3");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
		ck_assert_has(why.text, "'./program' ended with exit status 3");
		ck_assert_has(why.text, "The program printed:\nwhy");
		ck_assert_has(why.hint, "exitStatus=");
		ck_assert_int_eq(fixture_count("program"), i + 1);
	}
	rot_string_set(&workload->exit_status, "0 33");
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	rot_string_set(&workload->exit_status, "0 3");
	perform(workload, 1, 1);
}

TEST(signals_are_bad_ends)
{
	autograph struct program_workload *workload = workload_new_test();
	struct program_command_output *output;

	fixture_write("program", "#!/bin/sh\nkill -9 $$\n", true);
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	ck_assert_has(why.text, "was ended by signal 9");
	rot_string_set(&workload->exit_status, "any");
	perform(workload, 1, 1);
}

TEST(what_cannot_run)
{
	autograph struct program_workload *workload = workload_new_test();
	struct program_command_output *output;

	fixture_write("program", "#!/no/such/interpreter\n", true);
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	ck_assert_has(why.text, "interpreter");
	ck_assert_int_eq(chmod("program", 0600), 0);
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	ck_assert_has(why.text, "cannot run './program': Permission denied");
	fixture_configure("timeLimit", "0.2");
	fixture_write("program", "#!/bin/sh\nexec sleep 60\n", true);
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	ck_assert_has(why.text, "time limit");
}

/* The program is ended, and what was measured before stays. */
TEST(interruption)
{
	autograph struct program_workload *workload = workload_new_test();
	struct program_command_output *output;

	perform(workload, 1, 1);
	messages_catch_signals();
	fixture_write("slow", "#!/bin/sh\nkill -TERM $(cat parent)\nexec sleep 60\n", true);
	autofree char *parent = rot_format("%ld", (long)getpid());

	fixture_write("parent", parent, false);
	rot_string_set(&workload->program->executable, "./slow");
	ck_assert_int_eq(perform_passes(workload, 1, 1, &output, &why), -1);
	ck_assert_str_eq(why.text, "interrupted");
	rot_string_set(&workload->program->executable, "./program");
	perform(workload, 1, 1);
	ck_assert_int_eq(fixture_count("program"), 1);
}

/* Each start of the core has its own, whichever pass or run it was for. */
TEST(warnings_of_all_starts_are_kept)
{
	autograph struct program_workload *workload = workload_new_test();
	autograph struct program_command_output *output = NULL;

	fixture_replace_core("log=${0%/*}/../../log/core; echo start >>$log; REAL \"$@\" || exit\n"
			     "sed -i \"/^warnings$/{n;s/^0$/1\\nin start $(grep -c . $log)/}\" \"$4\"");
	perform(workload, 1, 1);
	perform(workload, 1, 2);
	ck_assert_ok(perform_passes(workload, 2, 2, &output, &why));
	ck_assert_int_eq(fixture_count("core"), 3);
	ck_assert_uint_eq(program_command_output_nr_warnings(output), 3);
	ck_assert_str_eq(program_command_output_warnings_at(output, 1), "in start 2");
	ck_assert_str_eq(program_command_output_warnings_at(output, 2), "in start 3");
}

/* Nothing of the program reaches our streams; its own files do. */
TEST(standard_streams)
{
	autograph struct program_workload *workload = workload_new_test();

	fixture_write("program", "#!/bin/sh\ncat\necho out\necho err >&2\n", true);
	rot_string_set(&workload->program->standard_output, "output");
	perform(workload, 1, 2);
	ck_assert_str_eq(file_text("output"), "oneout\n");
}

UNIT_TESTS(.set_up = setup, .tear_down = teardown);
