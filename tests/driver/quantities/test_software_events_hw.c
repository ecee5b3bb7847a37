/* SPDX-License-Identifier: MIT */
/*
 * The whole way of a request with groups of real events, on any machine: an architecture of software events, two
 * passes, a core that is built and run, values. Skipped where even software events are refused.
 */
#include <jansson.h>
#include <linux/perf_event.h>

#include "architecture_files.h"
#include "base/configuration.h"
#include "engine/origin.h"
#include "permits.h"
#include "quantities/quantity.h"
#include "rot.h"
#include "testing.h"

#define NR_RUNS 7
#define NR_RUNS_OF_INTERVAL 6

/* The task clock plays the cycles, page faults are "large": they and the two other events need passes of their own. */
static const char xml[] =
	"<architecture name='software' title='software events'>"
	"<counters nominal='4' usable='3' bits='47'/>"
	"<scrub event='perf::PERF_COUNT_SW_CPU_MIGRATIONS' count='2'/>"
	"<group large='1' plain='1'/><group plain='3'/>"
	"<event name='clock' definition='perf::PERF_COUNT_SW_TASK_CLOCK'/>"
	"<event name='faults' definition='perf::PERF_COUNT_SW_PAGE_FAULTS' class='large'/>"
	"<event name='minor' definition='perf::PERF_COUNT_SW_PAGE_FAULTS_MIN'/>"
	"<event name='major' definition='perf::PERF_COUNT_SW_PAGE_FAULTS_MAJ'/>"
	"<ride events='clock'/>"
	"<formula quantity='time' of='coreCycles' kind='measured' value='$clock' source='task clock'/>"
	"<formula quantity='operationCount' of='flop' kind='measured' value='2 * $clock' source='2 * task clock'/>"
	"<formula quantity='transferredBytes' of='llcRam.read' kind='modelled' value='64 * $faults' source='64 * "
	"faults'/>"
	"<formula quantity='tlbMisses' kind='measured' value='$minor + $major' source='minor + major'/>"
	"</architecture>";

static struct architecture *
software_architecture(void)
{
	char *folder = temporary_folder_new(), *path = folder_write(folder, "software.xml", xml),
	     *schema = architecture_schema();
	struct architecture *architecture = architecture_read(path, schema, &why);

	ck_assert_msg(architecture != NULL, "%s", why.text);
	return architecture;
}

static struct measurement *
triad_measurement(struct rot *rot, const char *nr_threads)
{
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	workload->kernel = rot_entity_new(rot_registry_find(rot->registry, "Triad"));
	ck_assert_int_eq(rot_entity_set(workload->kernel, "bufferSize", "10000", &why), 0);
	ck_assert_int_eq(rot_entity_set(workload->kernel, "numThreads", nr_threads, &why), 0);
	measurement_workloads_add(measurement, workload);
	return measurement;
}

enum { TIME, TICKS, FLOPS, PERFORMANCE, BYTES, MISSES, GIVEN, EXPECTED, NR_REQUESTS };

static const char *const requests[NR_REQUESTS] = {
	[TIME] = "time",
	[TICKS] = "time:tsc",
	[FLOPS] = "operationCount:flop",
	[PERFORMANCE] = "performance:flop",
	[BYTES] = "transferredBytes:llcRam.read",
	[MISSES] = "tlbMisses",
	[GIVEN] = "operationCount:compInstr",
	[EXPECTED] = "operationCount:doublePrecisionFlop",
};

static void
check_values(const struct quantity_value values[NR_REQUESTS])
{
	for (size_t i = 0; i < NR_REQUESTS; i++) {
		ck_assert_uint_eq(values[i].nr_samples, i == GIVEN || i == EXPECTED ? 0 : NR_RUNS);
		for (size_t k = 0; k < values[i].nr_samples; k++)
			ck_assert_msg(!(values[i].taints[k] & (TAINT_OVERFLOW | TAINT_UNMEASURED_THREAD)),
				      "%s is tainted", requests[i]);
	}
	for (size_t k = 0; k < NR_RUNS; k++) {
		ck_assert_double_gt(values[TIME].samples[k], 0);
		ck_assert_double_gt(values[TICKS].samples[k], 0);
		ck_assert_double_eq(values[FLOPS].samples[k], 2 * values[TIME].samples[k]);
		ck_assert_double_eq_tol(values[PERFORMANCE].samples[k], 2, 1e-12);
	}
	ck_assert_str_eq(values[TIME].request.clock, "coreCycles");
	if (values[PERFORMANCE].summary.n >= NR_RUNS_OF_INTERVAL) { /* others may have disturbed too many */
		ck_assert_double_eq_tol(values[PERFORMANCE].summary.low, 2, 1e-12);
		ck_assert_double_eq_tol(values[PERFORMANCE].summary.high, 2, 1e-12);
	}
	ck_assert_str_eq(values[BYTES].kind, "modelled");
	ck_assert_str_eq(values[GIVEN].kind, "given");
	ck_assert_double_eq(values[GIVEN].summary.value, 42);
	ck_assert_str_eq(values[EXPECTED].kind, "expected");
	ck_assert_double_eq(values[EXPECTED].summary.value, 20000);
}

