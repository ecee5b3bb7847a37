/* SPDX-License-Identifier: MIT */
/* A failure of a measurement reaches the CoreFailure, with what was attempted, the reason and the next step. */
#include "runner.h"
#include "testing.h"

TEST(reason_of_a_kernel_is_told)
{
	struct measurement_command *command = make_command(1);

	rot_string_set(&workload_probe(add_workload(command_measurement(command), 3))->failure, "needs AVX-512");
	runner_run(command);
	outcome_expect_failure("error", "cannot initialize kernel Probe of workload 3: needs AVX-512", NULL);
	ck_assert_has(outcome.journal, "probe dispose");
}

TEST(memory_that_is_not_there_is_told)
{
	struct measurement_command *command = make_command(1);

	workload_probe(add_workload(command_measurement(command), 0))->pages = INT64_C(1) << 40;
	runner_run(command);
	outcome_expect_failure("error", "cannot allocate 4503599627370496 bytes", NULL);
}

/* With a limit of 1 MiB: what is freed is there for the next run, and what clears the caches takes a quarter. */
static const struct {
	bool warm;
	long pages;
	const char *text;
} limited[] = {
	{true, 200, NULL},
	{true, 300, "cannot allocate 1228800 bytes: of the 1048576 bytes of memory that may be used 0 are taken"},
	{false, 200, "cannot allocate 819200 bytes: of the 1048576 bytes of memory that may be used 266240 are taken"},
};

TEST_OF(no_more_memory_is_given_than_may_be_used, NR_ELEMENTS(limited))
{
	struct measurement_command *command = make_command(3);
	struct probe_data *probe = workload_probe(add_workload(command_measurement(command), 0));

	command->memory_bytes = 1 << 20;
	probe->base.warm_data = limited[_i].warm;
	probe->pages = limited[_i].pages;
	runner_run(command);
	if (limited[_i].text)
		outcome_expect_failure("error", limited[_i].text, NULL);
	else
		outcome_run(0, 2);
}

TEST(a_cpu_that_does_not_exist_is_named)
{
	struct measurement_command *command = make_command(1);

	add_workload(command_measurement(command), 0)->cpu = 1000000;
	runner_run(command);
	outcome_expect_failure("error", "workload 0: cannot pin a thread to CPU 1000000: Invalid argument", "online");
}

/* The hooks of those that were entered are called, in reverse, also after the failure. */
TEST(a_command_that_fails_is_shown_with_what_it_printed)
{
	struct measurement_command *command = make_command(1);
	struct measurement *measurement = command_measurement(command);
	struct run_command_configurator *first = run_command_configurator_new(),
					*second = run_command_configurator_new();
	autofree char *main = NULL;

	run_command_configurator_before_run_add(first, shell("exit 0"));
	run_command_configurator_before_run_add(second, shell("echo it went wrong >&2; exit 3"));
	measurement_configurators_add(measurement, &first->base);
	measurement_configurators_add(measurement, &second->base);
	add_workload(measurement, 0);
	runner_run(command);
	outcome_expect_failure("error", "the command 'sh' failed with exit status 3: it went wrong", NULL);
	main = journal_of("main");
	ck_assert_str_eq(main, "configurator beforeMeasurement\nconfigurator beforeMeasurement\nrun begins\n"
			       "configurator beforeRun\nconfigurator beforeRun\nconfigurator afterRun\nrun ends\n"
			       "configurator afterMeasurement\nconfigurator afterMeasurement\n");
}

static const struct {
	const char *executable, *script, *text;
} commands[] = {
	{"/no/such/program", "", "cannot run the command '/no/such/program': No such file or directory"},
	{"", "", "cannot run a command without a name"},
	{"sh", "kill -TERM $$", "the command 'sh' was killed by signal 15"},
};

