/* SPDX-License-Identifier: MIT */
/*
 * "rot run" behind its options, with a core that counts the same each time (fake_core.c): what the program prints and
 * returns stays its own; table and JSON are as in golden/.
 */
#include <jansson.h>

#include "architecture_files.h"
#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "commands/program_run.h"
#include "json_schema.h"
#include "programs/options.h"
#include "programs/report.h"
#include "rot.h"
#include "run_fixture.h"
#include "testing.h"

#define GOLDEN "tests/driver/programs/golden/"

static const struct {
	const char *golden, *architecture, *mode;
	const char *words[MAX_WORDS];
	int status;
} tables_of_runs[] = {
	{GOLDEN "one-pass.txt", "zen5", "", {"true", "-o", "x"}, 0},
	{GOLDEN "per-thread.txt", "zen5", "", {"-t", "true"}, 0},
	{GOLDEN "all-passes.txt", "zen5", "", {"--passes=9", "true"}, 0},
	{GOLDEN "differing.txt", "zen5", "differ", {"-t", "--passes=9", "--runs=2", "true"}, 0},
	{GOLDEN "reordered.txt", "none", "reorder", {"-t", "--runs=2", "true"}, 0},
	{GOLDEN "interrupted.txt", "zen5", "interrupted", {"--passes=9", "true"}, 0},
	{GOLDEN "no-counters.txt", "none", "", {"-t", "true"}, 0},
	{GOLDEN "stolen.txt", "none", "stolen", {"true"}, 0},
	{GOLDEN "blocks.txt", "blocks", "", {"true", "-o", "x"}, 0},
	{GOLDEN "blocks-beside-events.txt", "blocks beside events", "", {"--runs=2", "true"}, 0},
	{GOLDEN "blocks-per-thread.txt", "blocks", "", {"-t", "--runs=3", "true"}, 0},
	{GOLDEN "blocks-uncounted.txt", "blocks", "uncounted", {"true"}, 0},
	{GOLDEN "blocks-failing.txt", "blocks", "fail-translating", {"true"}, 0},
	{GOLDEN "blocks-once.txt", "blocks", "", {"--passes=1", "true"}, 0},
	{GOLDEN "functions.txt", "blocks", "sampled", {"true"}, 0},
	{GOLDEN "loops.txt", "blocks", "sampled", {"--by=loop", "true"}, 0},
	{GOLDEN "lines.txt", "blocks", "sampled", {"--by=line", "true"}, 0},
	{GOLDEN "functions-narrow.txt", "blocks", "sampled", {"true"}, 0},
	{GOLDEN "loops-narrow.txt", "blocks", "sampled", {"--by=loop", "true"}, 0},
	{GOLDEN "lines-narrow.txt", "blocks", "sampled", {"--by=line", "true"}, 0},
	{GOLDEN "functions-all.txt", "blocks", "sampled", {"true"}, 0},
	{GOLDEN "functions-narrow-all.txt", "blocks", "sampled", {"true"}, 0},
	{GOLDEN "functions-runs.txt", "none", "sampled-user", {"--functions=3", "--runs=2", "true"}, 0},
	{GOLDEN "functions-refused.txt", "none", "unsampled", {"true"}, 0},
	{GOLDEN "misses.txt", "blocks", "sampled", {"--miss-kinds", "--by=object", "true"}, 0},
	{GOLDEN "misses-all.txt", "blocks", "sampled", {"--miss-kinds", "true"}, 0},
	{GOLDEN "counts-only.txt", "blocks", "", {"--counts-only", "true"}, 0},
	{GOLDEN "regions.txt", "zen5", "", {"--region=solve", "-R=first=setUp#1", "--passes=9", "true"}, 0},
	{GOLDEN "regions-abandoned.txt",
	 "zen5",
	 "",
	 {"--region=throwing", "-R=fast", "-R=deep", "-R=shared", "true"},
	 0},
	{GOLDEN "regions-all.txt", "zen5", "", {"--region=throwing", "-R=fast", "-R=deep", "-R=shared", "true"}, 0},
	{GOLDEN "regions-missing.txt", "zen5", "", {"-R=idle", "-R=late#50-", "-R=x=missing", "-R=others", "true"}, 1},
	{GOLDEN "regions-differing.txt", "zen5", "differ", {"--region=solve", "--passes=9", "true"}, 0},
	{GOLDEN "regions-no-counters.txt", "none", "", {"--region=solve", "true"}, 0},
	{GOLDEN "regions-blocks.txt", "blocks", "", {"--region=solve", "true"}, 0},
	{GOLDEN "regions-sampled.txt", "blocks", "sampled", {"--region=brief", "true"}, 0},
	{GOLDEN "regions-sampled-times.txt", "none", "sampled", {"--region=brief", "--runs=2", "true"}, 0},
	{GOLDEN "what-ifs.txt", "blocks", "", {"--what-if=32K:8,1M:16", "--what-if=32K,4M,tlb=64", "true"}, 0},
	{GOLDEN "regions-unsampled.txt", "blocks", "sampled", {"--region=last", "true"}, 0},
};

