/* SPDX-License-Identifier: MIT */
/* Counting through perf events, on work with a known count: pages that are touched for the first time. */
#include "config.h"

#include "common/perf_event.h"
#include "permits.h"
#include "runner.h"
#include "testing.h"

#define PAGES 300
#define RUNS 4

/* The sanitizer's own memory beside that of the program has pages, too. */
#ifdef ROT_SANITIZED
#define MOST_FAULTS (2 * PAGES)
#else
#define MOST_FAULTS PAGES
#endif

static const char *const events[] = {"perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PERF_COUNT_SW_PAGE_FAULTS_MAJ:u"};

static struct perf_event_measurer *
add_events(struct workload *workload)
{
	struct perf_event_measurer *measurer;

	workload->measurer_set = make_set(1, &perf_event_measurer_class);
	measurer = (struct perf_event_measurer *)workload->measurer_set->main_measurer;
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_definition *definition = perf_event_definition_new();

		rot_string_set(&definition->name, i == 0 ? "faults" : "major");
		rot_string_set(&definition->definition, events[i]);
		perf_event_measurer_events_add(measurer, definition);
	}
	return measurer;
}

/* cold: the measuring itself must not add to the count, whatever state the caches are put into. */
TEST_OF(fresh_pages_are_counted_exactly, 2)
{
	struct measurement_command *command = make_command(RUNS);
	struct workload *workload = add_workload(command_measurement(command), 0);

	workload->cpu = sched_getcpu();
	workload->kernel->warm_code = workload->kernel->warm_data = _i == 1;
	workload_probe(workload)->pages = PAGES;
	add_events(workload);
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++) {
		struct perf_event_measurer_output *output = rot_cast(
			run_set(outcome_run(0, i), 1)->main_measurer_output, &perf_event_measurer_output_class);
		struct perf_event_count *faults, *major;

		ck_assert_ptr_nonnull(output);
		ck_assert_uint_eq(perf_event_measurer_output_nr_event_counts(output), 2);
		faults = perf_event_measurer_output_event_counts_at(output, 0);
		major = perf_event_measurer_output_event_counts_at(output, 1);
		ck_assert_str_eq(faults->name, "faults");
		ck_assert_has(faults->definition, "PERF_COUNT_SW_PAGE_FAULTS:u=1:k=0");
		ck_assert_has(major->definition, "PERF_COUNT_SW_PAGE_FAULTS_MAJ:u=1:k=0");
		ck_assert_uint_ge(faults->raw_count, PAGES);
		ck_assert_uint_le(faults->raw_count, MOST_FAULTS);
		ck_assert_uint_eq(major->raw_count, 0);
		ck_assert_uint_gt(faults->time_enabled, 0);
		ck_assert_uint_eq(faults->time_enabled, faults->time_running);
	}
}

/* The scrub is done before each run, with an event that is open nowhere else; here a software event stands for it. */
TEST(scrubbing_changes_nothing)
{
	struct measurement_command *command = make_command(RUNS);
	struct workload *workload = add_workload(command_measurement(command), 0);
	struct perf_event_measurer *measurer;
	struct perf_event_measurer_output *output;

	workload_probe(workload)->pages = PAGES;
	measurer = add_events(workload);
	rot_string_set(&measurer->scrub_event, "perf::PERF_COUNT_SW_CONTEXT_SWITCHES");
	measurer->scrub_count = 5;
	runner_run(command);
	output =
		rot_cast(run_set(outcome_run(0, RUNS - 1), 1)->main_measurer_output, &perf_event_measurer_output_class);
	ck_assert_uint_ge(perf_event_measurer_output_event_counts_at(output, 0)->raw_count, PAGES);
	ck_assert_uint_le(perf_event_measurer_output_event_counts_at(output, 0)->raw_count, MOST_FAULTS);
}

/* The pages are touched in user mode, so the kernel mode does not count them; an event's own modifier wins. */
TEST(modes_are_those_of_the_description)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = add_workload(command_measurement(command), 0);
	struct perf_event_measurer *measurer = add_events(workload);
	struct perf_event_measurer_output *output;
	struct perf_event_count *faults;
	struct perf_group group;
	struct rot_error error;

	if (perf_group_open(&group, events, 1, (struct perf_modes){.kernel = true}, 0, &error) < 0) {
		rot_graph_delete(command);
		return;
	}
	perf_group_close(&group);
	workload_probe(workload)->pages = PAGES;
	measurer->count_user = false;
	measurer->count_kernel = true;
	runner_run(command);
	output = rot_cast(run_set(outcome_run(0, 0), 1)->main_measurer_output, &perf_event_measurer_output_class);
	faults = perf_event_measurer_output_event_counts_at(output, 0);
	ck_assert_uint_lt(faults->raw_count, PAGES);
	ck_assert_has(faults->definition, ":u=0:k=1");
	ck_assert_has(perf_event_measurer_output_event_counts_at(output, 1)->definition, ":u=1:k=0");
}

UNIT_TESTS(.needs = {permits_counting});
