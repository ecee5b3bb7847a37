/* SPDX-License-Identifier: MIT */
/* The most useful quantities are counted first, and what does not fit is named. */
#include "architecture_files.h"
#include "programs/plan.h"
#include "quantities/pass.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "testing.h"

static const struct {
	const char *architecture;
	size_t max_passes, nr_passes;
	const char *requests; /* blank separated */
	const char *left_out;
} rows[] = {
	{"zen5", 1, 1,
	 "time:microSeconds time:coreCycles operationCount:flop transferredBytes:llcRam.read "
	 "performance:flop:microSeconds "
	 "throughput:llcRam.read:microSeconds operationalIntensity:flop:llcRam.read",
	 "bytes (LLC-RAM), instructions, bytes (L2-L3), operations (double precision), operations (single precision), "
	 "bytes (L1-L2)"},
	{"none", 1, 1, "time:microSeconds", ""},
	{"generic", 1, 1,
	 "time:microSeconds time:coreCycles instructions transferredBytes:llcRam.read "
	 "throughput:llcRam.read:microSeconds",
	 ""},
};

static char *
text_of(const struct program_plan *plan)
{
	char *all = rot_strdup("");

	for (size_t i = 0; i < plan->nr; i++) {
		char *one = quantity_request_text(&plan->requests[i]), *longer;

		longer = rot_format("%s%s%s", all, *all ? " " : "", one);
		free(one);
		free(all);
		all = longer;
	}
	return all;
}

TEST_OF(quantities_that_fit, NR_ELEMENTS(rows))
{
	struct architecture *architecture = architecture_named(rows[_i].architecture);
	cleared_by(program_plan_clear) struct program_plan plan = {0};
	char *text;

	ck_assert_ok(program_plan_make(&plan, architecture, rows[_i].max_passes, true, &why));
	text = text_of(&plan);
	ck_assert_str_eq(text, rows[_i].requests);
	ck_assert_str_eq(plan.left_out, rows[_i].left_out);
	ck_assert_uint_eq(plan.passes.nr_passes, rows[_i].nr_passes);
	ck_assert_str_eq(plan.requests[0].name, "time");
	free(text);
	architecture_delete(architecture);
}

/* On every processor: never more passes than allowed, all groups legal, and with what is offered nothing is left out.
 */
TEST(every_architecture)
{
	struct machine *machine = machine_new();

	machine->l1_data_bytes = machine->l2_bytes = machine->llc_bytes = 1;

	for (int i = 0; i < architecture_nr_files(); i++) {
		struct architecture *architecture =
			architecture_read(architecture_file(i), architecture_schema(), &why);
		size_t nr_of_all = 1;

		ck_assert_msg(architecture != NULL, "%s", why.text);
		architecture->stepping.caches.machine = machine;
		for (size_t max = 1; max <= nr_of_all; max++) {
			cleared_by(program_plan_clear) struct program_plan plan = {0};

			ck_assert_msg(program_plan_make(&plan, architecture, max, true, &why) == 0, "%s: %s",
				      architecture_file(i), why.text);
			ck_assert_uint_ge(plan.passes.nr_passes, 1);
			ck_assert_uint_le(plan.passes.nr_passes, max + architecture->counts_by_steps);
			for (size_t k = 0; k < plan.passes.nr_passes; k++)
				ck_assert(plan.passes.passes[k].nr_events == 0 ||
					  pass_is_legal(architecture, plan.passes.passes[k].events,
							plan.passes.passes[k].nr_events));
			nr_of_all = plan.nr_passes_of_all;
			ck_assert_int_eq(plan.left_out[0] == '\0', max + architecture->counts_by_steps >= nr_of_all);
		}
		architecture_delete(architecture);
	}
	machine_delete(machine);
}

