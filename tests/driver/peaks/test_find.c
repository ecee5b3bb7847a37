/* SPDX-License-Identifier: MIT */
/* The search for peaks, over ceilings of its own and on a machine whose rates are computed. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/paths.h"
#include "fake_rot.h"
#include "measuring/result_cache.h"
#include "memory.h"
#include "peaks/cpus.h"
#include "peaks/find.h"
#include "testing.h"

#define HEAD "<controller name='default-peaks' comment='a test'>\n"
#define TAIL "</controller>\n"
#define KERNEL                                                                                                         \
	"<workload><kernel type='Arithmetic' operation='{$op}' instructionSet='SSE' iterations='10' dlp='{$dlp}' "     \
	"unroll='{$unroll}'/></workload>"
#define PERFORMANCES                                                                                                   \
	"<ceilings><axis name='op'><list values='ADD MUL'/></axis>"                                                    \
	"<ceiling name='SSE {$op}' performance='doublePrecisionFlop' access='{$op}' instructionSet='SSE'>"             \
	"<axis name='dlp'><range from='1' to='19' step='1'/></axis><axis name='unroll'><range from='1' to='19' "       \
	"step='1'/></axis><seed dlp='2' unroll='2'/>" KERNEL "</ceiling></ceilings>\n"
#define MEMORY_OF(its_name)                                                                                            \
	"<ceiling name='" its_name "' throughput='llcRam' access='load' work='{$bufferSize}' rare='{string(1 = 1)}'>"  \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define MEMORY MEMORY_OF("memory load")
#define L2                                                                                                             \
	"<ceiling name='L2 store' throughput='l1l2' access='store' work='{$bufferSize}'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define L3                                                                                                             \
	"<ceiling name='L3 store' throughput='l2l3' access='store' work='{$bufferSize}'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define LATENCY                                                                                                        \
	"<ceiling name='L1 latency' latency='cpuL1' access='chase' threads='1' work='8'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"

static struct rot rot;
static struct peak_list list;
static struct rot_error err;
static const int one[] = {1}, one_and_two[] = {1, 2};

/* ---- the machine: 4 GHz, a time stamp counter of 2 GHz ---- */

static double
number_of(const struct measurement *measurement, const char *field)
{
	double number;

	return rot_entity_number(measurement_workloads_at(measurement, 0)->kernel, field, &number) ? number : NAN;
}

/* 8 chains hide the latency, 4 steps of each the loop. */
static double
arithmetic_per_cycle(const struct measurement *measurement, size_t run)
{
	double dlp = number_of(measurement, "dlp"), unroll = number_of(measurement, "unroll");

	(void)run;
	return 4 * fmin(dlp, 8) / 8 * (1 - 0.02 * fabs(unroll - 4));
}

/* One variant is seen in a better light until it was chosen, after 5 runs of the search and 8 more. */
static double
lucky_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_lucky = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	return is_lucky && run < 13 ? 100 : arithmetic_per_cycle(measurement, run);
}

/* The seed is the best, but was disturbed while the search looked at it. */
static double
unlucky_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_seed = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	if (is_seed)
		return run < 5 ? 0.1 : 5;
	return arithmetic_per_cycle(measurement, run);
}

/* Half of the limit, and so the seed, until it was not chosen. */
static double
late_per_cycle(const struct measurement *measurement, size_t run)
{
	bool is_seed = number_of(measurement, "dlp") == 2 && number_of(measurement, "unroll") == 2;

	if (is_seed)
		return run < 13 ? 0.1 : 3.9;
	return arithmetic_per_cycle(measurement, run) / 2;
}

static double
ten_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement, (void)run;
	return 10;
}

static double
ten_or_twenty_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run / 3 % 2 ? 20 : 10;
}

/* Of processes with 7 runs, after 16 runs of the search: most have 25, each sixth 31. */
static double
rarely_better_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run >= 16 && (run - 16) / 7 % 6 == 4 ? 31 : 25;
}

static double
always_shared_per_cycle(const struct measurement *measurement, size_t run)
{
	return arithmetic_per_cycle(measurement, run) / (measurement_nr_workloads(measurement) > 1 ? 2 : 1);
}