TEST_OF(tables, NR_ELEMENTS(tables_of_runs))
{
	setenv("FAKE_CORE", tables_of_runs[_i].mode, 1);
	is_all = strstr(tables_of_runs[_i].golden, "-all") != NULL; /* as --all says */
	is_narrow = strstr(tables_of_runs[_i].golden, "-narrow") != NULL;
	run(tables_of_runs[_i].architecture, tables_of_runs[_i].words);
	ck_assert_int_eq(status, tables_of_runs[_i].status);
	ck_assert_str_eq(out, "");
	expect_golden(tables_of_runs[_i].golden, err);
}

/* The keys that depend on the machine are left out. */
static void
check_json(const char *path, const char *golden)
{
	static const char *const other[] = {"machine", "software", "measured"};
	json_t *json = json_file(path), *program;
	char *text;

	expect_schema("driver/schemas/result-1.json", json);
	ck_assert_uint_eq(strlen(json_string_value(json_object_get(json_object_get(json, "measured"), "last"))), 20);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		ck_assert_int_eq(json_object_del(json, other[i]), 0);
	program = json_object_get(json, "program");
	ck_assert_uint_eq(strlen(json_string_value(json_object_get(program, "sha256"))), 64);
	json_object_del(program, "sha256");
	ck_assert_has(json_string_value(json_object_get(program, "executable")), "/true");
	json_object_del(program, "executable");
	text = json_dumps(json, JSON_INDENT(1));
	expect_golden(golden, text);
	free(text);
}

TEST(values_as_json)
{
	RUN("zen5", "-q", "-j", "x.json", "true", "-j", "y");
	ck_assert_int_eq(status, 0);
	check_json("x.json", GOLDEN "one-pass.json");
	ck_assert_int_ne(access("y", F_OK), 0);
	RUN("zen5", "-q", "-j", "x.json", "-R=solve", "-R=idle", "true");
	check_json("x.json", GOLDEN "regions.json");
	setenv("FAKE_CORE", "sampled", 1);
	RUN("none", "-q", "-j", "x.json", "true");
	check_json("x.json", GOLDEN "functions.json");
}

/* sweep took 40 % of 1.75 s for 6 million operations and 12 MB; where no sample was taken there is no time, and no
 * rate. */
static void
check_rates(const char *path)
{
	json_t *json = json_file(path), *functions, *item;
	size_t i, nr_found = 0;

	functions = json_object_get(json_object_get(json, "functions"), "functions");
	json_array_foreach(functions, i, item) {
		const char *name = json_string_value(json_object_get(item, "function"));
		const double rate = json_number_value(json_object_get(item, "performance"));

		if (strcmp(name, "solver::of_planes::Relaxation::sweep") == 0) {
			nr_found++;
			ck_assert_double_eq_tol(rate, 6e6 / 0.7, 1);
			ck_assert_double_lt(json_number_value(json_object_get(item, "performanceLow")), 0.99 * rate);
			ck_assert_double_gt(json_number_value(json_object_get(item, "performanceHigh")), 1.01 * rate);
			ck_assert_double_eq_tol(json_number_value(json_object_get(item, "operationalIntensity")), 0.5,
						1e-9);
			ck_assert_int_eq(json_integer_value(json_object_get(item, "entries")), 1000);
		} else if (strcmp(name, "never_seen") == 0) {
			nr_found++;
			ck_assert(json_is_null(json_object_get(item, "performance")));
			ck_assert_int_eq(
				json_integer_value(json_object_get(json_object_get(item, "counts"), "instructions")),
				1500000);
		}
	}
	ck_assert_uint_eq(nr_found, 2);
}

/* The picture has one dot, that of the function with most of the operations, where the result says. */
static void
check_dots(const char *data_path, const char *json_path)
{
	json_t *json = json_file(json_path);
	const json_t *functions = json_object_get(json_object_get(json, "functions"), "functions"),
		     *sweep = json_array_get(functions, 0);
	char *data = file_text(data_path), *dots = strstr(data, "# functions\n");
	double x, y, share;

	ck_assert_msg(dots != NULL, "%s", data);
	dots = strchr(strchr(dots, '\n') + 1, '\n') + 1;
	ck_assert_int_eq(sscanf(dots, "%lf %lf", &x, &y), 2);
	ck_assert_int_eq(sscanf(strrchr(dots, '"') + 1, "%lf", &share), 1);
	ck_assert_double_eq_tol(x, json_number_value(json_object_get(sweep, "operationalIntensity")), 1e-9);
	ck_assert_double_eq_tol(1e9 * y, json_number_value(json_object_get(sweep, "performance")), 1);
	ck_assert_double_eq_tol(share, json_number_value(json_object_get(sweep, "share")), 1e-9);
	ck_assert_has(dots, "::Relaxation::sweep 40 %");
	ck_assert_ptr_eq(strchr(dots, '\n') + 1, dots + strlen(dots));
}

