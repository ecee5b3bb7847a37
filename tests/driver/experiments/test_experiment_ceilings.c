/* SPDX-License-Identifier: MIT */
/* Ceilings of experiments: measured ones, those of the machine's profile, and which of them rooflines show. */
#include "base/configuration.h"
#include "experiment_fixture.h"
#include "peaks_by_hand.h"
#include "plots/page.h"
#include "roof/profile.h"
#include "testing.h"

static int
add_peak(struct experiment *experiment, double work, const struct measurement *measurement, int nr_runs,
	 struct rot_error *err)
{
	return experiment_add_ceiling(experiment, "peak", "doublePrecisionFlop", NULL, work, measurement, nr_runs, err);
}

TEST(higher_ceiling_counts)
{
	struct experiment *experiment = experiment_open("c", "c", 0);
	autograph struct measurement *measurement = measurement_of("Dummy");

	ck_assert_int_eq(add_peak(experiment, 10, measurement, 1, &why), 0);
	ck_assert_int_eq(add_peak(experiment, 10, measurement, 5, &why), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 1);
	ck_assert_double_eq(experiment->ceilings[0].value, 21); /* the second call: 20, and 0.25 more each run */
	ck_assert_int_eq(add_peak(experiment, 0, measurement, 1, &why), -1);
}

/* A lost count of the time makes an infinite rate; neither it nor a disturbed run is the best. */
TEST(only_sound_runs_make_a_ceiling)
{
	struct experiment *experiment = experiment_open("c", "c", 0);
	autograph struct measurement *measurement = measurement_of("Dummy");

	fake_nr_infinite = 5;
	ck_assert_int_eq(add_peak(experiment, 10, measurement, 5, &why), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 0);
	fake_nr_infinite = 2;
	fake_is_last_tainted = true;
	ck_assert_int_eq(add_peak(experiment, 10, measurement, 5, &why), 0);
	ck_assert_uint_eq(experiment->nr_ceilings, 1);
	ck_assert_double_eq(experiment->ceilings[0].value, 20.75);
}

static const struct ceiling *
ceiling_named(const struct experiment *experiment, const char *name)
{
	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		if (strcmp(experiment->ceilings[i].name, name) == 0)
			return &experiment->ceilings[i];
	return NULL;
}

TEST_OF(ceilings_are_those_of_the_profile, 3)
{
	static const struct {
		const char *clock;
		double value, low; /* of AVX-512 FMA */
		const char *unit;
		double random; /* a line of 64 bytes in 60 cycles */
	} rows[] = {
		{"coreCycles", 63.98, 63.96, "flop/cycle", 64.0 / 60},
		{"tsc", 63.98 * 4 / 2.6, 63.96 * 4 / 2.6, "flop/cycle", 64.0 / 60 * 4 / 2.6},
		{"microSeconds", 63.98 * 4e9, 63.96 * 4e9, "flop/s", 64 / 15e-9},
	};
	struct experiment *experiment = experiment_with_roofline("singlePrecisionFlop", rows[_i].clock);
	const struct ceiling *fma, *random;

	store_peaks();
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	/* one performance of single precision, six bandwidths, random access, nothing of two threads */
	ck_assert_uint_eq(experiment->nr_ceilings, 8);
	ck_assert_ptr_null(ceiling_named(experiment, "AVX-512 FMA+ADD"));
	fma = ceiling_named(experiment, "AVX-512 FMA");
	ck_assert_ptr_nonnull(fma);
	ck_assert_double_eq_tol(fma->value / rows[_i].value, 1, 1e-12);
	ck_assert_double_eq_tol(fma->low / rows[_i].low, 1, 1e-12);
	ck_assert_str_eq(fma->unit, rows[_i].unit);
	random = ceiling_named(experiment, "DRAM random access, 12 chains");
	ck_assert_ptr_nonnull(random);
	ck_assert_double_eq_tol(random->value / rows[_i].random, 1, 1e-12);
	ck_assert(random->low < random->value && random->value < random->high);
	ck_assert_str_eq(random->border, "llcRam");
	for (size_t i = 0; i < experiment->nr_lines; i++)
		ck_assert_str_ne(experiment->lines[i].access, "random"); /* it bounds nothing */
	ck_assert_has(experiment->roof_note, "ceilings of 1 thread at 4.00 GHz, found ");
	ck_assert_uint_eq(fake_nr_calls, 0);
}

