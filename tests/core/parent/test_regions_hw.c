/* SPDX-License-Identifier: MIT */
/* Regions of other people's programs: hits and counts, exact to the last one. See region_target.c. */
#include "PerfEventCount.h"
#include "PerfEventDefinition.h"
#include "PerfEventMeasurerOutput.h"
#include "ProgramRegionOutput.h"
#include "RegionService.h"
#include "StepMeasurer.h"
#include "config.h"
#include "program_runner.h"
#include "testing.h"

static const char *const all_backends[] = {"uprobe", "breakpoint", "int3"};

/* The ones that this machine allows, and behind them that of translated code. */
static const char *backends[NR_ELEMENTS(all_backends) + 1];
static int nr_backends;

/* It counts instructions instead of faults. */
static bool
is_translated(const char *backend)
{
	return strcmp(backend, "blocks") == 0;
}

static void
amend_count_steps(struct program_command *command)
{
	struct step_measurer *pass = step_measurer_new();
	struct perf_event_definition *event = perf_event_definition_new();

	rot_string_set(&event->name, "instructions");
	rot_string_set(&event->definition, "step::instructions");
	perf_event_measurer_events_add(&pass->base, event);
	rot_graph_delete(program_command_passes_at(command, 0));
	command->passes.nr = 0;
	program_command_passes_add(command, &pass->base);
}

static long
faults_of(const struct program_region_output *region)
{
	const struct perf_event_count *count;

	ck_assert_ptr_nonnull(region->counts);
	count = perf_event_measurer_output_event_counts_at(region->counts, 0);
	ck_assert_uint_eq(count->time_enabled, count->time_running);
	return (long)count->raw_count;
}

/* Sums over all threads. faults: or instructions */
struct sums {
	int nr_threads, nr_untimed;
	long hits, measured, inner, abandoned, lost, faults;
};

static struct sums
sums_of(const struct program_run_output *run, const char *name)
{
	struct sums sums = {0};

	for (size_t i = 0; i < program_run_output_nr_regions(run); i++) {
		const struct program_region_output *region = program_run_output_regions_at(run, i);

		if (strcmp(region->region, name) != 0)
			continue;
		sums.nr_threads++;
		sums.hits += region->hits;
		sums.measured += region->measured_hits;
		sums.inner += region->inner_hits;
		sums.abandoned += region->abandoned_hits;
		sums.lost += region->lost_hits;
		sums.faults += faults_of(region);
		sums.nr_untimed += region->measured_hits > 0 && region->time == 0;
	}
	return sums;
}

/* Runs it with the backend, which must serve all regions. */
static const struct program_run_output *
run_with(const char *backend, struct trial *trial)
{
	const struct program_command_output *output;

	if (is_translated(backend))
		trial->amend = amend_count_steps;
	else
		trial->region_backend = backend;
	if (!trial->program && !trial->attach_to)
		trial->program = "region_target";
	output = runner_run(trial);
	ck_assert_msg(program_command_output_nr_warnings(output) == 0, "%s",
		      program_command_output_nr_warnings(output) > 0 ? program_command_output_warnings_at(output, 0)
								     : "");
	for (size_t i = 0; i < program_command_output_nr_region_services(output); i++) {
		const struct region_service *service = program_command_output_region_services_at(output, i);

		ck_assert_msg(strcmp(service->backend, backend) == 0, "%s: %s", service->region,
			      service->refusals.nr > 0 ? region_service_refusals_at(service, 0) : "");
		ck_assert_uint_ge(service->places.nr, 2);
	}
	return program_command_output_outputs_at(output, 0);
}

/*
 * The expected counts of a region, over all threads: all its hits, those that are measured, those that are left
 * otherwise, and the faults of those that are measured. Moments that the kernel had no room for may be missing, if it
 * says so; it maps a page of its own into each process for the first instruction that it displaces, and may move one.
 * nr_processes: 0: instructions are counted
 */
struct expected {
	const char *region;
	int nr_threads;
	long hits, measured, abandoned, faults, inner;
};

