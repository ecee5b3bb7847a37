/* SPDX-License-Identifier: MIT */
/* Objections to the values of an experiment: doubts, costs of measuring, broken rules, rates above the roof. */
#include "base/configuration.h"
#include "base/files.h"
#include "base/process.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "quantities/own_cost.h"
#include "testing.h"

/* The fake's samples grow with every run: with enough runs, that is seen in the table and in the JSON, once. */
TEST(doubts_are_notes)
{
	json_t *json, *point, *notes;
	autofree char *table = NULL;

	ck_assert_int_eq(configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "12", &why), 0);
	ck_assert_ok(run_into("table", "test", "result", &why));
	table = file_read("table", NULL, &why);
	json = json_file("result.json");
	point = json_array_get(json_object_get(json, "points"), 0);
	notes = json_object_get(point, "notes");
	ck_assert_uint_eq(json_array_size(notes), 1);
	ck_assert_has(json_string_value(json_array_get(notes, 0)), ": drifts by +");
	ck_assert_has(table, json_string_value(json_array_get(notes, 0)));
}

TEST(what_measuring_costs_and_broken_rules_are_told)
{
	json_t *json, *point, *bytes, *time;
	autofree char *table = NULL;

	fake_measure = measure_doubtful;
	ck_assert_ok(run_into("table", "test", "result", &why));
	table = file_read("table", NULL, &why);
	json = json_file("result.json");
	point = json_array_get(json_object_get(json, "points"), 0);
	time = json_array_get(json_object_get(point, "quantities"), 0);
	bytes = json_array_get(json_object_get(point, "quantities"), 2);
	ck_assert_double_eq(json_number_value(json_object_get(json_object_get(time, "emptyRegion"), "value")), 0.5);
	ck_assert(json_is_null(json_object_get(json_object_get(time, "emptyRegion"), "perShare")));
	ck_assert_double_eq(json_number_value(json_object_get(bytes, "compulsory")), 1600);
	ck_assert_uint_eq(json_array_size(json_object_get(bytes, "brokenRules")), 1);
	ck_assert_has(table, "a 100 and 3 more points: short: starting and stopping the measurement is 1.8 % of "
			     "its time, ");
	ck_assert_has(table, "a 100 and 3 more points: doubtful: two is more than one\n");
	ck_assert_has(table, "an empty region: time 0.5 us");
	ck_assert_has(table, "bytes (LLC-RAM read) 8 byte");
	ck_assert_has(table, "bytes (LLC-RAM read) [byte]   1600");
	ck_assert_lacks(table, "above the highest ceiling");
}

/* Points whose series and label are the same word, in a roofline. */
static const char alike[] =
	"<controller name='alike' comment='' runs='10'><axis name='kind'><list values='a b'/></axis>"
	"<point series='{$kind}' label='{$kind}'><workload><kernel type='Triad'/></workload></point>"
	"<quantity is='time'/><quantity is='operationCount:doublePrecisionFlop'/>"
	"<quantity is='transferredBytes:llcRam'/>"
	"<plot type='roofline' x='operationalIntensity:doublePrecisionFlop:llcRam' "
	"y='performance:doublePrecisionFlop'/>"
	"</controller>";

TEST(what_is_called_alike_is_named_once)
{
	autofree char *table = NULL;

	file_fill("alike.xml", alike);
	fake_measure = measure_doubtful;
	run_into("table", "alike", "result", &why);
	table = file_read("table", NULL, &why);
	ck_assert_has(table, "\na and 1 more point: short: ");
	ck_assert_has(table, "\nb  bytes ");
	ck_assert_lacks(table, "a a: ");
}

/* Where points would be if each datum crossed the border once has the colour of their series. */
TEST(lines_to_each_datum_once_have_the_colour_of_their_series)
{
	char *gnuplot = process_find("gnuplot"), *script;

	file_fill("alike.xml", alike);
	fake_measure = measure_doubtful;
	if (gnuplot) {
		ck_assert_ok(run_into("table", "alike", "result", &why));
		script = file_text("result.gnuplot");
		ck_assert_has(script, "linecolor rgb \"#0072B2\" title \"a: each datum once\"");
		ck_assert_has(script, "linecolor rgb \"#D55E00\" title \"b: each datum once\"");
	}
	free(gnuplot);
}

static size_t nr_starts;

static void
measure_in_starts(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		  int nr_runs, struct quantity_value *values)
{
	measure_doubtful(measurement, requests, nr_requests, nr_runs, values);
	for (size_t i = 0; i < nr_requests; i++) {
		values[i].summary.low = 27;
		values[i].summary.high = 29;
		values[i].starts = rot_calloc((size_t)nr_runs, sizeof(size_t));
		for (size_t k = 0; k < (size_t)nr_runs; k++)
			values[i].starts[k] = k * nr_starts / (size_t)nr_runs;
	}
}

/* Five are not enough, six are. */
TEST_OF(too_few_starts_are_told, 2)
{
	autofree char *table = NULL;

	nr_starts = 5 + (size_t)_i;
	fake_measure = measure_in_starts;
	ck_assert_ok(run_into("table", "test", "result", &why));
	table = file_read("table", NULL, &why);
	ck_assert_int_eq(strstr(table, "points: runs of fewer than 6 starts of the measuring core") != NULL, _i == 0);
}