/* By steps kernels are counted and regions of programs, which are timed in a run of their own; not whole programs. */
TEST(regions_are_stepped)
{
	struct machine *machine = machine_new();
	const struct architecture_stepping stepping = {.limit = 1, .caches.machine = machine};
	struct rot_error why_no_program = {.text = "not programs"};
	struct rot rot = {.architecture =
				  architecture_load_steps(architecture_folder(), &stepping, &why_no_program, &why)};
	struct program_plan plan;

	machine->l1_data_bytes = machine->l2_bytes = machine->llc_bytes = 1;
	ck_assert_msg(rot.architecture != NULL, "%s", why.text);
	ck_assert_str_eq(program_architecture(&rot, false)->name, "none");
	ck_assert_int_eq(program_plan_make(&plan, program_architecture(&rot, false), 2, true, &why), 0);
	ck_assert_uint_eq(plan.nr, 1);
	ck_assert_uint_eq(plan.passes.nr_passes, 1);
	ck_assert_uint_eq(plan.passes.passes[0].nr_events, 0);
	ck_assert(!program_plan_steps(&plan));
	program_plan_clear(&plan);
	ck_assert_ptr_eq(program_architecture(&rot, true), rot.architecture);
	ck_assert_ok(program_plan_make(&plan, rot.architecture, 1, true, &why));
	ck_assert_uint_eq(plan.passes.nr_passes, 2);
	ck_assert_uint_eq(plan.passes.passes[0].nr_events, 0);
	ck_assert(!plan.passes.passes[0].is_stepped && plan.passes.passes[1].is_stepped);
	ck_assert(program_plan_steps(&plan));
	ck_assert_str_eq(plan.border, "llcRam");
	program_plan_clear(&plan);
	machine->llc_bytes = 0; /* nobody told: what is behind it cannot be modelled */
	ck_assert_ok(program_plan_make(&plan, rot.architecture, 1, true, &why));
	ck_assert_str_eq(plan.border, "l2l3");
	ck_assert_str_eq(plan.operation, "flop");
	program_plan_clear(&plan);
	architecture_delete(rot.architecture);
	rot.architecture = architecture_named("zen5");
	ck_assert_ptr_eq(program_architecture(&rot, false), rot.architecture);
	architecture_delete(rot.architecture);
	machine_delete(machine);
}

/* Whole programs are translated for their counts, without caches to model, and timed in a run of their own or not at
 * all.
 */
TEST_OF(programs_are_counted_by_blocks, 2)
{
	static const struct {
		bool is_timed;
		const char *requests;
	} ways[] = {
		{true, "time:microSeconds instructions operationCount:flop operationCount:doublePrecisionFlop "
		       "operationCount:singlePrecisionFlop operationCount:integerOperation maskedOperations "
		       "transferredBytes:cpuL1 transferredBytes:cpuL1.read "
		       "transferredBytes:cpuL1.write performance:flop:microSeconds throughput:cpuL1:microSeconds "
		       "operationalIntensity:flop:cpuL1"},
		{false, "instructions operationCount:flop operationCount:doublePrecisionFlop "
			"operationCount:singlePrecisionFlop operationCount:integerOperation maskedOperations "
			"transferredBytes:cpuL1 transferredBytes:cpuL1.read "
			"transferredBytes:cpuL1.write operationalIntensity:flop:cpuL1"},
	};
	autofree char *folder = architecture_folder(), *text = NULL;
	const struct architecture_stepping without_caches = {.is_unasked = true};
	struct architecture *architecture = architecture_load_blocks(folder, &without_caches, &why);
	cleared_by(program_plan_clear) struct program_plan plan = {0};
	struct perf_event_measurer *measurer;

	ck_assert_msg(architecture != NULL, "%s", why.text);
	ck_assert_int_eq(program_plan_make(&plan, architecture, 1, ways[_i].is_timed, &why), 0);
	text = text_of(&plan);
	ck_assert_str_eq(text, ways[_i].requests);
	ck_assert_str_eq(plan.left_out, "");
	ck_assert_str_eq(plan.border, "cpuL1");
	ck_assert_uint_eq(plan.passes.nr_passes, ways[_i].is_timed ? 2 : 1);
	ck_assert_int_eq(plan.passes.passes[0].nr_events == 0, ways[_i].is_timed);
	measurer = pass_measurer(architecture, &plan.passes.passes[plan.passes.nr_passes - 1]);
	ck_assert(rot_is_a(measurer, &step_measurer_class));
	ck_assert_uint_eq(((struct step_measurer *)measurer)->l1_bytes, 0);
	ck_assert_uint_eq(perf_event_measurer_nr_events(measurer), 17);
	rot_graph_delete(measurer);
	architecture_delete(architecture);
}

/* The words before a slow run are those of the documents. */
TEST(one_slowdown_everywhere)
{
	static const char *const documents[] = {"README.md", "doc/RUN.md"};
	const struct program_slowdown with_caches = program_slowdown(true), without = program_slowdown(false);
	autofree char *most = rot_format("%g to %g times", with_caches.least, with_caches.most);
	autofree char *least = rot_format("%g to %g times", without.least, without.most);

	for (size_t i = 0; i < NR_ELEMENTS(documents); i++) {
		const char *text = file_text(source_path("%s", documents[i]));

		ck_assert_msg(strstr(text, most) && strstr(text, least), "%s: %s, %s", documents[i], most, least);
	}
}