TEST(misses_as_json)
{
	static const char *const keys[] = {"missKinds", "missConflicts", "falseSharing"};
	json_t *json;

	setenv("FAKE_CORE", "colliding", 1);
	RUN("blocks", "-q", "-j", "x.json", "--miss-kinds", "true");
	json = json_file("x.json");
	expect_schema("driver/schemas/result-1.json", json);
	for (size_t i = 0; i < NR_ELEMENTS(keys); i++)
		ck_assert_uint_eq(json_array_size(json_object_get(json, keys[i])), 1);
	ck_assert_uint_eq(json_object_size(json_object_get(json, "missesBy")), 4);
}

TEST(other_caches_beside_these)
{
	json_t *json;

	RUN("blocks", "-q", "-j", "x.json", "--what-if=32K:8,1M:16", "--what-if=32K:full,4M,tlb=64:full:2M", "true");
	json = json_file("x.json");
	expect_schema("driver/schemas/result-1.json", json);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "whatIfs")), 3);
	RUN("blocks", "--what-if=32K:8:9,1M", "true");
	ck_assert_int_ne(status, 0);
}

/* Shares of all functions, of what is none and of what no sample stands for are the whole. */
TEST_OF(functions_in_files, 2)
{
	static const char *const modes[] = {"sampled", "sampled-user"};
	const char *const groups[] = {"functions", "others"};
	json_t *json, *functions, *item;
	double sum;
	char *csv, *gnuplot = process_find("gnuplot");
	size_t i;

	has_csv = true;
	setenv("FAKE_CORE", modes[_i], 1);
	RUN("none", "-q", "-o", "x", "--runs=2", "true");
	ck_assert_int_eq(status, 0);
	json = json_file("x.json");
	functions = json_object_get(json, "functions");
	sum = json_number_value(json_object_get(json_object_get(functions, "missing"), "share"));
	ck_assert(_i == 0 ? sum < 0.02 : sum > 0.1 && sum < 0.2);
	for (size_t k = 0; k < NR_ELEMENTS(groups); k++)
		json_array_foreach(json_object_get(functions, groups[k]), i, item)
			sum += json_number_value(json_object_get(item, "share"));
	ck_assert_double_eq_tol(sum, 1, 1e-9);
	csv = file_text("x-functions.csv");
	ck_assert_has(csv, "\n/opt/lib/"
			   "libsolve.so.1.2,solver::of_planes::Relaxation::sweep,_ZN6solver9of_"
			   "planes10Relaxation5sweepEi,,4672,512,sweep.cc,17,1401,0.");
	csv = file_text("x-loops.csv");
	ck_assert_has(csv, ",4704,256,sweep.cc,20,300,0.");
	ck_assert_has(csv, ",31,,4704,0,1,0\n");
	/* Cells that were not counted are empty, and names do not steer a terminal. */
	ck_assert_has(csv, ",0,,,,");
	ck_assert_lacks(csv, "nan");
	ck_assert_has(csv, "py::\\x1b[31mred");
	if (_i == 0) {
		RUN("blocks", "-q", "-j", "y.json", "true");
		check_rates("y.json");
		RUN("blocks", "-q", "-o", "z", "true");
		if (gnuplot)
			check_dots("z.data", "z.json");
	}
	free(gnuplot);
	RUN("none", "-q", "-j", "y.json", "--functions=0", "true");
	json = json_file("y.json");
	ck_assert_ptr_null(json_object_get(json, "functions"));
}

/* Where no sample tells the time of a region, or observing it took all of it, no file has one, nor a rate; what was
 * counted stays. */
