/* SPDX-License-Identifier: MIT */
/* Experiments: the JSON and the table of computed quantities, and what happens when something goes wrong on the way. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "controllers/experiment_internal.h"
#include "controllers/find.h"
#include "controllers/value_text.h"
#include "fake_rot.h"
#include "memory.h"
#include "peaks/profile.h"
#include "peaks_by_hand.h"
#include "quantities/invariants.h"
#include "support/files.h"
#include "support/process.h"
#include "testing.h"

static struct rot rot;

static const char controller[] =
	"<controller name='test' comment='' runs='10'>\n"
	"<axis name='size'><list values='100 200'/></axis><axis name='kind'><list values='a b'/></axis>\n"
	"<point series='{$kind}' label='{$size}'><workload><kernel type='Triad' "
	"bufferSize='{$size}'/></workload></point>\n"
	"<quantity is='time'/><quantity is='operationCount:doublePrecisionFlop'/>\n"
	"<quantity is='transferredBytes:llcRam.read'/>\n"
	"<ceiling name='peak' performance='doublePrecisionFlop' runs='4'><workload><kernel type='Triad' "
	"bufferSize='5'/></workload></ceiling>\n"
	"<ceiling name='memory' throughput='llcRam' work='{$bufferSize * 24}' if=\"$size = 100 and $kind = 'a'\">"
	"<workload><kernel type='Triad' bufferSize='6'/></workload></ceiling>\n"
	"</controller>\n";

static void
setup(void)
{
	fake_rot_open(&rot);
	file_fill("test.xml", controller);
}

static void
teardown(void)
{
	fake_rot_close(&rot);
}

/* Standard output into a file, while f runs. */
static int
run_into(const char *output, const char *name, const char *output_name, struct rot_error *err)
{
	int kept, rc;

	fflush(stdout);
	kept = dup(1);
	ck_assert_ptr_nonnull(freopen(output, "w", stdout));
	rc = controller_run(&rot, name, output_name, err);
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	return rc;
}

/* What does not depend on the version of rot. */
static char *
stable_json(const char *path)
{
	json_error_t why;
	json_t *json = json_load_file(path, 0, &why);
	char *text, *lines;

	ck_assert_msg(json != NULL, "%s: %s", path, why.text);
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
	char *json, *table;

	ck_assert_msg(run_into("table", "test", NULL, &err) == 0, "%s", err.text);
	json = stable_json("test.json");
	table = file_read("table", NULL, &err);
	expect_golden("tests/driver/controllers/golden/experiment.json", json);
	expect_golden("tests/driver/controllers/golden/table.txt", table);
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
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "99999999999", &err);
	ck_assert_int_eq(run_into("table", "test", NULL, &err), -1);
	ck_assert_str_eq(err.text, "the key runs is 99999999999: at most 1000000");
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
	ck_assert_msg(strstr(table, "\n1 of 1 points: runs were added until") != NULL, "%s", table);
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

START_TEST(higher_ceiling_counts)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "c", "c", 0, &err);
	struct experiment_ceiling ceiling = {"peak", "doublePrecisionFlop", NULL, 10};
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	workload->kernel = rot_entity_new(rot_registry_find(rot.registry, "Dummy"));
	measurement_workloads_add(measurement, workload);
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 1, &err), 0);
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 5, &err), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 1);
	ck_assert_double_eq(experiment->ceilings[0].best, 21); /* the second call: 20, and 0.25 more each run */
	ceiling.work = 0;
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 1, &err), -1);
	rot_graph_delete(measurement);
	experiment_delete(experiment);
}
END_TEST

/* A lost count of the time makes an infinite rate; neither it nor a disturbed run is the best. */
START_TEST(only_sound_runs_make_a_ceiling)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "c", "c", 0, &err);
	struct experiment_ceiling ceiling = {"peak", "doublePrecisionFlop", NULL, 10};
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	workload->kernel = rot_entity_new(rot_registry_find(rot.registry, "Dummy"));
	measurement_workloads_add(measurement, workload);
	fake_nr_infinite = 5;
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 5, &err), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 0);
	fake_nr_infinite = 2;
	fake_is_last_tainted = true;
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 5, &err), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 1);
	ck_assert_double_eq(experiment->ceilings[0].best, 20.75);
	rot_graph_delete(measurement);
	experiment_delete(experiment);
}
END_TEST

