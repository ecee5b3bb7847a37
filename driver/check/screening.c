/* SPDX-License-Identifier: MIT */
/*
 * Screening: what every event of this machine counts of some kernels, in groups, several times. It shows which events
 * can be opened, which count at all, and how well they repeat; whether they count what they are named for only "rot
 * validate" proves, on known work.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "base/output.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/text_table.h"
#include "check/events.h"
#include "engine/measuring.h"
#include "experiments/c_controller.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "plots/places.h"
#include "plots/plot.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "statistics/summary.h"

#define RUNS 20
#define RUNS_QUICK 6

/* Software events need no counters, so a group of them may be large. */
#define SOFTWARE_GROUP 8

/* Where the architecture's file does not say how many counters work: as many as every processor has. */
#define HARDWARE_GROUP 2

/* A kernel whose run the events are counted of. */
struct screened_kernel {
	const char *name;  /* for tables: "add" */
	const char *class; /* of the kernel */
	const char *fields;
};

/* The counts of an event for one kernel. n is 0 where it was not counted all the time. */
struct screened_count {
	double *samples;
	struct summary summary; /* median, with the range */
};

struct screened_event {
	const char *unit; /* "zen5 (rot)", "perf" */
	const char
		*name; /* as libpfm4 reads it: "perf::PERF_COUNT_SW_PAGE_FAULTS"; or that of the architecture's file */
	const char *definition, *description;
	const char *refusal; /* why it is not counted here; "" if it is */
	bool is_hardware; /* counted by the processor: user mode alone. Else kernel mode as well, where that is allowed
			   */
	bool is_alone;    /* shares its group with no other */
	struct screened_count *counts; /* of each kernel, or NULL */
};

struct screening {
	struct pool pool; /* of all below */
	const struct screened_kernel *kernels;
	size_t nr_kernels; /* that all events were counted of: fewer than wanted after an interruption */
	bool is_complete;
	int nr_runs;
	bool counts_kernel_mode; /* of software events */
	struct screened_event *events;
	size_t nr_events;
};

/* The first ones are those of a quick screening. Warm, since the work is to be the same in each run. */
static const struct screened_kernel all_kernels[] = {
	{"nothing", "Dummy", "warmCode=true warmData=true"},
	{"add", "Arithmetic", "iterations=100000 warmCode=true warmData=true"},
	{"read", "Memory", "operation=READ bufferSize=8388608 warmCode=true warmData=true"},
	{"write", "Memory", "operation=WRITE bufferSize=8388608 warmCode=true warmData=true"},
	{"random", "Memory", "operation=RANDOM_READ bufferSize=8388608 warmCode=true warmData=true"},
	{"triad", "Triad", "bufferSize=300000 warmCode=true warmData=true"},
};

enum { NR_KERNELS = sizeof(all_kernels) / sizeof(*all_kernels), NR_KERNELS_QUICK = 3 };

/* ---- the events ---- */

