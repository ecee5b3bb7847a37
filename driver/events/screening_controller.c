/* SPDX-License-Identifier: MIT */
/* The controller performanceEventScreening: what every event counts of some kernels, and how well it repeats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/c_controller.h"
#include "events/screening.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/places.h"
#include "plots/plot.h"
#include "support/json.h"
#include "support/output.h"
#include "support/text_table.h"

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

/* Each reason once, with how many events have it and one of them. */
static void
print_refused(const struct screening *screening, FILE *out)
{
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
}

static void
print_screening(const struct screening *screening, FILE *out)
{
	print_counted(screening, out);
	fprintf(out, "median of %d runs, and x: how much more that is than the least of them; =: all are the same\n",
		screening->nr_runs);
	fprintf(out, "hardware events count user mode%s\n",
		screening->counts_kernel_mode ? ", software events kernel mode as well"
					      : "; so do software events here, most of which happen in the kernel "
						"(see perf_event_paranoid in 'rot doctor')");
	print_silent(screening, out);
	print_refused(screening, out);
	if (!screening->is_complete)
		fprintf(out, "Not complete: stopped after %zu kernels.\n", screening->nr_kernels);
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
event_json(const struct screening *screening, const struct screened_event *event)
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
		json_array_append_new(events, event_json(screening, &screening->events[i]));
	for (size_t k = 0; k < screening->nr_kernels; k++)
		json_array_append_new(kernels,
				      json_pack("{s:s, s:s, s:s}", "name", screening->kernels[k].name, "class",
						screening->kernels[k].class, "fields", screening->kernels[k].fields));
	return json_pack("{s:s, s:b, s:o, s:i, s:o, s:o}", "schema", "rot.screening/1", "complete",
			 screening->is_complete, "machine", json_entity(rot->machine), "runs", screening->nr_runs,
			 "kernels", kernels, "events", events);
}

static int
write_text(const struct screening *screening, const char *output_name, struct rot_error *err)
{
	struct output_text text;

	print_screening(screening, output_text_begin(&text));
	return output_text_end(&text, output_name, ".txt", err);
}

static int
write_json(const struct rot *rot, const struct screening *screening, const char *output_name, struct rot_error *err)
{
	return output_take_json(screening_json(rot, screening), output_name, err);
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
				    "%s\nmedian, quartiles and range of %d runs, each over the least of them\n"
				    "numbers of events are those in %s.txt",
				    machine, screening->nr_runs, output_name);
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
	print_screening(screening, stdout);
	fflush(stdout);
	if (write_json(rot, screening, output_name, err) < 0 || write_text(screening, output_name, err) < 0)
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
