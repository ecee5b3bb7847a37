/* SPDX-License-Identifier: MIT */
/* Points of an XML controller whose runs are missing are measured in blocks. */
#include "base/configuration.h"
#include "experiments/xml_run.h"
#include "json_schema.h"
#include "planning/xml_plan.h"
#include "quantities/quantity.h"
#include "testing.h"
#include "xml_fixture.h"

#define NR_POINTS 4
#define NR_RUNS 7 /* of HEAD */
#define MANY 100

/* Each call that measures: of which point, from 1, and how many runs it shall have then. */
static struct {
	int point, nr_runs;
	bool only_measures;
} calls[MANY];
static size_t nr_calls;

/* The number of the point that is measured, from 1. */
static int
point_of(const struct measurement *measurement)
{
	double n = 0;

	ck_assert(rot_entity_number(measurement_workloads_at(measurement, 0)->kernel, "bufferSize", &n));
	return (int)n;
}

static void
record(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests, int nr_runs,
       struct quantity_value *values)
{
	(void)requests;
	ck_assert_uint_lt(nr_calls, MANY);
	calls[nr_calls].point = point_of(measurement);
	calls[nr_calls].nr_runs = nr_runs;
	calls[nr_calls++].only_measures = fake_effort.only_measures;
	for (size_t i = 0; i < nr_requests; i++)
		values[i] = (struct quantity_value){
			.request = requests[i],
			.name = requests[i].name,
			.of = "",
			.unit = "us",
			.source = "",
			.kind = "measured",
			.grade = "",
			.summary = summary_single(1, "median"),
		};
}

static int
measure(const char *text, const char *nr_starts, struct rot_error *err)
{
	struct xml_controller *controller = open_text(text);
	int rc;

	ck_assert_msg(controller != NULL, "%s", err->text);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "starts", nr_starts, NULL);
	nr_calls = 0;
	fake_measure = record;
	fake_misses_runs = true;
	rc = xml_controller_run(controller, "out", err);
	return rc;
}

#define FOUR_POINTS "<axis name='n'><list values='1 2 3 4'/></axis>\n" POINT

/* Calls from first on: each of the points once, none in front of its number. Returns whether they are in order. */
static bool
check_block(size_t first, int nr_runs, bool only_measures)
{
	bool is_seen[NR_POINTS + 1] = {false}, is_ordered = true;

	for (size_t i = first; i < first + NR_POINTS; i++) {
		ck_assert_int_eq(calls[i].nr_runs, nr_runs);
		ck_assert(calls[i].only_measures == only_measures);
		ck_assert(!is_seen[calls[i].point]);
		is_seen[calls[i].point] = true;
		is_ordered = is_ordered && calls[i].point == (int)(i - first) + 1;
	}
	return is_ordered;
}

TEST(each_point_once_a_block)
{
	bool is_ordered;

	ck_assert_ok(measure(HEAD FOUR_POINTS TAIL, "3", &why));
	ck_assert_uint_eq(nr_calls, 4 * NR_POINTS);
	is_ordered = check_block(0, 2, true);
	is_ordered = check_block(NR_POINTS, 4, true) && is_ordered;
	is_ordered = check_block(2 * NR_POINTS, NR_RUNS, true) && is_ordered;
	ck_assert(!is_ordered);
	ck_assert(check_block(3 * NR_POINTS, NR_RUNS, false));
}

/* More starts than runs, one start, and one point. */
TEST(as_many_blocks_as_there_can_be)
{
	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "100", &why), 0);
	ck_assert_uint_eq(nr_calls, (NR_RUNS + 1) * NR_POINTS);
	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "1", &why), 0);
	ck_assert_uint_eq(nr_calls, NR_POINTS);
	ck_assert_int_eq(measure(HEAD "<axis name='n'><list values='1'/></axis>" POINT TAIL, "3", &why), 0);
	ck_assert_uint_eq(nr_calls, 1);
}