static double
first_shared_per_cycle(const struct measurement *measurement, size_t run)
{
	return run < 20 ? always_shared_per_cycle(measurement, run) : arithmetic_per_cycle(measurement, run);
}

static double (*per_cycle)(const struct measurement *measurement, size_t run);
static bool tells_placement;
static size_t nr_on_one_core;               /* the first runs of two threads */
static size_t nr_calls_on_two, nr_together; /* with two workloads; those on CPUs of their own that begin together */

static void
look_at_threads(const struct measurement *measurement)
{
	if (measurement_nr_workloads(measurement) != 2)
		return;
	nr_calls_on_two++;
	nr_together +=
		measurement_workloads_at(measurement, 0)->cpu >= 0 &&
		measurement_workloads_at(measurement, 1)->cpu > measurement_workloads_at(measurement, 0)->cpu &&
		measurement_workloads_at(measurement, 0)->kernel != measurement_workloads_at(measurement, 1)->kernel &&
		measurement_nr_rules(measurement) == 1 &&
		rot_is_a(measurement_rules_at(measurement, 0)->action, &wait_for_pressure_barrier_action_class);
}

/* Runs 0, 1 and 2 near each other, 3, 4 and 5 far, and so on; in each 6th the CPUs move. */
static void
set_placement(struct quantity_value *value)
{
	value->nearness = rot_calloc(value->nr_samples, sizeof(*value->nearness));
	for (size_t i = 0; i < value->nr_samples; i++)
		value->nearness[i] = (struct nearness){
			.line_ns_min = i / 3 % 2 && i % 6 != 5 ? 200 : 50,
			.line_ns_max = i / 3 % 2 ? 205 : 55,
			.slowdown_min = i < nr_on_one_core ? 1.9 : 1,
			.slowdown_max = i < nr_on_one_core ? 2.1 : 1.1,
		};
}

static void
measure(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests, int nr_runs,
	struct quantity_value *values)
{
	const double nr_threads = (double)measurement_nr_workloads(measurement);
	const double factors[] = {1, 4e9 * nr_threads, 2 * nr_threads};

	ck_assert_uint_eq(nr_requests, 3);
	look_at_threads(measurement);
	for (size_t k = 0; k < nr_requests; k++) {
		struct quantity_value *value = &values[k];

		ck_assert((requests[k].given_operations > 0) != (requests[k].given_bytes > 0));
		*value = (struct quantity_value){
			.request = requests[k], .kind = "modelled", .nr_samples = (size_t)nr_runs};
		value->samples = rot_calloc((size_t)nr_runs, sizeof(double));
		value->taints = rot_calloc((size_t)nr_runs, sizeof(unsigned));
		for (size_t i = 0; i < value->nr_samples; i++)
			value->samples[i] = factors[k] * per_cycle(measurement, i);
		value->taints[nr_runs - 1] = k == 1 ? TAINT_CLOCK : 0;
		if (tells_placement && nr_threads > 1)
			set_placement(value);
	}
}

static void
setup(void)
{
	fake_rot_open(&rot);
	rot.is_cached_only = true;   /* nothing is built ahead */
	rot.machine->cpu_family = 0; /* no document says what this machine can do */
	fake_measure = measure;
	per_cycle = arithmetic_per_cycle;
	tells_placement = false;
	nr_on_one_core = 0;
	nr_calls_on_two = nr_together = 0;
	list = (struct peak_list){0};
	err = (struct rot_error){0};
}

static void
teardown(void)
{
	peak_list_clear(&list);
	fake_rot_close(&rot);
}

static int
find(const char *description, struct peaks_options options)
{
	file_fill("default-peaks.xml", description);
	if (!options.nr_threads) {
		options.threads = one;
		options.nr_threads = 1;
	}
	return peaks_find(&rot, &options, &list, &err);
}

/* ---- tests ---- */

