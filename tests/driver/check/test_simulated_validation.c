/* SPDX-License-Identifier: MIT */
/*
 * Validation on a simulated Zen 5 (tests/simulated_pmu.c): it finds the traps by itself, passes the file of the
 * architecture, and names what is wrong with one that was tampered with. This program starts itself anew with the
 * processor preloaded.
 */
#include <jansson.h>
#include <time.h>

#include "base/configuration.h"
#include "base/files.h"
#include "check/doctor.h"
#include "check/validation.h"
#include "config.h"
#include "permits.h"
#include "quantities/architecture.h"
#include "quantities/plan.h"
#include "rot.h"
#include "testing.h"

static struct rot rot;
static char *cache; /* shared by all tests: cores are built once */

static void
open_rot(void)
{
	struct configuration *configuration = configuration_new();

	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "cacheFolder", cache, &why), 0);
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "quiet", "true", &why), 0);
	ck_assert_ok(rot_open(&rot, configuration, true, &why));
	ck_assert_str_eq(rot.architecture->name, "zen5");
}

static void
close_rot(void)
{
	rot_close(&rot);
}

/* The architecture, with a text of its file replaced where it stands first. */
static void
tamper(const char *text, const char *by)
{
	char *file = file_text(source_path("driver/architectures/zen5.xml")), *at = strstr(file, text),
	     *other = rot_format("%s/tampered.xml", cache);
	FILE *out = fopen(other, "w");

	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(out);
	fprintf(out, "%.*s%s%s", (int)(at - file), file, by, at + strlen(text));
	fclose(out);
	architecture_delete(rot.architecture);
	rot.architecture = architecture_read(other, source_path("driver/schemas/architecture.rng"), &why);
	ck_assert_msg(rot.architecture != NULL, "%s", why.text);
	architecture_find_uncore(rot.architecture, "/", true);
	free(other);
}

static void
validate_with(struct validation *validation, const struct validation_options *options)
{
	ck_assert_ok(validation_run(&rot, options, validation, &why));
}

static void
validate(struct validation *validation, bool without_scrub)
{
	const struct validation_options options = {.is_quick = true, .without_scrub = without_scrub, .seconds = 0.7};

	validate_with(validation, &options);
}

/* The formula of the quantity. */
static const struct candidate *
formula_of(const struct validation *validation, const char *quantity, const char *of)
{
	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const struct candidate *candidate = &validation->work.candidates[i];

		if (candidate->formula && strcmp(candidate->quantity, quantity) == 0 && strcmp(candidate->of, of) == 0)
			return candidate;
	}
	ck_abort_msg("no formula of %s:%s was tried", quantity, of);
	return NULL;
}

static char
grade(const struct validation *validation, const char *quantity, const char *of)
{
	return known_work_grade(&validation->work, formula_of(validation, quantity, of));
}

/* Reference cycles are those of the real processor, as clocks are, and others use it, too: of them nothing is said. */
static bool
formulas_pass(const struct validation *validation)
{
	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const struct candidate *candidate = &validation->work.candidates[i];

		if (candidate->formula && strcmp(candidate->of, "referenceCycles") != 0 &&
		    known_work_grade(&validation->work, candidate) == 'F')
			return false;
	}
	return true;
}

static enum shape_verdict
verdict(const struct validation *validation, unsigned large, unsigned plain)
{
	const struct shape *shape = shapes_find_one(&validation->shapes, large, plain);

	ck_assert_msg(shape != NULL, "a group of %u large and %u plain events was not tried", large, plain);
	return shape->verdict;
}

/* The text that it prints, in fresh memory. */
static char *
printed(const struct validation *validation)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	validation_print(&rot, validation, false, out);
	fclose(out);
	return text;
}

