/* SPDX-License-Identifier: MIT */
/* How often a point is measured: what is asked for next, and why it ends. */
#include "quantities/effort.h"
#include "testing.h"

#define MAX_STEPS 16

/* A time of nr_runs runs, of which nr_tainted are; its interval is value +- half. */
static struct quantity_value
time_of(int nr_runs, int nr_tainted, double half)
{
	struct quantity_value value = {.request = {.name = "time", .clock = "tsc"}, .nr_samples = (size_t)nr_runs};

	value.taints = rot_calloc(value.nr_samples, sizeof(*value.taints));
	for (int i = 0; i < nr_tainted; i++)
		value.taints[i] = TAINT_CONTEXT_SWITCH;
	value.summary = (struct summary){
		.value = 100, .low = 100 - half, .high = 100 + half / 2, .n = (size_t)(nr_runs - nr_tainted)};
	return value;
}

/* Every run takes seconds; the share of disturbed runs and the half width at 10 runs stay, but for the root of n. */
struct host {
	double seconds, disturbed, half_at_10;
};

static const struct {
	const char *name;
	struct quantity_effort effort;
	struct host host;
	const char *steps; /* numbers of runs, from the first */
	const char *end;
} courses[] = {
	{"as asked for", {.nr_runs = 10, .budget_s = 10}, {0.001, 0, 50}, "10", ""},
	{"one in five is disturbed", {.nr_runs = 10, .budget_s = 10}, {0.001, 0.2, 50}, "10 12", ""},
	{"half are disturbed", {.nr_runs = 10, .budget_s = 10}, {0.001, 0.5, 50}, "10 15 17 18", "disturbed"},
	{"most are disturbed", {.nr_runs = 10, .budget_s = 10}, {0.001, 0.8, 50}, "10 18 20", "disturbed"},
	{"all are disturbed", {.nr_runs = 10, .budget_s = 10}, {0.001, 1, 50}, "10", "disturbed"},
	{"disturbed ones are wanted",
	 {.nr_runs = 10, .budget_s = 10, .keeps_disturbed = true},
	 {0.001, 0.8, 50},
	 "10",
	 ""},
	{"no time for the disturbed", {.nr_runs = 10, .budget_s = 10}, {1, 0.2, 50}, "10", "budget"},
	{"narrow at once", {.nr_runs = 30, .precision = 0.01, .budget_s = 10}, {0.001, 0, 0.9}, "10", "narrow"},
	{"narrow after two doublings",
	 {.nr_runs = 3, .precision = 0.01, .budget_s = 10},
	 {0.001, 0, 1.9},
	 "10 20 40",
	 "narrow"},
	{"never narrow", {.nr_runs = 10, .precision = 0.001, .budget_s = 10}, {0.001, 0, 5}, "10 20 40 80", "most"},
	{"narrow and disturbed",
	 {.nr_runs = 10, .precision = 0.01, .budget_s = 10},
	 {0.001, 0.2, 1.3},
	 "10 12 22 24",
	 "narrow"},
	{"disturbed again after it was to be narrower",
	 {.nr_runs = 10, .precision = 0.01, .budget_s = 10},
	 {0.001, 0.3, 1.4},
	 "10 13 23 26 27 28",
	 "narrow"},
	{"no time to be narrow",
	 {.nr_runs = 10, .precision = 0.001, .budget_s = 10},
	 {0.2, 0, 5},
	 "10 20 40",
	 "budget"},
	{"no interval", {.nr_runs = 10, .precision = 0.001, .budget_s = 10}, {0.001, 0, NAN}, "10", "noInterval"},
};

TEST_OF(test_courses, sizeof(courses) / sizeof(courses[0]))
{
	const struct host *host = &courses[_i].host;
	struct effort_course course;
	char *steps = rot_strdup("");
	int nr_runs, nr_steps = 0;

	effort_begin(&course, &courses[_i].effort);
	for (nr_runs = course.target; nr_runs > 0 && nr_steps++ < MAX_STEPS;) {
		struct quantity_value values[2] = {
			time_of(nr_runs, (int)(host->disturbed * nr_runs), host->half_at_10 * sqrt(10.0 / nr_runs)),
			{.request = {.name = "operationCount"}}};
		char *longer = rot_format("%s%s%d", steps, *steps ? " " : "", nr_runs);

		free(steps);
		steps = longer;
		nr_runs = effort_next(&course, values, 2, nr_runs, host->seconds * nr_runs);
		free(values[0].taints);
	}
	ck_assert_msg(strcmp(steps, courses[_i].steps) == 0, "%s: %s", courses[_i].name, steps);
	ck_assert_msg(strcmp(course.end, courses[_i].end) == 0, "%s: %s", courses[_i].name, course.end);
	free(steps);
}

/* The value that has fewest undisturbed runs counts, and the widest interval. */
TEST(test_worst_value_counts)
{
	const struct quantity_effort effort = {.nr_runs = 10, .budget_s = 10},
				     precise = {.precision = 0.01, .budget_s = 10};
	struct quantity_value values[] = {time_of(10, 1, 0.1), time_of(10, 3, 0.1), time_of(10, 0, 50)};
	struct effort_course course;

	effort_begin(&course, &effort);
	ck_assert_int_eq(effort_next(&course, values, 3, 10, 0), 13);
	effort_begin(&course, &precise);
	ck_assert_int_eq(effort_next(&course, &values[2], 1, 10, 0), 20);
	for (size_t i = 0; i < 3; i++)
		free(values[i].taints);
}

/* A count by steps has two samples of ten runs, and needs no more. */
TEST(test_steps_want_no_more_runs)
{
	const struct quantity_effort effort = {.nr_runs = 10, .budget_s = 10};
	struct quantity_value values[] = {time_of(10, 0, 0.1), time_of(2, 0, 0.1)};
	struct effort_course course;

	effort_begin(&course, &effort);
	ck_assert_int_eq(effort_next(&course, values, 2, 10, 0), 0);
	ck_assert_str_eq(course.end, "");
	for (size_t i = 0; i < 2; i++)
		free(values[i].taints);
}

/* Five runs are too few for an interval, so more may have one; six that have none will not get any. */
TEST(test_too_few_runs_are_wide)
{
	const struct quantity_effort precise = {.precision = 0.01, .budget_s = 10};
	struct quantity_value value = time_of(10, 0, NAN);
	struct effort_course course;

	value.summary.n = SUMMARY_LEAST - 1;
	effort_begin(&course, &precise);
	ck_assert_int_eq(effort_next(&course, &value, 1, 10, 0), 20);
	value.summary.n = SUMMARY_LEAST;
	effort_begin(&course, &precise);
	ck_assert_int_eq(effort_next(&course, &value, 1, 10, 0), 0);
	ck_assert_str_eq(course.end, "noInterval");
	free(value.taints);
}