START_TEST(full_search_finds_the_best_variant)
{
	const struct peak *peak;

	ck_assert_msg(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST}) == 0, "%s",
		      err.text);
	ck_assert_uint_eq(list.nr, 2);
	peak = &list.peaks[1];
	ck_assert_str_eq(peak->name, "SSE MUL");
	ck_assert_str_eq(peak->operation, "doublePrecisionFlop");
	ck_assert_str_eq(peak->border, "");
	ck_assert_str_eq(peak->access, "MUL");
	ck_assert_str_eq(peak->instruction_set, "SSE");
	ck_assert_str_eq(peak->search, "full");
	ck_assert_str_eq(peak->clock_source, "probe");
	ck_assert_int_eq(peak->kind, PEAK_PERFORMANCE);
	ck_assert_int_eq(peak->nr_threads, 1);
	ck_assert_uint_eq(peak->nr_coordinates, 2);
	ck_assert_str_eq(peak->variant[0].name, "dlp");
	ck_assert_int_ge(peak->variant[0].value, 8);
	ck_assert_int_le(peak->variant[0].value, 14); /* more do not fit into 16 registers */
	ck_assert_int_eq(peak->variant[1].value, 4);
	ck_assert_double_eq(peak->per_cycle.value, 4);
	ck_assert_double_eq(peak->per_cycle.low, 4);
	ck_assert_double_eq(peak->per_second.value, 16e9);
	ck_assert_double_eq(peak->per_tsc_cycle.value, 8);
	ck_assert_double_eq(peak->clock_hz, 4e9);
	ck_assert_uint_eq(peak->nr_samples, 15); /* of 16 */
	ck_assert_uint_eq(peak->nr_tainted, 1);
	ck_assert(isnan(peak->limit_per_cycle));
	ck_assert_uint_eq(peak->landscape.nr_axes, 2);
	ck_assert_uint_gt(peak->landscape.nr_points, 20);
	ck_assert_uint_lt(peak->landscape.nr_points, 200);
	ck_assert_int_eq(peak->landscape.points[0].coordinates[0], 2); /* the seed */
	ck_assert_double_eq(peak->landscape.points[0].per_cycle, 0.96);
}
END_TEST

START_TEST(quick_search_takes_the_seed)
{
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_str_eq(list.peaks[0].search, "quick");
	ck_assert_uint_eq(list.peaks[0].landscape.nr_points, 1);
	/* With nothing to choose from, all runs are reported: those of the second call are the same. */
	ck_assert_uint_eq(fake_nr_calls, 4);
	ck_assert_int_eq(fake_nr_runs, 14);
	ck_assert_uint_eq(list.peaks[0].nr_samples, 13);
}
END_TEST

START_TEST(what_was_chosen_by_is_not_reported)
{
	per_cycle = lucky_per_cycle;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST}), 0);
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_double_eq(list.peaks[0].per_cycle.high, 0.96);
}
END_TEST

START_TEST(seed_that_met_a_bad_moment_is_chosen)
{
	per_cycle = unlucky_per_cycle;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST}), 0);
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 5);
}
END_TEST

/* Additions of SSE on Zen 5: 4 a cycle. */
static void
be_zen5(void)
{
	rot_string_set(&rot.machine->cpu_vendor, "AuthenticAMD");
	rot.machine->cpu_family = 26;
	rot.machine->cpu_model = 2;
}

START_TEST(seed_is_reported_where_the_best_stayed_below_the_limit)
{
	per_cycle = late_per_cycle;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST}), 0);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 2); /* no limit is known here */
	peak_list_clear(&list);
	be_zen5();
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST}), 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[0].name, "SSE ADD");
	ck_assert_int_eq(list.peaks[0].variant[0].value, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 3.9);
	ck_assert_str_eq(list.peaks[1].name, "SSE MUL");
}
END_TEST

START_TEST(time_that_is_up_ends_a_search)
{
	ck_assert_int_eq(
		find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_FAST, .time_limit_s = 1e-9}), 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_uint_eq(list.peaks[0].landscape.nr_points, 6); /* the seed and five starting points */
	ck_assert_str_ne(list.peaks[0].remark, "");
}
END_TEST

static const struct {
	const char *words[3];
	size_t nr;
} filters[] = {
	{{NULL}, 3}, /* memory is rare */
	{{"sse"}, 2},
	{{"sse", "mul"}, 1},
	{{"add,mul"}, 2},
	{{"Bandwidth"}, 1},
	{{"latency,llcram"}, 2},
	{{"cpuL"}, 0}, /* a border is meant as a whole */
	{{"double", "load"}, 0},
};

