/* SPDX-License-Identifier: MIT */
/* Starting rot-core: every way it can end, with scripts in its place; nothing may be left behind. */
#include "base/files.h"
#include "base/messages.h"
#include "engine/core_launch.h"
#include "fixture.h"
#include "testing.h"

/* A core's answer of one collection with two runs, as rot_text_write gives it, in FOLDER/answer. */
static void
write_answer(const void *answer)
{
	autofree char *path = fixture_path("answer");
	FILE *out = fopen(path, "w");

	ck_assert_int_eq(rot_text_write(answer, out, &why), 0);
	ck_assert_int_eq(fclose(out), 0);
}

static void
write_runs(int nr_collections, int nr_runs)
{
	autograph struct measurement_command_output *output = measurement_command_output_new();

	for (int c = 0; c < nr_collections; c++) {
		struct measurement_run_output_collection *collection = measurement_run_output_collection_new();

		for (int i = 0; i < nr_runs; i++) {
			struct measurement_run_output *run = measurement_run_output_new();

			run->order = i;
			measurement_run_output_collection_outputs_add(collection, run);
		}
		measurement_command_output_collections_add(output, collection);
	}
	write_answer(output);
}

static void
write_failure(const char *kind, const char *attempted, const char *hint, const char *printed)
{
	struct core_failure *failure = core_failure_new();

	rot_string_set(&failure->kind, kind);
	rot_string_set(&failure->attempted, attempted);
	rot_string_set(&failure->hint, hint);
	rot_string_set(&failure->standard_error, printed);
	write_answer(failure);
	core_failure_delete(failure);
}

static void
expect_no_work_folder(void)
{
	char *work = fixture_path("cache/work"), **names = folder_list(work);

	ck_assert_ptr_null(names[0]);
	free(names);
	free(work);
}

/* Runs a script as rot-core, for one measurement of two runs. In it $OUTPUT is the output file, $ANSWER the prepared
 * answer. */
static int
launch(const char *script, struct measurement_command_output **output, struct rot_error *err)
{
	struct measurement *measurement = fixture_measurement("Tiny", NULL);
	char *text = rot_format("ANSWER=%s/answer LOG=%s/log/core\n"
				"while [ $# -gt 0 ]; do case $1 in\n"
				"--child) CHILD=$2;; --command) COMMAND=$2;; --output) OUTPUT=$2;;\n"
				"--time-limit) LIMIT=$2;; --progress-fd) FD=$2;; esac; shift 2; done\n%s",
				fixture_folder, fixture_folder, script);
	int rc;

	fixture_replace_core(text);
	free(text);
	*output = NULL;
	rc = core_launch(&rot, "/the/child", &measurement, 1, 2, output, err);
	rot_graph_delete(measurement);
	expect_no_work_folder();
	return rc;
}

TEST(good_answer_is_read)
{
	autograph struct measurement_command_output *output = NULL;

	write_runs(1, 2);
	ck_assert_msg(
		launch("[ $CHILD = /the/child ] && [ $LIMIT = 600.000 ] && grep -q '^Tiny$' \"$COMMAND\" || exit 9\n"
		       "echo run 1 of 2 >&$FD; echo nonsense >&$FD; cp $ANSWER $OUTPUT; printf 'run 2 of 2' >&$FD",
		       &output, &why) == 0,
		"%s", why.text);
	ck_assert_int_eq((int)measurement_command_output_nr_collections(output), 1);
}

/* The script of a core, and what must be in the message and in the hint. */
static const struct {
	const char *script, *text, *more_text, *hint;
} endings[] = {
	{"exit 3", "exit status 3", "", ""},
	{"exit 0", "exit status 0", "cannot read", ""},
	{"echo the reason >&2; exit 1", "exit status 1", "the reason", ""},
	{"kill -SEGV $$", "signal 11", "", ""},
	{"kill -9 $$", "signal 9", "Killed", ""},
	{"head -c 60 $ANSWER >$OUTPUT", "exit status 0", "output of the measuring core:", ""},
	{"printf 'Tiny\\n' >$OUTPUT", "exit status 0", "output of the measuring core:", ""},
	{"cp $ANSWER $OUTPUT; exit 4", "exit status 4", "", ""},
	{"head -c 100000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1", "the end", "", ""},
};

TEST_OF(bad_end_is_explained, NR_ELEMENTS(endings))
{
	struct measurement_command_output *output;

	write_runs(1, 2);
	ck_assert_int_eq(launch(endings[_i].script, &output, &why), -1);
	ck_assert_ptr_null(output);
	ck_assert_msg(strstr(why.text, endings[_i].text) && strstr(why.text, endings[_i].more_text), "%s", why.text);
}

TEST(missing_runs_are_no_answer)
{
	static const int shapes[][2] = {{1, 1}, {1, 3}, {0, 0}, {2, 2}};
	struct measurement_command_output *output;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		write_runs(shapes[i][0], shapes[i][1]);
		ck_assert_int_eq(launch("cp $ANSWER $OUTPUT", &output, &why), -1);
		ck_assert_msg(strstr(why.text, "runs that were asked for"), "%s", why.text);
	}
}

static const struct {
	const char *kind, *hint, *expected_hint;
} failures[] = {
	{"error", "do this", "do this"},
	{"error", "", ""},
	{"timeLimit", "", "-timeLimit"},
	{"killed", "", "crash"},
	{"exited", "not this way", "not this way"},
	{"refused", "", ""},
};