/* Ceilings, limits, numbers and texts that follow from what was measured; of each series the best point. */
static const char deriving[] =
	"<controller name='deriving' comment='' runs='5'>\n"
	"<axis name='size'><list values='100 200 300'/></axis><axis name='kind'><list values='a b'/></axis>\n"
	"<point series='{$kind}' label='{$size}'><workload><kernel type='Triad' bufferSize='{$size}'/></workload>\n"
	"<quantity is='performance:doublePrecisionFlop' name='rate'/></point>\n"
	"<ceilings once='true'><axis name='m'><list values='5 6'/></axis>\n"
	"<ceiling name='peak {$m}' performance='doublePrecisionFlop' runs='4'><workload><kernel type='Triad' "
	"bufferSize='{$m}'/></workload></ceiling></ceilings>\n"
	"<table title='The best of each' best='performance:doublePrecisionFlop'>\n"
	"<column of='kind'/><column of='size'/><column of='share'/><column of='word' heading='how'/></table>\n"
	"<table title='b and a'><column of='kind'/><column of='size'/><column of='ratio'/></table>\n"
	"<table title='Large ones' if=\"$size > 200 and $kind = 'a'\">\n"
	"<column of='label'/><column of='peak'/><column of='width'/><column of='known'/><column "
	"of='unknown'/></table>\n"
	"<derived name='peak' ceiling='peak {$size}' unit='flop/s' otherwise='3000000000'/>\n"
	"<derived name='best' ceiling='peak 6' unit='flop/cycle'/>\n"
	"<derived name='share' is='100 * $best.rate div $best' unit='%'/>\n"
	"<derived name='word' text=\"{substring('low high', 1 + 4 * ($share > 50), 4)}\" if=\"$kind = 'b'\"/>\n"
	"<derived name='width' limit='FMA' instructionSet='AVX512'/>\n"
	"<derived name='known' limit='FAM' instructionSet='AVX512' otherwise='{$llcBytes}'/>\n"
	"<derived name='unknown' limit='FAM' instructionSet='AVX512'/>\n"
	"<derived name='ratio' is='$rate div $base.rate' base=\"{substring('a', 1, $kind = 'b')}\"/>\n"
	"</controller>\n";

START_TEST(derived_values_are_golden)
{
	struct rot_error err = {0};
	char *table;
	json_t *root, *json;

	file_fill("deriving.xml", deriving);
	ck_assert_msg(run_into("table", "deriving", NULL, &err) == 0, "%s %s", err.text, err.hint);
	ck_assert_uint_eq(fake_nr_calls, 6 + 2);
	table = file_read("table", NULL, &err);
	expect_golden("tests/driver/controllers/golden/derived.txt", table);
	root = json_load_file("deriving.json", 0, NULL);
	json = json_object_get(json_array_get(json_object_get(root, "points"), 5), "derived");
	ck_assert_uint_eq(json_array_size(json), 7);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json, 3), "name")), "word");
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json, 3), "value")), "high");
	ck_assert_double_eq(json_number_value(json_object_get(json_array_get(json, 4), "value")), 2);
	json_decref(root);
	free(table);
}
END_TEST

/* The machine's profile: a roof by hand, of one thread and of two. */
static void
store_peaks(void)
{
	struct rot_error err = {0};
	struct peak_list list = peaks_by_hand();

	ck_assert_msg(profile_store(&rot, &list, &err) == 0, "%s", err.text);
	peak_list_clear(&list);
}

static struct experiment *
experiment_with_roofline(const char *operation, const char *clock)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "c", "c", 0, &err);
	struct experiment_plot plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	char *x = rot_format("operationalIntensity:%s:llcRam", operation);
	char *y = rot_format("performance:%s:%s", operation, clock);

	plot.x = x;
	plot.y = y;
	plot.has_default_peaks = true;
	ck_assert_msg(experiment_add_plot(experiment, &plot, &err) == 0, "%s", err.text);
	free(x);
	free(y);
	return experiment;
}

static const struct experiment_own_ceiling *
ceiling_named(const struct experiment *experiment, const char *name)
{
	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		if (strcmp(experiment->ceilings[i].name, name) == 0)
			return &experiment->ceilings[i];
	return NULL;
}

START_TEST(ceilings_are_those_of_the_profile)
{
	static const struct {
		const char *clock;
		double value, low; /* of AVX-512 FMA */
		const char *unit;
	} rows[] = {
		{"coreCycles", 63.98, 63.96, "flop/cycle"},
		{"tsc", 63.98 * 4 / 2.6, 63.96 * 4 / 2.6, "flop/cycle"},
		{"microSeconds", 63.98 * 4e9, 63.96 * 4e9, "flop/s"},
	};
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("singlePrecisionFlop", rows[_i].clock);
	const struct experiment_own_ceiling *fma;

	store_peaks();
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	/* one performance of single precision, six bandwidths, no latency, nothing of two threads */
	ck_assert_uint_eq(experiment->nr_ceilings, 7);
	ck_assert_ptr_null(ceiling_named(experiment, "AVX-512 FMA+ADD"));
	fma = ceiling_named(experiment, "AVX-512 FMA");
	ck_assert_ptr_nonnull(fma);
	ck_assert_double_eq_tol(fma->best / rows[_i].value, 1, 1e-12);
	ck_assert_double_eq_tol(fma->low / rows[_i].low, 1, 1e-12);
	ck_assert_str_eq(fma->value.unit, rows[_i].unit);
	ck_assert_ptr_nonnull(strstr(experiment->roof_note, "ceilings of 1 thread at 4.00 GHz, found "));
	ck_assert_uint_eq(fake_nr_calls, 0);
	experiment_delete(experiment);
}
END_TEST

