/* SPDX-License-Identifier: MIT */
/* Experiments: the JSON and the table of computed quantities, and what happens when something goes wrong on the way. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "memory.h"
#include "support/files.h"
#include "support/process.h"
#include "testing.h"

/* What does not depend on the version of rot. */
static char *
stable_json(const char *path)
{
	json_error_t why;
	json_t *json = json_load_file(path, 0, &why);
	char *text, *lines;

	ck_assert_msg(json != NULL, "%s: %s", path, why.text);
	expect_schema("driver/schemas/result-1.json", json);
	json_object_set_new(json, "software", json_object());
	text = json_dumps(json, JSON_INDENT(1));
	lines = rot_format("%s\n", text);
	free(text);
	json_decref(json);
	return lines;
}

START_TEST(json_and_table_are_golden)
{
	struct rot_error err = {0};
	static const char *const typed[] = {"measure", "folder/test", "-runs=10", NULL};
	char *json, *table;

	rot.command_line = typed;
	ck_assert_msg(run_into("table", "test", NULL, &err) == 0, "%s", err.text);
	json = stable_json("test.json");
	table = file_read("table", NULL, &err);
	expect_golden("tests/driver/experiment/golden/experiment.json", json);
	expect_golden("tests/driver/experiment/golden/table.txt", table);
	free(json);
	free(table);
}
END_TEST

START_TEST(json_is_the_schema)
{
	struct rot_error err = {0};
	json_t *json, *point;

	ck_assert_int_eq(run_into("table", "test", "result", &err), 0);
	json = json_load_file("result.json", 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(json, "schema")), "rot.result/1");
	ck_assert_str_eq(json_string_value(json_object_get(json, "controller")), "test");
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), 4);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "ceilings")), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "descriptionHashes")), 9);
	point = json_array_get(json_object_get(json, "points"), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(point, "coordinates"), "size")), 200);
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(point, "coordinates"), "kind")), "b");
	ck_assert_uint_eq(json_array_size(json_object_get(point, "quantities")), 3);
	json_decref(json);
}
END_TEST

START_TEST(csv_is_golden)
{
	struct rot_error err = {0};
	char *csv;

	file_fill("names.xml",
		  "<controller name='names' comment='' runs='10'><axis name='n'><list values='1 2'/></axis>"
		  "<axis name='what'><list values='&lt;b&gt;&amp;&quot; 7'/></axis>"
		  "<point series='a, \"quoted\" one' label='{$n}&#10;line'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><quantity is='time'/>"
		  "<quantity is='transferredBytes:llcRam.read'/></controller>");
	ck_assert_msg(run_into("table", "names", NULL, &err) == 0, "%s", err.text);
	ck_assert_int_ne(access("names.csv", F_OK), 0);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "writeCsv", "true", &err);
	ck_assert_msg(run_into("table", "names", NULL, &err) == 0, "%s", err.text);
	csv = file_text("names.csv");
	expect_golden("tests/driver/experiment/golden/names.csv", csv);
	free(csv);
}
END_TEST

START_TEST(configuration_overrides)
{
	struct rot_error err = {0};

	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", &err);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "optimization", "-O2 -g", &err);
	file_fill("one.xml",
		  "<controller name='one' comment=''><point><workload><kernel type='Triad'/></workload></point>"
		  "<quantity is='time'/></controller>");
	ck_assert_int_eq(run_into("table", "one", NULL, &err), 0);
	ck_assert_int_eq(fake_nr_runs, 3);
	ck_assert_str_eq(fake_optimization, "-O2 -g");
	/* The last call is for a ceiling: neither runs nor flags hold for it. */
	ck_assert_int_eq(run_into("table", "test", NULL, &err), 0);
	ck_assert_int_eq(fake_nr_runs, 4);
	ck_assert_str_eq(fake_optimization, "");
	ck_assert_str_eq(configuration_string(rot.configuration, "optimization"), "-O2 -g");
}
END_TEST

