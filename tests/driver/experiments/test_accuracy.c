/* SPDX-License-Identifier: MIT */
/* Accuracy and precision, as controllers tell them: runs seen one by one, and the experiments of the thesis. */
#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "experiments/experiment_internal.h"
#include "experiments/find.h"
#include "experiments/xml_run.h"
#include "json_schema.h"
#include "machine/machine.h"
#include "planning/xml_plan.h"
#include "quantities/expected.h"
#include "testing.h"
#include "xml_fixture.h"

/* The elements in <each> are there for each of its points, and <derived> follows from what was expected. */
TEST(each_says_it_once_for_several)
{
	struct xml_controller *c = opened_text(
		HEAD AXIS POINT
		"<each><axis name='border'><list values='llcRam l2l3'/></axis><skip if='$border = \"l1l2\"'/>\n"
		"<quantity is='transferredBytes:{$border}' name='bytes_{$border}'/>"
		"<derived name='expected_{$border}' is='$expected.bytes_{$border}' unit='byte'/>"
		"<plot type='distribution' name='{$border}' x='expected_{$border}' y='transferredBytes:{$border}' "
		"show='error' minimumOf='3' pointLabel='{{$label}}'><marker at='{{$llcBytes}}' "
		"label='{$border}'/></plot>"
		"</each><each if='$nrCpus > 1000'><axis name='a'><list values='1'/></axis><plot type='runs' "
		"y='{$b}'/></each>" TAIL);
	struct experiment *experiment;
	struct experiment_plot *plot;

	ck_assert_uint_eq(c->planned[0].nr_requests, 2);
	experiment = experiment_open("c", NULL, 0);
	ck_assert_msg(xml_show(c, experiment, &why) == 0, "%s %s", why.text, why.hint);
	ck_assert_uint_eq(experiment->nr_plots, 2);
	plot = &experiment->plots[1].plot;
	ck_assert_str_eq(plot->name, "l2l3");
	ck_assert_str_eq(plot->x, "expected_l2l3");
	ck_assert_str_eq(plot->y, "transferredBytes:l2l3");
	ck_assert_str_eq(plot->point_label, "{$label}");
	ck_assert(plot->has_view && plot->view.is_error);
	ck_assert_int_eq(plot->view.reference, SAMPLES_TO_EXPECTED);
	ck_assert_uint_eq(plot->view.minimum_of, 3);
	ck_assert_double_eq(experiment->plots[1].markers[0].x, 32 << 20);
	ck_assert_str_eq(experiment->plots[1].markers[0].label, "l2l3");
}

/* A workload for each CPU, pinned, behind a barrier; one is pinned alone. */
TEST(threads_are_pinned_and_start_together)
{
	struct xml_controller *c =
		opened_text(HEAD "<axis name='n'><list values='1 all'/></axis>"
				 "<point threads='{$n}'><workload><kernel type='Dummy'/></workload></point>" TAIL);
	const struct measurement *one, *all;
	int *cpus;
	size_t nr_cpus = allowed_cpus(&cpus, NULL);

	one = c->planned[0].measurement;
	all = c->planned[1].measurement;
	ck_assert_uint_eq(measurement_nr_workloads(one), 1);
	ck_assert_int_eq(measurement_workloads_at(one, 0)->cpu, cpus[0]);
	ck_assert_uint_eq(measurement_nr_rules(one), 0);
	ck_assert_uint_eq(measurement_nr_workloads(all), nr_cpus);
	for (size_t i = 0; i < nr_cpus; i++)
		ck_assert_int_eq(measurement_workloads_at(all, i)->cpu, cpus[i]);
	ck_assert_uint_eq(measurement_nr_rules(all), nr_cpus > 1);
	free(cpus);
}

/* Two workloads on a CPU hold back together what its cache holds back alone; unpinned ones are not known to share. */
TEST(workloads_on_a_cpu_share_its_caches)
{
	static const struct {
		size_t nr;
		int cpu;
		double mebibytes;
	} cases[] = {{1, 0, 40 - 32}, {2, 0, 2 * (40 - 16)}, {4, 0, 4 * (40 - 8)}, {2, -1, 2 * (40 - 32)}};

	for (size_t i = 0; i < NR_ELEMENTS(cases); i++) {
		autograph struct measurement *measurement = measurement_new();
		double bytes;

		for (size_t k = 0; k < cases[i].nr; k++) {
			struct workload *workload = workload_new();

			workload->kernel = rot_entity_new(rot_registry_find(rot.registry, "Memory"));
			workload->cpu = cases[i].cpu;
			ck_assert_int_eq(rot_entity_set(workload->kernel, "operation", "WRITE", &why), 0);
			ck_assert_int_eq(rot_entity_set(workload->kernel, "bufferSize", "41943040", &why), 0);
			measurement_workloads_add(measurement, workload);
		}
		ck_assert_int_eq(expected_bytes_of(&rot, measurement, "llcRam.write", &bytes, &why), 0);
		ck_assert_double_eq(bytes, cases[i].mebibytes * (1 << 20));
	}
}

