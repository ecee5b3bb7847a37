/* SPDX-License-Identifier: MIT */
/* measuring_perform from end to end, with real cores: what is measured, what comes from the cache. */
#include "base/files.h"
#include "base/paths.h"
#include "engine/measuring.h"
#include "fixture.h"
#include "testing.h"

static void
setup(void)
{
	fixture_setup();
	fixture_log_program("make");
	fixture_replace_core("echo start >>${0%/*}/../../log/core; exec REAL \"$@\"");
}

/* Measures and gives the result, which must have the runs that were asked for. */
static struct measurement_result *
perform(const char *const *fields, int nr_runs)
{
	struct measurement *measurement = fixture_measurement("Tiny", fields);
	struct measurement_result *result = NULL;

	ck_assert_ok(measuring_perform(&rot, &measurement, 1, nr_runs, 1, &result, &why));
	ck_assert_int_eq((int)measurement_result_nr_outputs(result), nr_runs);
	rot_graph_delete(measurement);
	return result;
}

static void
perform_only(const char *const *fields, int nr_runs)
{
	rot_graph_delete(perform(fields, nr_runs));
}

static uint64_t
nano_seconds(const struct measurement_result *result, size_t run)
{
	struct measurement_run_output *output = measurement_result_outputs_at(result, run);
	struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(output, 0);
	struct execution_time_measurer_output *time =
		rot_cast(set->main_measurer_output, &execution_time_measurer_output_class);

	ck_assert_ptr_nonnull(time);
	return time->nano_seconds;
}

static const char *const size_1[] = {"size=1000", NULL}, *const size_2[] = {"size=2000", NULL};

TEST(result_tells_where_it_is_from)
{
	autograph struct measurement *measurement = fixture_measurement("Tiny", size_1);
	autofree char *hash = measuring_description_hash(&rot, measurement);
	autograph struct measurement_result *result = perform(size_1, 2);

	ck_assert_str_eq(result->description_hash, hash);
	ck_assert_int_eq((int)strlen(result->core_hash), 64);
	ck_assert_has(result->description, "size=\"1000\"");
	ck_assert_has(result->compiler, "gcc");
	ck_assert_has(measurement_result_compile_lines_at(result, 0), "Tiny.c");
	ck_assert_int_eq((int)strlen(result->created), 20);
	ck_assert(rot_graph_equal(result->machine, rot.machine));
	ck_assert(nano_seconds(result, 0) > 0 && nano_seconds(result, 1) > 0);
}

TEST(second_time_starts_no_process)
{
	autograph struct measurement_result *first = NULL, *second = NULL;

	fixture_log_program("gcc");
	first = perform(size_1, 3);
	ck_assert_int_eq(fixture_count("core"), 1);
	int nr_compiles = fixture_count_compiles();

	fixture_restart();
	second = perform(size_1, 3);
	ck_assert(rot_graph_equal(first, second));
	ck_assert_int_eq(fixture_count("core"), 1);
	ck_assert_int_eq(fixture_count("make"), 1);
	ck_assert_int_eq(fixture_count_compiles(), nr_compiles);
}

TEST(only_missing_runs_are_measured)
{
	autograph struct measurement_result *three = NULL, *five = NULL, *two = NULL;

	three = perform(size_1, 3);
	fixture_restart();
	five = perform(size_1, 5);
	ck_assert_int_eq(fixture_count("core"), 2);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(nano_seconds(three, i), nano_seconds(five, i));
	two = perform(size_1, 2);
	ck_assert_uint_eq(nano_seconds(two, 1), nano_seconds(five, 1));
	rot_graph_delete(perform(size_1, 5));
	ck_assert_int_eq(fixture_count("core"), 2);
}

TEST(passes_are_measured_in_one_start)
{
	struct measurement *passes[2] = {fixture_measurement("Tiny", size_1), fixture_measurement("Tiny", size_1)};
	struct measurement_result *results[2] = {NULL, NULL};
	struct measurer_set *set = measurement_workloads_at(passes[1], 0)->measurer_set;

	measurer_set_additional_measurers_add(set, (struct measurer_base *)tsc_measurer_new());
	perform_only(size_1, 2); /* the first pass has two runs already */
	ck_assert_ok(measuring_perform(&rot, passes, 2, 4, 1, results, &why));
	ck_assert_int_eq((int)measurement_result_nr_outputs(results[0]), 4);
	ck_assert_int_eq((int)measurement_result_nr_outputs(results[1]), 4);
	ck_assert_str_ne(results[0]->description_hash, results[1]->description_hash);
	ck_assert_int_eq(fixture_count("core"), 3);
	for (int i = 0; i < 2; i++) {
		rot_graph_delete(results[i]);
		results[i] = NULL;
	}
	ck_assert_int_eq(measuring_perform(&rot, passes, 2, 6, 1, results, &why), 0);
	ck_assert_int_eq(fixture_count("core"), 4);
	for (int i = 0; i < 2; i++) {
		rot_graph_delete(results[i]);
		rot_graph_delete(passes[i]);
	}
}