TEST_OF(a_command_that_cannot_be_run_is_an_error, NR_ELEMENTS(commands))
{
	struct measurement_command *command = make_command(1);
	struct run_command_configurator *configurator = run_command_configurator_new();
	struct run_command *run = shell(commands[_i].script);

	rot_string_set(&run->executable, commands[_i].executable);
	run_command_configurator_before_measurement_add(configurator, run);
	measurement_configurators_add(command_measurement(command), &configurator->base);
	runner_run(command);
	outcome_expect_failure("error", commands[_i].text, NULL);
}

/* ---- events ---- */

static struct measurement_command *
describe_event(const char *event)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = add_workload(command_measurement(command), 0);
	struct perf_event_measurer *measurer;
	struct perf_event_definition *definition = perf_event_definition_new();

	workload->measurer_set = make_set(1, &perf_event_measurer_class);
	measurer = (struct perf_event_measurer *)workload->measurer_set->main_measurer;
	rot_string_set(&definition->definition, event);
	perf_event_measurer_events_add(measurer, definition);
	return command;
}

TEST(an_unknown_event_is_refused)
{
	runner_run(describe_event("nonsense::FOO"));

	outcome_expect_failure("refused", "cannot count 'nonsense::FOO'", "perf_raw::rXXXX");
	ck_assert_lacks(outcome.journal, "probe run");
}

/* Forbidden as in a container: the errno decides the hint. */
static const struct {
	int errnum;
	const char *reason, *hint;
} refusals[] = {
	{EACCES, "Permission denied", "CAP_PERFMON"},     {EPERM, "Operation not permitted", "CAP_PERFMON"},
	{ENOENT, "No such file or directory", "virtual"}, {EMFILE, "Too many open files", "ulimit -n"},
	{EINVAL, "Invalid argument", "does not know"},    {ENOSYS, "Function not implemented", "seccomp"},
};

TEST_OF(a_refused_event_tells_the_next_step, NR_ELEMENTS(refusals))
{
	runner_forbid(SYS_perf_event_open, refusals[_i].errnum);
	runner_run(describe_event("perf_raw::r10000de65"));
	outcome_expect_failure("refused", "perf_raw::r10000de65", refusals[_i].hint);
	outcome_expect_failure("refused", refusals[_i].reason, NULL);
	outcome_expect_failure("refused", "on thread ", NULL);
}

/* ---- commands ---- */

TEST(nothing_to_do_is_an_error)
{
	runner_run(make_command(0));

	outcome_expect_failure("error", "0 runs of 1 measurements", NULL);
}

TEST_OF(a_workload_needs_a_kernel_of_its_own, 2)
{
	struct measurement_command *command = make_command(1);
	struct workload *first = add_workload(command_measurement(command), 0), *second = workload_new();

	second->kernel = _i == 0 ? NULL : first->kernel;
	second->id = 1;
	measurement_workloads_add(command_measurement(command), second);
	runner_run(command);
	outcome_expect_failure("error", _i == 0 ? "workload 1 has no kernel" : "share a kernel", NULL);
}

/* ---- files ---- */

TEST(wrong_usage_has_a_status_of_its_own)
{
	ck_assert_int_eq(runner_start(NULL, "/dev/null", NULL), 2);
	ck_assert_int_eq(runner_start("/dev/null", NULL, NULL), 2);
}

/* Whatever the command holds, the child answers with a failure that names the file. */
static const char *const broken[] = {"", "MeasurementCommand\n", "NoSuchClass\n<end>\n", "<null>\n<end>\n"};

TEST_OF(a_broken_command_is_a_failure, NR_ELEMENTS(broken))
{
	char *folder = temporary_folder_new(), *command = folder_write(folder, "command", broken[_i]);
	char *output = rot_format("%s/output", folder), line[32];
	FILE *file;

	ck_assert_int_eq(runner_start(command, output, NULL), 1);
	file = fopen(output, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	ck_assert_str_eq(line, "CoreFailure\n");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	fclose(file);
	unlink(command);
	ck_assert_int_eq(runner_start(command, output, NULL), 1);
	ck_assert_int_eq(runner_start(command, "/no/such/folder/output", NULL), 1);
	free(output);
}
