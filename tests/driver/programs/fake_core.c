/* SPDX-License-Identifier: MIT */
/*
 * Stands for rot-core: runs the program once per pass and run, and answers with times and counts that are always the
 * same: those of the table below for each of two threads, or for the total of them.
 * FAKE_CORE=differ: they grow from run to run, and so do the threads. FAKE_CORE=fail: a CoreFailure.
 * FAKE_CORE=interrupted: only the first run took place. FAKE_CORE=reorder: the threads of the second run begin in
 * another order. FAKE_CORE=disturbed: where there are many runs, the first one reads pages from a disk, the fourth is
 * preempted often, and from the sixth 1 % is stolen. FAKE_CORE=scatter: wall times of 0.75 to 1.2 ms. FAKE_CORE=drift:
 * each run takes 2 % longer. FAKE_CORE=uncounted: a program that is to be translated is not counted;
 * FAKE_CORE=fail-translating: a CoreFailure then. FAKE_CORE=sampled: runs of 2 s with samples in the places of the
 * table below, and counts of some where code is translated; FAKE_CORE=sampled-user: the same without those in the
 * kernel; FAKE_CORE=unsampled: they are refused. "FAKE_CORE=random 7": as sampled, with counts, times and samples that
 * 7 is the seed of. FAKE_CORE=colliding: where misses are told apart, there are a conflict and false sharing.
 *
 * What happens to a region is told by where it begins: a row of the table of regions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "entities.h"
#include "memory.h"

static const struct {
	const char *name;
	uint64_t count;
} counts[] = {
	{"allFlops", 4000000},     {"l2DramFills", 50000},    {"coreCycles", 2000000},  {"instructions", 3000000},
	{"l2Fills", 100000},       {"l2DirtyVictims", 10000}, {"combinedLines", 0},     {"combinedToCache", 0},
	{"scalarDouble", 1000000}, {"packedDouble", 3000000}, {"scalarSingle", 0},      {"packedSingle", 0},
	{"l1Fills", 200000},       {"storeLines", 70000},     {"loadedBytes", 6400000}, {"storedBytes", 1600000},
	{"memoryReads", 40000},    {"memoryWrites", 5000},
};

/* Counts of an empty region, and its times in ns. */
enum { EMPTY_INSTRUCTIONS = 2, EMPTY_CYCLES = 100, EMPTY_NS = 200, HIT_NS = 1000 };

/* In each of the first nr_threads threads: hits, and what is measured of the first of them: the share of the thread's
 * counts is 1 / divisor. "shared" opens a team, of which the second thread is. Where the time is sampled, "brief" and
 * "last" are given up after 1000 hits; "last" is so near the end that no sample follows. */
static const struct {
	const char *begin, *backend;
	int nr_threads, hits, measured, inner, abandoned, lost, time_ns, divisor;
	const char *refusal;
} regions[] = {
	{"solve", "uprobe", 2, 10, 10, 0, 0, 0, 250000, 2, NULL},
	{"setUp", "breakpoint", 1, 1, 1, 0, 0, 0, 100000, 10, "uprobe: permission denied"},
	{"throwing", "uprobe", 2, 8, 6, 0, 2, 0, 300000, 4, NULL},
	{"fast", "int3", 1, 100, 90, 0, 0, 10, 9000, 1000, NULL},
	{"deep", "uprobe", 1, 100, 10, 90, 0, 0, 500000, 4, NULL},
	{"shared", "uprobe", 2, 10, 10, 10, 0, 0, 250000, 2, NULL},
	{"brief", "uprobe", 1, 5000, 5000, 0, 0, 0, 0, 4, NULL},
	{"last", "uprobe", 1, 5000, 5000, 0, 0, 0, 300000, 4, NULL},
	{"idle", "uprobe", 0, 0, 0, 0, 0, 0, 0, 1, NULL},
	{"late", "uprobe", 2, 10, 0, 0, 0, 0, 0, 1, NULL},
	{"missing", "none", 0, 0, 0, 0, 0, 0, 0, 1, "no function 'missing' in the program and its libraries"},
};
enum { NR_REGIONS = sizeof(regions) / sizeof(regions[0]) };

static bool is_random;

static bool
mode_is(const char *mode)
{
	const char *asked = getenv("FAKE_CORE");

	return asked && strcmp(asked, mode) == 0;
}

