/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include "architecture_files.h"
#include "testing.h"

#include <stdarg.h>

static const struct rot_class kernel_class = {
	.name = "Crew", .base = &kernel_base_class, .size = sizeof(struct kernel_base), .comment = ""};

/* A kernel that declares so many threads; 0: NULL. */
static struct kernel_base *
kernel_with_threads(int nr_threads)
{
	struct kernel_base *kernel = nr_threads ? rot_entity_new(&kernel_class) : NULL;

	if (kernel)
		kernel->num_threads = nr_threads;
	return kernel;
}

#define MAX_VALUES 200

struct stage stage;
static struct quantity_value values[MAX_VALUES];
static size_t nr_values;

static void
close_stage(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < nr_values; i++)
		quantity_value_clear(&values[i]);
	nr_values = 0;
	for (size_t i = 0; i < stage.plan.nr_passes; i++) {
		rot_graph_delete(stage.passes[i]);
		rot_graph_delete(stage.results[i]);
		pass_samples_clear(&stage.samples[i]);
	}
	pass_plan_clear(&stage.plan);
	rot_graph_delete(stage.measurement);
	machine_delete(stage.machine);
	architecture_delete(stage.architecture);
	stage = (struct stage){0};
}

void
stage_open_threads(const char *architecture, size_t nr_workloads, int nr_threads, const char *requests)
{
	const struct quantity_expectation expectation = {
		.operations = 20000, .bytes = 240000, .can_probe_clock = nr_threads <= 1};
	const struct architecture_formula *formulas[2 * MAX_REQUESTS];
	char *copy = rot_strdup(requests), *rest = NULL;
	bool needs_clock = false, needs_probe = false;
	size_t nr_formulas = 0;

	if (stage.architecture)
		close_stage(NULL);
	else
		at_end(close_stage, NULL);
	stage = (struct stage){.architecture = architecture_named(architecture),
			       .machine = machine_new(),
			       .measurement = measurement_new()};
	stage.machine->l1_data_bytes = 48 << 10;
	stage.machine->l2_bytes = 1 << 20;
	stage.machine->llc_bytes = 32 << 20;
	stage.architecture->stepping = (struct architecture_stepping){
		.caches = {.machine = stage.machine, .ways = {.l1_data = 12}}, .limit = 1000};
	for (size_t i = 0; i < nr_workloads; i++) {
		struct workload *workload = workload_new();

		workload->kernel = kernel_with_threads(nr_threads);
		measurement_workloads_add(stage.measurement, workload);
	}
	for (char *text = strtok_r(copy, " ", &rest); text; text = strtok_r(NULL, " ", &rest)) {
		struct quantity_resolution *resolution = &stage.resolutions[stage.nr_requests++];
		struct quantity_request request;

		ck_assert_ok(quantity_parse(&request, text, &why));
		ck_assert_msg(quantity_resolve(resolution, stage.architecture, &request, "auto", &expectation, &why) ==
				      0,
			      "%s", why.text);
		for (int side = 0; side < (resolution->has_denominator ? 2 : 1); side++) {
			const struct quantity_part *part = side ? &resolution->denominator : &resolution->numerator;

			if (part->source == PART_COUNTED)
				formulas[nr_formulas++] = part->formula;
			needs_probe |= part->source == PART_PROBED;
			needs_clock |= part->source == PART_PROBED || part->source == PART_TSC ||
				       part->source == PART_WALL || part->source == PART_SWITCHES ||
				       part->source == PART_MOVES;
		}
	}
	free(copy);
	ck_assert_int_eq(pass_plan_make(&stage.plan, stage.architecture, formulas, nr_formulas, needs_clock, &why), 0);
	ck_assert_uint_le(stage.plan.nr_passes, MAX_PASSES);
	if (needs_probe)
		pass_plan_probe_clock(&stage.plan);
	for (size_t i = 0; i < stage.plan.nr_passes; i++) {
		stage.passes[i] = pass_measurement(stage.measurement, stage.architecture, &stage.plan.passes[i]);
		for (size_t k = 0; k < nr_workloads; k++)
			measurement_workloads_at(stage.passes[i], k)->measurer_set->id = (int32_t)(10 + k);
		stage.results[i] = measurement_result_new();
	}
}

void
stage_open(const char *architecture, size_t nr_workloads, const char *requests)
{
	stage_open_threads(architecture, nr_workloads, 0, requests);
}

static struct measurer_output_base *
counts_of_nothing(const struct pass *pass)
{
	struct perf_event_measurer_output *events = perf_event_measurer_output_new();

	for (size_t i = 0; i < pass->nr_events; i++) {
		const struct architecture_event *event = &stage.architecture->events[pass->events[i]];

		for (size_t k = 0; k < event->uncore.nr_units || k == 0; k++) {
			struct perf_event_count *count =
				event->uncore.nr_units ? &machine_event_count_new()->base : perf_event_count_new();
			struct machine_event_count *of_unit = rot_cast(count, &machine_event_count_class);

			rot_string_set(&count->name, event->name);
			count->time_enabled = count->time_running = 1000;
			if (of_unit)
				of_unit->background_time = 10000;
			perf_event_measurer_output_event_counts_add(events, count);
		}
	}
	return &events->base;
}

