/* SPDX-License-Identifier: MIT */
/* Regions of translated code: what they count is known. Tests of hits that all ways of observing share are in
 * test_regions_hw.c. */
#include "PerfEventCount.h"
#include "PerfEventDefinition.h"
#include "PerfEventMeasurerOutput.h"
#include "ProgramRegionOutput.h"
#include "ProgramThreadOutput.h"
#include "StepMeasurer.h"
#include "entity.h"
#include "permits.h"
#include "program_runner.h"
#include "testing.h"

enum { ADDITIONS, MEMORY_READS, NR_EVENTS };

/* Small caches, which are soon full. */
static void
amend_count(struct program_command *command)
{
	static const char *const events[NR_EVENTS] = {"step::scalarDouble", "step::memoryReads"};
	struct step_measurer *pass = step_measurer_new();

	for (int i = 0; i < NR_EVENTS; i++) {
		struct perf_event_definition *event = perf_event_definition_new();

		rot_string_set(&event->name, events[i]);
		rot_string_set(&event->definition, events[i]);
		perf_event_measurer_events_add(&pass->base, event);
	}
	pass->l1_bytes = 4096;
	pass->l2_bytes = 16384;
	pass->l3_bytes = 65536;
	pass->l1_ways = pass->l2_ways = pass->l3_ways = 4;
	rot_graph_delete(program_command_passes_at(command, 0));
	command->passes.nr = 0;
	program_command_passes_add(command, &pass->base);
}

static uint64_t
count_of(const struct program_region_output *region, size_t event)
{
	return perf_event_measurer_output_event_counts_at(region->counts, event)->raw_count;
}

/* A region in one thread. */
struct expected {
	const char *region;
	int64_t hits, measured, inner, abandoned;
	uint64_t additions;
	int64_t team;
};

static void
check(const struct program_region_output *region, const struct expected *expected)
{
	ck_assert_str_eq(region->region, expected->region);
	ck_assert_int_eq(region->hits, expected->hits);
	ck_assert_int_eq(region->measured_hits, expected->measured);
	ck_assert_int_eq(region->team_hits, expected->team);
	ck_assert_int_eq(region->inner_hits, expected->inner);
	ck_assert_int_eq(region->abandoned_hits, expected->abandoned);
	ck_assert_int_eq(region->lost_hits, 0);
	ck_assert_uint_eq(count_of(region, ADDITIONS), expected->additions);
}

static const struct {
	const char *act;
	struct trial_region regions[2];
	struct expected expected[2];
} acts[] = {
	{"many", {{.begin = "tick"}}, {{"tick", 1000000, 1000000, 0, 0, 1000000, 0}}},
	{"many", {{.begin = "tick", .first_hit = 100, .last_hit = 199}}, {{"tick", 1000000, 100, 0, 0, 100, 0}}},
	{"many", {{.begin = "tick", .first_hit = 1000}}, {{"tick", 1000000, 999001, 0, 0, 999001, 0}}},
	{"trees", {{.begin = "tree"}}, {{"tree", 63000, 1000, 62000, 0, 126000, 0}}},
	{"nested",
	 {{.begin = "outer"}, {.begin = "inner"}},
	 {{"outer", 1000, 1000, 0, 0, 8000, 0}, {"inner", 2000, 2000, 0, 0, 6000, 0}}},
	{"overlapping",
	 {{.begin = "first_begin", .end = "first_end"}, {.begin = "second_begin", .end = "second_end"}},
	 {{"first_begin", 1000, 1000, 0, 0, 3000, 0}, {"second_begin", 1000, 1000, 0, 0, 6000, 0}}},
	/* the last round has no end */
	{"rounds", {{.begin = "first_begin", .end = "first_begin"}}, {{"first_begin", 1000, 999, 0, 1, 2997, 0}}},
	{"again", {{.begin = "again"}}, {{"again", 4200, 200, 4000, 0, 0, 0}}},
	/* what was done in hits that are abandoned is not counted */
	{"leave_early", {{.begin = "leaver"}}, {{"leaver", 30, 20, 0, 10, 60, 0}}},
	{"signals", {{.begin = "interrupted"}}, {{"interrupted", 200, 200, 0, 0, 1400, 0}}},
	{"faults",
	 {{.begin = "peek"}, {.begin = "peek_too"}},
	 {{"peek", 200, 200, 0, 0, 200, 0}, {"peek_too", 200, 200, 0, 0, 200, 0}}},
	{"faults", {{.begin = "peek", .end = "peek"}}, {{"peek", 200, 199, 0, 1, 199, 0}}},
	{"faults_entering",
	 {{.begin = "peek"}, {.begin = "tick"}},
	 {{"peek", 200, 200, 0, 0, 400, 0}, {"tick", 200, 200, 0, 0, 200, 0}}},
	{"faults_within", {{.begin = "peek"}}, {{"peek", 400, 200, 200, 0, 400, 0}}},
	{"faults_leaving", {{.begin = "peek"}}, {{"peek", 400, 200, 0, 200, 200, 0}}},
};

