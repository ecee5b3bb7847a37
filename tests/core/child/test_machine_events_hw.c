/* SPDX-License-Identifier: MIT */
/*
 * Counting for the whole machine. The clock of a CPU stands for a unit of memory controllers: it is opened as these
 * are, and what it counts is known, since it counts the ns that pass, with work and without.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "runner.h"
#include "testing.h"

#define RUNS 3
#define LEAST_BACKGROUND_NS 10000000

static void
add_clock(struct workload *workload, uint64_t config)
{
	struct machine_event_definition *unit = machine_event_definition_new();

	unit->pmu_type = PERF_TYPE_SOFTWARE;
	unit->config = config;
	unit->cpu = sched_getcpu();
	rot_string_set(&unit->base.name, "clock");
	rot_string_set(&unit->base.definition, "the clock of a CPU");
	if (!workload->measurer_set)
		workload->measurer_set = make_set(1, &machine_event_measurer_class);
	perf_event_measurer_events_add((struct perf_event_measurer *)workload->measurer_set->main_measurer,
				       &unit->base);
}

static const struct machine_event_count *
count_at(size_t run, size_t i)
{
	const struct perf_event_measurer_output *output =
		rot_cast(run_set(outcome_run(0, run), 1)->main_measurer_output, &perf_event_measurer_output_class);
	struct machine_event_count *count;

	ck_assert_ptr_nonnull(output);
	ck_assert_uint_eq(perf_event_measurer_output_nr_event_counts(output), 2);
	count = rot_cast(perf_event_measurer_output_event_counts_at(output, i), &machine_event_count_class);
	ck_assert_ptr_nonnull(count);
	return count;
}

/* Both units are the same one, which is opened once. A CPU that is busy elsewhere may be read a little later. */
TEST(work_and_background_are_counted)
{
	struct measurement_command *command = make_command(RUNS);
	struct workload *workload = add_workload(command_measurement(command), 0);

	add_clock(workload, PERF_COUNT_SW_CPU_CLOCK);
	add_clock(workload, PERF_COUNT_SW_CPU_CLOCK);
	runner_run(command);
	for (size_t run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < 2; i++) {
			const struct machine_event_count *count = count_at(run, i);

			ck_assert_str_eq(count->base.name, "clock");
			ck_assert_uint_gt(count->base.raw_count, 0);
			ck_assert_uint_eq(count->base.time_running, count->base.time_enabled);
			ck_assert_uint_ge(count->background_time, LEAST_BACKGROUND_NS);
			ck_assert_uint_ge(count->background, LEAST_BACKGROUND_NS);
		}
	}
}

TEST(what_is_refused_is_named)
{
	struct measurement_command *command = make_command(1);
	struct workload *workload = add_workload(command_measurement(command), 0);

	add_clock(workload, PERF_COUNT_SW_CPU_CLOCK);
	add_clock(workload, UINT64_MAX);
	runner_run(command);
	outcome_expect_failure("refused", "cannot count 'the clock of a CPU' (type 1, config 0xffffffffffffffff)",
			       NULL);
}

static bool
permits_counting_machine(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		perror("SKIP: cannot count for the whole machine");
	else
		close(fd);
	return fd >= 0;
}

UNIT_TESTS(.needs = {permits_counting_machine});
