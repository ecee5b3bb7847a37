/* SPDX-License-Identifier: MIT */
/* Measurers that need no permission: clocks, files, resource usage, the list of events. */
#include "common/clock.h"
#include "runner.h"
#include "testing.h"

#define RUNS 5
#define PAGES 300

/* One warm workload with a set of that main measurer; touches PAGES pages. */
static struct measurement_command *
describe(const struct rot_class *main, struct workload **workload)
{
	struct measurement_command *command = make_command(RUNS);

	*workload = add_workload(command_measurement(command), 0);
	workload_probe(*workload)->pages = PAGES;
	(*workload)->measurer_set = make_set(1, main);
	return command;
}

struct moment {
	uint64_t ns, ticks;
};

/* Both clocks at the same time: the thread was not switched out between them. */
static struct moment
moment_now(void)
{
	struct moment now;

	do
		now = (struct moment){.ns = clock_raw_ns(), .ticks = tsc_start()};
	while (clock_raw_ns() - now.ns > 100000);
	return now;
}

/* Ticks per nanosecond over some milliseconds. */
static double
tsc_rate(void)
{
	const struct moment begin = moment_now();
	struct moment end = begin;

	while (end.ns - begin.ns < 20000000)
		end = moment_now();
	return (double)(end.ticks - begin.ticks) / (double)(end.ns - begin.ns);
}

/* The best of the runs counts: a thread may be switched out between the two clocks. */
TEST(both_clocks_agree)
{
	struct workload *workload;
	struct measurement_command *command = describe(&tsc_measurer_class, &workload);
	double rate = tsc_rate(), best = INFINITY;
	uint64_t last = 0;

	workload_probe(workload)->pages = 500;
	workload_probe(workload)->threads = 100;
	measurer_set_additional_measurers_add(workload->measurer_set, rot_entity_new(&execution_time_measurer_class));
	runner_run(command);
	for (size_t i = 0; i < RUNS; i++) {
		struct measurer_set_output *set = run_set(outcome_run(0, i), 1);
		struct tsc_measurer_output *tsc = rot_cast(set->main_measurer_output, &tsc_measurer_output_class);
		struct execution_time_measurer_output *time =
			rot_cast(measurer_set_output_additional_measurer_outputs_at(set, 0),
				 &execution_time_measurer_output_class);

		ck_assert_ptr_nonnull(tsc);
		ck_assert_ptr_nonnull(time);
		ck_assert_uint_gt(time->start_time, last);
		ck_assert_uint_gt(time->nano_seconds, 0);
		best = fmin(best, fabs((double)tsc->tics / (double)time->nano_seconds / rate - 1));
		last = time->start_time + time->nano_seconds;
	}
	ck_assert_msg(best < 0.05, "ratio differs by %g", best);
}

/* Additions per tick: a clock of an eighth to eight times the rate of the time stamp counter. */
static void
check_probe(uint64_t additions, uint64_t ticks)
{
	ck_assert_uint_ge(additions, 10000);
	ck_assert_uint_gt(8 * additions, ticks);
	ck_assert_uint_lt(additions, 8 * ticks);
}

/* Before all that measures the kernel, and after it: test_order has the places. */
TEST(the_clock_is_probed_before_and_after)
{
	struct workload *workload;
	runner_run(describe(&clock_probe_measurer_class, &workload));

	for (size_t i = 0; i < RUNS; i++) {
		struct clock_probe_measurer_output *probe = rot_cast(
			run_set(outcome_run(0, i), 1)->main_measurer_output, &clock_probe_measurer_output_class);

		ck_assert_ptr_nonnull(probe);
		check_probe(probe->start_additions, probe->start_ticks);
		check_probe(probe->stop_additions, probe->stop_ticks);
	}
}

TEST(file_contents_are_read_at_start_and_stop)
{
	struct workload *workload;
	struct measurement_command *command = describe(NULL, &workload);
	struct file_measurer *files = file_measurer_new();
	char *folder = temporary_folder_new(), *path = folder_write(folder, "file", "");
	int fd = open(path, O_WRONLY);
	struct file_measurer_output *output;
	static const char minor_faults[] = "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %ld";
	struct file_content *content;
	long before, after;

	ck_assert_int_eq((int)write(fd, "a\0b\n", 4), 4);
	close(fd);
	file_measurer_files_to_record_add(files, path);
	file_measurer_files_to_record_add(files, "/proc/self/stat");
	measurer_set_validation_measurers_add(workload->measurer_set, &files->base);
	runner_run(command);
	output = rot_cast(measurer_set_output_validation_measurer_outputs_at(run_set(outcome_run(0, 0), 1), 0),
			  &file_measurer_output_class);
	ck_assert_ptr_nonnull(output);
	content = file_measurer_output_file_content_list_at(output, 0);
	ck_assert_str_eq(content->file_name, path);
	ck_assert_str_eq(content->start_content, "a b\n");
	ck_assert_str_eq(content->stop_content, "a b\n");
	content = file_measurer_output_file_content_list_at(output, 1);
	ck_assert_int_eq(sscanf(content->start_content, minor_faults, &before), 1);
	ck_assert_int_eq(sscanf(content->stop_content, minor_faults, &after), 1);
	ck_assert_int_ge(after - before, PAGES);
}