static void
check(const struct program_run_output *run, const struct expected *expected, int nr_processes)
{
	struct sums sums = sums_of(run, expected->region);

	ck_assert_int_eq(sums.nr_threads, expected->nr_threads);
	ck_assert_int_le(sums.lost, expected->hits / 2);
	if (sums.lost > 0) {
		ck_assert_int_le(sums.hits, expected->hits);
		ck_assert_int_ge(sums.hits + sums.lost, expected->hits);
		return;
	}
	ck_assert_int_eq(sums.hits, expected->hits);
	ck_assert_int_eq(sums.measured, expected->measured);
	ck_assert_int_eq(sums.inner, expected->inner);
	ck_assert_int_eq(sums.abandoned, expected->abandoned);
	ck_assert_int_ge(sums.faults, expected->faults);
	if (nr_processes == 0)
		return;
	ck_assert_int_le(sums.faults, expected->faults + nr_processes + 1);
	ck_assert_int_eq(sums.nr_untimed, 0);
}

static int
nr_processes_of(const char *backend, int nr)
{
	return is_translated(backend) ? 0 : nr;
}

/* ---- programs ---- */

static const struct {
	struct trial trial;
	struct expected expected[2];
	int nr_processes;
} acts[] = {
	{{.arguments = {"main", "1"}, .regions = {{.begin = "region_one"}}}, {{"region_one", 1, 1, 1, 0, 1, 0}}, 1},
	{{.arguments = {"main", "10"}, .regions = {{.begin = "region_one"}}}, {{"region_one", 1, 10, 10, 0, 10, 0}}, 1},
	{{.arguments = {"threads", "8", "1"}, .regions = {{.begin = "region_one"}}},
	 {{"region_one", 8, 8, 8, 0, 8, 0}},
	 1},
	{{.arguments = {"threads", "8", "10"}, .regions = {{.begin = "region_one"}}},
	 {{"region_one", 8, 80, 80, 0, 80, 0}},
	 1},
	/* recursion: the outermost are measured */
	{{.arguments = {"recursive", "20", "30"}, .regions = {{.begin = "region_recursive"}}},
	 {{"region_recursive", 1, 600, 20, 0, 600, 580}},
	 1},
	/* longjmp */
	{{.arguments = {"jumping", "300"}, .regions = {{.begin = "region_jumping"}}},
	 {{"region_jumping", 1, 300, 200, 100, 200, 0}},
	 1},
	/* a tail call ends the region; the function that is called is another */
	{{.arguments = {"tail", "50"}, .regions = {{.begin = "region_tail"}, {.begin = "region_one"}}},
	 {{"region_tail", 1, 50, 50, 0, 100, 0}, {"region_one", 1, 50, 50, 0, 50, 0}},
	 1},
	{{.arguments = {"nested", "50"}, .regions = {{.begin = "region_outer"}, {.begin = "region_three"}}},
	 {{"region_outer", 1, 50, 50, 0, 250, 0}, {"region_three", 1, 50, 50, 0, 150, 0}},
	 1},
	/* begin and end are named; one region begins where another does */
	{{.arguments = {"phases", "50"}, .regions = {{.begin = "phase_begin", .end = "phase_end"}}},
	 {{"phase_begin", 1, 50, 50, 0, 200, 0}},
	 1},
	/* some of the hits, of each thread */
	{{.arguments = {"threads", "2", "100"}, .regions = {{.begin = "region_one", .first_hit = 11, .last_hit = 30}}},
	 {{"region_one", 2, 200, 40, 0, 40, 0}},
	 1},
	{{.arguments = {"forks", "3", "20"}, .regions = {{.begin = "region_one"}}},
	 {{"region_one", 4, 80, 80, 0, 80, 0}},
	 4},
	{{.arguments = {"forks", "3", "20"}, .regions = {{.begin = "region_one"}}, .leaves_forks = true},
	 {{"region_one", 1, 20, 20, 0, 20, 0}},
	 1},
	/* more often than not their parents are gone when they are seen first */
	{{.arguments = {"orphans", "50", "4"}, .regions = {{.begin = "region_one"}}},
	 {{"region_one", 50, 200, 200, 0, 200, 0}},
	 50},
	{{.arguments = {"execute", "10"}, .regions = {{.begin = "region_one"}}},
	 {{"region_one", 1, 20, 20, 0, 20, 0}},
	 2},
	{{.arguments = {"load", "10"}, .regions = {{.begin = "library_region"}}},
	 {{"library_region", 1, 10, 10, 0, 10, 0}},
	 1},
	/* unloaded, and loaded again, at the same address and at others */
	{{.arguments = {"reload", "6", "5"}, .regions = {{.begin = "library_region"}}},
	 {{"library_region", 1, 30, 30, 0, 30, 0}},
	 1},
	/* by a thread, after the first one has ended */
	{{.arguments = {"load_alone", "10"}, .regions = {{.begin = "library_region"}}},
	 {{"library_region", 1, 10, 10, 0, 10, 0}},
	 1},
	/* by its own name, which its file does not have */
	{{.arguments = {"load", "10"}, .regions = {{.begin = "libregions.so.7:library_region"}}},
	 {{"libregions.so.7:library_region", 1, 10, 10, 0, 10, 0}},
	 1},
};