/* A throughput that no memory of this machine has: told at its point, with both numbers. */
TEST(rates_above_the_roof_are_told)
{
	const struct quantity_request request = {
		.name = "throughput", .border = "llcRam.read", .clock = "microSeconds"};
	struct experiment *experiment = experiment_open("test", "roof", 1);
	autograph struct measurement *measurement = measurement_new();
	struct quantity_value value = {.request = request,
				       .name = "throughput",
				       .of = "llcRam.read",
				       .unit = "byte/s",
				       .source = "",
				       .kind = "measured",
				       .grade = "",
				       .expected = NAN,
				       .nr_samples = 1,
				       .samples = rot_calloc(1, sizeof(double)),
				       .taints = rot_calloc(1, sizeof(unsigned)),
				       .summary = summary_single(2000, "median")};

	fake_measure = measure_doubtful; /* the ceiling is 1500 */
	ck_assert_int_eq(experiment_add_ceiling(experiment, "memory", NULL, "llcRam", 100, measurement, 4, &why), 0);
	experiment_add_values(experiment, "fast", "", &request, &value, 1);
	experiment_check_ceilings(experiment);
	ck_assert_uint_eq(experiment->points[0].notes.nr, 1);
	ck_assert_has(experiment->points[0].notes.items[0], "above the highest ceiling: memory");
}

/* Exact counts contradict the definition whenever they differ, others if their interval and one in a hundred say so. */
TEST(operations_against_the_definition)
{
	static const struct {
		const char *source;
		double counted;
		bool is_told;
	} cases[] = {{"basic blocks", 1000, false},
		     {"basic blocks", 1001, true},
		     {"r8f03", 1001, false},
		     {"r8f03", 3000, true}};
	const struct quantity_request request = {.name = "operationCount", .operation = "doublePrecisionFlop"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct experiment *experiment = experiment_open("test", "roof", 1);
		struct quantity_value value = {.request = request,
					       .name = "operationCount",
					       .of = "doublePrecisionFlop",
					       .unit = "flop",
					       .source = cases[i].source,
					       .kind = "measured",
					       .grade = "",
					       .expected = 1000,
					       .summary = summary_single(cases[i].counted, "exact")};
		autofree char *note = rot_format(
			"operations (double precision): counted %.0f, the definition expects 1000", cases[i].counted);

		experiment_add_values(experiment, "a", "", &request, &value, 1);
		ck_assert_uint_eq(experiment->points[0].notes.nr, cases[i].is_told);
		if (cases[i].is_told)
			ck_assert_str_eq(experiment->points[0].notes.items[0], note);
	}
}

/* The first of the points whose runs ended alike is named. */
TEST(points_of_ended_runs_are_named)
{
	static const char *const ends[] = {"", "disturbed", "disturbed"}, *const labels[] = {"1", "2", "3"};
	const struct quantity_request request = {.name = "time", .clock = "microSeconds"};
	struct experiment *experiment = experiment_open("test", "ends", 3);
	FILE *out = fopen("ends", "w");
	autofree char *table = NULL;
	json_auto_t *json = NULL;

	for (size_t i = 0; i < 3; i++) {
		struct quantity_value value = {.request = request,
					       .name = "time",
					       .of = "microSeconds",
					       .unit = "us",
					       .source = "",
					       .kind = "measured",
					       .grade = "",
					       .expected = NAN,
					       .runs_end = ends[i],
					       .summary = summary_single(10, "median")};

		experiment_add_values(experiment, "a", labels[i], &request, &value, 1);
	}
	json = experiment_json(experiment, true);
	experiment_print_table(experiment, json, out);
	fclose(out);
	table = file_read("ends", NULL, &why);
	ck_assert_has(table, "a 2 and 1 more point: too many runs were disturbed");
}

/* An empty region is measured by as many threads, on the same CPU, with caches in the same state. */
TEST(an_empty_region_is_like_the_measured_one)
{
	autograph struct measurement *measurement = measurement_of("Daxpy"), *empty = NULL;
	struct workload *workload = measurement_workloads_at(measurement, 0), *load = workload_new();

	workload->cpu = 1;
	workload->kernel->num_threads = 3;
	workload->kernel->warm_data = true;
	load->measurer_set = measurer_set_new(); /* a load: nothing is measured of it */
	measurement_workloads_add(measurement, load);
	empty = own_cost_measurement(&rot, measurement);
	ck_assert_uint_eq(measurement_nr_workloads(empty), 1);
	workload = measurement_workloads_at(empty, 0);
	ck_assert_str_eq(workload->kernel->entity.class->name, "Dummy");
	ck_assert_int_eq(workload->cpu, 1);
	ck_assert_int_eq(workload->kernel->num_threads, 3);
	ck_assert(workload->kernel->warm_data && !workload->kernel->warm_code);
}

static void
set_up(void)
{
	setup_with_test();
	setenv("COLUMNS", "1000", 1); /* sentences in one line */
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "showAll", "true", NULL);
}

UNIT_TESTS(.set_up = set_up);