/* Keys reach the measuring, unless the runs are given; why it ended is said below the table. */
START_TEST(effort_follows_the_keys)
{
	struct rot_error err = {0};
	char *table;

	file_fill("one.xml",
		  "<controller name='one' comment=''><point><workload><kernel type='Triad'/></workload></point>"
		  "<quantity is='time'/></controller>");
	ck_assert_int_eq(run_into("table", "one", NULL, &err), 0);
	ck_assert_double_eq(fake_effort.precision, 0);
	ck_assert_double_eq(fake_effort.budget_s, 10);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "precision", "0.02", &err);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "timeBudget", "3", &err);
	fake_runs_end = "narrow";
	ck_assert_int_eq(run_into("table", "one", NULL, &err), 0);
	ck_assert_double_eq(fake_effort.precision, 0.02);
	ck_assert_double_eq(fake_effort.budget_s, 3);
	table = file_read("table", NULL, &err);
	ck_assert_msg(strstr(table, "\n1 of 1 point: runs were added until") != NULL, "%s", table);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", &err);
	ck_assert_int_eq(run_into("table", "one", NULL, &err), 0);
	ck_assert_double_eq(fake_effort.precision, 0);
	free(table);
}
END_TEST

START_TEST(interrupted_keeps_finished_points)
{
	struct rot_error err = {0};
	json_t *json;

	fake_failing_call = 3;
	fake_is_interrupt = true;
	ck_assert_int_eq(run_into("table", "test", NULL, &err), -1);
	ck_assert_str_eq(err.text, "interrupted");
	json = json_load_file("test.json", 0, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), 2);
	ck_assert(json_is_false(json_object_get(json, "complete")));
	json_decref(json);
}
END_TEST

/* Plots are drawn by a program, which the interruption must not stop. */
START_TEST(interrupted_draws_plots)
{
	struct rot_error err = {0};
	char *gnuplot = process_find("gnuplot");

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2 3'/></axis>"
		  "<point label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>"
		  "<plot type='series' title='T' x='n' y='time'/></controller>");
	fake_failing_call = 3;
	fake_is_interrupt = true;
	ck_assert_int_eq(run_into("table", "plot", NULL, &err), -1);
	ck_assert_str_eq(err.text, "interrupted");
	ck_assert_int_eq(access("plot.json", R_OK), 0);
	ck_assert_int_eq(access("plot.pdf", R_OK), gnuplot ? 0 : -1);
	free(gnuplot);
}
END_TEST

/* A series looks alike in all plots, also where others are not shown; what is behind the series too. */
START_TEST(series_keep_their_colours)
{
	struct rot_error err = {0};
	char *gnuplot = process_find("gnuplot"), *script;

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2'/></axis><axis name='s'><list "
		  "values='a b c'/></axis><point series='{$s}' label='{$n}'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><plot type='series' title='T' x='n' y='time' if=\"$series = "
		  "'b'\"><curve name='theory' from='1' to='2' y='1'/></plot></controller>");
	if (gnuplot) {
		ck_assert_msg(run_into("table", "plot", NULL, &err) == 0, "%s", err.text);
		script = file_text("plot.gnuplot");
		ck_assert_ptr_nonnull(strstr(script, "pointtype 5 "));
		ck_assert_ptr_nonnull(strstr(script, "linecolor rgb \"#D55E00\" title \"b\""));
		ck_assert_ptr_nonnull(strstr(script, "linecolor rgb \"#CC79A7\" title \"theory\""));
		free(script);
	}
	free(gnuplot);
}
END_TEST

/* c comes first, and the others look as they would anyway. */
START_TEST(series_have_the_looks_that_are_said)
{
	struct rot_error err = {0};
	char *gnuplot = process_find("gnuplot"), *script;

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2'/></axis><axis name='s'><list "
		  "values='a b c'/></axis><point series='{$s}' label='{$n}'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><plot type='series' title='T' x='n' y='time'/>"
		  "<look series='c' colour='#a01020' marker='pentagon' order='-1'/></controller>");
	if (gnuplot) {
		ck_assert_msg(run_into("table", "plot", NULL, &err) == 0, "%s", err.text);
		script = file_text("plot.gnuplot");
		ck_assert_ptr_nonnull(strstr(script, "index 0 using 1:2 with linespoints pointtype 15 "));
		ck_assert_ptr_nonnull(strstr(script, "linecolor rgb \"#A01020\" title \"c\""));
		ck_assert_ptr_nonnull(strstr(script, "index 1 using 1:2 with linespoints pointtype 7 "));
		ck_assert_ptr_nonnull(strstr(script, "linecolor rgb \"#0072B2\" title \"a\""));
		ck_assert_ptr_nonnull(strstr(script, "linecolor rgb \"#D55E00\" title \"b\""));
		free(script);
	}
	free(gnuplot);
}
END_TEST