TEST(a_file_that_cannot_be_read_is_an_error)
{
	struct workload *workload;
	struct measurement_command *command = describe(&file_measurer_class, &workload);

	file_measurer_files_to_record_add((struct file_measurer *)workload->measurer_set->main_measurer,
					  "/no/such/file");
	runner_run(command);
	outcome_expect_failure("error", "cannot read the file '/no/such/file' to be recorded: No such file", NULL);
}

/* Two CPUs that this process may use; false: there is only one. */
static bool
two_cpus(int cpus[2])
{
	cpu_set_t allowed;
	size_t nr = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[nr++] = cpu;
	return nr == 2;
}

/* A command with a ping-pong around its workload. */
static struct measurement_command *
describe_ping_pong(int first, int second)
{
	struct workload *workload;
	struct measurement_command *command = describe(&tsc_measurer_class, &workload);
	struct ping_pong_measurer *ping_pong = ping_pong_measurer_new();

	ping_pong->first_cpu = first;
	ping_pong->second_cpu = second;
	ping_pong->milli_seconds = 2;
	command_measurement(command)->overall_measurer_set = make_set(2, NULL);
	command_measurement(command)->overall_measurer_set->main_measurer = &ping_pong->base;
	return command;
}

TEST_OF(ping_pong_is_played_before_and_after, 2)
{
	int cpus[2];

	if (!two_cpus(cpus))
		return;
	if (_i == 1)
		runner_trace();
	runner_run(describe_ping_pong(cpus[0], cpus[1]));
	for (size_t i = 0; i < RUNS; i++) {
		struct measurement_run_output *run = outcome_run(0, i);
		struct ping_pong_measurer_output *output =
			rot_cast(run_set(run, 2)->main_measurer_output, &ping_pong_measurer_output_class);

		ck_assert_ptr_nonnull(output);
		/* 0 if a CPU was not to be had; a line never takes less than a nanosecond */
		ck_assert(output->before == 0 || output->before > 1);
		ck_assert(output->after == 0 || output->after > 1);
		/* Two threads of one core take twice as long; others may be there as well. */
		ck_assert(output->slowdown_before == 0 ||
			  (output->slowdown_before > 0.3 && output->slowdown_before < 30));
		ck_assert_int_eq(run->unmeasured_threads, 0);
	}
}

TEST_OF(ping_pong_needs_two_cpus, 2)
{
	runner_run(describe_ping_pong(0, _i == 0 ? 0 : 100000));

	outcome_expect_failure("error", _i == 0 ? "two different CPUs" : "cannot pin a thread to CPU 100000", NULL);
}

TEST(faults_of_the_own_thread_are_counted)
{
	struct workload *workload;
	struct measurement_command *command = describe(&resource_usage_measurer_class, &workload);
	runner_run(command);

	for (size_t i = 0; i < RUNS; i++) {
		struct resource_usage_measurer_output *usage = rot_cast(
			run_set(outcome_run(0, i), 1)->main_measurer_output, &resource_usage_measurer_output_class);

		ck_assert_ptr_nonnull(usage);
		ck_assert_int_ge(usage->minor_faults, PAGES);
		ck_assert_int_lt(usage->minor_faults, PAGES + 50);
		ck_assert_int_eq(usage->major_faults, 0);
		ck_assert_int_ge(usage->start_cpu, 0);
		ck_assert_int_ge(usage->stop_cpu, 0);
		ck_assert_int_ge(usage->steal_ticks, -1);
		ck_assert_int_ge(usage->own_steal_ticks, -1);
		ck_assert_int_le(usage->own_steal_ticks, usage->steal_ticks < 0 ? -1 : usage->steal_ticks + 1);
	}
}

/* On every CPU that this machine permits. */
TEST(a_pinned_workload_stays_on_its_cpu)
{
	cpu_set_t allowed;
	int nr_tried = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr_tried < 4; cpu++) {
		struct resource_usage_measurer_output *usage;
		struct measurement_command *command;
		struct workload *workload;

		if (!CPU_ISSET(cpu, &allowed))
			continue;
		nr_tried++;
		command = describe(&resource_usage_measurer_class, &workload);
		command->run_count = 1;
		workload->cpu = cpu;
		runner_run(command);
		usage = rot_cast(run_set(outcome_run(0, 0), 1)->main_measurer_output,
				 &resource_usage_measurer_output_class);
		ck_assert_int_eq(usage->start_cpu, cpu);
		ck_assert_int_eq(usage->stop_cpu, cpu);
	}
}

TEST(events_are_listed)
{
	struct workload *workload;
	struct measurement_command *command = describe(&list_events_measurer_class, &workload);
	struct list_events_measurer_output *list;
	bool found = false;

	command->run_count = 1;
	runner_run(command);
	list = rot_cast(run_set(outcome_run(0, 0), 1)->main_measurer_output, &list_events_measurer_output_class);
	ck_assert_ptr_nonnull(list);
	for (size_t i = 0; i < list_events_measurer_output_nr_pmus(list); i++) {
		struct pmu_description *pmu = list_events_measurer_output_pmus_at(list, i);

		ck_assert(pmu->is_present);
		for (size_t j = 0; strcmp(pmu->pmu_name, "perf") == 0 && j < pmu_description_nr_events(pmu); j++) {
			struct perf_event_description *event = pmu_description_events_at(pmu, j);

			found |= strcmp(event->name, "PERF_COUNT_SW_PAGE_FAULTS") == 0 &&
				 perf_event_description_nr_attributes(event) > 0;
		}
	}
	ck_assert(found);
}