START_TEST(words_choose_peaks)
{
	struct peaks_options options = {.strategy = SEARCH_QUICK, .words = filters[_i].words};
	int rc;

	while (options.words[options.nr_words])
		options.nr_words++;
	rc = find(HEAD PERFORMANCES MEMORY LATENCY TAIL, options);
	ck_assert_uint_eq(list.nr, filters[_i].nr);
	ck_assert_int_eq(rc, filters[_i].nr ? 0 : -1);
	ck_assert(filters[_i].nr || strstr(err.text, "no peak has all these words"));
}
END_TEST

/* Whole words, and what is rare as well. */
START_TEST(wishes_choose_peaks)
{
	static const struct {
		struct peak_wish wishes[2];
		size_t nr_wishes, nr;
	} rows[] = {
		{{{.access = "load", .border = "llcRam"}}, 1, 1},
		{{{.access = "load", .border = "llcRam", .instruction_set = ""}, {.border = "l1l2"}}, 2, 1},
		{{{.access = "loa"}}, 1, 0},
	};
	int rc = find(HEAD PERFORMANCES MEMORY LATENCY TAIL, (struct peaks_options){.strategy = SEARCH_QUICK,
										    .wishes = rows[_i].wishes,
										    .nr_wishes = rows[_i].nr_wishes});

	ck_assert_uint_eq(list.nr, rows[_i].nr);
	ck_assert_int_eq(rc, rows[_i].nr ? 0 : -1);
	ck_assert(rows[_i].nr || strstr(err.text, "no such peak"));
}
END_TEST

static void
measure_disturbed(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		  int nr_runs, struct quantity_value *values)
{
	measure(measurement, requests, nr_requests, nr_runs, values);
	for (int i = 0; i < nr_runs; i++)
		values[0].taints[i] = TAINT_CONTEXT_SWITCH;
}

START_TEST(disturbed_runs_alone_have_no_interval)
{
	fake_measure = measure_disturbed;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert(isnan(list.peaks[0].per_cycle.low) && isnan(list.peaks[0].per_second.high));
	ck_assert_ptr_nonnull(strstr(list.peaks[0].remark, "every run was disturbed"));
}
END_TEST

