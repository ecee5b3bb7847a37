/* SPDX-License-Identifier: MIT */
#include "events/screening.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "events/events.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "support/progress.h"

#define RUNS 20
#define RUNS_QUICK 6

/* Software events need no counters, so a group of them may be large. */
#define SOFTWARE_GROUP 8

/* Where the architecture's file does not say how many counters work: as many as every processor has. */
#define HARDWARE_GROUP 2

/* The first ones are those of a quick screening. Warm, since the work is to be the same in each run. */
static const struct screened_kernel kernels[] = {
	{"nothing", "Dummy", "warmCode=true warmData=true"},
	{"add", "Arithmetic", "iterations=100000 warmCode=true warmData=true"},
	{"read", "Memory", "operation=READ bufferSize=8388608 warmCode=true warmData=true"},
	{"write", "Memory", "operation=WRITE bufferSize=8388608 warmCode=true warmData=true"},
	{"random", "Memory", "operation=RANDOM_READ bufferSize=8388608 warmCode=true warmData=true"},
	{"triad", "Triad", "bufferSize=300000 warmCode=true warmData=true"},
};

enum { NR_KERNELS = sizeof(kernels) / sizeof(kernels[0]), NR_KERNELS_QUICK = 3 };

/* ---- the events ---- */

static struct screened_event *
add_event(struct screening *screening, const char *unit, const char *name, const char *definition,
	  const char *description)
{
	struct pool *pool = &screening->pool;
	struct screened_event *event;

	screening->events = pool_grow(pool, screening->events, screening->nr_events, sizeof(*screening->events));
	event = &screening->events[screening->nr_events++];
	*event = (struct screened_event){
		.unit = pool_strdup(pool, unit),
		.name = pool_strdup(pool, name),
		.definition = pool_strdup(pool, definition),
		.description = pool_strdup(pool, description),
		.refusal = "",
	};
	return event;
}

static void
add_architecture(struct screening *screening, const struct architecture *architecture)
{
	autofree char *unit = rot_format("rot's %s", architecture->name);

	for (size_t i = 0; i < architecture->nr_events; i++) {
		const struct architecture_event *of = &architecture->events[i];
		struct screened_event *event = add_event(screening, unit, of->name, of->definition, of->definition);

		event->is_hardware = true;
		event->is_alone = of->class == EVENT_LARGE || of->class == EVENT_OFFCORE;
	}
}

/* Another name of an event; one of an event with masks is worth having, as a choice of masks that makes sense. */
static bool
is_alias(const struct perf_event_description *event)
{
	return event->equivalent[0] && !strchr(event->equivalent, ':');
}

/* Are there other names for choices of its masks? Then these are enough. */
static bool
is_named_with_masks(const struct pmu_description *pmu, const struct perf_event_description *event)
{
	const size_t length = strlen(event->name);

	for (size_t i = 0; i < pmu_description_nr_events(pmu); i++) {
		const char *of = pmu_description_events_at(pmu, i)->equivalent;

		if (strncmp(of, event->name, length) == 0 && of[length] == ':')
			return true;
	}
	return false;
}

static void
add_masks(struct screening *screening, const struct pmu_description *pmu, const struct perf_event_description *of)
{
	/* The unit "perf" has what the kernel itself offers: hardware events by general names, and its own. */
	const bool is_software = strcmp(pmu->pmu_name, "perf") == 0 && strstr(of->name, "_SW_");
	size_t nr_masks = 0;

	for (size_t i = 0; i <= perf_event_description_nr_attributes(of); i++) {
		const bool is_end = i == perf_event_description_nr_attributes(of);
		const struct perf_event_attribute_description *mask =
			is_end ? NULL : perf_event_description_attributes_at(of, i);
		autofree char *name = NULL;

		if (is_end ? nr_masks > 0 : !event_attribute_is_umask(mask))
			continue;
		nr_masks++;
		name = rot_format("%s::%s%s%s", pmu->pmu_name, of->name, is_end ? "" : ":", is_end ? "" : mask->name);
		add_event(screening, pmu->pmu_name, name, name, is_end ? of->description : mask->description)
			->is_hardware = !is_software;
	}
}

static int
collect_events(struct screening *screening, struct rot *rot, struct rot_error *err)
{
	const struct rot_error *why_not = &rot->architecture->why_not;
	autopool pool = {0};
	const struct list_events_measurer_output *events = events_read(rot, &pool, err);

	if (!rot->architecture->counts_by_steps)
		add_architecture(screening, rot->architecture);
	for (size_t i = 0; events && i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);

		for (size_t k = 0; strcmp(pmu->pmu_name, "perf_raw") != 0 && k < pmu_description_nr_events(pmu); k++) {
			const struct perf_event_description *event = pmu_description_events_at(pmu, k);

			if (!is_alias(event) && !is_named_with_masks(pmu, event))
				add_masks(screening, pmu, event);
		}
	}
	for (size_t i = 0; why_not->text[0] && i < screening->nr_events; i++)
		if (screening->events[i].is_hardware)
			screening->events[i].refusal = why_not->text;
	return events ? 0 : -1;
}