TEST_OF(no_time_that_is_not_known, 2)
{
	json_t *json, *point, *value;
	size_t i, k, nr_unknown = 0, nr_counted = 0;

	has_csv = true;
	setenv("FAKE_CORE", _i == 0 ? "sampled" : "", 1);
	if (_i == 0)
		RUN("blocks", "-q", "-o", "x", "--region=last", "true");
	else
		RUN("blocks", "-q", "-o", "x", "--region=brief", "true");
	ck_assert_int_eq(status, 0);
	json = json_file("x.json");
	expect_schema("driver/schemas/result-1.json", json);
	json_array_foreach(json_object_get(json, "points"), i, point) {
		if (strcmp(json_string_value(json_object_get(point, "label")), _i == 0 ? "last" : "brief") != 0)
			continue;
		json_array_foreach(json_object_get(point, "quantities"), k, value) {
			const char *name = json_string_value(json_object_get(value, "name"));

			if (strcmp(name, "instructions") == 0)
				nr_counted += json_number_value(json_object_get(value, "value")) == 750000;
			if (strcmp(name, "time") != 0 && strcmp(name, "performance") != 0 &&
			    strcmp(name, "throughput") != 0)
				continue;
			nr_unknown++;
			ck_assert(json_is_null(json_object_get(value, "value")));
			ck_assert(json_is_null(json_object_get(value, "low")));
			ck_assert(json_is_null(json_object_get(value, "high")));
			ck_assert_uint_eq(json_array_size(json_object_get(value, "samples")), 0);
		}
	}
	ck_assert_uint_eq(nr_counted, 1);
	ck_assert_uint_eq(nr_unknown, 3);
	ck_assert_has(file_text("x.csv"), _i == 0 ? "\nregion last,last,,,,,0,0," : "\nregion brief,brief,,,,,0,0,");
}

/* Byte by byte, wherever it is written to; and a pipe may be read, since the program runs once. */
TEST(counts_alone_repeat)
{
	char *first, *second;

	RUN("blocks", "-q", "--counts-only", "-j", "x.json", "true");
	ck_assert_int_eq(status, 0);
	RUN("blocks", "-q", "--counts-only", "-j", "y.json", "true");
	first = file_text("x.json");
	second = file_text("y.json");
	ck_assert_str_eq(first, second);
	ck_assert_has(first, "\"loadedBytes\": 12800000");
	ck_assert_lacks(first, "Time");
	ck_assert_int_ne(access("cache/last-run.json", F_OK), 0);
	RUN("blocks", "-q", "--counts-only", "sh", "-c", "echo ran; exit 3");
	ck_assert_int_eq(status, 3);
	ck_assert_str_eq(out, "ran\n");
	RUN("blocks", "-q", "sh", "-c", "echo ran; exit 3");
	ck_assert_int_eq(status, 3);
	ck_assert_str_eq(out, "ran\n"); /* what it prints the second time is dropped */
}

/* Without the raw counts, which would make it large. */
TEST(last_run_is_kept)
{
	json_t *last, *asked = NULL;

	RUN("zen5", "-q", "true");
	RUN("zen5", "-q", "-j", "x.json", "-R=solve", "true");
	last = json_file("cache/last-run.json");
	asked = json_file("x.json");
	ck_assert_int_eq(json_object_del(asked, "runs"), 0);
	ck_assert(json_equal(last, asked));
}

/* They are observed thread by thread, without being asked to show all threads. */
TEST(regions_imply_tracing)
{
	RUN("zen5", "-R=solve", "true");
	ck_assert_has(err, "each of the 2 threads was in it for 0.00025 to 0.00025 s");
	RUN("zen5", "true");
	ck_assert_lacks(err, "stops by tracing");
}

TEST_OF(exit_statuses, 9)
{
	static const struct {
		const char *words[MAX_WORDS];
		int status;
		const char *error;
	} rows[] = {
		{{"-q", "true"}, 0, ""},
		{{"-q", "false"}, 1, ""},
		{{"-q", "sh", "-c", "exit 42"}, 42, ""},
		{{"-q", "sh", "-c", "kill -9 $$"}, 137, ""},
		{{"-q", "sh", "-c", "kill -15 $$"}, 143, ""},
		{{"-q", "no-such-program-at-all"}, 127, "no such program in PATH"},
		{{"-q", "/no/such/program"}, 127, "No such file"},
		{{"-q", "/tmp"}, 126, "Is a directory"},
		{{"-q", "./plain"}, 126, "Permission denied"},
	};

	ck_assert_int_eq(file_write("plain", "text\n", 5, false, NULL), 0);
	run("zen5", rows[_i].words);
	ck_assert_int_eq(status, rows[_i].status);
	ck_assert_has(err, rows[_i].error);
	ck_assert_int_eq(err[0] == '\0', rows[_i].error[0] == '\0');
}