/* A number of any magnitude, and often 0. */
static uint64_t
draw_count(void)
{
	return lrand48() % 6 == 0 ? 0 : (uint64_t)lrand48() << 4 >> lrand48() % 35;
}

static uint64_t
count_of(const char *name, int order)
{
	if (is_random)
		return draw_count();
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (strcmp(counts[i].name, name) == 0)
			return counts[i].count + (mode_is("differ") ? counts[i].count / 10 * (uint64_t)order : 0);
	return 0;
}

static bool
is_translated(const struct program_command *command)
{
	return rot_is_a(program_command_passes_at(command, 0), &step_measurer_class);
}

static struct perf_event_measurer_output *
count_events(const struct perf_event_measurer *pass, int order)
{
	struct perf_event_measurer_output *output;

	if (perf_event_measurer_nr_events(pass) == 0 || (rot_is_a(pass, &step_measurer_class) && mode_is("uncounted")))
		return NULL;
	output = perf_event_measurer_output_new();
	for (size_t i = 0; i < perf_event_measurer_nr_events(pass); i++) {
		struct perf_event_count *count = perf_event_count_new();

		rot_string_set(&count->name, perf_event_measurer_events_at(pass, i)->name);
		count->raw_count = count_of(count->name, order);
		count->time_enabled = count->time_running = 500000;
		perf_event_measurer_output_event_counts_add(output, count);
	}
	return output;
}

/* ---- regions ---- */

/* Index of its row; NR_REGIONS for one that is not known. */
static size_t
find_region(const struct region *region)
{
	size_t i = 0;

	while (i < NR_REGIONS && strcmp(regions[i].begin, region->begin) != 0)
		i++;
	return i;
}

/* An empty region adds this to the count of each hit. */
static uint64_t
empty_count(const char *name)
{
	return strcmp(name, "instructions") == 0 ? EMPTY_INSTRUCTIONS
	       : strcmp(name, "coreCycles") == 0 ? EMPTY_CYCLES
						 : 0;
}

static void
add_sampled_region(struct program_run_output *run, const struct region *region)
{
	struct sampled_region *sampled = sampled_region_new();

	rot_string_set(&sampled->region, region->name);
	if (strcmp(region->begin, "brief") == 0) {
		sampled->samples = 400;
		sampled->all_samples = 1600;
	}
	program_profile_regions_add(run->profile, sampled);
}

static void
add_region(struct program_run_output *run, const struct perf_event_measurer *pass, const struct region *region,
	   size_t row, int thread)
{
	struct program_region_output *output = program_region_output_new();
	const int more = mode_is("differ") ? run->order : 0;

	rot_string_set(&output->region, region->name);
	output->tid = 100 + thread;
	output->pid = 100;
	output->hits = regions[row].hits + more;
	output->measured_hits = regions[row].measured;
	output->inner_hits = regions[row].inner;
	output->abandoned_hits = regions[row].abandoned;
	output->lost_hits = regions[row].lost;
	output->time = is_random ? 1 + draw_count()
				 : (uint64_t)(regions[row].time_ns + regions[row].measured * EMPTY_NS +
					      regions[row].inner * HIT_NS);
	/* the second thread is in it half of the time that the first is, and half of it alone */
	output->wall_time = thread == 0 ? output->time : output->time / 2;
	output->counts = count_events(pass, run->order);
	for (size_t i = 0; output->counts && i < perf_event_measurer_output_nr_event_counts(output->counts); i++) {
		struct perf_event_count *count = perf_event_measurer_output_event_counts_at(output->counts, i);

		count->raw_count = count->raw_count / (uint64_t)regions[row].divisor +
				   (uint64_t)(regions[row].measured + regions[row].inner) * empty_count(count->name);
	}
	if (thread > 0 && strcmp(region->begin, "shared") == 0) {
		output->team_hits = output->measured_hits;
		output->hits = output->measured_hits = 0;
	}
	if (run->profile && (strcmp(region->begin, "brief") == 0 || strcmp(region->begin, "last") == 0)) {
		output->hits = output->measured_hits = 1000;
		add_sampled_region(run, region);
	}
	program_run_output_regions_add(run, output);
}