/* Cycles of points are summed over their threads, so per cycle both are of one; other clocks go by once for all. */
static const struct {
	const char *clock;
	double fma_add; /* of two threads */
	const char *note;
} units_of_threads[] = {
	{"coreCycles", 47.98, "ceilings of 2 threads, per cycle of one, at"},
	{"referenceCycles", 47.98 * 4 / 2.6, "ceilings of 2 threads, per cycle of one, at"},
	{"tsc", 2 * 47.98 * 4 / 2.6, "ceilings of 2 threads at"},
	{"microSeconds", 2 * 47.98 * 4e9, "ceilings of 2 threads at"},
};

/* Both modes of the memory are there. */
TEST_OF(work_on_several_cpus_has_their_ceilings, NR_ELEMENTS(units_of_threads))
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", units_of_threads[_i].clock);

	store_peaks();
	experiment_use_cpus(experiment, 1.6);
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	ck_assert_uint_eq(experiment->nr_ceilings, 3);
	ck_assert_double_eq_tol(ceiling_named(experiment, "AVX-512 FMA+ADD")->value / units_of_threads[_i].fma_add, 1,
				1e-12);
	ck_assert_has(experiment->roof_note, units_of_threads[_i].note);
	ck_assert_ptr_nonnull(ceiling_named(experiment, "DRAM load, near"));
	ck_assert_ptr_nonnull(ceiling_named(experiment, "DRAM load, far"));
	ck_assert_int_eq(experiment_roof_threads(experiment, 1), 1);
	ck_assert_int_eq(experiment_roof_threads(experiment, 5), 2);
	ck_assert_double_eq(experiment_roof_value(experiment, "flop", NULL, 1).value, 47.985 * 4e9);
	ck_assert_double_eq(experiment_roof_value(experiment, NULL, "llcRam.read", 1).value, 10.4 * 4e9);
	/* of all accesses: the line that is drawn, which is not the highest one of 11.1, but nearly, and better known
	 */
	ck_assert_double_eq(experiment_roof_value(experiment, NULL, "llcRam", 1).value, 10.4 * 4e9);
	ck_assert(isnan(experiment_roof_value(experiment, NULL, "l1l2", 2).value));
}

/* A point of half the bandwidth of so many threads. */
static void
add_half(struct experiment *experiment, const char *series, int nr_threads)
{
	const struct experiment_own_plot *plot = experiment_first_roofline(experiment);
	const struct quantity_request requests[] = {plot->x, plot->y};
	struct quantity_value values[2] = {
		{.name = "operationalIntensity", .of = "doublePrecisionFlop/llcRam", .unit = "flop/byte"},
		{.name = "performance", .of = "doublePrecisionFlop", .unit = "flop/s"}};

	for (int i = 0; i < 2; i++) {
		values[i].request = requests[i];
		values[i].source = "by hand";
		values[i].kind = "measured";
		values[i].grade = "";
		values[i].summary = summary_single(0.1, "median");
	}
	values[1].summary.value *= experiment_roof_value(experiment, NULL, "llcRam", nr_threads).value / 2;
	experiment_add_values(experiment, series, "x", requests, values, 2);
	experiment_set_cpus(experiment, nr_threads);
}