/* Measured and sound; of eight runs bytes are only expected. */
static void
measure_soundly(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		int nr_runs, struct quantity_value *values)
{
	(void)measurement;
	for (size_t i = 0; i < nr_requests; i++) {
		values[i] = (struct quantity_value){
			.request = requests[i],
			.name = requests[i].name,
			.of = "",
			.unit = "us",
			.source = "fake",
			.kind = requests[i].border && nr_runs == 8 ? "expected" : "measured",
			.grade = "",
			.nr_samples = (size_t)nr_runs,
			.samples = rot_calloc((size_t)nr_runs, sizeof(double)),
			.taints = rot_calloc((size_t)nr_runs, sizeof(unsigned)),
		};
		values[i].summary = summary_median(values[i].samples, values[i].nr_samples);
	}
}

/* Bytes of every other point are only expected, as where some are too large to be stepped. */
static void
measure_in_part(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		int nr_runs, struct quantity_value *values)
{
	static int nr_points;

	measure_soundly(measurement, requests, nr_requests, nr_runs, values);
	nr_points++;
	for (size_t i = 0; i < nr_requests; i++) {
		if (!requests[i].border || nr_points % 2 == 0)
			continue;
		values[i].kind = "expected";
		values[i].summary = summary_single(1500, "expected");
		values[i].nr_samples = 0;
	}
}

START_TEST(columns_say_what_is_in_them)
{
	struct rot_error err = {0};
	char *table;

	fake_measure = measure_in_part;
	ck_assert_msg(run_into("table", "test.xml", "out", &err) == 0, "%s", err.text);
	table = file_text("table");
	ck_assert_msg(strstr(table, "exact n=10 or expected") && strstr(table, "1500 (e)") &&
			      !strstr(table, "expected n="),
		      "%s", table);
	free(table);
}
END_TEST

START_TEST(strict_wants_sound_numbers)
{
	struct rot_error err = {0};

	fake_measure = measure_soundly;
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "strict", "true", NULL);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "7", NULL);
	ck_assert_msg(run_into("table", "test.xml", "out", &err) == 0, "%s", err.text);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "8", NULL);
	ck_assert_int_eq(run_into("table", "test.xml", "other", &err), -1);
	ck_assert_msg(strstr(err.text, "numbers are not both measured and sound\n     ") &&
			      strstr(err.text, ": by the kernels' definitions, not counted"),
		      "%s", err.text);
	ck_assert_int_eq(access("other.json", F_OK), 0);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "strict", "false", NULL);
	ck_assert_int_eq(run_into("table", "test.xml", "out", &err), 0);
}
END_TEST

START_TEST(failure_writes_nothing)
{
	struct rot_error err = {0};

	fake_failing_call = 2;
	fake_is_interrupt = false;
	ck_assert_int_eq(run_into("table", "test", NULL, &err), -1);
	ck_assert_str_eq(err.text, "test.xml:3: at size=100, kind=b: the core failed");
	ck_assert_int_ne(access("test.json", F_OK), 0);
}
END_TEST

START_TEST(unwritable_folder_is_seen_first)
{
	struct rot_error err = {0};

	ck_assert_int_eq(run_into("table", "test", "missing/folder/out", &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot write 'missing/folder/out.json'"));
	ck_assert_ptr_nonnull(strstr(err.hint, "/tmp/out"));
	ck_assert_uint_eq(fake_nr_calls, 0);
}
END_TEST

static const struct listed_test tests[] = {
	{&json_and_table_are_golden, 1},
	{&json_is_the_schema, 1},
	{&configuration_overrides, 1},
	{&effort_follows_the_keys, 1},
	{&interrupted_keeps_finished_points, 1},
	{&interrupted_draws_plots, 1},
	{&series_have_the_looks_that_are_said, 1},
	{&series_keep_their_colours, 1},
	{&failure_writes_nothing, 1},
	{&strict_wants_sound_numbers, 1},
	{&unwritable_folder_is_seen_first, 1},
	{&columns_say_what_is_in_them, 1},
	{&csv_is_golden, 1},
};

UNIT_TESTS("experiment", tests, .set_up = setup_with_test, .tear_down = teardown);