/* Five runs in three starts, each of which counts its runs from 0; and missing ones alone are spread. */
TEST(runs_are_spread_over_starts)
{
	static const int orders[] = {0, 0, 1, 0, 1, 0, 0};
	struct measurement *measurement = fixture_measurement("Tiny", size_1);
	struct measurement_result *result = NULL;

	ck_assert_ok(measuring_perform(&rot, &measurement, 1, 5, 3, &result, &why));
	ck_assert_int_eq((int)measurement_result_nr_outputs(result), 5);
	ck_assert_int_eq(fixture_count("core"), 3);
	rot_graph_delete(result);
	ck_assert_ok(measuring_perform(&rot, &measurement, 1, 7, 3, &result, &why));
	ck_assert_int_eq(fixture_count("core"), 5);
	for (size_t i = 0; i < 7; i++)
		ck_assert_int_eq(measurement_result_outputs_at(result, i)->order, orders[i]);
	rot_graph_delete(result);
	rot_graph_delete(measurement);
}

/* Cached runs are given, and nothing is measured until it is permitted again. */
TEST(missing_runs_can_wait)
{
	autograph struct measurement *measurement = fixture_measurement("Tiny", size_1);
	struct measurement_result *result = NULL;

	perform_only(size_1, 1);
	measuring_stop_at_missing(&rot, true);
	perform_only(size_1, 1);
	ck_assert(!measuring_has_stopped(&rot));
	ck_assert_int_eq(measuring_perform(&rot, &measurement, 1, 4, 1, &result, &why), -1);
	ck_assert_str_eq(why.text, "runs are missing, and are not to be measured yet");
	ck_assert(measuring_has_stopped(&rot));
	ck_assert_int_eq(fixture_count("core"), 1);
	measuring_stop_at_missing(&rot, false);
	ck_assert(!measuring_has_stopped(&rot));
	perform_only(size_1, 4);
	ck_assert_int_eq(fixture_count("core"), 2);
}

TEST(other_size_uses_the_same_core)
{
	autograph struct measurement_result *first = perform(size_1, 1), *second = perform(size_2, 1);

	ck_assert_str_ne(first->description_hash, second->description_hash);
	ck_assert_str_eq(first->core_hash, second->core_hash);
	ck_assert_int_eq(fixture_count("make"), 1);
}

TEST(remeasure_measures_once_per_process)
{
	perform_only(size_1, 2);
	fixture_restart();
	fixture_configure("useCachedResults", "false");
	perform_only(size_1, 2);
	ck_assert_int_eq(fixture_count("core"), 2);
	perform_only(size_1, 2);
	ck_assert_int_eq(fixture_count("core"), 2);
}

/* The same description, another binary: the kernel's source has changed. */
TEST(changed_core_is_measured_again_unless_not_checked)
{
	autograph struct measurement_result *first = perform(size_1, 2), *second = NULL;
	autofree char *path = fixture_path("user/kernels/Tiny/Tiny.c"), *text = file_read(path, NULL, NULL);
	autofree char *changed =
		rot_format("%s\nint more_code(int a);\nint more_code(int a) { return 3 * a; }\n", text);

	fixture_write("user/kernels/Tiny/Tiny.c", changed, false);
	fixture_restart();
	fixture_configure("shouldCheckCoreHash", "false");
	perform_only(size_1, 2);
	ck_assert_int_eq(fixture_count("core"), 1);
	ck_assert_int_eq(fixture_count("make"), 1);
	fixture_restart();
	second = perform(size_1, 2);
	ck_assert_int_eq(fixture_count("core"), 2);
	ck_assert_str_eq(first->description_hash, second->description_hash);
	ck_assert_str_ne(first->core_hash, second->core_hash);
}

static void
count_steps_only(void)
{
	autograph struct measurement *measurement = fixture_measurement("Tiny", size_1);
	struct measurer_set *set = measurement_workloads_at(measurement, 0)->measurer_set;
	struct perf_event_measurer *measurer = &step_measurer_new()->base;
	struct perf_event_definition *event = perf_event_definition_new();
	autograph struct measurement_result *result = NULL;

	rot_string_set(&event->definition, "step::instructions");
	perf_event_measurer_events_add(measurer, event);
	rot_entity_delete(set->main_measurer);
	set->main_measurer = &measurer->base;
	ck_assert_ok(measuring_perform(&rot, &measurement, 1, 1, 1, &result, &why));
}

/* It is what counts them; all else is counted by the child. */
TEST(steps_are_counted_again_by_another_parent)
{
	perform_only(size_1, 1);
	count_steps_only();
	ck_assert_int_eq(fixture_count("core"), 2);
	fixture_restart();
	count_steps_only();
	ck_assert_int_eq(fixture_count("core"), 2);
	fixture_write("built/core/rot-core.sha256", "changed\n", false);
	perform_only(size_1, 1);
	ck_assert_int_eq(fixture_count("core"), 2);
	count_steps_only();
	ck_assert_int_eq(fixture_count("core"), 3);
	count_steps_only();
	ck_assert_int_eq(fixture_count("core"), 3);
}