TEST_OF(failure_of_the_core_is_passed_on, NR_ELEMENTS(failures))
{
	struct measurement_command_output *output;

	write_failure(failures[_i].kind, "cannot do it", failures[_i].hint, "out of cheese");
	ck_assert_int_eq(launch("echo from the parent >&2; cp $ANSWER $OUTPUT; exit 1", &output, &why), -1);
	ck_assert_msg(strstr(why.text, "cannot do it") == why.text && strstr(why.text, "out of cheese") &&
			      strstr(why.text, "from the parent"),
		      "%s", why.text);
	ck_assert_has(why.hint, failures[_i].expected_hint);
	ck_assert(core_launch_was_refused() == (strcmp(failures[_i].kind, "refused") == 0));
	ck_assert(core_launch_was_late() == (strcmp(failures[_i].kind, "timeLimit") == 0));
	ck_assert_int_eq(launch("exit 1", &output, &why), -1); /* which says nothing */
	ck_assert(!core_launch_was_refused() && !core_launch_was_late());
}

TEST(missing_core_is_an_error)
{
	autograph struct measurement *measurement = fixture_measurement("Tiny", NULL);
	struct measurement_command_output *output = NULL;
	autofree char *core = fixture_path("built/core/rot-core");

	ck_assert_int_eq(unlink(core), 0);
	ck_assert_int_eq(core_launch(&rot, "/the/child", &measurement, 1, 1, &output, &why), -1);
	ck_assert_msg(strstr(why.text, "built/core/rot-core") && strstr(why.text, "No such file"), "%s", why.text);
}

static char *trapped; /* file that is there as soon as the core minds SIGTERM */

static void
interrupt_when_trapped(int number)
{
	(void)number;
	if (access(trapped, F_OK) == 0)
		raise(SIGINT);
	else
		ualarm(10000, 0);
}

TEST(interruption_stops_the_core)
{
	struct measurement_command_output *output;

	write_runs(1, 2);
	trapped = fixture_path("log/trapped");
	messages_catch_signals();
	signal(SIGALRM, interrupt_when_trapped);
	ualarm(10000, 0);
	ck_assert_int_eq(launch("trap 'echo stopped >>$LOG; exit 1' TERM; : >${LOG%/*}/trapped\n"
				"while :; do sleep 0.05; done",
				&output, &why),
			 -1);
	ck_assert_str_eq(why.text, "interrupted");
	ck_assert_int_eq(fixture_count("core"), 1);
	free(trapped);
}

static void
make_old(const char *folder)
{
	const struct timespec long_ago[2] = {{1, 0}, {1, 0}};

	ck_assert_int_eq(utimensat(AT_FDCWD, folder, long_ago, 0), 0);
}

/* The folder of a process that is gone is removed, that of a living one stays, and so does one that was just made. */
TEST(stale_work_folders_are_removed)
{
	struct work_folder own = {.lock = -1}, other = {.lock = -1};
	autofree char *cache = fixture_path("cache"), *dead = fixture_path("cache/work/1-dead"),
		      *unlocked = fixture_path("cache/work/2-x"), *young = fixture_path("cache/work/3-y");

	fixture_write("cache/work/1-dead/lock", "", false);
	fixture_write("cache/work/1-dead/output", "half", false);
	fixture_write("cache/work/2-x/command", "", false);
	fixture_write("cache/work/3-y/command", "", false);
	make_old(dead);
	make_old(unlocked);
	ck_assert_int_eq(work_folder_open(&own, cache, &why), 0);
	ck_assert_int_eq(access(young, F_OK), 0);
	ck_assert_int_eq(access(dead, F_OK), -1);
	ck_assert_int_eq(access(unlocked, F_OK), -1);
	ck_assert_int_eq(work_folder_open(&other, cache, &why), 0);
	ck_assert_int_eq(access(own.path, F_OK), 0);
	work_folder_close(&other);
	ck_assert_int_eq(access(own.path, F_OK), 0);
	work_folder_close(&own);
	work_folder_close(&own);
}

TEST(work_folder_is_elsewhere_when_the_cache_is_no_folder)
{
	struct work_folder work;
	autofree char *cache = fixture_path("cache/CACHEDIR.TAG");

	setenv("TMPDIR", fixture_folder, 1);
	ck_assert_ok(work_folder_open(&work, cache, &why));
	ck_assert(strncmp(work.path, fixture_folder, strlen(fixture_folder)) == 0);
	work_folder_close(&work);
	setenv("TMPDIR", "/nowhere/at all", 1);
	ck_assert_int_eq(work_folder_open(&work, cache, &why), -1);
	ck_assert_msg(strstr(why.text, "/nowhere/at all"), "%s", why.text);
	work_folder_close(&work);
}

/* Needs a core that outlives the driver's patience: the driver adds its own grace to the limit. */
TEST(core_dies_with_the_driver)
{
	char *pid_path = fixture_path("log/pid"), *text = NULL, *exe, target[8];
	pid_t driver = fork(), core;

	if (driver == 0) {
		struct measurement_command_output *output;

		launch("echo $$ >$LOG.new; mv $LOG.new ${LOG%/*}/pid; exec sleep 1000", &output, &why);
		_exit(0);
	}
	while (!(text = file_read(pid_path, NULL, NULL)))
		usleep(1000);
	core = atoi(text);
	ck_assert_int_gt(core, 1);
	kill(driver, SIGKILL);
	waitpid(driver, NULL, 0);
	/* If it lives on, the test times out. It may still be a zombie of init's, which has no executable. */
	exe = rot_format("/proc/%d/exe", (int)core);
	while (kill(core, 0) == 0 && readlink(exe, target, sizeof(target)) >= 0)
		usleep(1000);
	free(exe);
	free(text);
	free(pid_path);
}

UNIT_TESTS(.set_up = fixture_setup, .tear_down = fixture_teardown);