struct measurement_run_output *
add_steps(size_t pass)
{
	struct measurement_run_output *run = measurement_run_output_new();

	for (size_t k = 0; k < measurement_nr_workloads(stage.measurement); k++) {
		struct measurer_set_output *set = measurer_set_output_new();

		set->set_id = (int32_t)(10 + k);
		set->main_measurer_output = counts_of_nothing(&stage.plan.passes[pass]);
		measurement_run_output_measurer_set_outputs_add(run, set);
	}
	measurement_result_outputs_add(stage.results[pass], run);
	return run;
}

struct measurement_run_output *
add_run(size_t pass, uint64_t ticks, uint64_t ns)
{
	struct measurement_run_output *run = measurement_run_output_new();

	for (size_t k = 0; k < measurement_nr_workloads(stage.measurement); k++) {
		struct measurer_set_output *set = measurer_set_output_new();
		struct tsc_measurer_output *tsc = tsc_measurer_output_new();
		struct execution_time_measurer_output *time = execution_time_measurer_output_new();
		struct resource_usage_measurer_output *whole = resource_usage_measurer_output_new();

		set->set_id = (int32_t)(10 + k);
		tsc->tics = ticks + k;
		time->nano_seconds = ns;
		measurer_set_output_additional_measurer_outputs_add(set, &resource_usage_measurer_output_new()->base);
		measurer_set_output_additional_measurer_outputs_add(set, &time->base);
		if (stage.plan.passes[pass].nr_events) {
			set->main_measurer_output = counts_of_nothing(&stage.plan.passes[pass]);
			measurer_set_output_additional_measurer_outputs_add(set, &tsc->base);
		} else {
			set->main_measurer_output = &tsc->base;
		}
		whole->involuntary_context_switches = 9;
		measurer_set_output_validation_measurer_outputs_add(set, &whole->base);
		measurement_run_output_measurer_set_outputs_add(run, set);
	}
	measurement_result_outputs_add(stage.results[pass], run);
	return run;
}

void
probe_clock(struct measurement_run_output *run, size_t workload, double before, double after)
{
	struct clock_probe_measurer_output *probe = clock_probe_measurer_output_new();

	probe->start_ticks = probe->stop_ticks = 100000;
	probe->start_additions = (uint64_t)(before * 100000);
	probe->stop_additions = (uint64_t)(after * 100000);
	measurer_set_output_additional_measurer_outputs_add(
		measurement_run_output_measurer_set_outputs_at(run, workload), &probe->base);
}

struct perf_event_count *
count_of(struct measurement_run_output *run, size_t workload, const char *event)
{
	struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, workload);
	struct perf_event_measurer_output *events =
		rot_cast(set->main_measurer_output, &perf_event_measurer_output_class);

	for (size_t i = 0; i < perf_event_measurer_output_nr_event_counts(events); i++) {
		struct perf_event_count *count = perf_event_measurer_output_event_counts_at(events, i);

		if (strcmp(count->name, event) == 0)
			return count;
	}
	ck_abort_msg("event '%s' is not in the pass", event);
	return NULL;
}

struct measurement_run_output *
counted(struct measurement_run_output *run, size_t workload, const char *format, ...)
{
	char text[256], *rest = NULL;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *number = strchr(word, '=');

		*number++ = '\0';
		count_of(run, workload, word)->raw_count = strtoull(number, NULL, 10);
	}
	return run;
}

struct resource_usage_measurer_output *
usage_of(struct measurement_run_output *run, size_t workload)
{
	return rot_cast(measurer_set_output_additional_measurer_outputs_at(
				measurement_run_output_measurer_set_outputs_at(run, workload), 0),
			&resource_usage_measurer_output_class);
}

size_t
pass_with(const char *event)
{
	for (size_t i = 0; i < stage.architecture->nr_events; i++) {
		if (strcmp(stage.architecture->events[i].name, event) == 0)
			return pass_plan_find(&stage.plan, i);
	}
	ck_abort_msg("no event '%s'", event);
	return 0;
}

struct quantity_value
stage_compute(size_t request, bool use_minimum)
{
	ck_assert_uint_lt(nr_values, MAX_VALUES);
	for (size_t i = 0; i < stage.plan.nr_passes; i++) {
		pass_samples_clear(&stage.samples[i]);
		ck_assert_ok(pass_samples_read(&stage.samples[i], stage.architecture, &stage.plan.passes[i],
					       stage.passes[i], stage.results[i], &why));
	}
	ck_assert_ok(quantity_compute(&values[nr_values], &stage.resolutions[request], stage.architecture, &stage.plan,
				      stage.samples, use_minimum, &why));
	return values[nr_values++];
}

const char *
stage_told(size_t request, bool use_minimum)
{
	static char text[256];
	const struct quantity_value value = stage_compute(request, use_minimum);
	const struct summary *s = &value.summary;
	int nr = snprintf(text, sizeof(text), "%.10g [%.10g, %.10g] %s, %s of %zu runs", s->value,
			  isnan(s->low) ? NAN : s->low, isnan(s->high) ? NAN : s->high, value.unit, s->estimator, s->n);

	if (s->tainted > 0)
		nr += snprintf(text + nr, sizeof(text) - (size_t)nr, " without %zu", s->tainted);
	snprintf(text + nr, sizeof(text) - (size_t)nr, ", %s", value.kind);
	return text;
}

struct measurer_set *
rule_set(const struct measurement *measurement)
{
	const struct rule *rule = measurement_rules_at(measurement, measurement_nr_rules(measurement) - 1);

	return ((struct create_measurer_on_thread_action *)rot_cast(rule->action,
								    &create_measurer_on_thread_action_class))
		->measurer_set;
}