/* Fewer accumulators than fill the processor are told, of the point that has fewest. */
TEST(missing_chains_are_told)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	FILE *out = fopen("verdicts", "w");
	char *text;

	store_peaks();
	experiment_use_cpus(experiment, 1);
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	for (int i = 0; i < 3; i++) {
		add_half(experiment, i < 2 ? "few" : "enough", 1);
		experiment->points[i].chains =
			(struct experiment_chains){(const double[]){6, 3, 8}[i], {4.01, 2, "measured 2026-11-27"}};
	}
	experiment_print_verdicts(experiment, out);
	fclose(out);
	text = file_text("verdicts");
	ck_assert_has(text, "few: 3 accumulators, 8 needed: latency 4 x 2 a cycle (measured 2026-11-27)\n");
	ck_assert_lacks(text, "enough: 8 acc");
}

/* Text, JSON and page say the same of a point: under the roof of as many threads, with the line that is drawn. */
TEST(a_point_is_judged_once)
{
	static const char *const texts[] = {"one: at 50 % of its roof, DRAM load (1 thread)\n",
					    "two: at 50 % of its roof, DRAM load, far (2 threads)\n"};
	static const char *const titles[] = {
		" % of the roof at this intensity (DRAM load): bound by",
		" % of the roof of 2 threads at this intensity (DRAM load, far): bound by"};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	FILE *out = fopen("verdicts", "w");
	json_auto_t *json = NULL;
	char *text, *page;

	store_peaks();
	experiment_use_cpus(experiment, 2);
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	add_half(experiment, "one", 1);
	add_half(experiment, "two", 2);
	experiment_print_verdicts(experiment, out);
	fclose(out);
	json = experiment_json(experiment, true);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "plots", "html", NULL);
	ck_assert_ok(experiment_write_plots(experiment, &(struct page_result){"", json}, 1, &why));
	text = file_text("verdicts");
	page = file_text("c.html");
	for (size_t i = 0; i < 2; i++) {
		const json_t *point = json_array_get(json_object_get(json, "points"), i);

		ck_assert_has(text, texts[i]);
		ck_assert_has(page, titles[i]);
		ck_assert_double_eq_tol(json_real_value(json_object_get(point, "roofShare")), 0.5, 1e-12);
		ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(point, "roof"), "threads")), i + 1);
	}
	ck_assert_has(page, "<td class=\"line\">DRAM load, 1 thread</td>");
	ck_assert_has(page, "<td class=\"line\">DRAM load, far, 2 threads</td>");
}

/* A peak without an interval is a roof that the machine reaches at least: table, verdict and JSON say so. */
TEST(a_share_of_the_least_roof_is_the_most)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	FILE *out = fopen("table", "w");
	json_auto_t *json = NULL;
	char *text;

	store_peaks();
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	add_half(experiment, "one", 1);
	for (size_t i = 0; i < experiment->nr_lines; i++)
		experiment->lines[i].low = experiment->lines[i].high = NAN;
	json = experiment_json(experiment, true);
	experiment_print_table(experiment, json, out);
	fclose(out);
	text = file_text("table");
	ck_assert_msg(strstr(text, "one: at most ") && strstr(text, " \u2264") &&
			      strstr(text, "\n\u2264: at most, since"),
		      "%s", text);
	ck_assert(json_is_true(json_object_get(
		json_object_get(json_array_get(json_object_get(json, "points"), 0), "roof"), "isLeast")));
}

/* Threads of a kernel's library count too. */
TEST(threads_of_a_library_have_the_ceilings_of_as_many)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	autograph struct measurement *measurement = measurement_of("Daxpy");

	store_peaks();
	for (int threads = 1; threads <= 2; threads++) {
		measurement_workloads_at(measurement, 0)->kernel->num_threads = threads;
		ck_assert_ok(experiment_add_point(experiment, &(struct experiment_position){"s", "1", {NULL, 0}},
						  measurement, NULL, 0, 5, &why));
		ck_assert_ok(experiment_add_default_peaks(experiment, &why));
		ck_assert_int_eq(experiment->nr_roof_threads, threads);
	}
}