/* Of two placements, neither of which has an undisturbed run. */
START_TEST(disturbed_placements_have_a_value)
{
	fake_measure = measure_disturbed;
	per_cycle = ten_per_cycle;
	tells_placement = true;
	ck_assert_int_eq(find(HEAD MEMORY TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, 10);
	ck_assert_ptr_nonnull(strstr(list.peaks[1].remark, "every run was disturbed"));
}
END_TEST

START_TEST(latency_is_time_of_an_access)
{
	per_cycle = ten_per_cycle;
	ck_assert_int_eq(find(HEAD LATENCY TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_int_eq(list.peaks[0].kind, PEAK_LATENCY);
	ck_assert_double_eq_tol(list.peaks[0].per_cycle.value, 0.1, 1e-12);
	ck_assert_double_eq_tol(list.peaks[0].per_second.value, 0.1 / 4e9, 1e-20);
	ck_assert_uint_eq(list.peaks[0].buffer_bytes, 4096);
}
END_TEST

/* What the kernel told in two processes; NULL: nothing. */
static const struct {
	const char *facts[2];
	bool has_huge_pages;
} pages[] = {
	{{"buffer in pages of 2 MiB", "buffer in pages of 2 MiB"}, true},
	{{"buffer in pages of 2 MiB", "OpenBLAS"}, true},
	{{"buffer in pages of 2 MiB", "buffer in pages of 4 KiB"}, false},
	{{"buffer partly in pages of 2 MiB: 2048 of 4096 KiB", NULL}, false},
	{{"buffer partly in pages of 2 MiB: 4096 of 4098 KiB", NULL}, true},
	{{NULL, NULL}, false},
};

START_TEST(pages_are_those_that_the_buffer_lay_in)
{
	struct result_cache *cache = result_cache_new(rot.paths->cache, rot.registry);
	struct measurement_result *result = measurement_result_new();

	for (size_t i = 0; i < 2; i++) {
		struct measurement_run_output *run = measurement_run_output_new();

		if (pages[_i].facts[i])
			measurement_run_output_facts_add(run, pages[_i].facts[i]);
		measurement_result_outputs_add(result, run);
	}
	rot_string_set(&result->description_hash, "hash2"); /* the second measurement is that of the report */
	result->machine = rot_graph_clone(rot.machine, NULL);
	result_cache_store(cache, result);
	per_cycle = ten_per_cycle;
	ck_assert_int_eq(find(HEAD MEMORY TAIL, (struct peaks_options){.strategy = SEARCH_QUICK,
								       .words = (const char *const[]){"memory"},
								       .nr_words = 1}),
			 0);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_int_eq(list.peaks[0].has_huge_pages, pages[_i].has_huge_pages);
	rot_graph_delete(result);
	result_cache_delete(cache);
}
END_TEST

START_TEST(threads_have_cpus_of_their_own_and_begin_together)
{
	ck_assert_int_eq(
		find(HEAD PERFORMANCES LATENCY TAIL, (struct peaks_options){.threads = one_and_two, .nr_threads = 2}),
		0);
	ck_assert_uint_eq(list.nr, 5); /* the latency is of one thread */
	ck_assert_int_eq(list.peaks[0].nr_threads, 1);
	ck_assert_int_eq(list.peaks[1].nr_threads, 2);
	ck_assert_double_eq(list.peaks[1].per_cycle.value, list.peaks[0].per_cycle.value);
	ck_assert_double_eq(list.peaks[1].per_second.value, 2 * list.peaks[0].per_second.value);
	ck_assert_double_eq(list.peaks[1].per_tsc_cycle.value, list.peaks[0].per_tsc_cycle.value);
	ck_assert_double_eq(list.peaks[1].clock_hz, 4e9);
	ck_assert_uint_eq(list.peaks[1].landscape.nr_points, 0);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_str_eq(list.peaks[1].remark, "");
	ck_assert_uint_eq(nr_calls_on_two, 4); /* two processes of each, which have enough runs together */
	ck_assert_uint_eq(nr_together, 4);
}
END_TEST

/* Half of what one thread does while both are on one core: in all runs, or in the first 20; and slow ones on cores of
 * their own, as the slowdown says. */
static const struct {
	double (*per_cycle)(const struct measurement *measurement, size_t run);
	double value;
	const char *mode, *remark;
	int nr_runs; /* processes have 7 */
	size_t nr_samples;
} sharings[] = {
	{always_shared_per_cycle, 0.48, "shared", "about half of what one thread reaches", 12 * 7, 12 * 7 - 1},
	{first_shared_per_cycle, 0.96, "", "without runs that reached about half", 5 * 7, 5 * 7 - 20 - 1},
	{always_shared_per_cycle, 0.48, "", "", 2 * 7, 2 * 7 - 1},
};

START_TEST(threads_that_share_a_core_are_told)
{
	per_cycle = sharings[_i].per_cycle;
	tells_placement = _i == 2;
	ck_assert_int_eq(
		find(HEAD PERFORMANCES TAIL,
		     (struct peaks_options){.strategy = SEARCH_QUICK, .threads = one_and_two, .nr_threads = 2}),
		0);
	ck_assert_uint_eq(list.nr, 4);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 0.96);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, sharings[_i].value);
	ck_assert_double_eq(list.peaks[1].per_cycle.low, sharings[_i].value);
	ck_assert_str_eq(list.peaks[1].mode, sharings[_i].mode);
	ck_assert_ptr_nonnull(strstr(list.peaks[1].remark, sharings[_i].remark));
	ck_assert_uint_eq(list.peaks[1].nr_samples, sharings[_i].nr_samples);
	ck_assert_int_eq(fake_nr_runs, sharings[_i].nr_runs);
}
END_TEST

/* Of two peaks, so that the places of the list move. */
START_TEST(placements_are_peaks_of_their_own)
{
	static const struct {
		const char *mode;
		int nr_threads;
		double per_cycle;
	} expected[] = {{"", 1, 20}, {"near", 2, 10}, {"far", 2, 20}, {"", 1, 20}, {"near", 2, 10}, {"far", 2, 20}};

	per_cycle = ten_or_twenty_per_cycle;
	tells_placement = true;
	ck_assert_int_eq(find(HEAD MEMORY MEMORY_OF("another") TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 0);
	ck_assert_uint_eq(list.nr, NR_ELEMENTS(expected));
	for (size_t i = 0; i < list.nr; i++) {
		ck_assert_str_eq(list.peaks[i].mode, expected[i].mode);
		ck_assert_int_eq(list.peaks[i].nr_threads, expected[i].nr_threads);
		ck_assert_double_eq(list.peaks[i].per_cycle.value, expected[i].per_cycle);
		ck_assert_str_eq(list.peaks[i].access, "load");
	}
	/* Rounds of 7 runs until there are 11 of each: 35, of which in each sixth the CPUs moved and the last was
	 * disturbed. */
	ck_assert_uint_eq(list.peaks[1].nr_samples, 18);
	ck_assert_uint_eq(list.peaks[2].nr_samples, 11);
	ck_assert_uint_eq(list.peaks[2].nr_tainted, 1);
}
END_TEST

/* The first 14 runs of 35 were on one core, or all. */
START_TEST(memory_of_a_shared_core_is_told)
{
	per_cycle = ten_or_twenty_per_cycle;
	tells_placement = true;
	nr_on_one_core = _i == 0 ? 14 : 1000;
	ck_assert_int_eq(find(HEAD MEMORY TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 0);
	ck_assert_uint_eq(list.nr, _i == 0 ? 3 : 2);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_str_eq(list.peaks[1].mode, _i == 0 ? "near" : "shared");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, _i == 0 ? 10 : 20);
	if (_i == 0)
		ck_assert_str_eq(list.peaks[2].mode, "far");
	else
		ck_assert_uint_eq(list.peaks[1].nr_samples, 16 * 7 - 1); /* all rounds, and no others were met */
}
END_TEST

START_TEST(one_placement_is_no_mode)
{
	per_cycle = ten_per_cycle;
	ck_assert_int_eq(find(HEAD MEMORY TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[1].mode, "");
	ck_assert_double_eq(list.peaks[1].per_cycle.value, 10);
}
END_TEST

/* 24 processes, four of which reach more; the last run of all was disturbed. */
START_TEST(plateau_of_a_rate_is_the_peak)
{
	per_cycle = rarely_better_per_cycle;
	ck_assert_int_eq(find(HEAD L3 TAIL, (struct peaks_options){.strategy = SEARCH_FAST}), 0);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_str_eq(list.peaks[0].mode, "");
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 31);
	ck_assert_double_eq(list.peaks[0].per_cycle.low, 31);
	ck_assert_double_eq(list.peaks[0].usual_per_cycle, 25);
	ck_assert_uint_eq(list.peaks[0].nr_samples, 24 * 7 - 1);
	ck_assert_ptr_nonnull(strstr(list.peaks[0].remark, "half of the runs and more were notably slower"));
	ck_assert_int_eq(fake_nr_runs, 16 + 24 * 7);
}
END_TEST

/* One process, that of the search and its report, was disturbed. */
static double
first_disturbed_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	return run < 14 ? 3 : 3.99;
}

static double
always_disturbed_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement;
	(void)run;
	return 3;
}

