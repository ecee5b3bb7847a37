/* SPDX-License-Identifier: MIT */
/* Experiments: the JSON and the table of computed quantities, and what happens when something goes wrong on the way. */
#include <jansson.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/process.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "testing.h"

/* The part that does not depend on the version of rot. */
static char *
stable_json(const char *path)
{
	json_t *json = json_file(path);
	char *text, *lines;

	expect_schema("driver/schemas/result-1.json", json);
	json_object_set_new(json, "software", json_object());
	text = json_dumps(json, JSON_INDENT(1));
	lines = rot_format("%s\n", text);
	free(text);
	return lines;
}

TEST(json_and_table_are_golden)
{
	static const char *const typed[] = {"measure", "folder/test", "-runs=10", NULL};
	autofree char *json = NULL, *table = NULL;

	rot.command_line = typed;
	ck_assert_ok(run_into("table", "test", NULL, &why));
	json = stable_json("test.json");
	table = file_read("table", NULL, &why);
	expect_golden("tests/driver/experiments/golden/experiment.json", json);
	expect_golden("tests/driver/experiments/golden/table.txt", table);
}

TEST(csv_is_golden)
{
	char *csv = NULL;

	file_fill("names.xml",
		  "<controller name='names' comment='' runs='10'><axis name='n'><list values='1 2'/></axis>"
		  "<axis name='what'><list values='&lt;b&gt;&amp;&quot; 7'/></axis>"
		  "<point series='a, \"quoted\" one' label='{$n}&#10;line'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><quantity is='time'/>"
		  "<quantity is='transferredBytes:llcRam.read'/></controller>");
	ck_assert_ok(run_into("table", "names", NULL, &why));
	ck_assert_int_ne(access("names.csv", F_OK), 0);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "writeCsv", "true", &why);
	ck_assert_ok(run_into("table", "names", NULL, &why));
	csv = file_text("names.csv");
	expect_golden("tests/driver/experiments/golden/names.csv", csv);
}

TEST(configuration_overrides)
{
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", &why);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "optimization", "-O2 -g", &why);
	file_fill("one.xml",
		  "<controller name='one' comment=''><point><workload><kernel type='Triad'/></workload></point>"
		  "<quantity is='time'/></controller>");
	ck_assert_int_eq(run_into("table", "one", NULL, &why), 0);
	ck_assert_int_eq(fake_nr_runs, 3);
	ck_assert_str_eq(fake_optimization, "-O2 -g");
	/* The last call is for a ceiling: neither runs nor flags hold for it. */
	ck_assert_int_eq(run_into("table", "test", NULL, &why), 0);
	ck_assert_int_eq(fake_nr_runs, 4);
	ck_assert_str_eq(fake_optimization, "");
	ck_assert_str_eq(configuration_string(rot.configuration, "optimization"), "-O2 -g");
}

/* Keys reach the measuring, unless the runs are given; why it ended is said below the table. */
TEST(effort_follows_the_keys)
{
	autofree char *table = NULL;

	file_fill("one.xml",
		  "<controller name='one' comment=''><point><workload><kernel type='Triad'/></workload></point>"
		  "<quantity is='time'/></controller>");
	ck_assert_int_eq(run_into("table", "one", NULL, &why), 0);
	ck_assert_double_eq(fake_effort.precision, 0);
	ck_assert_double_eq(fake_effort.budget_s, 10);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "precision", "0.02", &why);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "timeBudget", "3", &why);
	fake_runs_end = "narrow";
	ck_assert_int_eq(run_into("table", "one", NULL, &why), 0);
	ck_assert_double_eq(fake_effort.precision, 0.02);
	ck_assert_double_eq(fake_effort.budget_s, 3);
	table = file_read("table", NULL, &why);
	ck_assert_has(table, "\n1 of 1 point: runs were added until");
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", &why);
	ck_assert_int_eq(run_into("table", "one", NULL, &why), 0);
	ck_assert_double_eq(fake_effort.precision, 0);
}

TEST(interrupted_keeps_finished_points)
{
	json_t *json;

	fake_failing_call = 3;
	fake_is_interrupt = true;
	ck_assert_int_eq(run_into("table", "test", NULL, &why), -1);
	ck_assert_str_eq(why.text, "interrupted");
	json = json_file("test.json");
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), 2);
	ck_assert(json_is_false(json_object_get(json, "complete")));
}