static const struct program_command_output *
run(const char *act, const struct trial_region *regions)
{
	struct trial trial = {.program = "region_work", .arguments = {act}, .amend = amend_count};

	for (int i = 0; i < 2; i++)
		trial.regions[i] = regions[i];
	return runner_run(&trial);
}

TEST_OF(counts_of_regions_are_exact, NR_ELEMENTS(acts))
{
	const struct program_command_output *output = run(acts[_i].act, acts[_i].regions);
	const struct program_run_output *run = program_command_output_outputs_at(output, 0);
	const size_t nr = acts[_i].expected[1].region ? 2 : 1;

	ck_assert_uint_eq(program_command_output_nr_warnings(output), 0);
	ck_assert_uint_eq(program_run_output_nr_regions(run), nr);
	for (size_t i = 0; i < nr; i++)
		check(program_run_output_regions_at(run, i), &acts[_i].expected[i]);
}

/* 16 lines, which are evicted each time before; and maybe one of the stack. */
TEST(caches_know_what_is_done_between_hits)
{
	const struct trial_region look[2] = {{.begin = "look"}};
	const struct program_run_output *output = program_command_output_outputs_at(run("evicted", look), 0);
	const struct program_region_output *region = program_run_output_regions_at(output, 0);

	ck_assert_int_eq(region->measured_hits, 10);
	ck_assert_uint_ge(count_of(region, MEMORY_READS), 160);
	ck_assert_uint_le(count_of(region, MEMORY_READS), 180);
}

/* One thread adds 5000, the other twice as many. */
TEST(threads_have_counts_of_their_own)
{
	const struct trial_region tick[2] = {{.begin = "tick"}};
	const struct program_run_output *output = program_command_output_outputs_at(run("threads", tick), 0);
	const struct program_region_output *regions[2];
	size_t twice;

	ck_assert_uint_eq(program_run_output_nr_regions(output), 2);
	for (size_t i = 0; i < 2; i++)
		regions[i] = program_run_output_regions_at(output, i);
	twice = count_of(regions[1], ADDITIONS) > count_of(regions[0], ADDITIONS);
	check(regions[!twice], &(struct expected){"tick", 5000, 5000, 0, 0, 5000, 0});
	check(regions[twice], &(struct expected){"tick", 5000, 5000, 0, 0, 10000, 0});
}

/* It is called as the main thread then, which had hits of its own. */
TEST(threads_that_execute_programs_stay_themselves)
{
	const struct trial_region tick[2] = {{.begin = "tick"}};
	const struct program_run_output *output = program_command_output_outputs_at(run("execute", tick), 0);

	ck_assert_uint_eq(program_run_output_nr_regions(output), 2);
	ck_assert_uint_eq(program_run_output_nr_threads(output), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(output, i);
		const struct program_region_output *region = program_run_output_regions_at(output, i);

		ck_assert_int_eq(region->tid, thread->tid);
		check(region, &(struct expected){"tick", 1 + (int)i, 1 + (int)i, 0, 0, 1 + i, 0});
	}
}

/* The thread that works for the other's team ends first. */
TEST(teams_work_for_regions)
{
	const struct trial_region with_team[2] = {{.begin = "with_team"}};
	const struct program_run_output *output = program_command_output_outputs_at(run("team", with_team), 0);

	ck_assert_uint_eq(program_run_output_nr_regions(output), 2);
	check(program_run_output_regions_at(output, 0), &(struct expected){"with_team", 0, 0, 0, 0, 10000, 5000});
	check(program_run_output_regions_at(output, 1), &(struct expected){"with_team", 1000, 1000, 1000, 0, 3000, 0});
}

/* Where hits do without a stop, the work of one that is abandoned cannot be told from that of others. */
TEST(late_abandoned_hits_are_told)
{
	const struct trial_region leaver[2] = {{.begin = "leaver"}};
	const struct program_command_output *output = run("leave_late", leaver);
	const struct program_run_output *run = program_command_output_outputs_at(output, 0);

	ck_assert(runner_has_warning(output, "region leaver: its counts have the work of 1 hits of a thread"));
	check(program_run_output_regions_at(run, 0), &(struct expected){"leaver", 300, 299, 0, 1, 899, 0});
}

UNIT_TESTS(.needs = {permits_tracing}, .set_up = runner_set_up, .tear_down = runner_tear_down, .timeout_s = 600);