/* Points 1 and 2 have two runs: nothing is asked for in the blocks in which they have no new one. */
TEST(fewer_runs_than_blocks)
{
	static const char text[] =
		HEAD "<axis name='n'><list values='1 2 3 4'/></axis>\n"
		     "<point series='s' label='{$n}' runs='{if($n &lt; 3, 2, 7)}'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point><quantity is='time'/>\n" TAIL;
	int nr_of[NR_POINTS + 1] = {0}, last_of[NR_POINTS + 1] = {0};

	ck_assert_ok(measure(text, "5", &why));
	for (size_t i = 0; i < nr_calls; i++) {
		const int point = calls[i].point;

		ck_assert_int_gt(calls[i].nr_runs, calls[i].only_measures ? last_of[point] : 0);
		last_of[point] = calls[i].nr_runs;
		nr_of[point] += calls[i].only_measures;
	}
	for (int point = 1; point <= NR_POINTS; point++) {
		ck_assert_int_eq(nr_of[point], point < 3 ? 2 : 5);
		ck_assert_int_eq(last_of[point], point < 3 ? 2 : 7);
	}
}

TEST(with_a_precision_the_first_runs)
{
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "precision", "0.01", NULL);
	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "5", &why), 0);
	check_block(4 * NR_POINTS, 10, true);
	ck_assert_double_eq(fake_effort.precision, 0.01);
}

/* Their points are not known ahead. */
TEST(series_that_may_end_are_measured_in_order)
{
	static const char text[] =
		HEAD "<axis name='n'><list values='1 2 3 4'/></axis>\n"
		     "<point series='s' label='{$n}' until='$t > 100'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point><quantity is='time' name='t'/>\n" TAIL;

	ck_assert_ok(measure(text, "3", &why));
	ck_assert_uint_eq(nr_calls, NR_POINTS);
	ck_assert(check_block(0, NR_RUNS, false));
}

/* In the second block, after two of its points: these have four runs, the others two. */
TEST(interrupted_keeps_blocks)
{
	json_t *json;

	fake_failing_call = NR_POINTS + 3;
	fake_is_interrupt = true;
	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "3", &why), -1);
	ck_assert_str_eq(why.text, "interrupted");
	ck_assert_uint_eq(nr_calls, NR_POINTS + 2 + NR_POINTS);
	for (size_t i = NR_POINTS + 2; i < nr_calls; i++) {
		bool is_second =
			calls[i].point == calls[NR_POINTS].point || calls[i].point == calls[NR_POINTS + 1].point;

		ck_assert_int_eq(calls[i].point, (int)(i - NR_POINTS - 1));
		ck_assert_int_eq(calls[i].nr_runs, is_second ? 4 : 2);
		ck_assert(!calls[i].only_measures);
	}
	json = json_file("out.json");
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), NR_POINTS);
	ck_assert(json_is_false(json_object_get(json, "complete")));
}

/* The point that fails in a block is the one that is told, and nothing is measured after it. */
TEST(a_failure_is_told_where_it_is)
{
	autofree char *place = NULL;

	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "3", &why), 0);
	place = rot_format("at n=%d: the core failed", calls[NR_POINTS + 2].point);
	fake_nr_calls = 0;
	fake_failing_call = NR_POINTS + 3;
	ck_assert_int_eq(measure(HEAD FOUR_POINTS TAIL, "3", &why), -1);
	ck_assert_has(why.text, place);
	ck_assert_uint_eq(nr_calls, NR_POINTS + 2);
}

/* ---- points that fail ---- */

static int failing_points;  /* a bit for each */
static size_t failing_call; /* of record: from there on; 0: always */
static int nr_failed_attempts;

static bool
fails(const struct measurement *measurement)
{
	bool is_failing = nr_calls >= failing_call && failing_points >> point_of(measurement) & 1;

	nr_failed_attempts += is_failing;
	return is_failing;
}

static int
measure_failing(const char *text, int points, size_t call, struct rot_error *err)
{
	failing_points = points;
	failing_call = call;
	nr_failed_attempts = 0;
	fake_fails = fails;
	return measure(text, "3", err);
}

/* out.json has the points of these bits, and the others as failures. */
static void
check_written(int points, int failures)
{
	json_t *json = json_file("out.json"), *point;
	size_t i;

	ck_assert(json_is_false(json_object_get(json, "complete")));
	json_array_foreach(json_object_get(json, "points"), i, point) {
		points -= 1 << atoi(json_string_value(json_object_get(point, "label")));
	}
	json_array_foreach(json_object_get(json, "failures"), i, point) {
		const json_t *n = json_object_get(json_object_get(point, "coordinates"), "n");

		failures -= 1 << (int)json_number_value(n);
		ck_assert_str_eq(json_string_value(json_object_get(point, "series")), "s");
		ck_assert_int_eq(atoi(json_string_value(json_object_get(point, "label"))), (int)json_number_value(n));
		ck_assert_str_eq(json_string_value(json_object_get(point, "error")), "the kernel crashed");
		ck_assert_str_eq(json_string_value(json_object_get(point, "hint")), "look at it");
	}
	ck_assert_int_eq(points, 0);
	ck_assert_int_eq(failures, 0);
}