/* ---- counting ---- */

struct screener {
	struct rot *rot;
	struct screening *screening;
	size_t kernel;
	size_t *order; /* the events that are counted, as indices */
	size_t nr;
};

static struct screened_event *
event_at(const struct screener *screener, size_t i)
{
	return &screener->screening->events[screener->order[i]];
}

/* "a=1 b=2". NULL on error. */
static struct kernel_base *
kernel_new(struct rot *rot, const struct screened_kernel *of, struct rot_error *err)
{
	const struct rot_class *class = rot_registry_find(rot->registry, of->class);
	struct kernel_base *kernel = class ? rot_entity_new(class) : NULL;
	autofree char *words = rot_strdup(of->fields);
	char *rest = words, *word;
	int rc = kernel ? 0 : rot_error_set(err, 0, "the kernel %s is missing", of->class);

	while (rc == 0 && (word = strsep(&rest, " "))) {
		char *field = strsep(&word, "=");

		rc = rot_entity_set(kernel, field, word, err);
	}
	if (rc == 0)
		return kernel;
	rot_graph_delete(kernel);
	return NULL;
}

static struct perf_event_measurer *
group_new(const struct screener *screener, size_t from, size_t to)
{
	const struct architecture *architecture = screener->rot->architecture;
	struct perf_event_measurer *measurer = perf_event_measurer_new();

	for (size_t i = from; i < to; i++) {
		struct perf_event_definition *definition = perf_event_definition_new();

		rot_string_set(&definition->name, event_at(screener, i)->name);
		rot_string_set(&definition->definition, event_at(screener, i)->definition);
		perf_event_measurer_events_add(measurer, definition);
	}
	measurer->count_kernel = !event_at(screener, from)->is_hardware && screener->screening->counts_kernel_mode;
	if (event_at(screener, from)->is_hardware) {
		rot_string_set(&measurer->scrub_event, architecture->scrub_event);
		measurer->scrub_count = architecture->scrub_count;
	}
	return measurer;
}

/* The kernel, counted by a group of these events. NULL on error. */
static struct measurement *
group_measurement(const struct screener *screener, size_t from, size_t to, struct rot_error *err)
{
	struct kernel_base *kernel = kernel_new(screener->rot, &screener->screening->kernels[screener->kernel], err);
	struct measurement *measurement;
	struct workload *workload;

	if (!kernel)
		return NULL;
	measurement = measurement_new();
	workload = workload_new();
	workload->kernel = kernel;
	workload->measurer_set = measurer_set_new();
	workload->measurer_set->main_measurer = &group_new(screener, from, to)->base;
	measurement_workloads_add(measurement, workload);
	return measurement;
}

/* Where the group ends that begins at from: at most `most` events of one kind. */
static size_t
group_end(const struct screener *screener, size_t from, size_t to, size_t most)
{
	const struct architecture *architecture = screener->rot->architecture;
	const struct screened_event *first = event_at(screener, from);
	const size_t usable =
		architecture->usable_counters > 0 ? (size_t)architecture->usable_counters : HARDWARE_GROUP;
	const size_t limit = first->is_hardware ? usable : SOFTWARE_GROUP;
	size_t end = from + 1;

	most = most < limit ? most : limit;
	while (!first->is_alone && end < to && end - from < most && !event_at(screener, end)->is_alone &&
	       event_at(screener, end)->is_hardware == first->is_hardware &&
	       strcmp(event_at(screener, end)->unit, first->unit) == 0)
		end++;
	return end;
}

/* False where it did not count all the time, or is not to be believed: as of the samples of quantities. */
static bool
read_count(const struct perf_event_count *count, int bits, double *value)
{
	uint64_t raw = bits ? count->raw_count & ((UINT64_C(1) << bits) - 1) : count->raw_count;

	*value = (double)raw;
	return count->time_running > 0 && count->time_running == count->time_enabled && !(bits && raw >> (bits - 1));
}

/* The samples of the events of one group. */
static void
take_counts(const struct screener *screener, const struct measurement_result *result, size_t from, size_t to)
{
	const size_t nr_runs = measurement_result_nr_outputs(result);
	struct pool *pool = &screener->screening->pool;

	for (size_t i = from; i < to; i++) {
		struct screened_event *event = event_at(screener, i);
		struct screened_count *count;
		size_t nr = 0;

		if (!event->counts)
			event->counts = pool_calloc(pool, screener->screening->nr_kernels, sizeof(*event->counts));
		count = &event->counts[screener->kernel];
		count->samples = pool_calloc(pool, nr_runs + 1, sizeof(*count->samples));
		for (size_t k = 0; k < nr_runs; k++) {
			const struct measurement_run_output *run = measurement_result_outputs_at(result, k);
			const struct perf_event_measurer_output *counts =
				rot_cast(measurement_run_output_measurer_set_outputs_at(run, 0)->main_measurer_output,
					 &perf_event_measurer_output_class);
			const int bits = event->is_hardware ? screener->rot->architecture->counter_bits : 0;

			nr += read_count(perf_event_measurer_output_event_counts_at(counts, i - from), bits,
					 &count->samples[nr]);
		}
		count->summary = summary_median(count->samples, nr);
	}
}

