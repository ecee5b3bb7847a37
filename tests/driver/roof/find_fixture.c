/* SPDX-License-Identifier: MIT */
#include "find_fixture.h"

#include "machine/machine.h"
#include "testing.h"

struct peak_list list;
struct rot_error find_error;
const int one_and_two[2] = {1, 2};
double (*per_cycle)(const struct measurement *measurement, size_t run);
bool tells_placement;
size_t nr_on_one_core, nr_calls_on_two, nr_together;

static const int one[] = {1};

/* ---- the machine: 4 GHz, a time stamp counter of 2 GHz ---- */

double
number_of(const struct measurement *measurement, const char *field)
{
	double number;

	return rot_entity_number(measurement_workloads_at(measurement, 0)->kernel, field, &number) ? number : NAN;
}

double
arithmetic_per_cycle(const struct measurement *measurement, size_t run)
{
	double dlp = number_of(measurement, "dlp"), unroll = number_of(measurement, "unroll");

	(void)run;
	return 4 * fmin(dlp, 8) / 8 * (1 - 0.02 * fabs(unroll - 4));
}

double
ten_per_cycle(const struct measurement *measurement, size_t run)
{
	(void)measurement, (void)run;
	return 10;
}

static void
look_at_threads(const struct measurement *measurement)
{
	if (measurement_nr_workloads(measurement) != 2)
		return;
	nr_calls_on_two++;
	nr_together +=
		measurement_workloads_at(measurement, 0)->cpu >= 0 &&
		measurement_workloads_at(measurement, 1)->cpu > measurement_workloads_at(measurement, 0)->cpu &&
		measurement_workloads_at(measurement, 0)->kernel != measurement_workloads_at(measurement, 1)->kernel &&
		measurement_nr_rules(measurement) == 1 &&
		rot_is_a(measurement_rules_at(measurement, 0)->action, &wait_for_pressure_barrier_action_class);
}

static void
set_placement(struct quantity_value *value)
{
	value->nearness = rot_calloc(value->nr_samples, sizeof(*value->nearness));
	for (size_t i = 0; i < value->nr_samples; i++)
		value->nearness[i] = (struct nearness){
			.line_ns_min = i / 3 % 2 && i % 6 != 5 ? 200 : 50,
			.line_ns_max = i / 3 % 2 ? 205 : 55,
			.slowdown_min = i < nr_on_one_core ? 1.9 : 1,
			.slowdown_max = i < nr_on_one_core ? 2.1 : 1.1,
		};
}

static void
measure(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests, int nr_runs,
	struct quantity_value *values)
{
	const double nr_threads = (double)measurement_nr_workloads(measurement);
	const double factors[] = {1, 4e9 * nr_threads, 2 * nr_threads};

	ck_assert_uint_eq(nr_requests, 3);
	look_at_threads(measurement);
	for (size_t k = 0; k < nr_requests; k++) {
		struct quantity_value *value = &values[k];

		ck_assert((requests[k].given_operations > 0) != (requests[k].given_bytes > 0));
		*value = (struct quantity_value){
			.request = requests[k], .kind = "modelled", .nr_samples = (size_t)nr_runs};
		value->samples = rot_calloc((size_t)nr_runs, sizeof(double));
		value->taints = rot_calloc((size_t)nr_runs, sizeof(unsigned));
		for (size_t i = 0; i < value->nr_samples; i++)
			value->samples[i] = factors[k] * per_cycle(measurement, i);
		value->taints[nr_runs - 1] = k == 1 ? TAINT_CLOCK : 0;
		if (tells_placement && nr_threads > 1)
			set_placement(value);
	}
}

void
measure_disturbed(const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		  int nr_runs, struct quantity_value *values)
{
	measure(measurement, requests, nr_requests, nr_runs, values);
	for (int i = 0; i < nr_runs; i++)
		values[0].taints[i] = TAINT_CONTEXT_SWITCH;
}

void
be_zen5(void)
{
	rot_string_set(&rot.machine->cpu_vendor, "AuthenticAMD");
	rot.machine->cpu_family = 26;
	rot.machine->cpu_model = 2;
}

bool
has_several_cores(void)
{
	size_t nr_cores;
	autofree int *cpus = NULL;

	allowed_cpus(&cpus, &nr_cores);
	if (nr_cores < 2)
		puts("this process may run on one core only: several threads are not tested");
	return nr_cores >= 2;
}

/* ---- the search ---- */

void
find_fixture_open(void)
{
	fake_rot_open(&rot);
	rot.is_cached_only = true;   /* nothing is built ahead */
	rot.machine->cpu_family = 0; /* no document says what this machine can do */
	fake_measure = measure;
	per_cycle = arithmetic_per_cycle;
	tells_placement = false;
	nr_on_one_core = 0;
	nr_calls_on_two = nr_together = 0;
	list = (struct peak_list){0};
	find_error = (struct rot_error){0};
}

void
find_fixture_close(void)
{
	peak_list_clear(&list);
}

int
find(const char *description, struct peaks_options options)
{
	file_fill("default-peaks.xml", description);
	if (!options.nr_threads) {
		options.threads = one;
		options.nr_threads = 1;
	}
	return peaks_find(&rot, &options, &list, &find_error);
}

void
find_peaks(const char *description, enum search_strategy strategy)
{
	ck_assert_msg(find(description, (struct peaks_options){.strategy = strategy}) == 0, "%s", find_error.text);
}

void
find_peaks_of_two(const char *description, enum search_strategy strategy)
{
	const struct peaks_options options = {.strategy = strategy, .threads = one_and_two, .nr_threads = 2};

	ck_assert_msg(find(description, options) == 0, "%s", find_error.text);
}