/* Both modes of the memory are there, and the peaks are those of all threads together. */
START_TEST(work_on_several_cpus_has_their_ceilings)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");

	store_peaks();
	experiment_use_cpus(experiment, 1.6);
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(experiment->nr_ceilings, 3);
	ck_assert_double_eq(ceiling_named(experiment, "AVX-512 FMA+ADD")->best, 2 * 47.98);
	ck_assert_ptr_nonnull(ceiling_named(experiment, "DRAM load, near"));
	ck_assert_ptr_nonnull(ceiling_named(experiment, "DRAM load, far"));
	ck_assert_int_eq(experiment_roof_threads(experiment, 1), 1);
	ck_assert_int_eq(experiment_roof_threads(experiment, 5), 2);
	ck_assert_double_eq(experiment_roof_value(experiment, "flop", NULL, 1), 47.985 * 4e9);
	/* of loads, though other accesses reach more */
	ck_assert_double_eq(experiment_roof_value(experiment, NULL, "llcRam", 1), 10.4 * 4e9);
	ck_assert(isnan(experiment_roof_value(experiment, NULL, "l1l2", 2)));
	experiment_delete(experiment);
}
END_TEST

/* In the order of struct experiment_derived. */
static double
derived_peak(struct experiment *experiment, size_t i)
{
	ck_assert_uint_eq(experiment->nr_points, 1);
	return experiment->points[0].derived[i].number;
}

static const struct {
	const char *access, *operation, *border, *instruction_set, *clock;
	double value; /* of peaks_by_hand(); its clock is 4 GHz, that of the time stamp counter 2.6 */
} named_peaks[] = {
	{"FMA", "doublePrecisionFlop", "", "AVX512", "", 31.99},
	{"FMA", "{$word}PrecisionFlop", "", "AVX512", "coreCycles", 63.98},
	{"FMA", "doublePrecisionFlop", "", "AVX512", "microSeconds", 31.99 * 4e9},
	{"FMA", "doublePrecisionFlop", "", "AVX512", "tsc", 31.99 * 4 / 2.6},
	{"FMA_ADD", "doublePrecisionFlop", "", "", "", 47.985}, /* the highest of all instruction sets */
	{"load", "", "cpuL1", "AVX512", "", 127.9},
	{"store", "", "cpuL1", "AVX512", "", 63.9},
	{"store", "", "l2l3", "AVX512", "", 7}, /* there is none: otherwise */
};

/* By access, operation or border, and instruction set, per core cycle, second or tick; without a search for it here. */
START_TEST(derived_values_are_peaks)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "c", NULL, 0, &err);
	struct coordinate at = {.axis = "word", .text = "single", .number = NAN};
	struct measurement *measurement = measurement_new();
	struct peak_wish *wishes;
	struct workload *workload = workload_new();
	FILE *nowhere = fopen("/dev/null", "w");

	workload->kernel = rot_entity_new(rot_registry_find(rot.registry, "Dummy"));
	measurement_workloads_add(measurement, workload);
	for (size_t i = 0; i < NR_ELEMENTS(named_peaks); i++)
		experiment_add_derived(experiment, &(struct experiment_derived){
							   .kind = EXPERIMENT_DERIVED_PEAK,
							   .name = "peak",
							   .text = named_peaks[i].access,
							   .operation = named_peaks[i].operation,
							   .border = named_peaks[i].border,
							   .instruction_set = named_peaks[i].instruction_set,
							   .clock = named_peaks[i].clock,
							   .otherwise = 7,
						   });
	store_peaks();
	ck_assert_msg(experiment_add_point(experiment, "s", "1", &at, 1, measurement, NULL, 0, 5, &err) == 0, "%s",
		      err.text);
	ck_assert_uint_eq(experiment_wishes(experiment, &wishes), 6); /* the same ones once */
	ck_assert_str_eq(wishes[1].operation, "singlePrecisionFlop");
	for (size_t i = 0; i < 6; i++)
		peak_wish_clear(&wishes[i]);
	free(wishes);
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	experiment_print_table(experiment, nowhere);
	experiment_derive(experiment);
	for (size_t i = 0; i < NR_ELEMENTS(named_peaks); i++)
		ck_assert_msg(fabs(derived_peak(experiment, i) / named_peaks[i].value - 1) < 1e-12, "%zu: %g", i,
			      derived_peak(experiment, i));
	fclose(nowhere);
	rot_graph_delete(measurement);
	experiment_delete(experiment);
}
END_TEST

