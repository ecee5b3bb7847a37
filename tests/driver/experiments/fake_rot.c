/* SPDX-License-Identifier: MIT */
/* An open driver on a machine that is always the same, and quantities that are computed instead of measured. */
#include "fake_rot.h"

#include "base/configuration.h"
#include "base/files.h"
#include "engine/measuring_internal.h"
#include "engine/origin.h"
#include "machine/machine.h"
#include "quantities/architecture.h"
#include "quantities/pass.h"
#include "quantities/quantity.h"
#include "testing.h"

size_t fake_nr_calls;
size_t fake_nr_infinite;
bool fake_is_cache_empty;
bool fake_is_last_tainted;
int fake_nr_runs;
size_t fake_failing_call;
bool fake_is_interrupt;
bool (*fake_fails)(const struct measurement *measurement);
bool fake_misses_runs;
struct quantity_effort fake_effort;
const char *fake_runs_end;
const struct measurement_result *fake_result;
char fake_optimization[64];
void (*fake_measure)(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		     int nr_runs, struct quantity_value *values);

static char *folder;

static struct machine *
fake_machine(void)
{
	static const char *const flags[] = {"avx", "avx2", "avx512f", "avx512vl", "fma", "sse2"};
	struct machine *machine = machine_new();

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		machine_cpu_flags_add(machine, flags[i]);
	machine_online_cpus_add(machine, 0);
	rot_string_set(&machine->cpu_vendor, "AuthenticAMD");
	rot_string_set(&machine->cpu_name, "Fake CPU");
	rot_string_set(&machine->kernel_release, "6.0");
	machine->cpu_family = 26;
	machine->cpu_model = 2;
	machine->l1_data_bytes = 32768;
	machine->l2_bytes = 1 << 20;
	machine->llc_bytes = 32 << 20;
	machine->line_bytes = 64;
	machine->memory_bytes = (int64_t)16 << 30;
	return machine;
}

/* Architectures keep the machine whose caches they model. */
static void
use_machine(struct rot *rot, struct machine *machine)
{
	for (struct architecture *at = rot->architecture; at; at = at->by_steps)
		at->stepping.caches.machine = machine;
	rot_entity_delete(rot->machine);
	rot->machine = machine;
}

void
fake_rot_open(struct rot *rot)
{
	struct configuration *configuration = configuration_new();
	char *cache;

	folder = temporary_folder_new();
	ck_assert_int_eq(chdir(folder), 0);
	cache = rot_format("%s/cache", folder);
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "quiet", "true", &why), 0);
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "cacheFolder", cache, &why), 0);
	free(cache);
	/* The profile of who runs the test is none of the fake machine. */
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "dataFolder", folder, &why), 0);
	ck_assert_int_eq(configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "findPeaks", "false", &why), 0);
	/* Nothing is built ahead. */
	ck_assert_int_eq(
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "shouldCheckCoreHash", "false", &why), 0);
	ck_assert_ok(rot_open(rot, configuration, true, &why));
	at_end(rot_close, rot);
	use_machine(rot, fake_machine());
	fake_nr_calls = fake_failing_call = 0;
	fake_nr_infinite = 0;
	fake_is_last_tainted = fake_is_cache_empty = fake_misses_runs = false;
	fake_runs_end = NULL;
	fake_measure = NULL;
	fake_fails = NULL;
}

static const char *
unit_of(const char *name)
{
	static const char *const units[][2] = {
		{"time", "cycle"},
		{"operationCount", "flop"},
		{"transferredBytes", "byte"},
		{"performance", "flop/cycle"},
		{"throughput", "byte/cycle"},
		{"operationalIntensity", "flop/byte"},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i][0], name) == 0)
			return units[i][1];
	return "";
}