TEST(traps_are_found)
{
	const struct validation_options options = {.is_quick = true};
	struct validation validation;

	validate_with(&validation, &options);
	ck_assert_uint_eq(validation.shapes.usable_counters, 5);
	ck_assert_int_eq(verdict(&validation, 0, 5), SHAPE_SOUND);
	ck_assert_int_eq(verdict(&validation, 0, 6), SHAPE_WRONG);
	ck_assert_int_eq(verdict(&validation, 0, 7), SHAPE_REFUSED);
	ck_assert_int_eq(verdict(&validation, 2, 0), SHAPE_SOUND);
	ck_assert_int_eq(verdict(&validation, 1, 2), SHAPE_SOUND);
	ck_assert_int_eq(verdict(&validation, 1, 3), SHAPE_WRONG);
	ck_assert_int_eq(verdict(&validation, 3, 0), SHAPE_WRONG);
	ck_assert(validation.shapes.is_scrub_tried && validation.shapes.is_scrub_needed);
	ck_assert_ptr_null(shapes_first_wrong(&validation.shapes));
	ck_assert(grade(&validation, "operationCount", "doublePrecisionFlop") == 'A');
	ck_assert(grade(&validation, "operationCount", "singlePrecisionFlop") == 'A');
	ck_assert(grade(&validation, "operationCount", "compInstr") == 'A');
	ck_assert(grade(&validation, "transferredBytes", "l2l3.read") == 'A');
	ck_assert(grade(&validation, "transferredBytes", "llcRam.read") == 'A');
	ck_assert(grade(&validation, "time", "coreCycles") == 'A');
	ck_assert(grade(&validation, "instructions", "") == 'A');
	ck_assert(formulas_pass(&validation));
	ck_assert_uint_gt(validation.work.nr_left_out, 0); /* it is quick, */
	ck_assert_uint_gt(validation.work.nr_points, 15);  /* and no kernel takes the time of all others */
	pool_clear(&validation.pool);
}

/* Less time: fewer kernels. They are chosen by what they are estimated to take, not by what they took. */
TEST(a_budget_is_kept)
{
	const struct validation_options options = {.is_quick = true, .seconds = 0.3};
	struct validation quick, shorter;

	validate(&quick, false);
	validate_with(&shorter, &options);
	ck_assert_uint_gt(shorter.work.nr_points, 0);
	ck_assert_uint_lt(shorter.work.nr_points, quick.work.nr_points);
	ck_assert_uint_gt(shorter.work.nr_left_out, quick.work.nr_left_out);
	ck_assert(formulas_pass(&shorter));
	pool_clear(&shorter.pool);
	pool_clear(&quick.pool);
}

TEST(grades_are_remembered)
{
	struct validation validation;

	ck_assert(!validation_recall(&rot));
	validate(&validation, false);
	ck_assert_ok(validation_store(&rot, &validation, &why));
	pool_clear(&validation.pool);
	close_rot();
	open_rot();
	ck_assert(architecture_formula(rot.architecture, "transferredBytes", "llcRam.read")->grade == 'A');
	ck_assert(architecture_formula(rot.architecture, "tlbMisses", "")->grade == 0);
}

/* An event that the machine does not have: what needs it is not known, all else is. */
TEST(what_is_refused_is_left_out)
{
	const struct validation_options options = {.is_quick = true, .seconds = 1};
	struct validation validation;

	tamper("definition=\"perf_raw::r100000120\"", "definition=\"perf::PERF_COUNT_HW_BUS_CYCLES\"");
	validate_with(&validation, &options);
	ck_assert_int_eq(grade(&validation, "operationCount", "doublePrecisionFlop"), 'A');
	ck_assert_int_eq(grade(&validation, "time", "referenceCycles"), 0);
	ck_assert_uint_gt(validation.work.nr_points, 0);
	pool_clear(&validation.pool);
}

TEST(without_scrubbing_grades_fall)
{
	struct validation validation;

	validate(&validation, true);
	ck_assert(grade(&validation, "operationCount", "doublePrecisionFlop") == 'F');
	ck_assert_int_eq(validation_verdict(&validation), VALIDATION_FAILS);
	ck_assert_int_eq(rot.architecture->scrub_count, 5); /* as it was */
	pool_clear(&validation.pool);
}

/* Tampering, and what the output must name. */
static const struct {
	const char *text, *by, *quantity, *of, *named;
} faults[] = {
	{"definition=\"perf_raw::raf03\"", "definition=\"perf_raw::r6f03\"", "operationCount", "doublePrecisionFlop",
	 "operationCount:doublePrecisionFlop counted by r8f03 + raf03 does not count what it is said to: it counts "
	 "what "
	 "operationCount:singlePrecisionFlop should: exchanged events"},
	{"definition=\"perf_raw::raf03\"", "definition=\"perf_raw::ra003\"", "operationCount", "doublePrecisionFlop",
	 "counted by r8f03 + raf03 does not count what it is said to: it counts nothing of '"},
	{"definition=\"perf_raw::r0702\"", "definition=\"perf_raw::r0002\"", "operationCount", "compInstr",
	 "it counts nothing of 'X87 DOUBLE"},
	{"definition=\"perf_raw::r10000de65\"", "definition=\"perf_raw::r100004865\"", "transferredBytes", "l2l3.read",
	 "it counts what transferredBytes:llcRam.read should: exchanged events"},
	{"value=\"64 * $l2DramFills\"", "value=\"32 * $l2DramFills\"", "transferredBytes", "llcRam.read",
	 "transferredBytes:llcRam.read counted by 64 * r100004865 does not count what it is said to: it is always 0.5 "
	 "times what it should be: a wrong factor"},
	{"of=\"coreCycles\" kind=\"measured\" value=\"$coreCycles\"",
	 "of=\"coreCycles\" kind=\"measured\" value=\"$coreCycles div 2\"", "time", "coreCycles",
	 "it is always 0.5 times what it should be: a wrong factor"},
	{"<group plain=\"5\"/>", "<group plain=\"6\"/>", NULL, NULL,
	 "allows groups of 6 plain, which do not count right"},
};