/* A comment changes the source but not what is measured: the core is the same, bit by bit. */
TEST(same_binary_from_other_source_keeps_results)
{
	autofree char *path = fixture_path("user/kernels/Other/Other.c"), *text = file_read(path, NULL, NULL);
	struct measurement *measurement = fixture_measurement("Other", NULL);
	struct measurement_result *result = NULL;
	char *changed = rot_format("%s/* more */\n", text);

	ck_assert_ok(measuring_perform(&rot, &measurement, 1, 1, 1, &result, &why));
	rot_graph_delete(result);
	fixture_write("user/kernels/Other/Other.c", changed, false);
	rot_graph_delete(measurement);
	fixture_restart();
	measurement = fixture_measurement("Other", NULL);
	ck_assert_int_eq(measuring_perform(&rot, &measurement, 1, 1, 1, &result, &why), 0);
	ck_assert_int_eq(fixture_count("make"), 2);
	ck_assert_int_eq(fixture_count("core"), 1);
	rot_graph_delete(result);
	rot_graph_delete(measurement);
	free(changed);
}

TEST(users_flags_are_part_of_the_description)
{
	autograph struct measurement *measurement = fixture_measurement("Tiny", size_1);
	char *plain = measuring_description_hash(&rot, measurement),
	     *again = measuring_description_hash(&rot, measurement), *other;

	ck_assert_str_eq(plain, again);
	fixture_configure("optimization", "-O1 -funroll-loops");
	other = measuring_description_hash(&rot, measurement);
	ck_assert_str_ne(plain, other);
	ck_assert_str_eq(fixture_kernel(measurement)->optimization, "-O1 -funroll-loops");
	free(other);
	fixture_configure("optimization", "");
	rot_string_set(&fixture_kernel(measurement)->optimization, "-O3");
	rot_string_set(&rot.machine->microcode, "0x1");
	other = measuring_description_hash(&rot, measurement);
	ck_assert_str_ne(plain, other);
	free(plain);
	free(again);
	free(other);
}

TEST(failed_core_keeps_what_was_measured)
{
	struct measurement *measurement;
	struct measurement_result *result = NULL;

	perform_only(size_1, 2);
	fixture_restart();
	fixture_replace_core("exit 1");
	measurement = fixture_measurement("Tiny", size_1);
	ck_assert_int_eq(measuring_perform(&rot, &measurement, 1, 3, 1, &result, &why), -1);
	ck_assert_ptr_null(result);
	rot_graph_delete(measurement);
	perform_only(size_1, 2);
}

TEST(kernel_is_checked_before_anything_is_built)
{
	static const char *const none[] = {"size=0", NULL};
	autograph struct measurement *measurement = fixture_measurement("Tiny", none);
	struct measurement_result *result = NULL;

	ck_assert_int_eq(measuring_perform(&rot, &measurement, 1, 1, 1, &result, &why), -1);
	ck_assert_msg(strstr(why.text, "size must be at least 1"), "%s", why.text);
	ck_assert_int_eq(measuring_perform(&rot, &measurement, 1, 0, 1, &result, &why), -1);
	ck_assert_int_eq(fixture_count("make"), 0);
}

/* Then measuring starts no make; what is prepared stays as it was described. */
TEST(cores_are_prepared_ahead)
{
	static const char *const impossible[] = {"size=9000", NULL};
	struct measurement *measurements[] = {fixture_measurement("Tiny", size_1),
					      fixture_measurement("Tiny", impossible),
					      fixture_measurement("Other", NULL), fixture_measurement("Tiny", size_2)};
	autofree char *before = rot_xml_write(measurements[0]), *after = NULL;

	fixture_configure("optimization", "-O1");
	ck_assert_int_eq(measuring_prepare(&rot, measurements, 4, &why), 1);
	ck_assert_has(why.text, "avx9000");
	ck_assert_int_eq(fixture_count("make"), 2);
	ck_assert_int_eq(fixture_count("core"), 0);
	after = rot_xml_write(measurements[0]);
	ck_assert_str_eq(after, before);
	perform_only(size_1, 2);
	ck_assert_int_eq(fixture_count("make"), 2);
	ck_assert_int_eq(fixture_count("core"), 1);
	for (size_t i = 0; i < 4; i++)
		rot_graph_delete(measurements[i]);
}

/* Two rots want the same point: one measures, the other takes its result. */
TEST(concurrent_rots_measure_a_point_once)
{
	pid_t others[2];

	fixture_configure("quiet", "true");
	for (int i = 0; i < 2; i++) {
		others[i] = fork();
		if (others[i] == 0) {
			perform_only(size_1, 3);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++) {
		int status;

		waitpid(others[i], &status, 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(fixture_count("core"), 1);
	ck_assert_int_eq(fixture_count("make"), 1);
	perform_only(size_1, 3);
	ck_assert_int_eq(fixture_count("core"), 1);
}

TEST(results_that_cannot_be_stored_are_measured_all_the_same)
{
	fixture_write("cache/results", "no folder", false);
	perform_only(size_1, 2);
	perform_only(size_1, 2);
	ck_assert_int_eq(fixture_count("core"), 2);
}

UNIT_TESTS(.set_up = setup, .tear_down = fixture_teardown);