/* The program's own failure tells more. */
TEST_OF(strict_wants_sound_numbers, 8)
{
	static const struct {
		const char *mode;
		const char *words[MAX_WORDS];
		int status;
		const char *error, *architecture;
	} rows[] = {
		{"", {"-q", "--runs=6", "true"}, 0, "", NULL},
		{"", {"-q", "--runs=6", "true"}, 0, "", "blocks"},
		{"", {"-q", "--counts-only", "true"}, 0, "", "blocks"},
		{"", {"-q", "true"}, 1, "of too few runs for an interval", "blocks"},
		{"", {"-q", "true"}, 1, "of too few runs for an interval [which they are says '", NULL},
		{"", {"-q", "-j", "x.json", "true"}, 1, "which they are says 'x.json' (caveats)", NULL},
		{"", {"-q", "sh", "-c", "exit 42"}, 42, "numbers are not both measured and sound", NULL},
		{"differ", {"-q", "--runs=6", "--region=solve", "true"}, 1, ": doubts about the runs", NULL},
	};

	is_strict = true;
	setenv("FAKE_CORE", rows[_i].mode, 1);
	run(rows[_i].architecture ? rows[_i].architecture : "none", rows[_i].words);
	ck_assert_msg(status == rows[_i].status, "status %d: %s", status, err);
	ck_assert_msg(strstr(err, rows[_i].error), "%s", err);
	ck_assert_int_eq(strstr(err, "strict") == NULL, rows[_i].status == 0);
	is_strict = false;
	run(rows[_i].architecture ? rows[_i].architecture : "none", rows[_i].words);
	ck_assert_int_eq(status, rows[_i].status == 42 ? 42 : 0);
	ck_assert_lacks(err, "strict");
}

TEST(program_keeps_its_output)
{
	RUN("zen5", "-q", "--", "sh", "-c", "echo out; echo err >&2");
	ck_assert_str_eq(out, "out\n");
	ck_assert_str_eq(err, "err\n");
	RUN("zen5", "-q", "printf", "%s,", "-o", "--passes", "--");
	ck_assert_str_eq(out, "-o,--passes,--,");
}

/* The first run that is not 0 counts. */
TEST(repeated_runs)
{
	RUN("zen5", "--runs=3", "sh", "-c", "echo x >>log; test $(wc -l <log) != 2");
	ck_assert_int_eq(status, 1);
	ck_assert_has(err, "rot: the program will run 3 times");
	ck_assert_has(err, "the runs ended differently: run 2");
}

TEST(runs_that_drift_or_are_disturbed)
{
	setenv("FAKE_CORE", "disturbed", 1);
	RUN("none", "--runs=7", "true");
	ck_assert_has(err, "no intervals: they need 6 undisturbed runs, here there are 4 of 7; --runs=");
	setenv("FAKE_CORE", "scatter", 1);
	RUN("none", "--runs=3", "true");
	ck_assert_has(err, "here there are 3 of 3; --runs=8 leaves");
	RUN("none", "--runs=6", "true");
	ck_assert_lacks(err, "no intervals");
	setenv("FAKE_CORE", "drift", 1);
	RUN("none", "--runs=10", "true");
	ck_assert_has(err, "time: drifts by +");
	setenv("FAKE_CORE", "disturbed", 1);
	RUN("none", "--runs=10", "true");
	ck_assert_lacks(err, "drifts");
	ck_assert_has(err, "pages were read from a disk");
	ck_assert_has(err, "(1 of 10 runs, left out): run again: they are in memory then");
	ck_assert_has(err, "another program ran on the CPU");
	ck_assert_has(err, "the hypervisor ran something else");
}

/* A misspelled region costs one run, not a slow one, too. */
TEST(missing_regions_are_not_counted)
{
	RUN("blocks", "-R=missing", "true");
	ck_assert_int_eq(status, 1);
	ck_assert_has(err, "the run for the counts is left out");
	ck_assert_lacks(err, "(2 runs)");
	RUN("blocks", "-R=missing", "-R=solve", "true");
	ck_assert_lacks(err, "is left out");
	ck_assert_has(err, "(2 runs)");
}

TEST(core_that_fails)
{
	setenv("FAKE_CORE", "fail", 1);
	RUN("zen5", "true");
	ck_assert_int_eq(status, 1);
	ck_assert_str_eq(err, "rot: cannot trace the program: Operation not permitted [allow it]\n");
	ck_assert_int_eq(unlink("core/rot-core"), 0);
	RUN("zen5", "true");
	ck_assert_int_eq(status, 1);
	ck_assert_has(err, "ended with exit status 127 without a result");
}

/* Performance and throughput of a made-up program below made-up roofs, each with such relative intervals. */
static int nr_roof_threads = 1;
static double reach = NAN;

static struct summary
with_interval(double value)
{
	return (struct summary){.value = value, .low = value / (1 + reach), .high = value * (1 + reach)};
}

/* Where the others have no interval an exact one, or none: it is at least so high. */
static bool is_roof_least, is_by_blocks;

static struct summary
roof_of(double value)
{
	struct summary roof = with_interval(value);

	if (isnan(reach) && !is_roof_least)
		roof.low = roof.high = value;
	return roof;
}