/* Plots are drawn by a program, which the interruption must not stop. */
TEST(interrupted_draws_plots)
{
	autofree char *gnuplot = process_find("gnuplot");

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2 3'/></axis>"
		  "<point label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>"
		  "<plot type='series' title='T' x='n' y='time'/></controller>");
	fake_failing_call = 3;
	fake_is_interrupt = true;
	ck_assert_int_eq(run_into("table", "plot", NULL, &why), -1);
	ck_assert_str_eq(why.text, "interrupted");
	ck_assert_int_eq(access("plot.json", R_OK), 0);
	ck_assert_int_eq(access("plot.pdf", R_OK), gnuplot ? 0 : -1);
}

/* A series looks alike in all plots, also where others are not shown; what is behind the series too. */
TEST(series_keep_their_colours)
{
	char *gnuplot = process_find("gnuplot"), *script;

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2'/></axis><axis name='s'><list "
		  "values='a b c'/></axis><point series='{$s}' label='{$n}'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><plot type='series' title='T' x='n' y='time' if=\"$series = "
		  "'b'\"><curve name='theory' from='1' to='2' y='1'/></plot></controller>");
	if (gnuplot) {
		ck_assert_ok(run_into("table", "plot", NULL, &why));
		script = file_text("plot.gnuplot");
		ck_assert_has(script, "pointtype 5 ");
		ck_assert_has(script, "linecolor rgb \"#D55E00\" title \"b\"");
		ck_assert_has(script, "linecolor rgb \"#E69F00\" title \"theory\"");
	}
	free(gnuplot);
}

/* c comes first, and the others look as they would anyway. */
TEST(series_have_the_looks_that_are_said)
{
	char *gnuplot = process_find("gnuplot"), *script;

	file_fill("plot.xml",
		  "<controller name='plot' comment=''><axis name='n'><list values='1 2'/></axis><axis name='s'><list "
		  "values='a b c'/></axis><point series='{$s}' label='{$n}'><workload><kernel type='Triad' "
		  "bufferSize='{$n}'/></workload></point><plot type='series' title='T' x='n' y='time'/>"
		  "<look series='c' colour='#a01020' marker='pentagon' order='-1'/></controller>");
	if (gnuplot) {
		ck_assert_ok(run_into("table", "plot", NULL, &why));
		script = file_text("plot.gnuplot");
		ck_assert_has(script, "index 0 using 1:2 with linespoints pointtype 15 ");
		ck_assert_has(script, "linecolor rgb \"#A01020\" title \"c\"");
		ck_assert_has(script, "index 1 using 1:2 with linespoints pointtype 7 ");
		ck_assert_has(script, "linecolor rgb \"#0072B2\" title \"a\"");
		ck_assert_has(script, "linecolor rgb \"#D55E00\" title \"b\"");
	}
	free(gnuplot);
}

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

TEST(columns_say_what_is_in_them)
{
	char *table = NULL;

	fake_measure = measure_in_part;
	ck_assert_ok(run_into("table", "test.xml", "out", &why));
	table = file_text("table");
	ck_assert_msg(strstr(table, "exact n=10 or expected") && strstr(table, "1500 (e)") &&
			      !strstr(table, "expected n="),
		      "%s", table);
}

TEST(strict_wants_sound_numbers)
{
	fake_measure = measure_soundly;
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "strict", "true", NULL);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "7", NULL);
	ck_assert_ok(run_into("table", "test.xml", "out", &why));
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "8", NULL);
	ck_assert_int_eq(run_into("table", "test.xml", "other", &why), -1);
	ck_assert_msg(strstr(why.text, "numbers are not both measured and sound\n     ") &&
			      strstr(why.text, ": by the kernels' definitions, not counted"),
		      "%s", why.text);
	ck_assert_int_eq(access("other.json", F_OK), 0);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "strict", "false", NULL);
	ck_assert_int_eq(run_into("table", "test.xml", "out", &why), 0);
}

TEST(failure_writes_nothing)
{
	fake_failing_call = 2;
	fake_is_interrupt = false;
	ck_assert_int_eq(run_into("table", "test", NULL, &why), -1);
	ck_assert_str_eq(why.text, "test.xml:3: at size=100, kind=b: the core failed");
	ck_assert_int_ne(access("test.json", F_OK), 0);
}

TEST(unwritable_folder_is_seen_first)
{
	ck_assert_int_eq(run_into("table", "test", "missing/folder/out", &why), -1);
	ck_assert_has(why.text, "cannot write 'missing/folder/out.json'");
	ck_assert_has(why.hint, "/tmp/out");
	ck_assert_uint_eq(fake_nr_calls, 0);
}

UNIT_TESTS(.set_up = setup_with_test);