/* Neither a lost count of the time nor a disturbed run. */
TEST(upper_quartile_is_of_sound_runs)
{
	double samples[] = {1, 1, 1, 1, 1, 4, 4, 4, 5, INFINITY, 9};
	unsigned taints[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct quantity_value value = {.samples = samples, .taints = taints, .nr_samples = 11, .summary.value = 3};

	ck_assert_double_eq(quantity_upper_quartile(&value), 4);
	ck_assert_double_eq(quantity_best_run(&value), 5);
	value.nr_samples = 0;
	ck_assert_double_eq(quantity_upper_quartile(&value), 3);
}

static size_t
nr_shown(const struct experiment *experiment)
{
	const struct ceiling **shown;
	size_t nr = experiment_ceilings_of(experiment, &experiment->plots[0], &shown);

	free(shown);
	return nr;
}

static void
assert_shown(const struct experiment *experiment, const char *const *names, size_t nr_names)
{
	const struct ceiling **shown;
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
 * bandwidth, as loads where they are not below, and of the level that the plot counts random access.
 */
TEST(few_ceilings_matter)
{
	static const char *const main_ones[] = {
		"AVX-512 FMA+ADD", "AVX-512 FMA", "AVX2 FMA+ADD", "SSE MUL, ADD", "x87 ADD",
		"L1 load",         "L2 load",     "L3 load",      "DRAM load",    "DRAM random access, 12 chains"};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();

	peak_by_hand(&list, "AVX-512 ADD", 1)->per_cycle.value = 22; /* higher than what is known of AVX2 */
	ck_assert_ok(profile_store(&rot, &list, &why));
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	ck_assert_uint_eq(experiment->nr_ceilings, 13);
	assert_shown(experiment, main_ones, NR_ELEMENTS(main_ones));
	experiment->plots[0].plot.has_all_peaks = true;
	ck_assert_uint_eq(nr_shown(experiment), 13);
}

/* The rate that modules allow is a line, but no bound: neither for verdicts nor in place of the highest that was
 * measured. */
TEST(memory_modules_are_a_line)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	const struct ceiling *modules;
	autofree const struct ceiling **shown = NULL;
	size_t nr, nr_told = 0, nr_main = 0;

	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "memoryBandwidth", "96", NULL);
	store_peaks();
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	modules = ceiling_named(experiment, "memory modules, as told");
	ck_assert_ptr_nonnull(modules);
	ck_assert_double_eq_tol(modules->value, 24, 1e-9); /* at 4 GHz */
	ck_assert_str_eq(experiment_bounding_peak(experiment, NULL, "llcRam", 1)->name, "DRAM load");
	nr = experiment_ceilings_of(experiment, &experiment->plots[0], &shown);
	for (size_t i = 0; i < nr; i++) {
		const bool is_main = experiment_is_main_ceiling(&experiment->plots[0], shown, nr, i);

		nr_told += ceiling_is_told(shown[i]);
		nr_main += is_main && strcmp(shown[i]->border, "llcRam") == 0;
		ck_assert(!is_main || !ceiling_is_told(shown[i]));
	}
	ck_assert_uint_eq(nr_told, 1);
	ck_assert_uint_eq(nr_main, 1);
}

/* Intensities count what crosses a border: lines that are stored to are loaded first, and written back. */
TEST_OF(stores_are_shown_with_their_fills, 6)
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
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();
	struct peak *peak = peak_by_hand(&list, "DRAM non-temporal store", 1);
	const struct ceiling *ceiling;

	peak->name = "DRAM";
	peak->access = rows[_i].access;
	peak->border = rows[_i].border;
	ck_assert_ok(profile_store(&rot, &list, &why));
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	ceiling = ceiling_named(experiment, rows[_i].name);
	ck_assert_ptr_nonnull(ceiling);
	ck_assert_double_eq_tol(ceiling->value / (rows[_i].factor * 11.1 * 4e9), 1, 1e-12);
	ck_assert_double_eq_tol(ceiling->low / (rows[_i].factor * 10.5 * 4e9), 1, 1e-12);
}