static void
add_empty_region(struct program_run_output *run, const struct perf_event_measurer *pass, const char *backend)
{
	struct empty_region_output *empty = empty_region_output_new();

	rot_string_set(&empty->backend, backend);
	empty->hits = 1000;
	empty->time = EMPTY_NS;
	empty->cost = HIT_NS;
	empty->counts = count_events(pass, run->order);
	for (size_t i = 0; empty->counts && i < perf_event_measurer_output_nr_event_counts(empty->counts); i++) {
		struct perf_event_count *count = perf_event_measurer_output_event_counts_at(empty->counts, i);

		count->raw_count = empty_count(count->name);
	}
	program_run_output_empty_regions_add(run, empty);
}

static void
add_regions(struct program_run_output *run, const struct program_command *command,
	    const struct perf_event_measurer *pass)
{
	static const char *const backends[] = {"uprobe", "breakpoint", "int3"};

	for (size_t i = 0; i < program_command_nr_regions(command); i++) {
		const struct region *region = program_command_regions_at(command, i);
		size_t row = find_region(region);

		for (int k = 0; row < NR_REGIONS && k < regions[row].nr_threads; k++)
			add_region(run, pass, region, row, k);
	}
	for (size_t i = 0; program_command_nr_regions(command) > 0 && i < 3; i++)
		add_empty_region(run, pass, backends[i]);
}

static void
add_service(struct program_command_output *output, const struct region *region)
{
	struct region_service *service;
	size_t row = find_region(region);

	if (row == NR_REGIONS)
		return;
	service = region_service_new();
	rot_string_set(&service->region, region->name);
	rot_string_set(&service->backend, regions[row].backend);
	if (regions[row].refusal)
		region_service_refusals_add(service, regions[row].refusal);
	for (int i = 0; i < (strcmp(regions[row].backend, "none") == 0 ? 0 : 2); i++) {
		autofree char *place = rot_format("%s+0x%x (fake:0x%x)", region->begin, 32 * i, 4096 + 32 * i);

		region_service_places_add(service, place);
	}
	program_command_output_region_services_add(output, service);
}

static void
add_thread(struct program_run_output *run, const struct perf_event_measurer *pass, int index, bool is_total)
{
	struct program_thread_output *thread = program_thread_output_new();

	thread->tid = is_total ? 0 : 100 + index;
	thread->pid = 100;
	rot_string_set(&thread->name, index + (mode_is("reorder") ? run->order : 0) == 1 ? "worker" : "main");
	rot_string_set(&thread->executable, "/bin/fake");
	thread->start_time = (uint64_t)index * 250000;
	thread->stop_time = 1000000;
	thread->counts = count_events(pass, run->order);
	program_run_output_threads_add(run, thread);
}