/* Those of a kernel's library are threads too. */
START_TEST(threads_of_a_library_have_the_ceilings_of_as_many)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	store_peaks();
	workload->kernel = rot_entity_new(rot_registry_find(rot.registry, "Daxpy"));
	measurement_workloads_add(measurement, workload);
	for (int threads = 1; threads <= 2; threads++) {
		workload->kernel->num_threads = threads;
		ck_assert_msg(experiment_add_point(experiment, "s", "1", NULL, 0, measurement, NULL, 0, 5, &err) == 0,
			      "%s", err.text);
		ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
		ck_assert_int_eq(experiment->nr_roof_threads, threads);
	}
	rot_graph_delete(measurement);
	experiment_delete(experiment);
}
END_TEST

/* Neither a lost count of the time nor a disturbed run. */
START_TEST(upper_quartile_is_of_sound_runs)
{
	double samples[] = {1, 1, 1, 1, 1, 4, 4, 4, 5, INFINITY, 9};
	unsigned taints[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct quantity_value value = {.samples = samples, .taints = taints, .nr_samples = 11, .summary.value = 3};

	ck_assert_double_eq(experiment_upper_quartile(&value), 4);
	ck_assert_double_eq(experiment_best_run(&value), 5);
	value.nr_samples = 0;
	ck_assert_double_eq(experiment_upper_quartile(&value), 3);
}
END_TEST

static size_t
nr_shown(const struct experiment *experiment)
{
	const struct experiment_own_ceiling **shown;
	size_t nr = experiment_ceilings_of(experiment, &experiment->plots[0], &shown);

	free(shown);
	return nr;
}

static void
assert_shown(const struct experiment *experiment, const char *const *names, size_t nr_names)
{
	const struct experiment_own_ceiling **shown;
	size_t nr = experiment_ceilings_of(experiment, &experiment->plots[0], &shown);

	ck_assert_uint_eq(nr, nr_names);
	for (size_t i = 0; i < nr; i++) {
		bool is_shown = false;

		for (size_t k = 0; k < nr; k++)
			is_shown = is_shown || strcmp(shown[k]->name, names[i]) == 0;
		ck_assert_msg(is_shown, "%s", names[i]);
	}
	free(shown);
}

/*
 * The highest performance and the best known one of each instruction set, clearly apart; of each level the highest
 * bandwidth, as loads where they are not below.
 */
START_TEST(few_ceilings_matter)
{
	static const char *const main_ones[] = {"AVX-512 FMA+ADD", "AVX-512 FMA", "AVX2 FMA+ADD",
						"SSE MUL, ADD",    "x87 ADD",     "L1 load",
						"L2 load",         "L3 load",     "DRAM load"};
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	struct peak_list list = peaks_by_hand();

	peak_by_hand(&list, "AVX-512 ADD", 1)->per_cycle.value = 22; /* higher than what is known of AVX2 */
	ck_assert_msg(profile_store(&rot, &list, &err) == 0, "%s", err.text);
	peak_list_clear(&list);
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(experiment->nr_ceilings, 12);
	assert_shown(experiment, main_ones, NR_ELEMENTS(main_ones));
	experiment->plots[0].plot.has_all_peaks = true;
	ck_assert_uint_eq(nr_shown(experiment), 12);
	experiment_delete(experiment);
}
END_TEST

/* Intensities count what crosses a border: lines that are stored to are loaded first, and written back. */
START_TEST(stores_are_shown_with_their_fills)
{
	static const struct {
		const char *access, *border, *name;
		double factor;
	} rows[] = {
		{"store", "llcRam", "DRAM with fills", 2},
		{"copy", "l2l3", "DRAM with fills", 1.5},
		{"triad", "l1l2", "DRAM with fills", 4.0 / 3},
		{"ntStore", "llcRam", "DRAM", 1},
		{"update", "llcRam", "DRAM", 1},
		{"store", "cpuL1", "DRAM", 1},
	};
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	struct peak_list list = peaks_by_hand();
	struct peak *peak = peak_by_hand(&list, "DRAM non-temporal store", 1);
	const struct experiment_own_ceiling *ceiling;

	rot_string_set(&peak->name, "DRAM");
	rot_string_set(&peak->access, rows[_i].access);
	rot_string_set(&peak->border, rows[_i].border);
	ck_assert_msg(profile_store(&rot, &list, &err) == 0, "%s", err.text);
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	ceiling = ceiling_named(experiment, rows[_i].name);
	ck_assert_ptr_nonnull(ceiling);
	ck_assert_double_eq_tol(ceiling->best / (rows[_i].factor * 11.1 * 4e9), 1, 1e-12);
	ck_assert_double_eq_tol(ceiling->low / (rows[_i].factor * 10.5 * 4e9), 1, 1e-12);
	peak_list_clear(&list);
	experiment_delete(experiment);
}
END_TEST

/* What counts one direction only is compared with what goes in that direction alone. */
START_TEST(directions_have_their_ceilings)
{
	static const struct {
		const char *border;
		const char *has, *has_not;
	} rows[] = {
		{"cpuL1.read", "L1 load", "L1 store"},
		{"cpuL1.write", "L1 store", "L1 load"},
		{"llcRam.write", "DRAM non-temporal store", "DRAM load"},
		{"llcRam.read", "DRAM load", "DRAM non-temporal store"},
	};
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	const struct experiment_own_ceiling **shown;
	struct quantity_request x = {0};
	char *text = rot_format("operationalIntensity:flop:%s", rows[_i].border);
	bool has = false;
	size_t nr;

	store_peaks();
	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	ck_assert_int_eq(quantity_parse(&x, text, &err), 0);
	experiment->plots[0].x = x;
	experiment->plots[0].plot.has_all_peaks = true;
	nr = experiment_ceilings_of(experiment, &experiment->plots[0], &shown);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_str_ne(shown[i]->name, rows[_i].has_not);
		has = has || strcmp(shown[i]->name, rows[_i].has) == 0;
	}
	ck_assert(has);
	free(shown);
	free(text);
	experiment_delete(experiment);
}
END_TEST