/* Ten times the number of the call, plus the number of the request, and a little more every run. */
static void
fake_value(const struct quantity_request *request, double base, int nr_runs, struct quantity_value *value)
{
	const char *operation = request->operation ? request->operation : "",
		   *border = request->border ? request->border : "";

	*value = (struct quantity_value){.request = *request, .kind = "measured", .grade = "", .expected = NAN};
	value->request.clock = "coreCycles"; /* chosen, as the real one does */
	value->name = request->name;
	value->of = pool_format(&value->pool, "%s%s%s", operation, operation[0] && border[0] ? "/" : "", border);
	value->unit = unit_of(request->name);
	value->source = "fake";
	if (request->given_operations > 0 || request->given_bytes > 0)
		value->kind = "given";
	else if (request->border)
		value->kind = "expected";
	value->nr_samples = (size_t)nr_runs;
	value->samples = rot_calloc(value->nr_samples, sizeof(*value->samples));
	value->taints = rot_calloc(value->nr_samples, sizeof(*value->taints));
	for (size_t i = 0; i < value->nr_samples; i++)
		value->samples[i] = i < fake_nr_infinite ? INFINITY : base + 0.25 * (double)i;
	if (fake_is_last_tainted && nr_runs > 0)
		value->taints[nr_runs - 1] = TAINT_CONTEXT_SWITCH;
	value->summary =
		request->border ? summary_single(base, "expected") : summary_median(value->samples, value->nr_samples);
}

/* One pass, of which nobody knows when its first run began; the others a second apart, two of each start. */
static json_t *
fake_passes(int nr_runs)
{
	json_t *pass = pass_runs_new("of the only pass"), *passes = json_array();

	for (int i = 0; i < nr_runs; i++)
		pass_runs_add(pass, i ? 1700000000 + i : 0, i, (size_t)i / 2);
	json_array_append_new(passes, pass);
	return passes;
}

int
quantities_measure_with(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
			size_t nr_requests, const struct quantity_effort *effort, struct quantity_value *values,
			struct quantities_told *told, struct rot_error *err)
{
	int rc = fake_misses_runs && !measuring_may_measure(rot->measuring, err) ? -1 : 0;

	fake_effort = *effort;
	if (told)
		*told = (struct quantities_told){.origin = origin_new()};
	if (rc == 0)
		rc = quantities_measure(rot, measurement, requests, nr_requests, effort->nr_runs, values,
					told ? told->origin : NULL, err);
	for (size_t i = 0; rc == 0 && i < nr_requests; i++)
		values[i].runs_end = fake_runs_end;
	if (rc == 0 && told)
		told->passes = fake_passes(effort->nr_runs);
	else if (told)
		quantities_told_clear(told);
	return rc;
}

int
quantities_measure(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		   size_t nr_requests, int nr_runs, struct quantity_value *values, json_t *origin,
		   struct rot_error *err)
{
	if (fake_is_cache_empty && rot->is_cached_only)
		return rot_error_set(err, 0, "not in the cache");
	if (fake_fails && fake_fails(measurement)) {
		rot_error_set(err, 0, "the kernel crashed");
		rot_error_hint(err, "look at it");
		return rot_error_scope(err, ROT_ERROR_OF_WORK);
	}
	fake_nr_runs = nr_runs;
	snprintf(fake_optimization, sizeof(fake_optimization), "%s",
		 configuration_string(rot->configuration, "optimization"));
	if (++fake_nr_calls == fake_failing_call) {
		if (fake_is_interrupt)
			raise(SIGINT);
		return rot_error_set(err, 0, fake_is_interrupt ? "interrupted" : "the core failed");
	}
	if (fake_measure)
		fake_measure(measurement, requests, nr_requests, nr_runs, values);
	for (size_t i = 0; !fake_measure && i < nr_requests; i++)
		fake_value(&requests[i], 10 * (double)fake_nr_calls + (double)i, nr_runs, &values[i]);
	if (origin) {
		autograph struct measurement_result *result =
			fake_result ? rot_graph_clone(fake_result, NULL) : measurement_result_new();
		autofree char *hash = rot_format("hash%zu", fake_nr_calls);

		rot_string_set(&result->description_hash, hash);
		origin_add(origin, result);
	}
	return 0;
}

int
quantities_look(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		size_t nr_requests, int nr_runs, struct quantities_need *need, struct rot_error *err)
{
	(void)rot, (void)measurement, (void)requests, (void)nr_requests, (void)err;
	*need = (struct quantities_need){.nr_passes = 1, .nr_runs = nr_runs, .nr_runs_missing = nr_runs};
	return 0;
}
