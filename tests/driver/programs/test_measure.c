/* SPDX-License-Identifier: MIT */
/* Quantities of programs as controllers ask for them, with a core that counts the same each time (fake_core.c). */
#include "architecture_files.h"
#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "programs/measure.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "testing.h"

static struct rot rot;
static char *folder, *before;

static void
open_rot(const char *architecture)
{
	struct configuration *configuration = configuration_new();
	char *cache = rot_format("%s/cache", folder);

	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "cacheFolder", cache, &why), 0);
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "dataFolder", cache, &why), 0);
	ck_assert_ok(rot_open(&rot, configuration, true, &why));
	architecture_delete(rot.architecture);
	rot.architecture = architecture_named(architecture);
	free(rot.paths->built);
	rot.paths->built = rot_strdup(folder);
	free(cache);
}

static void
setup(void)
{
	char *fake = built_path("tests/driver/programs/fake_core"), *path = realpath(fake, NULL), *core,
	     *source = realpath(getenv("top_srcdir"), NULL);

	before = getcwd(NULL, 0);
	setenv("top_srcdir", source, 1);
	folder = temporary_folder_new();
	core = rot_format("%s/core", folder);
	ck_assert_int_eq(mkdir(core, 0777), 0);
	free(core);
	core = rot_format("%s/core/rot-core", folder);
	ck_assert_int_eq(symlink(path, core), 0);
	free(core);
	core = rot_format("%s/core/rot-core.sha256", folder);
	ck_assert_int_eq(file_write(core, "", 0, false, NULL), 0);
	unsetenv("FAKE_CORE");
	open_rot("zen5");
	free(core);
	free(path);
	free(source);
}

static void
teardown(void)
{
	rot_close(&rot);
	ck_assert_int_eq(chdir(before), 0);
	free(before);
}

static struct program_workload *
workload_of_true(const char *region)
{
	struct program_workload *workload = program_workload_new();

	workload->program = program_new();
	rot_string_set(&workload->program->executable, "true");
	if (region) {
		struct region *one = region_new();

		rot_string_set(&one->name, region);
		rot_string_set(&one->begin, region);
		program_workload_regions_add(workload, one);
	}
	return workload;
}

#define MAX_REQUESTS 4

static int
measure_with(struct program_workload *workload, const char *const *texts, const struct quantity_effort *effort,
	     size_t max_passes, struct program_quantities *quantities, struct rot_error *err)
{
	struct quantity_request requests[MAX_REQUESTS] = {{0}};
	size_t nr = 0;
	int rc;

	for (; texts[nr]; nr++)
		ck_assert_int_eq(quantity_parse(&requests[nr], texts[nr], err), 0);
	rc = program_quantities_measure(&rot, workload, requests, nr, effort, max_passes, quantities, err);
	rot_graph_delete(workload);
	return rc;
}

static int
measure(struct program_workload *workload, const char *const *texts, int nr_runs, size_t max_passes,
	struct program_quantities *quantities, struct rot_error *err)
{
	return measure_with(workload, texts, &(struct quantity_effort){.nr_runs = nr_runs}, max_passes, quantities,
			    err);
}

static void
measured(struct program_workload *workload, const char *const *texts, int nr_runs,
	 struct program_quantities *quantities)
{
	ck_assert_ok(measure(workload, texts, nr_runs, 0, quantities, &why));
}

static double
value(const struct program_values *values, size_t i)
{
	return values->values[i].summary.value;
}

/* Wall time is 1 ms; a total counts 4e6 flop and 3e6 instructions. */
TEST(values_are_of_all_passes)
{
	static const char *const texts[] = {"time", "performance:flop", "instructions",
					    "operationCount:doublePrecisionFlop", NULL};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};

	measured(workload_of_true(NULL), texts, 3, &quantities);
	ck_assert_uint_eq(quantities.total.nr, 4);
	ck_assert_double_eq(value(&quantities.total, 0), 1000);
	ck_assert_double_eq(value(&quantities.total, 1), 4e9);
	ck_assert_str_eq(quantities.total.values[1].unit, "flop/s");
	ck_assert_double_eq(value(&quantities.total, 2), 3e6);
	ck_assert_uint_eq(quantities.total.values[0].nr_samples % 3, 0);
	ck_assert_uint_gt(json_array_size(json_object_get(quantities.origin, "hashes")), 1);
	ck_assert_uint_eq(quantities.nr_notes, 0);
	ck_assert_double_eq(quantities.nr_cpus, 1.75); /* as the fake core says */
}

TEST(clock_is_that_of_the_configuration)
{
	static const char *const texts[] = {"performance:flop", NULL};
	struct program_quantities quantities;

	ck_assert_int_eq(configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "clock", "coreCycles", NULL),
			 0);
	measured(workload_of_true(NULL), texts, 1, &quantities);
	ck_assert_str_eq(quantities.total.values[0].unit, "flop/cycle");
	ck_assert_double_eq(value(&quantities.total, 0), 2);
	program_quantities_clear(&quantities);
	ck_assert_int_eq(configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "clock", "tsc", NULL), 0);
	ck_assert_int_eq(measure(workload_of_true(NULL), texts, 1, 0, &quantities, &why), -1);
	ck_assert_has(why.text, "time stamp counter");
	program_quantities_clear(&quantities);
}

