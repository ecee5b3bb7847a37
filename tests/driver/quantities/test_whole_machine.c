/* SPDX-License-Identifier: MIT */
/* Events of the whole machine, from architectures and recorded PMUs to values. */
#include "architecture_files.h"
#include "stage.h"
#include "testing.h"

/* ---- architectures ---- */

static const struct {
	const char *architecture, *of, *kind, *complaint, *hint;
} counted_bytes[] = {
	{"skylake-server@intel-server", "llcRam.write", "measured", "", ""},
	{"haswell@intel-server", "llcRam", "measured", "", ""},
	{"haswell@intel-client", "llcRam", "measured", "", ""},
	{"broadwell@intel-client", "llcRam", "measured", "", ""},
	{"skylake@intel-client", "llcRam.read", "measured", "", ""},
	{"icelake@intel-client", "llcRam", "measured", "", ""},
	{"icelake-server@intel-server", "llcRam", "measured", "", ""},
	{"sapphirerapids@intel-server", "memoryBus.write", "measured", "", ""},
	{"generic@intel-free-running", "llcRam", "measured", "", ""},
	{"zen2@amd-df", "llcRam", "measured", "", ""},
	{"zen3@amd-df", "memoryBus", "measured", "", ""},
	{"zen4@amd-umc", "llcRam.write", "measured", "", ""},
	{"zen5@amd-umc", "memoryBus.read", "measured", "", ""},
	{"zen5@amd-umc", "llcRam", "modelled", "", ""},
	/* the core's own */
	{"skylake", "llcRam.read", "modelled", "", ""},
	{"zen2@amd-df", "llcRam.read", "modelled", "", ""},
	/* neither */
	{"skylake", "llcRam", NULL, "no counters of memory controllers (uncore_imc/", "modprobe intel_uncore"},
	{"zen4", "llcRam.write", NULL, "no counters of memory controllers (amd_umc/", "or amd_uncore"},
	{"zen2@amd-umc", "memoryBus", NULL, NULL, NULL}, /* another data fabric */
};

TEST_OF(test_bytes_at_the_memory, NR_ELEMENTS(counted_bytes))
{
	struct architecture *architecture = architecture_kept(counted_bytes[_i].architecture);
	const struct architecture_formula *formula =
		architecture_formula(architecture, "transferredBytes", counted_bytes[_i].of);
	const struct rot_error *refusal = architecture_refusal(architecture, "transferredBytes", counted_bytes[_i].of);

	if (!counted_bytes[_i].complaint)
		return;
	ck_assert(!formula == !counted_bytes[_i].kind);
	if (formula) {
		ck_assert_str_eq(formula->kind, counted_bytes[_i].kind);
		ck_assert(formula->is_of_machine ==
			  (strchr(counted_bytes[_i].architecture, '@') && strcmp(formula->kind, "measured") == 0));
	} else {
		ck_assert_has(refusal->text, counted_bytes[_i].complaint);
		ck_assert_has(refusal->hint, counted_bytes[_i].hint);
	}
}

/* The threads of a program are counted. */
TEST(test_programs_are_counted_by_thread)
{
	struct architecture *architecture = architecture_kept("skylake@intel-client");

	ck_assert_ptr_null(architecture_formula_of_threads(architecture, "transferredBytes", "llcRam"));
	ck_assert_str_eq(architecture_formula_of_threads(architecture, "transferredBytes", "llcRam.read")->kind,
			 "modelled");
}

/* ---- passes ---- */

/* Each unit is opened, on each CPU of its mask; and nothing on threads. */
TEST(test_units_of_a_pass)
{
	const struct perf_event_measurer *measurer;
	const struct workload *workload;
	autofree char *text = rot_strdup("");

	stage_open_threads("skylake-server@intel-server", 1, 4, "transferredBytes:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 1);
	ck_assert_uint_eq(measurement_nr_rules(stage.passes[0]), 0);
	workload = measurement_workloads_at(stage.passes[0], 0);
	measurer = rot_cast(workload->measurer_set->main_measurer, &machine_event_measurer_class)
			   ? (const void *)workload->measurer_set->main_measurer
			   : NULL;
	ck_assert_ptr_nonnull(measurer);
	for (size_t i = 0; i < perf_event_measurer_nr_events(measurer); i++) {
		struct perf_event_definition *event = perf_event_measurer_events_at(measurer, i);
		const struct machine_event_definition *unit = rot_cast(event, &machine_event_definition_class);

		rot_append(&text, "%s %d:%llx@%d ", event->name, (int)unit->pmu_type, (unsigned long long)unit->config,
			   (int)unit->cpu);
	}
	ck_assert_str_eq(text, "memoryReads 14:304@0 memoryReads 14:304@18 memoryReads 15:304@0 memoryReads 15:304@18 "
			       "memoryWrites 14:c04@0 memoryWrites 14:c04@18 memoryWrites 15:c04@0 "
			       "memoryWrites 15:c04@18 ");
}

/* Both quantities are of the same counts. Eight channels are two groups. */
TEST(test_passes_of_the_machine)
{
	stage_open("zen4@amd-umc", 1, "transferredBytes:llcRam transferredBytes:memoryBus operationCount:flop");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	stage_open("zen3@amd-df", 1, "transferredBytes:llcRam");
	ck_assert_uint_eq(stage.plan.nr_passes, 2);
	ck_assert_uint_eq(stage.plan.passes[0].nr_events, 4);
}

/* ---- values ---- */

/* Counts of the i-th unit of the event, with the work in 1000 ns, and without it in 10000 ns. */
static void
count_unit(struct measurement_run_output *run, size_t workload, const char *event, size_t i, uint64_t count,
	   uint64_t background)
{
	const struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, workload);
	const struct perf_event_measurer_output *output = (const void *)set->main_measurer_output;

	for (size_t k = 0; k < perf_event_measurer_output_nr_event_counts(output); k++) {
		struct perf_event_count *of = perf_event_measurer_output_event_counts_at(output, k);

		if (strcmp(of->name, event) == 0 && i-- == 0) {
			of->raw_count = count;
			((struct machine_event_count *)of)->background = background;
			return;
		}
	}
	ck_abort_msg("no unit of %s", event);
}