/* Nobody asked for a search; what there is has to do. */
START_TEST(without_a_profile_there_is_no_roof)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");

	ck_assert_msg(experiment_add_default_peaks(experiment, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(experiment->nr_ceilings, 0);
	ck_assert_ptr_null(experiment->roof_note);
	ck_assert_int_eq(experiment_roof_threads(experiment, 1), 0);
	ck_assert_uint_eq(fake_nr_calls, 0);
	experiment_delete(experiment);
}
END_TEST

/* Two ceilings of one kind that are nearly the same: the lower is not drawn. */
START_TEST(nearly_equal_ceilings_are_one)
{
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "c", "c", 0, &err);
	struct experiment_own_plot plot = {.y = {.name = "performance", .operation = "flop"}};
	struct experiment_own_ceiling rows[] = {
		{.name = rot_strdup("a"), .operation = rot_strdup("flop"), .border = rot_strdup(""), .best = 10},
		{.name = rot_strdup("b"), .operation = rot_strdup("flop"), .border = rot_strdup(""), .best = 9.9},
		{.name = rot_strdup("c"), .operation = rot_strdup("flop"), .border = rot_strdup(""), .best = 5},
		{.name = rot_strdup("d"), .operation = rot_strdup(""), .border = rot_strdup("llcRam"), .best = 9.9},
		{.name = rot_strdup("e"), .operation = rot_strdup("other"), .border = rot_strdup(""), .best = 50},
	};
	const struct experiment_own_ceiling **shown;
	size_t nr;

	experiment->ceilings = rot_calloc(5, sizeof(*rows));
	memcpy(experiment->ceilings, rows, sizeof(rows));
	experiment->nr_ceilings = 5;
	nr = experiment_ceilings_of(experiment, &plot, &shown);
	ck_assert_uint_eq(nr, 3);
	ck_assert_str_eq(shown[0]->name, "a");
	ck_assert_str_eq(shown[1]->name, "d");
	ck_assert_str_eq(shown[2]->name, "c");
	free(shown);
	experiment_delete(experiment);
}
END_TEST

START_TEST(units_for_people)
{
	struct quantity_value value = {
		.kind = "measured", .unit = (char *)"flop/s", .summary = summary_single(2.5e9, "median")};
	char *text = value_text(&value);

	ck_assert_str_eq(text, "2.500");
	ck_assert_str_eq(shown_unit("byte/s").shown, "GB/s");
	ck_assert_str_eq(shown_unit("flop/cycle").shown, "flop/cycle");
	ck_assert_double_eq(shown_unit("flop/cycle").factor, 1);
	free(text);
}
END_TEST