static void
check_bound(double performance, double throughput, const char *border, double cpu_s, const char *expected,
	    double roof_share)
{
	struct quantity_value values[] = {
		{.name = (char *)"performance", .of = (char *)"flop", .summary = {.value = performance}},
		{.name = (char *)"throughput", .of = (char *)border, .summary = {.value = throughput}},
		{.name = (char *)"operationalIntensity",
		 .of = (char *)"",
		 .summary = with_interval(performance / throughput)},
	};
	const char *whose = strstr(expected, " (of one CPU");
	const size_t length = whose ? (size_t)(whose - expected) : strlen(expected);
	struct program_run_output *one = program_run_output_new();
	struct program_command_output *output = program_command_output_new();
	struct pass pass = {.nr_events = 0};
	struct program_plan plan = {
		.operation = "flop", .border = border, .left_out = (char *)"", .passes = {&pass, 1}};
	struct region definition = {.name = (char *)"r"};
	struct program_region *region = rot_calloc(1, sizeof(*region));
	struct architecture architecture = {.name = (char *)"x",
					    .counts_by_steps = is_by_blocks || strcmp(border, "cpuL1") == 0};
	const struct run_options options = {.nr_runs = 1};
	cleared_by(program_report_clear) struct program_report report = {
		.options = &options,
		.architecture = &architecture,
		.plan = &plan,
		.output = output,
		.total = {values, NR_ELEMENTS(values), NULL},
		.regions = {region, 1},
		.agreement = {.spread = NAN, .has_same_threads = true},
		.roof = {roof_of(100e9 * nr_roof_threads), roof_of(10e9 * nr_roof_threads), nr_roof_threads},
	};

	*region = (struct program_region){.definition = &definition,
					  .total = {values, NR_ELEMENTS(values), NULL},
					  .at_once = 1,
					  .roof = {roof_of(100e9), roof_of(10e9), 1}};
	one->wall_time = 1000000000;
	one->user_time = (uint64_t)(cpu_s * 1e9);
	program_command_output_outputs_add(output, one);
	program_report_judge(&report);
	ck_assert_str_eq(report.bound, expected);
	/* a region of one thread, whatever the program used */
	ck_assert(report.roof.nr_threads > 1 || strncmp(region->bound, expected, length) == 0);
	ck_assert_lacks(region->bound, "of one CPU");
	ck_assert_int_eq(region->bound[0] == '\0', expected[0] == '\0');
	ck_assert(report.roof.nr_threads > 1 || (isnan(report.roof_share) && isnan(region->roof_share)) ||
		  report.roof_share == region->roof_share);
	ck_assert(isnan(roof_share) ? isnan(report.roof_share) : fabs(report.roof_share - roof_share) < 1e-12);
	report.total = region->total = (struct program_values){.nr = 0};
	rot_graph_delete(output);
}

#define UNSURE "; --runs=6 tells how sure that is"

TEST(bound_in_words)
{
	check_bound(4e9, 8.3e9, "llcRam", 1,
		    "memory-bound: 83 % of the memory bandwidth at this intensity; 4 % of the peak" UNSURE, 0.83);
	check_bound(60e9, 0.3e9, "llcRam.read", 1,
		    "compute-bound: 60 % of the peak; 3 % of the memory bandwidth" UNSURE, 0.6);
	check_bound(0, 5e9, "llcRam", 1, "no floating-point operations; 50 % of the memory bandwidth", NAN);
	check_bound(60e9, 0.3e9, "llcRam", 2,
		    "compute-bound: 60 % of the peak; 3 % of the memory bandwidth (of one CPU; the program used "
		    "more)" UNSURE,
		    0.6);
	check_bound(1e9, 0.3e9, "llcRam", 1,
		    "on the memory side of the ridge, 33 times below the roof: 3 % of the memory bandwidth, 1 % of the "
		    "peak; something else takes the time (latency, dependences, other instructions, waiting)" UNSURE,
		    0.03);
	check_bound(
		4e9, 3.2e9, "llcRam", 1,
		"on the memory side of the ridge, 3.1 times below the roof: 32 % of the memory bandwidth, 4 % of the "
		"peak; something else takes the time (latency, dependences, other instructions, waiting)" UNSURE,
		0.32);
	check_bound(
		20e9, 0.5e9, "llcRam", 2,
		"on the arithmetic side of the ridge, 5 times below the roof: 5 % of the memory bandwidth, 20 % of "
		"the peak (of one CPU; the program used more); something else takes the time (latency, dependences, "
		"other instructions, waiting); threads and functions may differ (-t, --region)" UNSURE,
		0.2);
	nr_roof_threads = 2;
	check_bound(120e9, 0.6e9, "llcRam", 2,
		    "compute-bound: 60 % of the peak; 3 % of the memory bandwidth (of 2 CPUs)" UNSURE, 0.6);
	check_bound(
		120e9, 0.6e9, "llcRam", 1.2,
		"compute-bound: 60 % of the peak; 3 % of the memory bandwidth (of 2 CPUs, as so many threads worked "
		"at once; they got 1.2)" UNSURE,
		0.6);
	nr_roof_threads = 1;
	check_bound(60e9, 5e9, "l2l3", 1, "", NAN);
	check_bound(60e9, 5e9, "cpuL1", 1,
		    "60 % of the peak; what bounds it is told with modelled caches alone (-caches=auto), which count "
		    "the bytes from memory",
		    NAN);
	check_bound(42e6, 1e6, "llcRam", 1,
		    "on the arithmetic side of the ridge, 2400 times below the roof: 0.01 % of the memory bandwidth, "
		    "0.042 % of the peak; something else takes the time (latency, dependences, other instructions, "
		    "waiting)" UNSURE,
		    0.00042);
	check_bound(NAN, 5e9, "llcRam", 1, "", NAN);
	is_by_blocks = true; /* in one run, however many others there are */
	check_bound(
		4e9, 8.3e9, "llcRam", 1,
		"memory-bound: 83 % of the memory bandwidth at this intensity; 4 % of the peak; how sure is not known, "
		"as bytes are modelled",
		0.83);
	check_bound(1e9, 0.3e9, "llcRam", 1,
		    "on the memory side of the ridge, 33 times below the roof: 3 % of the memory bandwidth, 1 % of the "
		    "peak; something else takes the time (latency, dependences, other instructions, waiting)",
		    0.03);
	is_by_blocks = false;
	is_roof_least = true;
	check_bound(60e9, 0.3e9, "llcRam", 1,
		    "compute-bound: at most 60 % of the peak; at most 3 % of the memory bandwidth; --runs=6 tells how "
		    "sure that is",
		    0.6);
	is_roof_least = false;
}