/* The groups of these events together; a group has at most `most` of them. */
static int
count_together(const struct screener *screener, size_t from, size_t to, size_t most, size_t *nr_groups,
	       struct rot_error *err)
{
	autofree struct measurement **passes = rot_calloc(to - from, sizeof(*passes));
	autofree struct measurement_result **results = rot_calloc(to - from, sizeof(*results));
	autofree size_t *begins = rot_calloc(to - from + 1, sizeof(*begins));
	int rc = 0;

	*nr_groups = 0;
	for (size_t at = from; rc == 0 && at < to; at = begins[*nr_groups]) {
		size_t end = group_end(screener, at, to, most);

		begins[*nr_groups] = at;
		passes[*nr_groups] = group_measurement(screener, at, end, err);
		rc = passes[*nr_groups] ? 0 : -1;
		begins[++*nr_groups] = end;
	}
	if (rc == 0)
		rc = measuring_perform(screener->rot, passes, *nr_groups, screener->screening->nr_runs, results, err);
	for (size_t i = 0; i < *nr_groups; i++) {
		if (rc == 0)
			take_counts(screener, results[i], begins[i], begins[i + 1]);
		rot_graph_delete(results[i]);
		rot_graph_delete(passes[i]);
	}
	return rc;
}

/*
 * The same, and if that is refused in halves, down to single events, of which those that are refused alone get the
 * reason. -1: interrupted.
 */
static int
count_range(const struct screener *screener, size_t from, size_t to, size_t most, struct rot_error *err)
{
	struct rot_error why = {0};
	size_t nr_groups, middle;

	if (from == to || count_together(screener, from, to, most, &nr_groups, &why) == 0)
		return 0;
	if (rot_interrupted()) {
		*err = why;
		return -1;
	}
	if (to - from == 1) {
		event_at(screener, from)->refusal = pool_strdup(&screener->screening->pool, why.text);
		return 0;
	}
	if (nr_groups == 1)
		most = 1;
	middle = from + (to - from) / 2;
	return count_range(screener, from, middle, most, err) < 0 || count_range(screener, middle, to, most, err) < 0
		       ? -1
		       : 0;
}

/* Those that were not refused so far. */
static void
take_order(struct screener *screener)
{
	screener->nr = 0;
	for (size_t i = 0; i < screener->screening->nr_events; i++)
		if (!screener->screening->events[i].refusal[0])
			screener->order[screener->nr++] = i;
}

/* May software events count what happens in the kernel? Most of theirs do. Tried on one of them. */
static void
try_kernel_mode(struct screener *screener)
{
	struct screening *screening = screener->screening;
	struct rot_error ignored = {0};
	size_t i = 0, nr_groups;

	while (i < screener->nr && event_at(screener, i)->is_hardware)
		i++;
	if (i == screener->nr)
		return;
	screening->counts_kernel_mode = true;
	screening->counts_kernel_mode = count_together(screener, i, i + 1, 1, &nr_groups, &ignored) == 0;
}

/* How many events were counted of at least one kernel. */
static size_t
nr_counted(const struct screening *screening)
{
	size_t nr = 0;

	for (size_t i = 0; i < screening->nr_events; i++)
		nr += !screening->events[i].refusal[0] && screening->events[i].counts;
	return nr;
}

int
screening_perform(struct rot *rot, bool is_quick, struct screening *screening, struct rot_error *err)
{
	struct screener screener = {.rot = rot, .screening = screening};
	const int nr_runs = configuration_count(rot->configuration, "runs");
	int rc;

	*screening = (struct screening){
		.kernels = kernels,
		.nr_kernels = is_quick ? NR_KERNELS_QUICK : NR_KERNELS,
		.nr_runs = nr_runs > 0 ? nr_runs
			   : is_quick  ? RUNS_QUICK
				       : RUNS,
	};
	rc = collect_events(screening, rot, err);
	screener.order = pool_calloc(&screening->pool, screening->nr_events + 1, sizeof(*screener.order));
	take_order(&screener);
	if (rc == 0)
		try_kernel_mode(&screener);
	progress_begin(screening->nr_kernels, configuration_bool(rot->configuration, "quiet"));
	while (rc == 0 && screener.kernel < screening->nr_kernels) {
		progress_point();
		take_order(&screener);
		rc = count_range(&screener, 0, screener.nr, SIZE_MAX, err);
		screener.kernel += rc == 0;
	}
	progress_end();
	/* Kernels of which not all events were counted do not count. */
	screening->is_complete = screener.kernel == screening->nr_kernels;
	screening->nr_kernels = screener.kernel;
	if (rc == 0 && nr_counted(screening) == 0) {
		rc = rot_error_set(err, 0, "no event can be counted here: %s",
				   screening->nr_events ? screening->events[0].refusal : "none is known");
		rot_error_hint(err, "'rot doctor' says what would change that");
	}
	return rc;
}