/* Sizes grow until something holds: in each series by itself. */
TEST(series_end_where_they_say)
{
	json_t *json, *points;
	static const char *const seen[] = {"a 1", "a 2", "a 3", "b 1", "b 2", "b 3", "b 4"};

	file_fill("growing.xml",
		  "<controller name='growing' comment='' runs='2'>\n"
		  "<axis name='s'><list values='a b'/></axis><axis name='n'><list values='1 2 3 4 5'/></axis>\n"
		  "<point series='{$s}' label='{$n}' until='$t >= 30 and ($s = \"a\" or $n = 4)'>"
		  "<workload><kernel type='Dummy'/></workload></point><quantity is='time' name='t'/></controller>\n");
	/* The time of the n-th point is 10 n cycles. */
	ck_assert_ok(controller_run(&rot, "./growing.xml", NULL, &why));
	json = json_file("growing.json");
	points = json_object_get(json, "points");
	ck_assert_uint_eq(json_array_size(points), NR_ELEMENTS(seen));
	for (size_t i = 0; i < NR_ELEMENTS(seen); i++) {
		json_t *point = json_array_get(points, i);
		char *name = rot_format("%s %s", json_string_value(json_object_get(point, "series")),
					json_string_value(json_object_get(point, "label")));

		ck_assert_str_eq(name, seen[i]);
		free(name);
	}
}

/* Two points of a class: the worse one counts; of n = 8 all runs were disturbed. */
static void
measure_for_accuracy(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		     int nr_runs, struct quantity_value *values)
{
	double size = 0;

	rot_entity_number(measurement_workloads_at(measurement, 0)->kernel, "bufferSize", &size);
	for (size_t i = 0; i < nr_requests; i++) {
		struct quantity_value *value = &values[i];

		*value = (struct quantity_value){
			.request = requests[i],
			.name = requests[i].name,
			.of = requests[i].border ? requests[i].border : "",
			.unit = "byte",
			.source = "",
			.kind = requests[i].border && strcmp(requests[i].border, "l2l3") == 0 ? "expected" : "measured",
			.grade = "",
			.expected = size == 1 && strcmp(requests[i].name, "transferredBytes") != 0 ? 0 : 1000,
			.samples = rot_calloc((size_t)nr_runs, sizeof(*value->samples)),
			.taints = rot_calloc((size_t)nr_runs, sizeof(*value->taints)),
			.nr_samples = (size_t)nr_runs,
			.nr_threads = 2,
			.thread_samples = rot_calloc(2 * (size_t)nr_runs, sizeof(*value->samples)),
		};
		for (int k = 0; k < nr_runs; k++) {
			value->samples[k] = 1000 + 100 * (size - 2) + 10 * (k % 4);
			value->thread_samples[k] = 500;
			value->thread_samples[nr_runs + k] = 10 * (k % 4) + 500 + 100 * (size - 2);
		}
		value->summary = summary_median(value->samples, value->nr_samples);
		if (size == 8) {
			value->summary.estimator = "medianOfTainted";
			value->summary.tainted = value->nr_samples;
		}
	}
}

static const char accurate[] =
	"<controller name='accurate' comment='' runs='8'>\n"
	"<axis name='n'><list values='2 1 4 8'/></axis><axis name='class'><value is='small' if='$n &lt; 3'/>"
	"<value is='large' if='$n > 3'/></axis>\n"
	"<point series='a' label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>\n"
	"<accuracy title='Bytes' of='transferredBytes:llcRam' by='class' relativeTo='expected' minimumOf='4'/>"
	"<accuracy title='More' of='transferredBytes:l2l3' relativeTo='expected'/>"
	"<plot type='histogram' name='hist' y='transferredBytes:llcRam' show='ratio'/>"
	"<plot type='runs' name='runs' y='transferredBytes:llcRam' if='$n = 4'/>"
	"<plot type='threads' name='threads' y='transferredBytes:llcRam' show='ratio' if='$n = 4'/>"
	"<plot type='threads' name='apart' y='transferredBytes:llcRam' show='error' if='$n = 1'/>"
	"<plot type='distribution' name='error' x='n' y='transferredBytes:llcRam' show='error' minimumOf='4'/>"
	"<plot type='distribution' name='time' x='n' y='time' show='ratio'/>"
	"<plot type='distribution' name='none' x='n' y='transferredBytes:l2l3' show='ratio'/>"
	"</controller>\n";

static void
assert_documented(const char *results, const json_t *object)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)object, key, member) {
		autofree char *marked = rot_format("`%s`", key);

		ck_assert_msg(strcmp(key, "class") == 0 || strstr(results, marked) != NULL,
			      "%s is not in doc/RESULTS.md", marked);
	}
}