TEST_OF(regions_are_exact, (nr_backends + 1) * NR_ELEMENTS(acts))
{
	const char *backend = backends[_i / NR_ELEMENTS(acts)];
	struct trial trial = acts[_i % NR_ELEMENTS(acts)].trial;
	const struct program_run_output *run = run_with(backend, &trial);

	for (int i = 0; i < 2 && acts[_i % NR_ELEMENTS(acts)].expected[i].region; i++)
		check(run, &acts[_i % NR_ELEMENTS(acts)].expected[i],
		      nr_processes_of(backend, acts[_i % NR_ELEMENTS(acts)].nr_processes));
}

/* ---- kinds of programs ---- */

/* Some are missing where libc cannot be linked so, or without a C++ compiler. */
static bool
is_built(const char *program)
{
	bool is_there = access(built_path("tests/core/parent/%s", program), X_OK) == 0;

	return is_there;
}

TEST_OF(static_programs, nr_backends + 1)
{
	static const char *const programs[] = {"region_target_static", "region_target_static_pie"};
	const struct expected expected = {"region_one", 2, 20, 20, 0, 20, 0};

	for (int i = 0; i < NR_ELEMENTS(programs); i++) {
		struct trial trial = {.program = programs[i],
				      .arguments = {"threads", "2", "10"},
				      .regions = {{.begin = "region_one"}}};

		if (is_built(programs[i]))
			check(run_with(backends[_i], &trial), &expected, nr_processes_of(backends[_i], 1));
	}
}

/* The address as in the file, from a program that is the same but for its symbols. */
TEST_OF(stripped_programs, nr_backends + 1)
{
	struct trial named = {.arguments = {"main", "10"}, .regions = {{.begin = "region_one"}}};
	struct trial stripped = {.program = "region_target_stripped", .arguments = {"main", "10"}};
	const struct region_service *service;
	autofree char *address = NULL;

	run_with(backends[_i], &named);
	service = program_command_output_region_services_at(runner_output(), 0);
	address = strstr(region_service_places_at(service, 0), ":0x");
	ck_assert_ptr_nonnull(address);
	address = rot_strndup(address + 1, strcspn(address + 1, ")"));
	stripped.regions[0].begin = address;
	check(run_with(backends[_i], &stripped), &(struct expected){address, 1, 10, 10, 0, 10, 0},
	      nr_processes_of(backends[_i], 1));
}

TEST_OF(exceptions_go_through, nr_backends + 1)
{
	struct trial trial = {
		.program = "region_target_cxx", .arguments = {"300"}, .regions = {{.begin = "work::region_throwing"}}};
	struct sums sums;
	const struct program_run_output *run;

	if (!is_built(trial.program))
		return;
	run = run_with(backends[_i], &trial);
	sums = sums_of(run, trial.regions[0].begin);
	ck_assert_int_eq(run->exit_status, 0);
	ck_assert_int_eq(sums.hits, 300);
	ck_assert_int_eq(sums.measured, 200);
	ck_assert_int_eq(sums.abandoned, 100);
	ck_assert_int_eq(sums.lost, 0);
}