/* The reader of a picture is told why a line of stores is above that of loads; not where it is below. */
TEST_OF(fills_above_loads_are_explained, 3)
{
	static const struct {
		double per_cycle; /* of stores, without fills */
		bool has_all, is_explained;
	} rows[] = {{11.1, true, true}, {5, true, false}, {11.1, false, true}};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();
	struct peak *peak = peak_by_hand(&list, "DRAM non-temporal store", 1);
	autofree char *text = NULL;

	peak->name = peak->access = "store";
	peak->per_cycle.value = rows[_i].per_cycle;
	ck_assert_ok(profile_store(&rot, &list, &why));
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	experiment->plots[0].plot.has_all_peaks = rows[_i].has_all;
	text = experiment_roof_text(experiment, &experiment->plots[0]);
	ck_assert_int_eq(strstr(text, "\nwith fills: ") != NULL, rows[_i].is_explained);
}

/* A count of one direction only is compared with what goes in that direction alone. */
TEST_OF(directions_have_their_ceilings, 4)
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
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");
	const struct ceiling **shown;
	struct quantity_request x = {0};
	char *text = rot_format("operationalIntensity:flop:%s", rows[_i].border);
	bool has = false;
	size_t nr;

	store_peaks();
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	ck_assert_int_eq(quantity_parse(&x, text, &why), 0);
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
}

/* No search was asked for; what there is has to do. */
TEST(without_a_profile_there_is_no_roof)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "coreCycles");

	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	ck_assert_uint_eq(experiment->nr_ceilings, 0);
	ck_assert_ptr_null(experiment->roof_note);
	ck_assert_int_eq(experiment_roof_threads(experiment, 1), 0);
	ck_assert_uint_eq(fake_nr_calls, 0);
}

/* Two ceilings of one kind that are nearly the same: the lower is not drawn. */
TEST(nearly_equal_ceilings_are_one)
{
	struct experiment *experiment = experiment_open("c", "c", 0);
	struct experiment_own_plot plot = {.y = {.name = "performance", .operation = "flop"}};
	struct ceiling rows[] = {
		{.name = "a", .operation = "flop", .border = "", .access = "", .value = 10},
		{.name = "b", .operation = "flop", .border = "", .access = "", .value = 9.9},
		{.name = "c", .operation = "flop", .border = "", .access = "", .value = 5},
		{.name = "d", .operation = "", .border = "llcRam", .access = "", .value = 9.9},
		{.name = "e", .operation = "other", .border = "", .access = "", .value = 50},
	};
	const struct ceiling **shown;
	size_t nr;

	experiment->ceilings = pool_copy(&experiment->pool, rows, 5, sizeof(*rows));
	experiment->nr_ceilings = 5;
	nr = experiment_ceilings_of(experiment, &plot, &shown);
	ck_assert_uint_eq(nr, 3);
	ck_assert_str_eq(shown[0]->name, "a");
	ck_assert_str_eq(shown[1]->name, "d");
	ck_assert_str_eq(shown[2]->name, "c");
	free(shown);
}