/* With an intensity of so many times that of the ridge, which is 10 flop/byte. */
TEST(how_sure_the_bound_is)
{
	reach = 0.1;
	check_bound(
		4e9, 2e9, "llcRam", 1,
		"on the memory side of the ridge (over 99.9 % sure), 5 times below the roof: 20 % of the memory "
		"bandwidth, 4 % of the peak; something else takes the time (latency, dependences, other instructions, "
		"waiting)",
		0.2);
	check_bound(4e9, 8e9, "llcRam", 1,
		    "memory-bound (over 99.9 % sure): 80 % of the memory bandwidth at this intensity; 4 % of the peak",
		    0.8);
	check_bound(60e9, 6e9 / 1.15, "llcRam", 1,
		    "compute-bound (95 % sure): 60 % of the peak; 52 % of the memory bandwidth", 0.6);
	check_bound(
		60e9, 6e9 / 1.05, "llcRam", 1,
		"rather compute-bound than memory-bound (72 % sure): 60 % of the peak; 57 % of the memory bandwidth",
		0.6);
	check_bound(60e9, 6e9 * 1.05, "llcRam", 1,
		    "rather memory-bound than compute-bound (72 % sure): 63 % of the memory bandwidth at this "
		    "intensity; 60 % of "
		    "the peak",
		    0.63);
	reach = NAN;
}

static void
add_worker(struct program_run_output *run, const struct architecture *architecture, const struct pass *pass, int tid,
	   const double *lives)
{
	struct program_thread_output *thread = program_thread_output_new();

	thread->tid = tid;
	thread->start_time = (uint64_t)lives[0];
	thread->stop_time = (uint64_t)lives[1];
	thread->counts = perf_event_measurer_output_new();
	for (size_t i = 0; i < pass->nr_events; i++) {
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, architecture->events[pass->events[i]].name);
		count->raw_count = strcmp(count->name, "instructions") == 0 ? (uint64_t)lives[2] : 0;
		count->time_enabled = count->time_running = 1;
		perf_event_measurer_output_event_counts_add(thread->counts, count);
	}
	program_run_output_threads_add(run, thread);
}