/* Each fault costs a whole validation: every third one is tried, or all with ROT_SLOW_TESTS. */
#define NR_FAULTS ((int)NR_ELEMENTS(faults))
#define NR_FAULTS_TRIED (all_are_tested() ? NR_FAULTS : (NR_FAULTS + 2) / 3)

TEST_OF(faults_are_named, NR_FAULTS_TRIED)
{
	const int fault = all_are_tested() ? _i : 3 * _i;
	/* Kernels in memory take the longest. */
	const bool is_of_memory = faults[fault].of && strcmp(faults[fault].quantity, "transferredBytes") == 0;
	const struct validation_options options = {.is_quick = true, .seconds = is_of_memory ? 1.5 : 0.7};
	struct validation validation;
	autofree char *text = NULL;

	tamper(faults[fault].text, faults[fault].by);
	validate_with(&validation, &options);
	ck_assert_int_eq(validation_verdict(&validation), VALIDATION_FAILS);
	if (faults[fault].of)
		ck_assert(grade(&validation, faults[fault].quantity, faults[fault].of) == 'F');
	text = printed(&validation);
	ck_assert_has(text, faults[fault].named);
	ck_assert_has(text, "tampered.xml");
	pool_clear(&validation.pool);
}

static bool
json_has(const json_t *json, const char *part)
{
	autofree char *text = json_dumps(json, 0);
	const bool has = strstr(text, part) != NULL;

	return has;
}

/* Nothing was built before, and nothing is remembered. */
static void
use_own_cache(void)
{
	close_rot();
	cache = temporary_folder_new();
	open_rot();
}

/* Quickly, and with every run disturbed; is stored. */
static void
validate_disturbed(void)
{
	const struct validation_options options = {.is_quick = true, .seconds = 0.1};
	struct validation validation;

	setenv("ROT_SIMULATED_SWITCHES", "1", 1);
	validate_with(&validation, &options);
	unsetenv("ROT_SIMULATED_SWITCHES");
	ck_assert_int_eq(validation_verdict(&validation), VALIDATION_NOT_SHOWN);
	ck_assert_ok(validation_store(&rot, &validation, &why));
	pool_clear(&validation.pool);
}

/* Where every run is disturbed, nothing was seen to be right either. */
TEST(what_is_not_shown_does_not_pass)
{
	const struct validation_options options = {.is_quick = true, .seconds = 0.5};
	cleared_by(findings_clear) struct findings findings = {0};
	struct validation validation;
	json_t *json;
	char *text;

	use_own_cache();
	setenv("ROT_SIMULATED_SWITCHES", "1", 1);
	validate_with(&validation, &options);
	unsetenv("ROT_SIMULATED_SWITCHES");
	ck_assert_int_eq(validation_verdict(&validation), VALIDATION_NOT_SHOWN);
	text = printed(&validation);
	ck_assert_msg(strstr(text, " is not shown: all ") && strstr(text, " runs were disturbed; measure when"), "%s",
		      text);
	free(text);
	json = validation_json(&rot, &validation);
	ck_assert(json_has(json, "\"verdict\": \"notShown\""));
	ck_assert(json_has(json, "\"passes\": false"));
	json_decref(json);
	ck_assert_ok(validation_store(&rot, &validation, &why));
	doctor_look_at_quantities(&findings, &rot);
	json = findings_json(&findings, &rot);
	ck_assert(json_has(json, "\"text\": \"not shown, since all runs were disturbed: "));
	json_decref(json);
	pool_clear(&validation.pool);
}

/* The record of this machine, which is the only one. */
static char *
record_file(void)
{
	char *folder = rot_format("%s/validation", cache), **names = folder_list(folder), *path;

	ck_assert(names[0] && !names[1]);
	path = rot_format("%s/%s", folder, names[0]);
	free(names);
	free(folder);
	return path;
}