static struct screened_event *
add_event(struct screening *screening, const char *unit, const char *name, const char *definition,
	  const char *description)
{
	struct pool *pool = &screening->pool;
	struct screened_event *event;

	event = &pool_add(pool, screening->events, screening->nr_events);
	*event = (struct screened_event){
		.unit = pool_strdup(pool, unit),
		.name = pool_strdup(pool, name),
		.definition = pool_strdup(pool, definition),
		.description = pool_strdup(pool, description),
		.refusal = "",
	};
	return event;
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

	if (!rot->architecture->counts_by_steps) {
		autofree char *unit = rot_format("rot's %s", rot->architecture->name);

		for (size_t i = 0; i < rot->architecture->nr_events; i++) {
			const struct architecture_event *of = &rot->architecture->events[i];
			struct screened_event *event;

			if (of->class == EVENT_MACHINE)
				continue;
			event = add_event(screening, unit, of->name, of->definition, of->definition);
			event->is_hardware = true;
			event->is_alone = of->class == EVENT_LARGE || of->class == EVENT_OFFCORE;
		}
	}
	for (size_t i = 0; events && i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);

		for (size_t k = 0; strcmp(pmu->pmu_name, "perf_raw") != 0 && k < pmu_description_nr_events(pmu); k++) {
			const struct perf_event_description *event = pmu_description_events_at(pmu, k);

			/* Another name of an event; one of an event with masks is worth having, as a choice of masks
			 * that makes sense. */
			if (!(event->equivalent[0] && !strchr(event->equivalent, ':')) &&
			    !is_named_with_masks(pmu, event))
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
		rc = measuring_perform(screener->rot, passes, *nr_groups, screener->screening->nr_runs, 1, results,
				       err);
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

/* Takes the events that were not refused so far. */
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

/*
 * Events of the architecture's file and of the units that libpfm4 finds here (but the one for raw codes), each with
 * each unit mask. Where hardware events cannot be counted these are refused with that reason, and nothing else of them
 * is tried. Error: interrupted (what was counted of whole kernels is kept), or nothing can be counted at all. Clear the
 * pool also after an error.
 */
static int
screening_perform(struct rot *rot, bool is_quick, struct screening *screening, struct rot_error *err)
{
	struct screener screener = {.rot = rot, .screening = screening};
	const int nr_runs = configuration_count(rot->configuration, "runs");
	int rc;

	*screening = (struct screening){
		.kernels = all_kernels,
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

/* ---- what is shown ---- */

static bool
is_counted(const struct screened_event *event)
{
	return event->counts && !event->refusal[0];
}

/* ---- table ---- */

/* "1234 x1.02": the median, and how much more than the least it is. */
static char *
count_text(const struct screened_count *count)
{
	const struct summary *summary = &count->summary;

	if (summary->n == 0)
		return rot_strdup("not all the time");
	if (summary->minimum == summary->maximum)
		return rot_format("%.0f =", summary->value);
	if (summary->minimum == 0)
		return rot_format("%.4g", summary->value);
	return rot_format("%.4g x%.3g", summary->value, summary->value / summary->minimum);
}

/* Does any run of any kernel count something? */
static bool
counts_something(const struct screening *screening, const struct screened_event *event)
{
	for (size_t k = 0; k < screening->nr_kernels; k++)
		if (event->counts[k].summary.n > 0 && event->counts[k].summary.maximum > 0)
			return true;
	return false;
}

static void
print_counted(const struct screening *screening, FILE *out)
{
	enum { NR_KEYS = 2 };
	autofree struct text_table_column *columns = rot_calloc(screening->nr_kernels + NR_KEYS, sizeof(*columns));
	struct text_table table = {.columns = columns,
				   .nr_columns = screening->nr_kernels + NR_KEYS,
				   .nr_keys = NR_KEYS,
				   .is_all_shown = true};
	autofree char **cells = rot_calloc(table.nr_columns, sizeof(*cells));

	columns[0] = (struct text_table_column){"", false};
	columns[1] = (struct text_table_column){"event", true};
	for (size_t k = 0; k < screening->nr_kernels; k++)
		columns[k + NR_KEYS].heading = screening->kernels[k].name;
	for (size_t i = 0; i < screening->nr_events; i++) {
		const struct screened_event *event = &screening->events[i];

		if (!is_counted(event) || !counts_something(screening, event))
			continue;
		cells[0] = rot_format("%zu", table.nr_rows + 1);
		cells[1] = rot_strdup(event->name);
		for (size_t k = 0; k < screening->nr_kernels; k++)
			cells[k + NR_KEYS] = count_text(&event->counts[k]);
		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	fputc('\n', out);
	text_table_clear(&table);
}

static void
print_silent(const struct screening *screening, FILE *out)
{
	bool is_first = true;

	for (size_t i = 0; i < screening->nr_events; i++) {
		const struct screened_event *event = &screening->events[i];

		if (!is_counted(event) || counts_something(screening, event))
			continue;
		fprintf(out, "%s%s", is_first ? "counted nothing: " : ", ", event->name);
		is_first = false;
	}
	if (!is_first)
		fputc('\n', out);
}

/* The system's words: what stands behind the last colon. */
static const char *
why(const struct screened_event *event)
{
	const char *colon = strrchr(event->refusal, ':');

	return colon && colon[1] == ' ' ? colon + 2 : event->refusal;
}

static void
print_screening(const struct screening *screening, FILE *out)
{
	print_counted(screening, out);
	fprintf(out, "median of %d run%s, and x: how much more that is than the least of them; =: all are the same\n",
		screening->nr_runs, rot_plural(screening->nr_runs));
	fprintf(out, "hardware events count user mode%s\n",
		screening->counts_kernel_mode ? ", software events kernel mode as well"
					      : "; so do software events here, most of which happen in the kernel "
						"(see perf_event_paranoid in 'rot doctor')");
	print_silent(screening, out);
	/* Each reason once, with how many events have it and one of them. */
	for (size_t i = 0; i < screening->nr_events; i++) {
		const struct screened_event *event = &screening->events[i];
		size_t nr = 0, first = 0;

		while (strcmp(why(&screening->events[first]), why(event)) != 0)
			first++;
		if (!event->refusal[0] || first < i)
			continue;
		for (size_t k = i; k < screening->nr_events; k++)
			nr += strcmp(why(&screening->events[k]), why(event)) == 0;
		fprintf(out, "not counted here: %zu event%s; %s: %s\n", nr, nr > 1 ? "s" : "", event->name,
			event->refusal);
	}
	if (!screening->is_complete)
		fprintf(out, "Not complete: stopped after %zu kernel%s.\n", screening->nr_kernels,
			rot_plural((double)screening->nr_kernels));
}

/* ---- files ---- */

static json_t *
count_json(const struct screened_kernel *kernel, const struct screened_count *count)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < count->summary.n; i++)
		json_array_append_new(samples, json_number(count->samples[i]));
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "kernel", kernel->name, "n", (json_int_t)count->summary.n,
			 "minimum", json_number(count->summary.minimum), "median", json_number(count->summary.value),
			 "maximum", json_number(count->summary.maximum), "samples", samples);
}

static json_t *
screened_json(const struct screening *screening, const struct screened_event *event)
{
	json_t *json =
		json_pack("{s:o, s:o, s:o, s:o, s:s}", "unit", json_text(event->unit), "name", json_text(event->name),
			  "definition", json_text(event->definition), "description", json_text(event->description),
			  "modes", event->is_hardware || !screening->counts_kernel_mode ? "user" : "user, kernel");
	json_t *counts = json_array();

	for (size_t k = 0; is_counted(event) && k < screening->nr_kernels; k++)
		json_array_append_new(counts, count_json(&screening->kernels[k], &event->counts[k]));
	json_object_set_new(json, "counts", counts);
	if (event->refusal[0])
		json_object_set_new(json, "refused", json_text(event->refusal));
	return json;
}

static json_t *
screening_json(const struct rot *rot, const struct screening *screening)
{
	json_t *events = json_array(), *kernels = json_array();

	for (size_t i = 0; i < screening->nr_events; i++)
		json_array_append_new(events, screened_json(screening, &screening->events[i]));
	for (size_t k = 0; k < screening->nr_kernels; k++)
		json_array_append_new(kernels,
				      json_pack("{s:s, s:s, s:s}", "name", screening->kernels[k].name, "class",
						screening->kernels[k].class, "fields", screening->kernels[k].fields));
	return json_pack("{s:s, s:b, s:o, s:i, s:o, s:o}", "schema", "rot.screening/1", "complete",
			 screening->is_complete, "machine", json_entity(rot->machine), "runs", screening->nr_runs,
			 "kernels", kernels, "events", events);
}

/* ---- plot ---- */

/* Everything over the least count; false where that is 0. */
static bool
relative_summary(const struct screened_count *count, struct summary *relative)
{
	const struct summary *of = &count->summary;
	autofree double *values = rot_calloc(of->n + 1, sizeof(*values));

	for (size_t i = 0; i < of->n; i++)
		values[i] = count->samples[i] / of->minimum;
	*relative = summary_median(values, of->n);
	return of->n > 0 && of->minimum > 0;
}

/* How well events repeat, over their number in the order of the table; those that counted nothing are left out. */
static int
draw_screening(const struct rot *rot, const struct screening *screening, const char *output_name, struct rot_error *err)
{
	autopool pool = {0};
	struct plot_series *series = pool_calloc(&pool, screening->nr_kernels, sizeof(*series));
	char *machine = pool_own(&pool, machine_caption(rot->machine), free);
	char *caption = pool_format(&pool,
				    "%s\nmedian, quartiles and range of %d run%s, each over the least of them\n"
				    "numbers of events are those in %s.txt",
				    machine, screening->nr_runs, rot_plural(screening->nr_runs), output_name);
	struct distribution_plot plot = {
		.frame = {.title = "How well events repeat",
			  .caption = caption,
			  .x = {"Event", "", false, NAN, NAN},
			  .y = {"Count over the least count", "", true, NAN, NAN},
			  .key_position = configuration_string(rot->configuration, "keyPosition"),
			  .show_min_max = configuration_bool(rot->configuration, "showMinMax"),
			  .show_percentiles = configuration_bool(rot->configuration, "showPercentiles")},
		.series = series,
		.nr_series = screening->nr_kernels,
	};

	for (size_t k = 0; k < screening->nr_kernels; k++) {
		struct plot_point *points = pool_calloc(&pool, screening->nr_events + 1, sizeof(*points));
		size_t nr = 0, row = 0;

		for (size_t i = 0; i < screening->nr_events; i++) {
			const struct screened_event *event = &screening->events[i];
			struct plot_point point = {.label = "", .size = NAN};

			if (!is_counted(event) || !counts_something(screening, event))
				continue;
			point.x = summary_single((double)++row, "given");
			if (relative_summary(&event->counts[k], &point.y))
				points[nr++] = point;
		}
		series[k] = (struct plot_series){
			.name = screening->kernels[k].name, .points = points, .nr_points = nr, .style = PLOT_MARKS};
	}
	return distribution_plot_write(&plot, output_name, err);
}

static int
show(const struct rot *rot, const struct screening *screening, const char *output_name, struct rot_error *err)
{
	struct output_text text;

	print_screening(screening, stdout);
	fflush(stdout);
	if (output_take_json(screening_json(rot, screening), output_name, err) < 0)
		return -1;
	print_screening(screening, output_text_begin(&text));
	if (output_text_end(&text, output_name, ".txt", err) < 0)
		return -1;
	plots_note_undrawn(rot->configuration, 1);
	return plots_go_to(rot->configuration, PLOTS_IN_FILES) ? draw_screening(rot, screening, output_name, err) : 0;
}

static int
measure_screening(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	const bool is_quick = strcmp(configuration_string(rot->configuration, "sizes"), "small") == 0;
	struct screening screening = {.nr_events = 0};
	struct rot_error later;
	int rc = output_check(output_name, err);

	(void)self;
	plots_warn_of_page(rot->configuration);
	if (rc == 0)
		rc = screening_perform(rot, is_quick, &screening, err);
	if (rc == 0)
		rc = show(rot, &screening, output_name, err);
	else if (rot_interrupted() && screening.nr_kernels > 0)
		show(rot, &screening, output_name, &later); /* that we were interrupted is what the user must know */
	pool_clear(&screening.pool);
	return rc;
}

const struct rot_controller screening_controller = {
	.name = "performanceEventScreening",
	.description = "what every event of this machine counts of some kernels, in groups, and how well it repeats",
	.measure = measure_screening,
	.plan = "every event of this machine (rot list events, and those of the architecture's file), in groups, of 6 "
		"kernels, 20 runs each; with -sizes=small of 3 kernels, 6 runs each",
};