/* In the first block, the first point too, and after blocks: others get all their runs, and it is tried once. */
TEST_OF(a_point_that_fails_is_left_out, 6)
{
	static const struct {
		int points;
		size_t call;
	} cases[] = {{1 << 3, 0},
		     {1 << 1, 0},
		     {1 << 1 | 1 << 4, 0},
		     {1 << 2, NR_POINTS + 1},
		     {1 << 2, 3 * NR_POINTS},
		     {1 << 1, 3 * NR_POINTS}};
	const int points = cases[_i].points, nr = __builtin_popcount((unsigned)points);
	autofree char *text =
		rot_format("%d of 4 points could not be measured, the others are in 'out.json'; the first is s ", nr);

	ck_assert_int_eq(measure_failing(HEAD FOUR_POINTS TAIL, points, cases[_i].call, &why), -1);
	ck_assert_msg(strstr(why.text, text) == why.text, "%s", why.text);
	ck_assert_int_eq(nr_failed_attempts, nr);
	check_written(2 + 4 + 8 + 16 - points, points);
	for (size_t i = nr_calls - (size_t)(NR_POINTS - nr); i < nr_calls; i++) {
		ck_assert_int_eq(calls[i].nr_runs, NR_RUNS);
		ck_assert(!calls[i].only_measures);
	}
}

/* The series might have ended there or not; the other series goes on. */
TEST(a_point_that_fails_ends_a_series_that_may_end)
{
	static const char text[] =
		HEAD "<axis name='n'><list values='1 2 3 4'/></axis>\n"
		     "<point series='s' label='{$n}' until='$t > 100' if='$n &lt; 4'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point>\n"
		     "<point series='s' label='{$n}' if='$n = 4'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point><quantity is='time' name='t'/>\n" TAIL;

	ck_assert_int_eq(measure_failing(text, 1 << 2, 0, &why), -1);
	check_written(1 << 1 | 1 << 4, 1 << 2);
}

/* Nothing is written then. */
TEST(what_ends_at_a_point_that_fails)
{
	ck_assert_int_eq(measure_failing(HEAD FOUR_POINTS TAIL, 2 + 4 + 8 + 16, 0, &why), -1);
	ck_assert_str_eq(why.text, "none of the 4 points could be measured");
	ck_assert_int_eq(nr_failed_attempts, NR_POINTS);
	ck_assert_int_eq(measure_failing(HEAD "<axis name='n'><list values='1'/></axis>" POINT TAIL, 2, 0, &why), -1);
	ck_assert_has(why.text, "the kernel crashed");
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "stopOnError", "true", NULL);
	ck_assert_int_eq(measure_failing(HEAD FOUR_POINTS TAIL, 1 << 3, 0, &why), -1);
	ck_assert_has(why.text, "at n=3: the kernel crashed");
	ck_assert_int_eq(nr_failed_attempts, 1);
	ck_assert_int_ne(access("out.json", F_OK), 0);
}

/* A failure of its own is told, and not again when everything fails for another reason. */
TEST(a_failure_of_all_ends_after_one_of_a_point)
{
	fake_failing_call = NR_POINTS; /* in the second block */
	ck_assert_int_eq(measure_failing(HEAD FOUR_POINTS TAIL, 1 << 1, 0, &why), -1);
	ck_assert_has(why.text, "the core failed");
	ck_assert_int_ne(access("out.json", F_OK), 0);
}

TEST(interrupted_after_a_failure_writes_both)
{
	fake_failing_call = NR_POINTS + 1; /* the second one of the second block */
	fake_is_interrupt = true;
	ck_assert_int_eq(measure_failing(HEAD FOUR_POINTS TAIL, 1 << 2, 0, &why), -1);
	ck_assert_str_eq(why.text, "interrupted");
	check_written(2 + 8 + 16, 1 << 2);
}

UNIT_TESTS(.set_up = setup);