/* Arguments and standard input as the real one gives them to the program. */
static int
run_program(const struct program *program)
{
	size_t nr = program_nr_arguments(program);
	char **argv = rot_calloc(nr + 2, sizeof(*argv));
	int status = 0;
	pid_t pid;

	argv[0] = program->executable;
	for (size_t i = 0; i < nr; i++)
		argv[i + 1] = (char *)program_arguments_at(program, i);
	pid = fork();
	if (pid == 0) {
		if (program->standard_input[0] && !freopen(program->standard_input, "r", stdin))
			_exit(1);
		execvp(argv[0], argv);
		_exit(127);
	}
	free(argv);
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void
disturb(struct program_run_output *run, const struct program_command *command)
{
	if (mode_is("scatter"))
		run->wall_time = 750000 + 50000 * (uint64_t)(7 * run->order % 10);
	if (mode_is("drift"))
		run->wall_time += 20000 * (uint64_t)run->order;
	if (mode_is("stolen")) {
		run->wall_time = 2000000000;
		run->steal_ticks = 100;
	}
	if (is_random)
		run->wall_time = 1000 + draw_count();
	if (!mode_is("disturbed") || command->run_count < 5)
		return;
	run->major_faults = run->order == 0;
	if (run->order == 3)
		run->involuntary_context_switches = 900;
	if (run->order == 5) {
		run->wall_time = 2000000000;
		run->steal_ticks = 2;
	}
}

/* ---- samples ---- */

static const struct program_place sampled_places[] = {
	{.object = (char *)"/opt/lib/libsolve.so.1.2",
	 .function = (char *)"solver::of_planes::Relaxation::sweep",
	 .symbol = (char *)"_ZN6solver9of_planes10Relaxation5sweepEi",
	 .address = 0x1240,
	 .size = 512,
	 .source = (char *)"sweep.cc",
	 .line = 17,
	 .samples = 700},
	{.object = (char *)"/opt/bin/solver",
	 .behind = (char *)"main",
	 .address = 0x4fee40,
	 .size = 96,
	 .samples = 300},
	{.object = (char *)"[kernel]", .samples = 250},
	{.object = (char *)"[jit]",
	 .function = (char *)"py::\033[31mred, a_name_that_no_column_holds_\xff",
	 .symbol = (char *)"py::\033[31mred, a_name_that_no_column_holds_\xff",
	 .samples = 200},
	{.object = (char *)"/opt/bin/solver",
	 .function = (char *)"main",
	 .total_samples = 1400,
	 .address = 0x4000,
	 .size = 32,
	 .samples = 190},
	{.object = (char *)"[unknown]", .samples = 50},
	{.object = (char *)"/opt/bin/solver", .samples = 40},
	{.object = (char *)"/opt/bin/solver", .function = (char *)"init", .address = 0x4100, .size = 32, .samples = 5},
	{.object = (char *)"/opt/bin/solver", .function = (char *)"exit", .address = 0x4200, .size = 32, .samples = 2},
};

/* Loops and code of none of sweep: in samples, and quarters of its counts. */
static const struct {
	struct program_part part;
	uint64_t quarters;
} sampled_loops[] = {
	{{.address = 0x1240, .size = 512, .samples = 50}, 0},
	{{.header = 0x1260,
	  .address = 0x1260,
	  .size = 256,
	  .depth = 1,
	  .source = (char *)"sweep.cc",
	  .line = 20,
	  .last_line = 31,
	  .samples = 150,
	  .turns = 4000,
	  .entries = 1000},
	 1},
	{{.header = 0x1280,
	  .around = 0x1260,
	  .address = 0x1278,
	  .size = 64,
	  .depth = 2,
	  .samples = 500,
	  .turns = 80000},
	 3},
};

static void
add_loops(struct program_place *place, bool is_counted)
{
	for (size_t i = 0; i < sizeof(sampled_loops) / sizeof(sampled_loops[0]); i++) {
		const struct program_part *from = &sampled_loops[i].part;
		struct program_part *loop = program_part_new();

		rot_string_set(&loop->source, !is_counted && from->source ? from->source : "");
		loop->header = from->header;
		loop->around = from->around;
		loop->address = from->address;
		loop->size = from->size;
		loop->depth = from->depth;
		loop->line = is_counted ? 0 : from->line;
		loop->last_line = is_counted ? 0 : from->last_line;
		loop->samples = is_counted ? 0 : from->samples;
		loop->turns = is_counted ? from->turns : 0;
		loop->entries = is_counted ? from->entries : 0;
		for (size_t k = 0; is_counted && k < program_place_nr_counts(place); k++)
			program_part_counts_add(loop,
						program_place_counts_at(place, k) / 4 * sampled_loops[i].quarters);
		program_place_loops_add(place, loop);
	}
}

/* Lines 40 and 41 of sweep: all samples are of the first, all counts of the second. */
static void
add_lines(struct program_place *place, bool is_counted)
{
	struct program_part *line = program_part_new();

	rot_string_set(&line->source, "sweep.cc");
	line->line = line->last_line = is_counted ? 41 : 40;
	line->samples = is_counted ? 0 : place->samples;
	for (size_t k = 0; is_counted && k < program_place_nr_counts(place); k++)
		program_part_counts_add(line, program_place_counts_at(place, k));
	program_place_lines_add(place, line);
}

/* All samples of sweep are of the instruction behind the one that has all counts. */
static void
add_instructions(struct program_place *place, bool is_counted)
{
	const uint64_t sampled[] = {0x20, place->samples, 0}, counted[] = {0x1c, 0, 1000};

	rot_string_set(&place->code_hash, "0123456789abcdef");
	for (size_t i = 0; i < 3; i++)
		program_place_instructions_add(place, is_counted ? counted[i] : sampled[i]);
	for (size_t i = 0; is_counted && i < program_place_nr_counts(place); i++)
		program_place_instructions_add(place, program_place_counts_at(place, i));
}

static struct program_place *
make_place(const struct program_place *from, int order)
{
	struct program_place *place = program_place_new();

	rot_string_set(&place->object, from->object);
	rot_string_set(&place->function, from->function ? from->function : "");
	rot_string_set(&place->symbol, from->symbol ? from->symbol : place->function);
	rot_string_set(&place->behind, from->behind ? from->behind : "");
	rot_string_set(&place->source, from->source ? from->source : "");
	place->address = from->address;
	place->size = from->size;
	place->line = from->line;
	place->samples = is_random ? draw_count() % 1000 : from->samples + (uint64_t)order;
	place->total_samples = is_random
				       ? place->samples + draw_count() % 1000
				       : (from->total_samples ? from->total_samples : from->samples) + (uint64_t)order;
	place->pairs_of_one_thread = place->samples * (place->samples - 1) / 2;
	return place;
}

/* The counts of functions where code is translated: three quarters in sweep, the rest where no sample was taken. */
static void
add_function_counts(struct program_run_output *run, const struct perf_event_measurer *pass)
{
	struct program_place *sweep = make_place(&sampled_places[0], 0), *other = make_place(&sampled_places[8], 0);

	sweep->samples = other->samples = sweep->total_samples = other->total_samples = 0;
	sweep->pairs_of_one_thread = other->pairs_of_one_thread = 0;
	sweep->entries = 1000;
	rot_string_set(&other->function, "never_seen");
	other->address = 0x5000;
	for (size_t i = 0; i < perf_event_measurer_nr_events(pass); i++) {
		const uint64_t count = 2 * count_of(perf_event_measurer_events_at(pass, i)->name, run->order);

		program_place_counts_add(sweep, count / 4 * 3);
		program_place_counts_add(other, count - count / 4 * 3);
	}
	add_loops(sweep, true);
	add_lines(sweep, true);
	add_instructions(sweep, true);
	run->profile = program_profile_new();
	program_profile_places_add(run->profile, sweep);
	program_profile_places_add(run->profile, other);
}

static void
add_samples(struct program_run_output *run, bool is_asked)
{
	const bool has_kernel = is_random || mode_is("sampled"), is_refused = mode_is("unsampled");

	if (!is_asked || (!has_kernel && !is_refused && !mode_is("sampled-user")))
		return;
	run->wall_time = 2000000000;
	run->user_time = 1500000000;
	run->system_time = 250000000;
	run->profile = program_profile_new();
	run->profile->period = 1000000;
	run->profile->has_kernel = run->profile->has_stacks = has_kernel;
	run->profile->incomplete_stacks = has_kernel ? 40 : 0;
	run->profile->lost_records = has_kernel ? 0 : 3;
	if (is_refused)
		rot_string_set(&run->profile->refusal, "cannot sample the CPU time: Permission denied");
	for (size_t i = 0; !is_refused && i < sizeof(sampled_places) / sizeof(sampled_places[0]); i++) {
		struct program_place *place = make_place(&sampled_places[i], run->order);

		if (i == 0) {
			add_loops(place, false);
			add_lines(place, false);
			add_instructions(place, false);
		}
		if (has_kernel || strcmp(sampled_places[i].object, "[kernel]") != 0)
			program_profile_places_add(run->profile, place);
		else
			rot_graph_delete(place);
	}
}

/* Misses of the first level: conflicts of one function, in an object whose name no column holds. */
static void
add_misses(struct program_run_output *run)
{
	static const char *const shares[][2] = {
		{"function", "sweep"}, {"object", "malloc in Größe::the_table::ändern (sweep.cc:12)"}, {"thread", ""}};
	static const uint64_t lines[] = {10, 30, 60, 25};
	struct miss_kinds *kinds = miss_kinds_new();

	kinds->level = 1;
	kinds->compulsory = lines[0];
	kinds->capacity = lines[1];
	kinds->conflict = lines[2];
	program_run_output_miss_kinds_add(run, kinds);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct miss_share *share = miss_share_new();

		rot_string_set(&share->by, shares[i][0]);
		rot_string_set(&share->name, shares[i][1]);
		share->number = *shares[i][1] ? 0 : 1;
		for (size_t k = 0; k < 3 * sizeof(lines) / sizeof(lines[0]); k++)
			miss_share_lines_add(share, k < sizeof(lines) / sizeof(lines[0]) ? lines[k] : 0);
		program_run_output_miss_shares_add(run, share);
	}
	if (mode_is("colliding")) {
		program_run_output_miss_conflicts_add(run, miss_conflict_new());
		program_run_output_false_sharing_add(run, false_sharing_new());
	}
}