/* A kernel has one thread; or it says it has two, so that the core attends to threads, although none comes. */
TEST_OF(test_from_request_to_value, permits_tracing() ? 2 : 1)
{
	struct configuration *configuration = configuration_new();
	struct quantity_request asked[NR_REQUESTS];
	struct quantity_value values[NR_REQUESTS];
	struct measurement *measurement;
	struct rot rot = {0};
	json_auto_t *origin = origin_new();

	ck_assert_ok(rot_open(&rot, configuration, true, &why));
	architecture_delete(rot.architecture);
	rot.architecture = software_architecture();
	measurement = triad_measurement(&rot, _i == 0 ? "1" : "2");
	for (size_t i = 0; i < NR_REQUESTS; i++)
		ck_assert_ok(quantity_parse(&asked[i], requests[i], &why));
	asked[GIVEN].given_operations = 42;
	ck_assert_msg(quantities_measure(&rot, measurement, asked, NR_REQUESTS, NR_RUNS, values, origin, &why) == 0,
		      "%s\n%s", why.text, why.hint);
	check_values(values);
	/* time stamp counter; clock and the two faults; page faults */
	ck_assert_uint_eq(json_array_size(json_object_get(origin, "hashes")), 3);
	for (size_t i = 0; i < NR_REQUESTS; i++)
		quantity_value_clear(&values[i]);
	ck_assert_ptr_null(measurement_workloads_at(measurement, 0)->measurer_set);
	rot_graph_delete(measurement); /* its classes end with rot */
	rot_close(&rot);
}

/* Each run of the pass of the clocks is told, and when it began. */
static void
check_runs(const json_t *passes, const struct quantity_value *value)
{
	const json_t *pass = json_array_get(passes, 0), *began = json_object_get(pass, "began"),
		     *starts = json_object_get(pass, "starts");

	ck_assert_uint_eq(json_array_size(passes), 1);
	ck_assert_uint_eq(strlen(json_string_value(json_object_get(pass, "hash"))), 64);
	ck_assert_uint_eq(json_array_size(began), value->nr_samples);
	ck_assert_uint_eq(json_array_size(starts), value->nr_samples);
	for (size_t i = 0; i < value->nr_samples; i++) {
		ck_assert_int_gt(json_integer_value(json_array_get(began, i)), INT64_C(1700000000000000));
		ck_assert_uint_eq((size_t)json_integer_value(json_array_get(starts, i)), value->starts[i]);
	}
}

/* No interval of a time is that narrow. What was measured once is not measured again, and leads to the same runs. */
TEST(test_runs_are_added)
{
	const struct quantity_effort effort = {.precision = 1e-12, .budget_s = 1e6};
	const struct quantity_request request = {.name = "time", .clock = "tsc"};
	struct configuration *configuration = configuration_new();
	struct measurement *measurement;
	struct quantity_value values[2];
	struct quantities_told told[2];
	struct rot rot = {0};

	ck_assert_ok(rot_open(&rot, configuration, true, &why));
	measurement = triad_measurement(&rot, "1");
	for (int i = 0; i < 2; i++) {
		rot.is_cached_only = i == 1;
		ck_assert_ok(
			quantities_measure_with(&rot, measurement, &request, 1, &effort, &values[i], &told[i], &why));
		ck_assert_uint_gt(values[i].nr_samples, 10);
		ck_assert_msg(strcmp(values[i].runs_end, "most") == 0 || strcmp(values[i].runs_end, "disturbed") == 0,
			      "%s", values[i].runs_end);
	}
	ck_assert_uint_eq(values[1].nr_samples, values[0].nr_samples);
	for (size_t k = 0; k < values[0].nr_samples; k++)
		ck_assert_double_eq(values[1].samples[k], values[0].samples[k]);
	check_runs(told[0].passes, &values[0]);
	ck_assert(json_equal(told[0].passes, told[1].passes));
	for (int i = 0; i < 2; i++) {
		quantity_value_clear(&values[i]);
		quantities_told_clear(&told[i]);
	}
	rot_graph_delete(measurement);
	rot_close(&rot);
}

TEST(test_request_that_cannot_be_met)
{
	struct configuration *configuration = configuration_new();
	struct quantity_request request = {.name = "time", .clock = "referenceCycles"};
	struct measurement *measurement;
	struct quantity_value value;
	struct rot rot = {0};

	ck_assert_ok(rot_open(&rot, configuration, true, &why));
	architecture_delete(rot.architecture);
	rot.architecture = software_architecture();
	measurement = triad_measurement(&rot, "1");
	ck_assert_int_eq(quantities_measure(&rot, measurement, &request, 1, NR_RUNS, &value, NULL, &why), -1);
	ck_assert_str_eq(why.text,
			 "time of referenceCycles cannot be measured here: no event of software events gives it");
	rot_graph_delete(measurement);
	rot_close(&rot);
}

UNIT_TESTS(.needs = {permits_counting});