static bool
is_available(const char *backend)
{
	for (int i = 0; i < nr_backends; i++) {
		if (strcmp(backends[i], backend) == 0)
			return true;
	}
	return false;
}

/* Many hits; what the kernel has no room for it must count. */
/* 30,000 with ROT_SLOW_TESTS. With stops a million of them would take minutes. */
TEST_OF(many_hits_are_exact, nr_backends + 1)
{
	const int nr = is_translated(backends[_i]) ? 1000000 : all_are_tested() ? 30000 : 6000;
	const int nr_processes = nr_processes_of(backends[_i], 1);
	autofree char *all = rot_format("%d", nr), *eighth = rot_format("%d", nr / 8);
	struct trial one = {
		.arguments = {"threads", "1", all}, .regions = {{.begin = "region_one"}}, .time_limit = "700"};
	struct trial eight = {
		.arguments = {"threads", "8", eighth}, .regions = {{.begin = "region_one"}}, .time_limit = "700"};
	const struct expected of_one = {"region_one", 1, nr, nr, 0, nr, 0};
	const struct expected of_eight = {"region_one", 8, nr, nr, 0, nr, 0};

	check(run_with(backends[_i], &one), &of_one, nr_processes);
	check(run_with(backends[_i], &eight), &of_eight, nr_processes);
}

TEST_OF(regions_without_events, nr_backends)
{
	struct trial trial = {
		.arguments = {"threads", "2", "10"}, .regions = {{.begin = "region_one"}}, .is_time_only = true};
	const struct program_run_output *run = run_with(backends[_i], &trial);

	ck_assert_uint_eq(program_run_output_nr_regions(run), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct program_region_output *region = program_run_output_regions_at(run, i);

		ck_assert_int_eq(region->measured_hits, 10);
		ck_assert_uint_gt(region->time, 0);
		ck_assert_ptr_null(region->counts);
	}
}

/* ---- refusals ---- */

static const struct region_service *
service_of(struct trial *trial)
{
	trial->program = "region_target";
	return program_command_output_region_services_at(runner_run(trial), 0);
}

static bool
is_refused(const struct region_service *service, const char *begin, const char *part)
{
	for (size_t i = 0; i < service->refusals.nr; i++) {
		const char *text = region_service_refusals_at(service, i);

		if (strncmp(text, begin, strlen(begin)) == 0 && strstr(text, part))
			return true;
	}
	return false;
}

TEST(regions_that_are_not_there)
{
	struct trial trial = {.arguments = {"main", "1"}, .regions = {{.begin = "region_ones"}}};
	const struct region_service *service = service_of(&trial);

	ck_assert_str_eq(service->backend, "none");
	ck_assert_uint_eq(service->places.nr, 0);
	ck_assert_uint_eq(service->refusals.nr, 1);
	ck_assert(is_refused(service, "", "region_one"));
}

/* The reason is that of the program which is executed last. */
TEST(regions_that_are_not_there_after_exec)
{
	autofree char *program = built_path("tests/core/parent/region_target"),
		      *command = rot_format("exec %s main 1", program);
	struct trial trial = {
		.program = "/bin/sh", .arguments = {"-c", command}, .regions = {{.begin = "region_ones"}}};
	const struct region_service *service;

	service = program_command_output_region_services_at(runner_run(&trial), 0);
	ck_assert_uint_eq(service->refusals.nr, 1);
	ck_assert(is_refused(service, "", "region_one"));
}

/* Regions that were found before are observed on, and it is told that there is something of no use. */
TEST_OF(regions_that_are_found_once_more_in_vain, nr_backends)
{
	struct trial trial = {.program = "region_target",
			      .arguments = {"load_odd", "10"},
			      .regions = {{.begin = "library_region"}},
			      .region_backend = backends[_i]};
	const struct program_command_output *output = runner_run(&trial);
	const struct sums sums = sums_of(program_command_output_outputs_at(output, 0), "library_region");

	ck_assert(runner_has_warning(output, "library_region is observed in the libraries that were there before"));
	ck_assert(runner_has_warning(output, "gets chosen when the program starts"));
	ck_assert_int_eq(sums.hits, 20);
	ck_assert_int_eq(sums.measured, 20);
}