static void
make_record_old(int hours)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - hours * 3600}, {.tv_sec = time(NULL) - hours * 3600}};
	autofree char *path = record_file();

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* In place of the record: so many formulas with a grade, and the verdict. */
static void
fake_record(bool is_quick, const char *verdict, int nr_shown)
{
	json_t *formulas = json_array(), *json;
	char *path = record_file(), *text;

	for (int i = 0; i < nr_shown; i++)
		json_array_append_new(formulas, json_pack("{s:s, s:s}", "quantity", "none", "grade", "A"));
	json = json_pack("{s:s, s:b, s:s, s:o}", "schema", "rot.validation/1", "isQuick", is_quick, "verdict", verdict,
			 "formulas", formulas);
	text = json_dumps(json, 0);
	file_fill(path, text);
	json_decref(json);
	free(text);
	free(path);
}

/* A busy hour does not decide for good what is known of the events. */
TEST(what_is_not_shown_is_tried_again)
{
	static const struct {
		bool is_quick;
		const char *verdict;
		int hours;
		bool is_due;
	} records[] = {
		{true, "notShown", 0, false}, {true, "notShown", 2, true},   {true, "passes", 2, false},
		{true, "fails", 2, false},    {false, "notShown", 2, false},
	};

	use_own_cache();
	ck_assert(validation_is_due(&rot));
	validate_disturbed();
	for (int i = 0; i < NR_ELEMENTS(records); i++) {
		fake_record(records[i].is_quick, records[i].verdict, 0);
		make_record_old(records[i].hours);
		ck_assert_msg(validation_is_due(&rot) == records[i].is_due, "record %d", i);
	}
}

static bool
record_has(const char *part)
{
	autofree char *path = record_file(), *text = file_text(path);
	const bool has = strstr(text, part) != NULL;

	return has;
}

/* The results of another try count if they are not less; a full one stays. */
TEST(a_busy_hour_forgets_nothing)
{
	use_own_cache();
	validate_disturbed();
	fake_record(true, "notShown", 0);
	validate_disturbed();
	ck_assert(!record_has("\"none\""));
	fake_record(true, "notShown", 1000);
	make_record_old(2);
	validate_disturbed();
	ck_assert(record_has("\"none\""));
	ck_assert(!validation_is_due(&rot)); /* for another hour */
	fake_record(false, "fails", 1);
	validate_disturbed();
	ck_assert(record_has("\"fails\""));
}

/* The same kernels, whether they were built before or not: a wrong event must not stay hidden the first time. */
TEST_OF(the_first_validation_is_as_good_as_others, all_are_tested())
{
	struct validation first, second;

	use_own_cache();
	validate(&first, false);
	validate(&second, false);
	ck_assert_uint_eq(first.work.nr_points, second.work.nr_points);
	ck_assert_uint_eq(first.work.nr, second.work.nr);
	for (size_t i = 0; i < first.work.nr; i++)
		ck_assert_str_eq(first.work.rows[i].kernel, second.work.rows[i].kernel);
	pool_clear(&first.pool);
	pool_clear(&second.pool);
}

/* The groups of the file are candidates: what is measured is measured in those that were proved, and is right. */
TEST(only_proved_groups_are_opened)
{
	struct validation validation;
	size_t plain[6], nr = 0;

	tamper("<group plain=\"5\"/>", "<group plain=\"6\"/>");
	for (size_t i = 0; i < rot.architecture->nr_events && nr < 6; i++) {
		if (rot.architecture->events[i].class == EVENT_PLAIN)
			plain[nr++] = i;
	}
	ck_assert(pass_is_legal(rot.architecture, plain, 6));
	validate(&validation, false);
	ck_assert(!pass_is_legal(rot.architecture, plain, 6));
	ck_assert(pass_is_legal(rot.architecture, plain, 5));
	ck_assert(formulas_pass(&validation));
	ck_assert_ok(validation_store(&rot, &validation, &why));
	pool_clear(&validation.pool);
	tamper("<group plain=\"5\"/>", "<group plain=\"6\"/>");
	ck_assert(pass_is_legal(rot.architecture, plain, 6));
	ck_assert(validation_recall(&rot));
	ck_assert(!pass_is_legal(rot.architecture, plain, 6));
}

static void
start_with_simulated_processor(void)
{
	char *argv[] = {(char *)"unit-tests", (char *)__FILE__, NULL};
	char *preload = built_path("tests/simulated_pmu.so"), *machine = source_path("tests/machines/zen5-turin-kvm");

	setenv("LD_PRELOAD", preload, 1);
	setenv("ROT_SIMULATED_MACHINE", machine, 1);
	execv("/proc/self/exe", argv);
	perror("/proc/self/exe");
	exit(99);
}

static bool
runs_on_a_simulated_processor(void)
{
	if (!getenv("ROT_SIMULATED_MACHINE"))
		start_with_simulated_processor();
	cache = temporary_folder_new();
	return true;
}

UNIT_TESTS(.needs = {permits_preloading, runs_on_a_simulated_processor}, .set_up = open_rot, .tear_down = close_rot);