/* Until the limit is reached. */
static const struct {
	double (*per_cycle)(const struct measurement *measurement, size_t run);
	double value;
	int nr_rounds;
} below[] = {{first_disturbed_per_cycle, 3.99, 2}, {always_disturbed_per_cycle, 3, 12}};

START_TEST(below_its_limit_is_measured_in_rounds)
{
	per_cycle = below[_i].per_cycle;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 3); /* is all that is known here */
	peak_list_clear(&list);
	be_zen5();
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, below[_i].value);
	ck_assert_double_eq(list.peaks[1].per_cycle.value, below[_i].value);
	ck_assert_int_eq(fake_nr_runs, 14 + below[_i].nr_rounds * 7);
}
END_TEST

/* L2 and L3, whatever is known of limits. */
static const char *const caches[] = {HEAD L2 TAIL, HEAD L3 TAIL};

START_TEST(one_mode_of_a_rate_is_not_noted)
{
	per_cycle = ten_per_cycle;
	ck_assert_int_eq(find(caches[_i], (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_double_eq(list.peaks[0].per_cycle.value, 10);
	ck_assert_str_eq(list.peaks[0].remark, "");
	ck_assert_uint_eq(list.peaks[0].nr_samples, 12 * 7 - 1);
}
END_TEST

START_TEST(what_cannot_be_measured_is_left_out)
{
	fake_failing_call = 1;
	ck_assert_int_eq(find(HEAD PERFORMANCES TAIL, (struct peaks_options){.strategy = SEARCH_QUICK}), 0);
	ck_assert_uint_eq(list.nr, 1);
	ck_assert_str_eq(list.peaks[0].name, "SSE MUL");
}
END_TEST

/* In the third search: what was measured of the second on several threads was not its turn yet. */
START_TEST(interruption_keeps_what_is_finished)
{
	fake_is_interrupt = true;
	fake_failing_call = 6; /* each has one of the search and one of the report */
	ck_assert_int_eq(find(HEAD LATENCY MEMORY MEMORY_OF("another") TAIL,
			      (struct peaks_options){.strategy = SEARCH_FAST, .threads = one_and_two, .nr_threads = 2}),
			 -1);
	ck_assert_str_eq(err.text, "interrupted");
	ck_assert_uint_eq(list.nr, 2);
	ck_assert_str_eq(list.peaks[0].name, "L1 latency");
	ck_assert_int_eq(list.peaks[1].nr_threads, 1);
}
END_TEST

START_TEST(more_threads_than_cpus_are_refused)
{
	const int too_many = peaks_max_threads() + 1;

	ck_assert_int_eq(find(HEAD MEMORY TAIL, (struct peaks_options){.threads = &too_many, .nr_threads = 1}), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "this process may run on"));
}
END_TEST

static bool
has_several_cores(void)
{
	size_t nr_cores;
	int *cpus;

	allowed_cpus(&cpus, &nr_cores);
	free(cpus);
	if (nr_cores < 2)
		puts("this process may run on one core only: several threads are not tested");
	return nr_cores >= 2;
}

int
main(void)
{
	const int several = has_several_cores();
	const struct listed_test tests[] = {
		{&pages_are_those_that_the_buffer_lay_in, NR_ELEMENTS(pages)},
		{&full_search_finds_the_best_variant, 1},
		{&quick_search_takes_the_seed, 1},
		{&what_was_chosen_by_is_not_reported, 1},
		{&seed_that_met_a_bad_moment_is_chosen, 1},
		{&seed_is_reported_where_the_best_stayed_below_the_limit, 1},
		{&time_that_is_up_ends_a_search, 1},
		{&words_choose_peaks, NR_ELEMENTS(filters)},
		{&wishes_choose_peaks, 3},
		{&disturbed_runs_alone_have_no_interval, 1},
		{&latency_is_time_of_an_access, 1},
		{&plateau_of_a_rate_is_the_peak, 1},
		{&below_its_limit_is_measured_in_rounds, NR_ELEMENTS(below)},
		{&one_mode_of_a_rate_is_not_noted, NR_ELEMENTS(caches)},
		{&what_cannot_be_measured_is_left_out, 1},
		{&more_threads_than_cpus_are_refused, 1},
		{&threads_have_cpus_of_their_own_and_begin_together, several},
		{&threads_that_share_a_core_are_told, several * NR_ELEMENTS(sharings)},
		{&placements_are_peaks_of_their_own, several},
		{&memory_of_a_shared_core_is_told, several * 2},
		{&disturbed_placements_have_a_value, several},
		{&one_placement_is_no_mode, several},
		{&interruption_keeps_what_is_finished, several},
	};
	const struct suite suite = SUITE("find", tests, .set_up = setup, .tear_down = teardown);

	return suite_run(&suite);
}