/* Each moves half of what the one before does, and misses as many translations. */
static void
add_what_ifs(struct program_run_output *run, const struct program_command *command)
{
	for (size_t i = 0; i <= program_command_nr_what_ifs(command); i++) {
		struct what_if *what_if = what_if_new();

		for (uint64_t border = 0; border < 3; border++) {
			what_if_read_bytes_add(what_if, UINT64_C(64000000) >> (i + border));
			what_if_written_bytes_add(what_if, 0);
			what_if_misses_add(what_if, UINT64_C(1000000) >> (i + border));
		}
		what_if->tlb_misses = 5000;
		program_run_output_what_ifs_add(run, what_if);
	}
}

static struct program_run_output *
run_once(const struct program_command *command, int pass, int order)
{
	struct program_run_output *run = program_run_output_new();
	const struct perf_event_measurer *measurer = program_command_passes_at(command, (size_t)pass);
	int status = command->program ? run_program(command->program) : 0;
	int nr_threads = mode_is("differ") ? 2 + order : 2;

	run->pass = pass;
	run->order = order;
	run->wall_time = 1000000;
	run->user_time = 1500000;
	run->system_time = 250000;
	run->voluntary_context_switches = 3;
	run->involuntary_context_switches = 1;
	disturb(run, command);
	if (!rot_is_a(measurer, &step_measurer_class))
		add_samples(run, command->sample_period > 0);
	run->maximum_resident_bytes = 8 << 20;
	run->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	run->nr_threads = nr_threads;
	run->nr_stops = command->per_thread ? 3 * nr_threads : 0;
	run->stopped_time = command->per_thread ? 17500 : 0;
	for (int i = 0; i < (command->per_thread ? nr_threads : 1); i++)
		add_thread(run, measurer, i, !command->per_thread);
	add_regions(run, command, measurer);
	if (rot_is_a(measurer, &step_measurer_class) && command->counts_functions && (is_random || mode_is("sampled")))
		add_function_counts(run, measurer);
	if (rot_is_a(measurer, &step_measurer_class) && command->miss_kinds)
		add_misses(run);
	if (rot_is_a(measurer, &step_measurer_class) && program_command_nr_what_ifs(command) > 0)
		add_what_ifs(run, command);
	return run;
}