/* 64 bytes a count, of four units; a tenth of what was counted in ten times the time. */
TEST(test_units_are_summed_without_others)
{
	stage_open("skylake-server@intel-server", 1,
		   "transferredBytes:llcRam transferredBytes:llcRam.read transferredBytes:memoryBus");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		for (size_t k = 0; k < 4; k++)
			count_unit(run, 0, "memoryReads", k, 1000 + k, 100 * k);
		count_unit(run, 0, "memoryWrites", 2, 500, 200);
	}
	ck_assert_str_eq(stage_told(0, false), "283264 [283264, 283264] byte, exact of 6 runs, measured");
	ck_assert_str_eq(stage_told(1, false), "252544 [252544, 252544] byte, exact of 6 runs, measured");
	ck_assert_str_eq(stage_told(2, false), "288384 [288384, 288384] byte, exact of 6 runs, measured");
	ck_assert(stage_compute(0, false).is_of_machine);
}

/* Each of two workloads sees what both do. */
TEST(test_workloads_see_the_same_machine)
{
	struct quantity_value value;

	stage_open("zen4@amd-umc", 2, "transferredBytes:llcRam.read");
	for (int i = 0; i < 6; i++) {
		struct measurement_run_output *run = add_run(0, 1, 1);

		count_unit(run, 0, "memoryReads", 0, 1000, 0);
		count_unit(run, 1, "memoryReads", 2, 900, 0);
	}
	value = stage_compute(0, false);
	ck_assert_double_eq(value.summary.value, 64000);
	ck_assert_uint_eq(value.nr_threads, 2);
	ck_assert_double_eq(value.thread_samples[6], 57600);
}

/* More than a tenth is of others: the run is left out, and if all are, there is no value. */
TEST(test_value_among_others_is_refused)
{
	struct quantity_value value;

	stage_open("zen4@amd-umc", 1, "transferredBytes:llcRam.read transferredBytes:memoryBus.read");
	for (int i = 0; i < 7; i++)
		count_unit(add_run(0, 1, 1), 0, "memoryReads", 0, 1000, i ? 1000 : 1010);
	value = stage_compute(0, false);
	ck_assert_uint_eq(value.taints[0], TAINT_BACKGROUND);
	ck_assert_uint_eq(value.taints[1], 0);
	ck_assert_str_eq(stage_told(0, false), "57600 [57600, 57600] byte, exact of 6 runs without 1, measured");
	ck_assert_str_eq(stage_told(1, false), "64000 [64000, 64000] byte, exact of 7 runs, measured");

	stage_open("zen4@amd-umc", 1, "transferredBytes:llcRam.read");
	for (int i = 0; i < 6; i++)
		count_unit(add_run(0, 1, 1), 0, "memoryReads", 0, 1000, 1010);
	value = stage_compute(0, false);
	ck_assert(isnan(value.summary.value));
	ck_assert_uint_eq(value.summary.tainted, 6);
}

/* The bus has moved what was counted, though others moved more afterwards. */
TEST(test_bus_is_what_was_counted)
{
	stage_open("zen4@amd-umc", 1, "transferredBytes:memoryBus.read");
	for (int i = 0; i < 6; i++)
		count_unit(add_run(0, 1, 1), 0, "memoryReads", 0, 1000, 20000);
	ck_assert_str_eq(stage_told(0, false), "64000 [64000, 64000] byte, exact of 6 runs, measured");
}

/* ---- words ---- */

TEST(test_refusal_is_told)
{
	struct architecture *architecture = architecture_kept("zen4");
	const struct quantity_expectation nothing = {.operations = NAN, .bytes = NAN},
					  known = {.operations = 1, .bytes = 1};
	struct quantity_resolution resolution;
	struct quantity_request request;

	ck_assert_ok(quantity_parse(&request, "transferredBytes:llcRam", &why));
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &nothing, &why), -1);
	ck_assert_has(why.text, "no counters of memory controllers");
	ck_assert_has(why.hint, "sudo modprobe intel_uncore, or amd_uncore");
	ck_assert_ok(quantity_resolve(&resolution, architecture, &request, "auto", &known, &why));
	ck_assert_str_eq(quantity_resolution_kind(&resolution), "expected");
	ck_assert_ptr_nonnull(resolution.numerator.refusal);

	/* no kernel knows what others move */
	ck_assert_ok(quantity_parse(&request, "transferredBytes:memoryBus", &why));
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &known, &why), -1);
}