/* Nothing runs when it would have to run too often. */
TEST(passes_are_limited)
{
	static const char *const texts[] = {"operationCount:flop", "operationCount:doublePrecisionFlop",
					    "transferredBytes:l2l3", "transferredBytes:l1l2", NULL};
	static const char *const one[] = {"operationCount:flop", NULL};
	struct program_quantities quantities;

	setenv("FAKE_CORE", "fail", 1);
	ck_assert_int_eq(measure(workload_of_true(NULL), texts, 1, 1, &quantities, &why), -1);
	ck_assert_has(why.text, "passes, and the program may be run in 1");
	program_quantities_clear(&quantities);
	unsetenv("FAKE_CORE");
	ck_assert_ok(measure(workload_of_true(NULL), one, 1, 1, &quantities, &why));
	program_quantities_clear(&quantities);
}

TEST(runs_that_differ_are_noted)
{
	static const char *const texts[] = {"instructions", NULL};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};

	setenv("FAKE_CORE", "differ", 1);
	measured(workload_of_true(NULL), texts, 2, &quantities);
	ck_assert_uint_eq(quantities.nr_notes, 1);
	ck_assert_has(quantities.notes[0], "instructions of the runs differ by up to 10 %");
}

/* A known disturbance leaves a run out, and the run is repeated. */
TEST(disturbed_runs_are_repeated)
{
	static const char *const texts[] = {"time", NULL};
	static const struct quantity_effort effort = {.nr_runs = 10, .budget_s = 10};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};
	const struct quantity_value *time;

	setenv("FAKE_CORE", "disturbed", 1);
	ck_assert_ok(measure_with(workload_of_true("solve"), texts, &effort, 0, &quantities, &why));
	for (int i = 0; i < 2; i++) {
		time = i ? quantities.regions[0].values : quantities.total.values;
		ck_assert_uint_eq(time->nr_samples, 13);
		ck_assert_uint_eq(time->summary.n, 10);
		ck_assert_uint_eq(time->summary.tainted, 3);
		ck_assert_uint_eq(time->taints[0], TAINT_MAJOR_FAULT);
		ck_assert_uint_eq(time->taints[3], TAINT_CONTEXT_SWITCH);
		ck_assert_uint_eq(time->taints[5], TAINT_STEAL);
		ck_assert_str_eq(time->runs_end, "");
	}
}

static const struct {
	const char *mode;
	double precision, budget_s;
	size_t nr_runs;
	const char *end;
} precisions[] = {
	{"", 0.01, 10, 10, "narrow"},
	{"scatter", 0.01, 10, 80, "most"},
	{"scatter", 0.01, 0.025, 20, "budget"},
	{"scatter", 0.3, 10, 10, "narrow"},
};

TEST_OF(runs_are_added_until_intervals_are_narrow, NR_ELEMENTS(precisions))
{
	static const char *const texts[] = {"time", NULL};
	const struct quantity_effort effort = {.precision = precisions[_i].precision,
					       .budget_s = precisions[_i].budget_s};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};

	setenv("FAKE_CORE", precisions[_i].mode, 1);
	ck_assert_ok(measure_with(workload_of_true(NULL), texts, &effort, 0, &quantities, &why));
	ck_assert_uint_eq(quantities.total.values[0].nr_samples, precisions[_i].nr_runs);
	ck_assert_str_eq(quantities.total.values[0].runs_end, precisions[_i].end);
}

TEST(regions_have_values_of_their_own)
{
	static const char *const texts[] = {"time", "instructions", NULL};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};

	measured(workload_of_true("solve"), texts, 1, &quantities);
	ck_assert_uint_eq(quantities.nr_regions, 1);
	ck_assert_double_eq(value(&quantities.total, 1), 6e6); /* of two threads */
	ck_assert_double_lt(value(&quantities.regions[0], 1), value(&quantities.total, 1));
	ck_assert_double_gt(value(&quantities.regions[0], 1), 0);
	ck_assert_double_gt(value(&quantities.regions[0], 0), 0);
}

TEST(regions_that_are_not_found)
{
	static const char *const texts[] = {"time", NULL};
	cleared_by(program_quantities_clear) struct program_quantities quantities = {0};

	ck_assert_int_eq(measure(workload_of_true("missing"), texts, 1, 0, &quantities, &why), -1);
	ck_assert_has(why.text, "the region 'missing' of 'true' was not observed");
}

TEST(what_cannot_be_counted_is_an_error)
{
	static const char *const texts[] = {"time", "operationCount:flop", NULL};
	struct program_quantities quantities;

	rot_close(&rot);
	open_rot("none");
	ck_assert_int_eq(measure(workload_of_true(NULL), texts, 1, 0, &quantities, &why), -1);
	ck_assert_has(why.text, "operationCount of flop cannot be measured here");
	program_quantities_clear(&quantities);
	measured(workload_of_true(NULL), (const char *const[]){"time", NULL}, 1, &quantities);
	ck_assert_double_eq(value(&quantities.total, 0), 1000);
	program_quantities_clear(&quantities);
}

UNIT_TESTS(.set_up = setup, .tear_down = teardown);