TEST(accuracy_is_of_the_worst_point)
{
	json_t *json, *tables, *row;
	char *path = source_path("doc/RESULTS.md"), *results = file_text(path);

	fake_measure = measure_for_accuracy;
	file_fill("accurate.xml", accurate);
	ck_assert_ok(controller_run(&rot, "./accurate.xml", NULL, &why));
	json = json_file("accurate.json");
	tables = json_object_get(json, "accuracy");
	ck_assert_uint_eq(json_array_size(tables), 2);
	row = json_array_get(json_object_get(json_array_get(tables, 0), "rows"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(row, "class")), "small");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "points")), 2);
	/* n = 1: 900 to 930, median 915; n = 2: 1000 to 1030, median 1015. */
	ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(row, "runs"), "off")),
				1 - 1000.0 / 915, 1e-12);
	ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(row, "minima"), "off")),
				1 - 1000.0 / 900, 1e-12);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(row, "minima"), "nMost")), 2);
	row = json_array_get(json_object_get(json_array_get(tables, 0), "rows"), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "points")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "disturbed")), 1);
	ck_assert_double_eq_tol(json_number_value(json_object_get(json_object_get(row, "minima"), "off")), 0.2, 1e-12);
	assert_documented(results, json_array_get(tables, 1));
	assert_documented(results, row);
	assert_documented(results, json_object_get(row, "minima"));
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(tables, 1), "rows")), 0);
	ck_assert_has(json_string_value(json_object_get(json_array_get(tables, 1), "notMeasured")),
		      "is not measured here");
}

/* The pictures' data; what is only expected has no picture. */
TEST(runs_are_drawn)
{
	static const struct {
		const char *file, *has;
	} texts[] = {
		{"accurate-hist.data", "# a, 1\n"},
		{"accurate-hist.data", "\n0.90075 2 "},
		{"accurate-hist.data", "# x y xmin xmax ymin ymax x25 x75 y25 y75 n size expected label\n0.8992"},
		{"accurate-hist.data", "\n0.93075"},
		{"accurate-hist.gnuplot", "with histeps"},
		{"accurate-runs.data", "\n1 1200 "},
		{"accurate-runs.data", "\n8 1230 "},
		{"accurate-runs.gnuplot", "with points"},
		{"accurate-threads.data", "\n1 1.4 "},
		{"accurate-threads.data", "\n1 1.46 "},
		{"accurate-apart.data", "\n0 25 "}, /* 400 of 500 */
		{"accurate-apart.data", "\n0 16.279"},
		{"accurate-apart.gnuplot", "Error of: Transferred bytes (LLC-RAM) / expected, second CPU [%]"},
		{"accurate-error.data", "\n2 0 "},
		{"accurate-error.data", "\n4 19.99"}, /* 20 % */
		{"accurate-error.gnuplot", "least of each 4 runs"},
		{"accurate-time.gnuplot", "median, n = 8; of some points all runs were disturbed"},
		{"accurate-time.data", "size expected label\n2 1.01"}, /* of n = 1 nothing is expected */
		{"accurate-time.data", "\"2\"\n4 1.21"},
	};
	autofree char *gnuplot = process_find("gnuplot");

	if (!gnuplot)
		return;
	fake_measure = measure_for_accuracy;
	file_fill("accurate.xml", accurate);
	ck_assert_ok(controller_run(&rot, "./accurate.xml", NULL, &why));
	for (size_t i = 0; i < NR_ELEMENTS(texts); i++) {
		autofree char *text = file_read(texts[i].file, NULL, &why);

		ck_assert_msg(text && strstr(text, texts[i].has), "%s lacks '%s': %s", texts[i].file, texts[i].has,
			      text);
	}
	ck_assert_int_ne(access("accurate-none.data", F_OK), 0);
}

/* The thesis' experiments: the small ones are few points, all of them double. */
TEST(accuracy_experiments_have_their_points)
{
	static const char *const names[] = {"valTime", "valOp", "valTB"};

	machine_online_cpus_add(rot.machine, 1);
	for (size_t i = 0; i < 2 * NR_ELEMENTS(names); i++) {
		autofree char *path = rot_format("%s/driver/controllers/%s.xml", rot.paths->data, names[i / 2]);
		const bool is_quick = i % 2;
		struct xml_controller *c;
		double size, before = 0;

		configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "sizes", is_quick ? "small" : "all",
				  NULL);
		c = opened_file(path);
		if (is_quick)
			ck_assert_uint_le(c->nr_planned, 50);
		else
			ck_assert_uint_ge(c->nr_planned, 100);
		for (size_t k = 0; k < c->nr_planned; k++) {
			const struct planned_point *p = &c->planned[k];

			ck_assert_int_eq(p->nr_runs, !is_quick ? 100 : i / 2 == 2 ? 12 : 20);
			size = point_coordinate(p->at, "size")->number;
			ck_assert(size == (is_quick ? 2048 : 128) || size == before ||
				  size == before * (is_quick ? 64 : 2));
			ck_assert(p->until[0] || strstr(p->series, "flush"));
			before = size;
		}
	}
}

UNIT_TESTS(.set_up = setup);