/* Whatever CPUs they got: only the lives of threads and their instructions matter. */
TEST_OF(threads_that_work_at_once, 6)
{
	static const struct {
		double lives[3][3]; /* of each thread: begin, end, instructions */
		double expected;
	} rows[] = {
		{{{0, 100, 1e6}}, 1},
		{{{0, 100, 1e6}, {0, 100, 1e6}}, 2},
		{{{0, 100, 1e6}, {100, 200, 1e6}}, 1},
		{{{0, 100, 1e4}, {0, 100, 1e6}, {0, 100, 1e6}}, 2},
		{{{0, 100, 1e6}, {0, 100, 1e5}}, 1},
		{{{0, 300, 6e6}, {200, 300, 1e6}}, 1},
	};
	const struct architecture_stepping stepping = {.is_unasked = true};
	autofree char *files = architecture_folder();
	struct architecture *architecture = architecture_load_blocks(files, &stepping, NULL);
	struct program_run_output *run = program_run_output_new();
	struct program_command_output *output = program_command_output_new();
	struct program_plan plan;

	ck_assert_int_eq(program_plan_make(&plan, architecture, 1, false, NULL), 0);
	program_command_output_outputs_add(output, run);
	ck_assert(isnan(program_threads_at_work(&plan, architecture, output)));
	for (int i = 0; i < 3 && rows[_i].lives[i][1] > 0; i++)
		add_worker(run, architecture, &plan.passes.passes[0], 100 + i, rows[_i].lives[i]);
	ck_assert_double_eq(round(program_threads_at_work(&plan, architecture, output)), rows[_i].expected);
	rot_graph_delete(output);
	program_plan_clear(&plan);
	architecture_delete(architecture);
}

/* Samples of two functions in two runs, where three threads worked at once at most. */
TEST_OF(threads_of_functions, 6)
{
	static const struct {
		uint64_t samples[2], pairs_of_one[2];
		int expected;
	} rows[] = {
		{{100, 0}, {4950, 0}, 1},        /* of one thread */
		{{100, 100}, {4950, 4950}, 1},   /* of one in each run */
		{{100, 50}, {2450, 600}, 2},     /* of two alike */
		{{100, 0}, {4753 + 3, 0}, 1},    /* of one, and a little of another */
		{{100, 0}, {4 * 25 * 12, 0}, 3}, /* of four */
		{{1, 0}, {0, 0}, 3},             /* of whom is not known */
	};
	const struct architecture_stepping stepping = {.is_unasked = true};
	autofree char *files = architecture_folder();
	struct architecture *architecture = architecture_load_blocks(files, &stepping, NULL);
	struct program_command_output *output = program_command_output_new();
	struct program_places places;
	struct program_plan plan;

	ck_assert_int_eq(program_plan_make(&plan, architecture, 1, true, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		struct program_run_output *run = program_run_output_new();
		struct program_place *place = program_place_new();

		run->user_time = run->wall_time = 1000000000;
		run->profile = program_profile_new();
		run->profile->period = 1000000;
		rot_string_set(&place->object, "/opt/bin/solver");
		place->samples = rows[_i].samples[i];
		place->pairs_of_one_thread = rows[_i].pairs_of_one[i];
		program_profile_places_add(run->profile, place);
		program_command_output_outputs_add(output, run);
	}
	ck_assert_int_eq(program_places_compute(&places, &plan, architecture, output, 3, NULL), 0);
	ck_assert_int_eq(places.lists[PLACES_FUNCTIONS].items[0].nr_threads, rows[_i].expected);
	program_places_clear(&places);
	rot_graph_delete(output);
	program_plan_clear(&plan);
	architecture_delete(architecture);
}

/* Points of the program, of regions and of few threads, not of threads in regions. */
TEST(what_is_drawn)
{
	static const struct {
		const char *series;
		bool is_drawn;
	} rows[] = {
		{"# program\n", true},      {"# region solve\n", true}, {"# region x\n", true},
		{"# region idle\n", false}, {"# worker 101\n", true},   {"threads of regions", false},
	};
	autofree char *data = NULL, *gnuplot = process_find("gnuplot");

	RUN("zen5", "-q", "-t", "-o", "x", "-R=solve", "-R=x=setUp", "-R=idle", "true");
	ck_assert_int_eq(status, 0);
	if (!gnuplot) {
		ck_assert_has(err, "apt-get install gnuplot");
		return;
	}
	data = file_text("x.data");
	for (size_t i = 0; i < NR_ELEMENTS(rows); i++)
		ck_assert_msg((strstr(data, rows[i].series) != NULL) == rows[i].is_drawn, "%s:\n%s", rows[i].series,
			      data);
}

/* The point is made of performance and the intensity of loads and stores, which are of different runs. */
TEST(programs_by_blocks_are_drawn)
{
	autofree char *data = NULL, *gnuplot = process_find("gnuplot");

	RUN("blocks", "-q", "-o", "x", "true");
	ck_assert_int_eq(status, 0);
	if (!gnuplot)
		return;
	data = file_text("x.data");
	ck_assert_has(data, "# program\n");
}

TEST(files_that_cannot_be_written)
{
	RUN("zen5", "-o", "no/such/folder/x", "sh", "-c", "echo ran");
	ck_assert_int_eq(status, 1);
	ck_assert_str_eq(out, "");
	ck_assert_has(err, "cannot write 'no/such/folder/x");
}

UNIT_TESTS(.set_up = run_setup, .tear_down = run_teardown);