static const struct {
	double value, low, high;
	const char *kind, *text;
} numbers[] = {
	{20000, 20000, 20000, "measured", "20000"},
	{20000, NAN, NAN, "expected", "20000 (e)"},
	{1.23456, NAN, NAN, "modelled", "1.235 (m)"},
	{51.34, 51.13, 51.55, "measured", "51.34 ±0.21"},
	{51.34, 51.3, 52.9, "measured", "51.3 [51.3, 52.9]"},
	{1234567, 1233000, 1236000, "measured", "1234600 [1233000, 1236000]"},
	{100, 90, 120, "measured", "100 [90, 120]"},
	{0.001234, 0.001233, 0.001235, "measured", "0.0012340 ±0.0000010"},
	{0, 0, 0, "measured", "0"},
	{0, NAN, NAN, "expected", "0 (e)"},
	{INFINITY, NAN, NAN, "measured", "inf"},
	{NAN, NAN, NAN, "measured", "-"},
	{123456.7, NAN, NAN, "measured", "123500"},
	{27122732, NAN, NAN, "measured", "27120000"},
	{27122732, NAN, NAN, "given", "27122732 (g)"},
};

START_TEST(digits_follow_the_interval)
{
	struct quantity_value value = {
		.kind = numbers[_i].kind,
		.summary = {.estimator = numbers[_i].kind,
			    .value = numbers[_i].value,
			    .low = numbers[_i].low,
			    .high = numbers[_i].high},
	};
	char *text = value_text(&value);

	ck_assert_str_eq(text, numbers[_i].text);
	free(text);
}
END_TEST

START_TEST(words_for_people)
{
	struct quantity_value value = {.of = (char *)"doublePrecisionFlop/llcRam.read"};
	char *of = value_of_words(&value), *name = camel_case_words("operationalIntensity");

	ck_assert_str_eq(of, "double precision, LLC-RAM read");
	ck_assert_str_eq(name, "operational intensity");
	free(of);
	free(name);
}
END_TEST

START_TEST(doubts_are_told)
{
	double samples[] = {4.2, 3.1, 3.1, 4.2, 3.1, 4.2, 3.1, 3.1, 3.1, 4.2}, rising[10];
	unsigned taints[10] = {0};
	struct quantity_value value = {
		.name = (char *)"time", .unit = (char *)"us", .samples = samples, .taints = taints, .nr_samples = 10};
	char *text = value_doubts_text(&value);

	ck_assert_str_eq(text, "time: two modes: 3.1 and 4.2 us, 6 and 4 runs");
	free(text);
	for (int i = 0; i < 10; i++)
		rising[i] = (i == 0 ? 40e9 : 100e9 - i * 1e9);
	value.name = (char *)"throughput";
	value.unit = (char *)"byte/s";
	value.samples = rising;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: the first run differs by -58 % from the others");
	free(text);
	rising[0] = 270e9;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: drifts by -9.4 % from the first to the last run; "
			       "the first run differs by +184 % from the others");
	free(text);
	rising[0] = 100e9;
	text = value_doubts_text(&value);
	ck_assert_str_eq(text, "throughput: drifts by -9.4 % from the first to the last run");
	free(text);
	value.nr_samples = 5;
	ck_assert_ptr_null(value_doubts_text(&value));
}
END_TEST

/* The fake's samples grow with every run: with enough runs, that is seen in the table and in the JSON, once. */
START_TEST(doubts_are_notes)
{
	struct rot_error err = {0};
	json_t *json, *point, *notes;
	char *table;

	ck_assert_int_eq(configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "runs", "12", &err), 0);
	ck_assert_msg(run_into("table", "test", "result", &err) == 0, "%s", err.text);
	table = file_read("table", NULL, &err);
	json = json_load_file("result.json", 0, NULL);
	point = json_array_get(json_object_get(json, "points"), 0);
	notes = json_object_get(point, "notes");
	ck_assert_uint_eq(json_array_size(notes), 1);
	ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(notes, 0)), ": drifts by +"));
	ck_assert_ptr_nonnull(strstr(table, json_string_value(json_array_get(notes, 0))));
	free(table);
	json_decref(json);
}
END_TEST

/* A value of the fake as if it had been measured beside an empty region, of ten samples. */
static void
measure_doubtful(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		 int nr_runs, struct quantity_value *values)
{
	static const char *const units[] = {"us", "flop", "byte"};

	(void)measurement;
	for (size_t i = 0; i < nr_requests; i++) {
		const bool is_bytes = requests[i].border != NULL, is_rate = requests[i].given_bytes > 0;

		values[i] = (struct quantity_value){
			.request = requests[i],
			.name = rot_strdup(requests[i].name),
			.of = rot_strdup(is_bytes ? requests[i].border : ""),
			.unit = rot_strdup(is_rate ? "byte/s" : units[i % 3]),
			.source = rot_strdup("fake"),
			.kind = "measured",
			.grade = "",
			.expected = is_bytes ? 2400 : NAN,
			.compulsory = is_bytes && !is_rate ? 1600 : 0,
			.own_cost = {true, is_bytes ? 8 : 0.5, NAN, is_bytes ? 0.005 : 0.018, NAN},
			.nr_samples = (size_t)nr_runs,
			.samples = rot_calloc((size_t)nr_runs, sizeof(double)),
			.taints = rot_calloc((size_t)nr_runs, sizeof(unsigned)),
			.summary = summary_single(is_bytes ? 1500 : 28, "median"),
		};
		for (int k = 0; k < nr_runs; k++)
			values[i].samples[k] = values[i].summary.value;
		values[i].request.clock = i == 0 ? "microSeconds" : NULL;
		if (is_bytes && !is_rate)
			quantity_breach_add(&values[i], "bordersOrdered", 2, 1, rot_strdup("two is more than one"));
	}
}