static int
write_graph(const void *graph, const char *path)
{
	FILE *out = fopen(path, "w");
	int rc = out ? rot_text_write(graph, out, NULL) : -1;

	return out && fclose(out) == 0 ? rc : -1;
}

static int
fail(const char *path)
{
	struct core_failure *failure = core_failure_new();

	rot_string_set(&failure->attempted, "cannot trace the program: Operation not permitted");
	rot_string_set(&failure->hint, "allow it");
	write_graph(failure, path);
	core_failure_delete(failure);
	return 1;
}

int
main(int argc, char **argv)
{
	struct rot_registry *registry;
	struct program_command_output *output;
	struct program_command *command;
	FILE *in = argc >= 5 ? fopen(argv[2], "r") : NULL; /* what may follow are limits and progress */
	int order = 0, rc;
	long seed = 0;
	bool fails;

	if (!in || strcmp(argv[1], "--command") != 0 || strcmp(argv[3], "--output") != 0)
		return 2;
	if (mode_is("fail")) {
		fclose(in);
		return fail(argv[4]);
	}
	is_random = getenv("FAKE_CORE") && sscanf(getenv("FAKE_CORE"), "random %ld", &seed) == 1;
	srand48(seed);
	registry = rot_registry_new();
	output = program_command_output_new();
	rot_registry_add_all(registry, entities, NULL);
	command = rot_text_read(registry, in, "command", NULL);
	fclose(in);
	if (!rot_is_a(command, &program_command_class))
		return 2;
	fails = is_translated(command) && (!command->per_thread || mode_is("fail-translating"));
	if (is_translated(command) && mode_is("uncounted"))
		program_command_output_warnings_add(output, "the program was not translated, and is not counted");
	rot_string_set(&output->backend, command->per_thread ? "fake, by thread" : "fake");
	for (size_t i = 0; i < program_command_nr_regions(command); i++)
		add_service(output, program_command_regions_at(command, i));
	for (int run = 0; run < command->run_count; run++)
		for (size_t pass = 0; pass < program_command_nr_passes(command); pass++)
			if (order == 0 || !mode_is("interrupted"))
				program_command_output_outputs_add(output, run_once(command, (int)pass, order++));
	rc = fails ? fail(argv[4]) : write_graph(output, argv[4]);
	rot_graph_delete(output);
	rot_graph_delete(command);
	rot_registry_delete(registry);
	return rc != 0;
}