/* The best known one of nearly equal lines; of the same access the narrower one, if their intervals overlap. */
TEST_OF(lines_are_named_by_one_rule, 7)
{
	static const struct {
		struct {
			const char *access;
			double value, low, high;
		} lines[3];
		size_t nr, named;
	} rows[] = {
		{{{"store", 100, 99, 101}, {"load", 94, 93, 95}, {"load", 80, 79, 81}}, 3, 1},
		{{{"store", 100, 99, 101}, {"load", 92, 91, 93}}, 2, 0},
		{{{"FMA_ADD", 88.4, 87.6, 88.6}, {"FMA_ADD", 88.5, 77, 89}}, 2, 0},
		{{{"FMA_ADD", 88.5, 77, 89}, {"FMA_ADD", 88.4, 87.6, 88.6}}, 2, 1},
		{{{"load", 100, 99, 101}, {"load", 97, 96.9, 97.1}}, 2, 0},
		{{{"load", 100, NAN, NAN}, {"load", 99, 97, 101}}, 2, 1},
		{{{"", 100, NAN, NAN}, {"", 99, NAN, NAN}}, 2, 0},
	};

	struct ceiling lines[3];
	const struct ceiling *const all[] = {&lines[0], &lines[1], &lines[2]};

	for (size_t i = 0; i < rows[_i].nr; i++)
		lines[i] = (struct ceiling){.access = rows[_i].lines[i].access,
					    .value = rows[_i].lines[i].value,
					    .low = rows[_i].lines[i].low,
					    .high = rows[_i].lines[i].high};
	ck_assert_uint_eq(experiment_bounding_line(all, rows[_i].nr), rows[_i].named);
}

static void
add_points_of_threads(struct experiment *experiment, int most)
{
	for (int threads = 1; threads <= most; threads++) {
		experiment_add_values(experiment, "s", "1", NULL, NULL, 0);
		experiment_set_cpus(experiment, threads);
		experiment_use_cpus(experiment, threads);
	}
}

/* All of the most, and of one thread what bounds; per cycle of a thread they are the same, and drawn once. */
TEST_OF(each_number_of_threads_has_its_roof, 2)
{
	static const char *const shown[] = {"AVX-512 FMA+ADD", "DRAM load, far", "DRAM load, near",
					    "AVX-512 FMA+ADD, 1 thread", "DRAM load, 1 thread"};
	static const char *const clocks[] = {"microSeconds", "coreCycles"};
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", clocks[_i]);
	char *text;

	store_peaks();
	add_points_of_threads(experiment, 2);
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	assert_shown(experiment, shown, _i ? 3 : 5);
	text = experiment_roof_text(experiment, &experiment->plots[0]);
	ck_assert_has(text, "ceilings of 2 threads");
	ck_assert_int_eq(strstr(text, "; dashed: of 1 thread") != NULL, !_i);
	free(text);
	/* as in a stored result */
	experiment->roof.nr = 0;
	text = experiment_roof_text(experiment, &experiment->plots[0]);
	ck_assert_str_eq(text,
			 _i ? "ceilings of 2 threads, per cycle of one" : "ceilings of 2 threads; dashed: of 1 thread");
	free(text);
}

/* It is the black one of each number of threads, also where all peaks are drawn. */
TEST_OF(pictures_and_verdicts_name_the_same_line, 2)
{
	struct experiment *experiment = experiment_with_roofline("doublePrecisionFlop", "microSeconds");
	const struct experiment_own_plot *plot = &experiment->plots[0];
	const struct ceiling **shown;
	size_t nr, nr_main = 0;

	store_peaks();
	add_points_of_threads(experiment, 2);
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	experiment->plots[0].plot.has_all_peaks = _i;
	nr = experiment_ceilings_of(experiment, plot, &shown);
	for (size_t i = 0; i < nr; i++) {
		const bool is_performance = shown[i]->operation[0];
		const struct ceiling *line =
			experiment_bounding_peak(experiment, is_performance ? plot->y.operation : NULL,
						 is_performance ? NULL : plot->x.border, shown[i]->nr_threads);

		if (!experiment_is_main_ceiling(plot, shown, nr, i))
			continue;
		ck_assert_int_eq(strncmp(shown[i]->name, line->name, strlen(line->name)), 0);
		nr_main++;
	}
	ck_assert_uint_eq(nr_main, 4);
	free(shown);
}

UNIT_TESTS(.set_up = setup);