/* What measures best becomes a variable; where it was not measured before, the first candidate is the guess. */
static const char choosing[] =
	"<controller name='choosing' comment='' runs='5'>\n"
	"<choice name='best' best='performance:doublePrecisionFlop' otherwise='none'><axis name='n'><list values='100 "
	"200 "
	"300'/></axis><workload><kernel type='Triad' bufferSize='{$n}'/></workload></choice>\n"
	"<choice name='other' best='performance:doublePrecisionFlop' otherwise='{$best}' if='$best = 0'><axis "
	"name='n'><list values='1'/></axis><workload><kernel type='Triad'/></workload></choice>\n"
	"<axis name='size'><value is='{$best}'/></axis>\n"
	"<point series='{$other}' label='{$size}'><workload><kernel type='Triad' "
	"bufferSize='{$size}'/></workload></point>\n"
	"<quantity is='performance:doublePrecisionFlop'/>\n"
	"<each><axis name='i'><list values='1 2'/></axis><derived name='d{$i}' is='{$i}'/></each>\n"
	"</controller>\n";

/* That one was chosen, was told so, and is in the JSON, whose number of candidates with values is given. */
static void
assert_chosen(const char *value, const char *told, size_t nr_candidates)
{
	struct rot_error err = {0};
	char *table;
	json_t *json, *choice, *point;

	ck_assert_msg(run_into("table", "choosing", NULL, &err) == 0, "%s %s", err.text, err.hint);
	table = file_read("table", NULL, &err);
	ck_assert_msg(strstr(table, told) != NULL, "%s", table);
	json = json_load_file("choosing.json", 0, NULL);
	choice = json_array_get(json_object_get(json, "choices"), 0);
	point = json_array_get(json_object_get(json, "points"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "choices")), 1);
	ck_assert_str_eq(json_string_value(json_object_get(choice, "name")), "best");
	ck_assert_str_eq(json_string_value(json_object_get(choice, "value")), value);
	ck_assert_uint_eq(json_array_size(json_object_get(choice, "candidates")), nr_candidates);
	ck_assert_str_eq(json_string_value(json_object_get(point, "label")), value);
	ck_assert_str_eq(json_string_value(json_object_get(point, "series")), value);
	ck_assert_uint_eq(json_array_size(json_object_get(point, "derived")), 2);
	json_decref(json);
	free(table);
}

START_TEST(the_best_candidate_is_chosen)
{
	file_fill("choosing.xml", choosing);
	fake_is_cache_empty = true;
	fake_failing_call = 2;
	assert_chosen("300", "best 300: 100 10.9 flop/cycle, 200 impossible, 300 30.9 flop/cycle\n", 2);
	ck_assert_uint_eq(fake_nr_calls, 3 + 1);
	fake_is_cache_empty = false; /* now it is known before anything is measured */
	fake_nr_calls = fake_failing_call = 0;
	assert_chosen("300", "best 300: 100 10.9 flop/cycle, 200 20.9 flop/cycle, 300 30.9 flop/cycle\n", 3);
	ck_assert_uint_eq(fake_nr_calls, 3 + 1);
	fake_measure = measure_doubtful; /* all the same */
	assert_chosen("100", "best 100: 100 28 ", 3);
}
END_TEST