TEST(regions_that_are_empty)
{
	struct trial trial = {.program = "region_target",
			      .arguments = {"main", "1"},
			      .regions = {{.begin = "region_empty"}, {.begin = "region_one"}}};
	const struct program_command_output *output = runner_run(&trial);

	ck_assert(runner_has_warning(output, "region region_empty: region_empty+0x"));
	ck_assert_uint_eq(program_command_output_nr_warnings(output), 1);
}

/* Without tracefs the next one serves, if there is one. */
TEST_OF(without_tracefs, is_available("uprobe"))
{
	struct trial trial = {.arguments = {"main", "10"},
			      .regions = {{.begin = "region_one"}},
			      .refused_call = SYS_fsopen,
			      .region_backend = "uprobe"};
	const struct region_service *service;

	service = service_of(&trial);
	if (strcmp(service->backend, "none") == 0)
		ck_assert(is_refused(service, "uprobe: ", "tracefs"));
}

/* The processor has four breakpoints: two regions. */
TEST_OF(more_addresses_than_breakpoints, is_available("breakpoint"))
{
	struct trial trial = {
		.arguments = {"nested", "10"},
		.regions = {{.begin = "region_outer"}, {.begin = "region_three"}, {.begin = "region_one"}},
		.region_backend = "breakpoint"};
	const struct program_command_output *output;
	const struct region_service *service;

	trial.program = "region_target";
	output = runner_run(&trial);
	service = program_command_output_region_services_at(output, 2);
	ck_assert_str_eq(program_command_output_region_services_at(output, 0)->backend, "breakpoint");
	ck_assert_str_eq(program_command_output_region_services_at(output, 1)->backend, "breakpoint");
	ck_assert_str_eq(service->backend, "none");
	ck_assert(is_refused(service, "breakpoint: ", "4 addresses"));
}

#ifndef ROT_SANITIZED
/* Where they do not fire (or here, where it is made so) another backend is taken, and it is said why. */
TEST(breakpoints_that_do_not_fire)
{
	struct trial trial = {
		.program = "region_target", .arguments = {"main", "1"}, .regions = {{.begin = "region_one"}}};
	const struct program_command_output *output;
	const struct region_service *service;

	setenv("LD_PRELOAD", built_path("tests/dead_breakpoints.so"), 1);
	trial.region_backend = "breakpoint";
	output = runner_run(&trial);
	service = program_command_output_region_services_at(output, 0);
	ck_assert_str_eq(service->backend, "none");
	ck_assert(is_refused(service, "breakpoint: ", "accepted but do not fire"));
	trial.refused_call = SYS_fsopen; /* no uprobes, if tracefs is not mounted */
	trial.region_backend = "auto";
	output = runner_run(&trial);
	unsetenv("LD_PRELOAD");
	service = program_command_output_region_services_at(output, 0);
	if (strcmp(service->backend, "uprobe") != 0) {
		ck_assert_str_eq(service->backend, "int3");
		ck_assert(is_refused(service, "breakpoint: ", "accepted but do not fire"));
	}
	ck_assert_int_eq(sums_of(program_command_output_outputs_at(output, 0), "region_one").hits, 1);
}
#endif

/*
 * Wall time, CPU time and stops are of the same span: a program of one thread can neither use more CPU time than there
 * was, nor be stopped longer. (Before it began, its process was made and its places were looked for, which takes longer
 * than this program runs.) The clocks differ by their rate, and CPU time is told in microseconds.
 */
TEST_OF(times_are_of_one_span, nr_backends + 1)
{
	struct trial trial = {.arguments = {"main", "1"}, .regions = {{.begin = "region_one"}}};
	const struct program_run_output *run;
	uint64_t longest;

	if (_i == nr_backends) {
		trial = (struct trial){.program = "region_target", .arguments = {"main", "1"}, .is_total = true};
		run = program_command_output_outputs_at(runner_run(&trial), 0);
	} else {
		run = run_with(backends[_i], &trial);
	}
	longest = run->wall_time + run->wall_time / 100 + 10000;
	ck_assert_uint_gt(run->wall_time, 0);
	ck_assert_uint_gt(run->user_time + run->system_time, 0);
	ck_assert_uint_le(run->user_time + run->system_time, longest);
	ck_assert_uint_le(run->stopped_time, longest);
}