START_TEST(what_measuring_costs_and_broken_rules_are_told)
{
	struct rot_error err = {0};
	json_t *json, *point, *bytes, *time;
	char *table;

	fake_measure = measure_doubtful;
	ck_assert_msg(run_into("table", "test", "result", &err) == 0, "%s", err.text);
	table = file_read("table", NULL, &err);
	json = json_load_file("result.json", 0, NULL);
	point = json_array_get(json_object_get(json, "points"), 0);
	time = json_array_get(json_object_get(point, "quantities"), 0);
	bytes = json_array_get(json_object_get(point, "quantities"), 2);
	ck_assert_double_eq(json_number_value(json_object_get(json_object_get(time, "emptyRegion"), "value")), 0.5);
	ck_assert(json_is_null(json_object_get(json_object_get(time, "emptyRegion"), "perShare")));
	ck_assert_double_eq(json_number_value(json_object_get(bytes, "compulsory")), 1600);
	ck_assert_uint_eq(json_array_size(json_object_get(bytes, "brokenRules")), 1);
	ck_assert_msg(strstr(table, "a 100: short: starting and stopping the measurement is 1.8 % of its time, ") !=
			      NULL,
		      "%s", table);
	ck_assert_ptr_nonnull(strstr(table, "a 100: doubtful: two is more than one\n"));
	ck_assert_ptr_nonnull(strstr(table, "an empty region: time 0.5 us"));
	ck_assert_ptr_nonnull(strstr(table, "bytes (LLC-RAM read) 8 byte"));
	ck_assert_ptr_nonnull(strstr(table, "transferred bytes (LLC-RAM read) [byte]             1600"));
	ck_assert_ptr_null(strstr(table, "above the highest ceiling"));
	free(table);
	json_decref(json);
}
END_TEST

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
START_TEST(too_few_starts_are_told)
{
	struct rot_error err = {0};
	char *table;

	nr_starts = 5 + (size_t)_i;
	fake_measure = measure_in_starts;
	ck_assert_msg(run_into("table", "test", "result", &err) == 0, "%s", err.text);
	table = file_read("table", NULL, &err);
	ck_assert_int_eq(strstr(table, "points: runs of fewer than 6 starts of the measuring core") != NULL, _i == 0);
	free(table);
}
END_TEST

/* A throughput that no memory of this machine has: told at its point, with both numbers. */
START_TEST(rates_above_the_roof_are_told)
{
	const struct quantity_request request = {
		.name = "throughput", .border = "llcRam.read", .clock = "microSeconds"};
	struct rot_error err = {0};
	struct experiment *experiment = experiment_new(&rot, "test", "roof", 1, &err);
	const struct experiment_ceiling ceiling = {.name = "memory", .border = "llcRam", .work = 100};
	struct measurement *measurement = measurement_new();
	struct quantity_value value = {.request = request,
				       .name = rot_strdup("throughput"),
				       .of = rot_strdup("llcRam.read"),
				       .unit = rot_strdup("byte/s"),
				       .source = rot_strdup(""),
				       .kind = "measured",
				       .grade = "",
				       .expected = NAN,
				       .nr_samples = 1,
				       .samples = rot_calloc(1, sizeof(double)),
				       .taints = rot_calloc(1, sizeof(unsigned)),
				       .summary = summary_single(2000, "median")};

	fake_measure = measure_doubtful; /* the ceiling is 1500 */
	ck_assert_int_eq(experiment_add_ceiling(experiment, &ceiling, measurement, 4, &err), 0);
	experiment_add_values(experiment, "fast", "", &request, &value, 1);
	experiment_check_ceilings(experiment);
	ck_assert_uint_eq(experiment->points[0].nr_notes, 1);
	ck_assert_ptr_nonnull(strstr(experiment->points[0].notes[0], "above the highest ceiling: memory"));
	experiment_delete(experiment);
	rot_graph_delete(measurement);
}
END_TEST

static const struct listed_test tests[] = {
	{&json_and_table_are_golden, 1},
	{&json_is_the_schema, 1},
	{&configuration_overrides, 1},
	{&effort_follows_the_keys, 1},
	{&interrupted_keeps_finished_points, 1},
	{&interrupted_draws_plots, 1},
	{&failure_writes_nothing, 1},
	{&unwritable_folder_is_seen_first, 1},
	{&higher_ceiling_counts, 1},
	{&only_sound_runs_make_a_ceiling, 1},
	{&derived_values_are_golden, 1},
	{&derived_values_are_peaks, 1},
	{&threads_of_a_library_have_the_ceilings_of_as_many, 1},
	{&upper_quartile_is_of_sound_runs, 1},
	{&stores_are_shown_with_their_fills, 6},
	{&directions_have_their_ceilings, 4},
	{&ceilings_are_those_of_the_profile, 3},
	{&work_on_several_cpus_has_their_ceilings, 1},
	{&few_ceilings_matter, 1},
	{&without_a_profile_there_is_no_roof, 1},
	{&nearly_equal_ceilings_are_one, 1},
	{&units_for_people, 1},
	{&digits_follow_the_interval, NR_ELEMENTS(numbers)},
	{&words_for_people, 1},
	{&doubts_are_told, 1},
	{&doubts_are_notes, 1},
	{&the_best_candidate_is_chosen, 1},
	{&what_measuring_costs_and_broken_rules_are_told, 1},
	{&too_few_starts_are_told, 2},
	{&rates_above_the_roof_are_told, 1},
};

const struct suite test_suite = SUITE("experiment", tests, .set_up = setup, .tear_down = teardown);