/* ---- visits ---- */

/* Code that is in no file, and is not the kernel's. */
static int
nr_foreign_pages(pid_t pid)
{
	char *path = rot_format("/proc/%d/maps", (int)pid), line[4200], permissions[5], name[16];
	FILE *file = fopen(path, "re");
	int nr = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		nr += sscanf(line, "%*s %4s %*s %*s %*s %15s", permissions, name) == 1 && permissions[2] == 'x';
	fclose(file);
	free(path);
	return nr;
}

static bool
has_measured(const struct program_run_output *run)
{
	return sums_of(run, "region_one").measured > 0;
}

/* The libc has it since 2.35: without it no thread has restartable sequences. */
extern const unsigned int __rseq_size __attribute__((weak));

/* The second is nearly always in a restartable sequence, where nothing can be done to it. */
static const char *const visited[] = {"for_ever", "sequences"};

TEST_OF(running_processes_are_visited, nr_backends *NR_ELEMENTS(visited))
{
	const bool is_there = _i / nr_backends == 0 || (&__rseq_size && __rseq_size > 0);
	pid_t pid = runner_begin_visited("region_target", visited[is_there ? _i / nr_backends : 0], NULL);
	struct trial trial = {
		.attach_to = pid, .regions = {{.begin = "region_one"}}, .region_backend = backends[_i % nr_backends]};
	struct sums sums = sums_of(runner_visit(&trial, has_measured), "region_one");

	ck_assert_int_eq(sums.nr_threads, 1);
	ck_assert_int_ge(sums.faults, sums.measured);
	ck_assert_int_le(sums.faults, sums.measured + 2);
	ck_assert_int_eq(nr_foreign_pages(pid), 0);
	runner_end_visited(pid);
}

/* ---- processes that are left ---- */

static bool
has_said(const char *text)
{
	char *said = file_text(runner_said);
	bool is_said = strstr(said, text) != NULL;

	return is_said;
}

TEST_OF(processes_that_are_left_go_on, nr_backends + 1)
{
	struct trial trial = {
		.program = "region_target", .arguments = {"leave_child"}, .regions = {{.begin = "region_recursive"}}};

	if (is_translated(backends[_i]))
		trial.amend = amend_count_steps;
	else
		trial.region_backend = backends[_i];
	ck_assert_int_gt(waitpid(runner_begin(&trial), NULL, 0), 0);
	ck_assert(runner_has_warning(runner_output(), "still running when it ended"));
	for (int ms = 0; ms < 20000 && !has_said("went on\n"); ms++)
		usleep(1000);
	ck_assert(has_said("went on\n"));
}

/* ---- which of them this machine has ---- */

static int *available; /* bits; shared with the processes of tests */

TEST_OF(backends_of_this_machine, nr_backends ? 0 : NR_ELEMENTS(all_backends))
{
	struct trial trial = {.arguments = {"main", "1"}, .regions = {{.begin = "region_one"}}};
	const struct region_service *service;

	trial.region_backend = all_backends[_i];
	service = service_of(&trial);
	if (strcmp(service->backend, "none") != 0) {
		*available |= 1 << _i;
		return;
	}
	ck_assert_uint_ge(service->refusals.nr, 1);
	fprintf(stderr, "SKIP of what needs a %s: %s\n", all_backends[_i], region_service_refusals_at(service, 0));
}

static bool
has_backends(void)
{
	available = mmap(NULL, sizeof(*available), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (available == MAP_FAILED || test_run_alone(__FILE__, "backends_of_this_machine") != 0)
		exit(1);
	for (int i = 0; i < NR_ELEMENTS(all_backends); i++) {
		if (*available & 1 << i)
			backends[nr_backends++] = all_backends[i];
	}
	backends[nr_backends] = "blocks";
	return nr_backends > 0;
}

UNIT_TESTS(.needs = {has_backends}, .set_up = runner_set_up, .tear_down = runner_tear_down, .timeout_s = 1500);
