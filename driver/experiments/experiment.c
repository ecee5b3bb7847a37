/* SPDX-License-Identifier: MIT */
/* Every controller collects points with their quantities and ceilings here. */
#include "experiments/experiment.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/output.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/titles.h"
#include "engine/order.h"
#include "engine/origin.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "plots/page.h"
#include "programs/measure.h"
#include "quantities/effort.h"
#include "quantities/pass.h"
#include "quantities/remarks.h"
#include "rot.h"

/* ---- points that could not be measured ---- */

/* So many points are named for one reason, and in a caption. */
#define MOST_NAMED 6

void
experiment_add_failure(struct experiment *experiment, const struct experiment_position *position,
		       const struct rot_error *why)
{
	struct experiment_point point = experiment_point_at(position);

	json_object_del(point.json, "cacheState"); /* nothing was measured */
	json_object_update_new(point.json,
			       json_pack("{s:o, s:o}", "error", json_text(why->text), "hint", json_text(why->hint)));
	if (!experiment->failures)
		experiment->failures = json_in_pool(&experiment->pool, json_array());
	json_array_append(experiment->failures, point.json);
	experiment_point_clear(&point);
}

size_t
experiment_nr_failures(const struct experiment *experiment)
{
	return json_array_size(experiment->failures);
}

static char *
name_of_failure(const json_t *failure)
{
	return point_title(json_text_at(failure, "series"), " ", json_text_at(failure, "label"));
}

/* The number of the first failure for the same reason as failure i: i if there is none before it. */
static size_t
first_of_reason(const struct experiment *experiment, size_t i)
{
	const json_t *failure = json_array_get(experiment->failures, i), *other;
	size_t k;

	json_array_foreach(experiment->failures, k, other) {
		if (remarks_are_alike(json_text_at(other, "error"), json_text_at(failure, "error")) &&
		    strcmp(json_text_at(other, "hint"), json_text_at(failure, "hint")) == 0)
			return k;
	}
	return i;
}

bool
experiment_last_failure_repeats(const struct experiment *experiment)
{
	const size_t nr = experiment_nr_failures(experiment);

	return nr > 0 && first_of_reason(experiment, nr - 1) != nr - 1;
}

/* A reason once, behind the points that it concerns. */
static void
print_reasons(const struct experiment *experiment, FILE *out)
{
	const size_t nr_failures = experiment_nr_failures(experiment), nr_all = nr_failures + experiment->nr_points;

	if (nr_failures)
		fprintf(out, "Not complete: %zu of %zu point%s could not be measured:\n", nr_failures, nr_all,
			rot_plural((double)nr_all));
	for (size_t i = 0; i < nr_failures; i++) {
		const char *text = json_text_at(json_array_get(experiment->failures, i), "error");
		const size_t length = strcspn(text, "\n");
		size_t nr = 0;

		if (first_of_reason(experiment, i) != i)
			continue;
		for (size_t k = i; k < nr_failures; k++) {
			autofree char *name = NULL;

			if (first_of_reason(experiment, k) != i || ++nr > MOST_NAMED)
				continue;
			name = name_of_failure(json_array_get(experiment->failures, k));
			fprintf(out, "%s%s", nr == 1 ? "  " : ", ", name);
		}
		if (nr > MOST_NAMED)
			fprintf(out, " and %zu more", nr - MOST_NAMED);
		/* The lines that follow have been told. */
		fprintf(out, ": %.*s\n", (int)(length && text[length - 1] == ':' ? length - 1 : length), text);
	}
}

void
experiment_print_failures(const struct experiment *experiment, FILE *out)
{
	autofree char *text = NULL;
	size_t length;
	FILE *reasons = open_memstream(&text, &length);

	if (!reasons)
		return;
	print_reasons(experiment, reasons);
	fclose(reasons);
	text_print_fitting(text, out);
}

char *
experiment_failures_text(const struct experiment *experiment, const char *condition)
{
	char *text = rot_strdup("");
	const json_t *failure;
	size_t i, nr = 0;

	json_array_foreach(experiment->failures, i, failure) {
		autofree char *name = NULL;
		struct rot_error ignored = {0};
		bool shows;

		/* A condition that is no expression is told by the plot itself. */
		if ((experiment_shows(condition, failure, &shows, &ignored) == 0 && !shows) || ++nr > MOST_NAMED)
			continue;
		name = name_of_failure(failure);
		rot_append(&text, "%s%s", nr > 1 ? ", " : "could not be measured: ", name);
	}
	if (nr > MOST_NAMED)
		rot_append(&text, " and %zu more", nr - MOST_NAMED);
	return text;
}

/* Once all is written: the error that points failed. */
static int
tell_failures(const struct experiment *experiment, struct rot_error *err)
{
	const size_t nr = experiment_nr_failures(experiment);
	autofree char *name = NULL;

	if (nr == 0)
		return 0;
	name = name_of_failure(json_array_get(experiment->failures, 0));
	rot_error_set(err, 0, "%zu of %zu points could not be measured, the others are in '%s.json'; the first is %s",
		      nr, nr + experiment->nr_points, experiment->output_name, name);
	return rot_error_hint(err, "why is said above and in the file (failures); -stopOnError=true ends at the first");
}

struct experiment *
experiment_new(struct rot *rot, const char *controller_name, const char *output_name, size_t nr_points_expected,
	       struct rot_error *err)
{
	struct experiment *experiment;

	if (output_name && output_check(output_name, err) < 0)
		return NULL;
	experiment = rot_calloc(1, sizeof(*experiment));
	experiment->rot = rot;
	experiment->controller_name = pool_strdup(&experiment->pool, controller_name);
	experiment->output_name = pool_strdup(&experiment->pool, output_name);
	experiment->configured_runs = configuration_count(rot->configuration, "runs");
	experiment->origin = json_in_pool(&experiment->pool, origin_new());
	progress_begin(nr_points_expected, configuration_bool(rot->configuration, "quiet"));
	return experiment;
}

struct pool *
experiment_pool(struct experiment *experiment)
{
	return &experiment->pool;
}

void
experiment_keep_disturbed(struct experiment *experiment)
{
	experiment->keeps_disturbed = true;
}

int
experiment_nr_runs(const struct experiment *experiment, int nr_runs)
{
	return experiment->configured_runs ? experiment->configured_runs : nr_runs;
}

void
experiment_set_block(struct experiment *experiment, int block, int nr_blocks, bool is_ahead)
{
	experiment->block = block;
	experiment->nr_blocks = nr_blocks;
	experiment->is_ahead = is_ahead;
	experiment->has_fewer_runs |= block < nr_blocks && !is_ahead;
}

struct quantity_effort
experiment_effort(const struct experiment *experiment, int nr_runs)
{
	const struct configuration *configuration = experiment->rot->configuration;
	struct quantity_effort effort = {
		.nr_runs = experiment_nr_runs(experiment, nr_runs),
		.precision = experiment->configured_runs ? 0 : configuration_double(configuration, "precision"),
		.budget_s = configuration_double(configuration, "timeBudget"),
		.nr_starts = configuration_count(configuration, "starts"),
		.wants_own_cost = true,
		.keeps_disturbed = experiment->keeps_disturbed,
		.may_step = true,
	};

	if (experiment->nr_blocks > 0) {
		/* The part of it that belongs to the block. */
		effort = (struct quantity_effort){
			.nr_runs =
				order_runs_after(effort_first_runs(&effort), experiment->block, experiment->nr_blocks),
			.keeps_disturbed = effort.keeps_disturbed,
			.wants_own_cost = !experiment->is_ahead,
			.only_measures = experiment->is_ahead,
			.may_step = effort.may_step,
		};
	}
	return effort;
}

/* Before a point is measured: progress, and a warning once. */
static void
begin_point(struct experiment *experiment)
{
	if (!experiment->has_begun) {
		/* The plots come last, when nobody may be looking any more. */
		autofree char *gnuplot = experiment->nr_plots > 0 ? process_find("gnuplot") : NULL;

		if (experiment->nr_plots > 0 && !gnuplot)
			rot_warning("gnuplot is missing: plots will not be drawn, only their scripts written (apt-get "
				    "install gnuplot-nox)");
		experiment->has_begun = true;
	}
	progress_point();
}

int
experiment_add_point(struct experiment *experiment, const struct experiment_position *position,
		     const struct measurement *measurement, const struct quantity_request *requests, size_t nr_requests,
		     int nr_runs, struct rot_error *err)
{
	static const char *const states[2][2] = {{"cold caches", "cold code, warm data"},
						 {"warm code, cold data", "warm code and data"}};
	const struct quantity_effort effort = experiment_effort(experiment, nr_runs);
	struct experiment_point point = experiment_point_at(position);
	struct experiment_requests all = {0};
	autofree char *cache_state = rot_strdup("");
	struct quantity_value *values;
	struct quantities_told told;
	int rc;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);
		const struct kernel_base *kernel = workload->kernel;
		const char *state = kernel ? states[kernel->warm_code][kernel->warm_data] : "";

		if (workload_is_load(workload))
			continue;
		/* with the threads of its library */
		point.nr_cpus += kernel && kernel->num_threads > 1 ? (double)kernel->num_threads : 1;
		if (!strstr(cache_state, state))
			rot_append(&cache_state, "%s%s", cache_state[0] ? "; " : "", state);
	}
	json_object_set_new(point.json, "cacheState", json_text(cache_state));
	point.chains = experiment_chains_of(experiment->rot, measurement);
	experiment_use_cpus(experiment, point.nr_cpus);
	begin_point(experiment);
	rc = experiment_gather(experiment, &point, requests, nr_requests, &all, err);
	values = pool_calloc(&point.pool, all.nr, sizeof(*values));
	if (rc == 0)
		rc = quantities_measure_with(experiment->rot, measurement, all.items, all.nr, &effort, values, &told,
					     err);
	if (rc == 0) {
		origin_merge(experiment->origin, told.origin);
		json_decref(told.origin);
		json_object_update_new(point.json,
				       json_pack("{s:o*, s:o*}", "rules", told.rules, "passes", told.passes));
		point.values = values;
		point.requests = pool_copy(&point.pool, all.items, all.nr, sizeof(*all.items));
		point.nr_values = all.nr;
	}
	free(all.items);
	if (rc == 0 && !experiment->is_ahead)
		experiment_keep_point(experiment, &point);
	else
		experiment_point_clear(&point);
	return rc;
}

void
experiment_add_values(struct experiment *experiment, const char *series, const char *label,
		      const struct quantity_request *requests, struct quantity_value *values, size_t nr_values)
{
	struct experiment_point point = experiment_point_at(&(struct experiment_position){series, label, {NULL, 0}});

	point.requests = pool_copy(&point.pool, requests, nr_values, sizeof(*requests));
	point.values = pool_copy(&point.pool, values, nr_values, sizeof(*values));
	point.nr_values = nr_values;
	for (size_t i = 0; i < nr_values; i++)
		values[i] = (struct quantity_value){.nr_samples = 0};
	experiment_keep_point(experiment, &point);
}

void
experiment_add_choice(struct experiment *experiment, const char *name, const char *value, const char *text,
		      json_t *candidates)
{
	if (!experiment->choices)
		experiment->choices = json_array();
	json_array_append_new(experiment->choices,
			      json_pack("{s:o, s:o, s:o, s:O*}", "name", json_text(name), "value", json_text(value),
					"text", json_text(text), "candidates", candidates));
}

size_t
experiment_nr_points(const struct experiment *experiment)
{
	return experiment->nr_points;
}

void
experiment_delete(struct experiment *experiment)
{
	if (!experiment)
		return;
	progress_end();
	for (size_t i = 0; i < experiment->nr_points; i++)
		experiment_point_clear(&experiment->points[i]);
	for (size_t i = 0; i < experiment->nr_functions; i++)
		experiment_point_clear(&experiment->functions[i]);
	peak_list_clear(&experiment->roof);
	json_decref(experiment->choices);
	pool_clear(&experiment->pool);
	free(experiment);
}

/* How and when it was measured, which may be long ago: below the table. Nothing where nobody knows. */
static void
print_dates(const struct experiment *experiment, const json_t *measured, FILE *out)
{
	const char *first = json_text_at(measured, "first"), *last = json_text_at(measured, "last");
	const int length = (int)strlen("2026-11-22T20:31");
	const bool is_short = strncmp(first, last, (size_t)length) == 0;
	autofree char *text = NULL, *states = rot_strdup(""); /* " with cold caches" */

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const char *state = json_text_at(experiment->points[i].json, "cacheState");

		if (!strstr(states, state))
			rot_append(&states, " %s %s", *states ? "and" : "with", state);
	}
	text = is_short ? rot_format("measured at %.*s UTC%s", length, first, states)
			: rot_format("measured from %.*s to %.*s UTC%s", length, first, length, last, states);
	if (*first)
		text_print_fitting(text, out);
}

int
experiment_write(struct experiment *experiment, bool is_complete, struct rot_error *err)
{
	autofree char *path = rot_format("%s.json", experiment->output_name);
	json_auto_t *json = NULL;
	int rc;

	experiment_derive(experiment);
	experiment_check_ceilings(experiment);
	json = experiment_json(experiment, is_complete);
	progress_clear();
	experiment_print_table(experiment, json, stdout);
	print_dates(experiment, json_object_get(json, "measured"), stdout);
	if (!is_complete)
		printf("Not complete: stopped after %zu point%s%s.\n", experiment->nr_points,
		       rot_plural((double)experiment->nr_points),
		       experiment->has_fewer_runs ? ", some of them of fewer runs than were asked for" : "");
	experiment_print_failures(experiment, stdout);
	fflush(stdout);
	rc = output_write_json(json, path, err);
	if (rc == 0)
		rc = experiment_write_csv(experiment, json, experiment->output_name, err);
	if (rc == 0)
		rc = experiment_write_plots(experiment, &(struct page_result){"", json}, 1, err);
	output_print_told();
	if (rc == 0 && experiment_nr_failures(experiment) == 0)
		experiment_tell_next(experiment);
	if (rc == 0)
		rc = tell_failures(experiment, err);
	if (rc == 0)
		rc = experiment_check_strict(experiment, path, err);
	return rc;
}

/* ---- programs ---- */

/* The points of one program: the whole first. */
struct parts {
	struct experiment_point *points;
	size_t nr;
};

/* The given axes, with "region" in its place or at the end. */
static struct experiment_point
region_at(const struct experiment_position *whole, const char *region)
{
	const size_t nr = whole->at.nr_coordinates;
	autofree struct coordinate *coordinates = rot_calloc(nr + 1, sizeof(*coordinates));
	autofree char *series = rot_format("%s%s%s", whole->series, whole->series[0] ? " " : "", region);
	size_t i = 0;

	if (nr > 0)
		memcpy(coordinates, whole->at.coordinates, nr * sizeof(*coordinates));
	while (i < nr && strcmp(coordinates[i].axis, "region") != 0)
		i++;
	coordinates[i] = (struct coordinate){.axis = "region", .number = NAN, .text = region};
	return experiment_point_at(
		&(struct experiment_position){series, whole->label, {coordinates, i == nr ? nr + 1 : nr}});
}

/* A program that uses this much more than a CPU is a single thread with helpers. */
#define ALONE 0.15

static void
keep(struct experiment *experiment, struct parts *parts, const struct program_workload *workload,
     const struct experiment_requests *requests, struct program_quantities *quantities)
{
	struct experiment_point *whole = &parts->points[0];

	for (size_t i = 0; i < parts->nr; i++) {
		/* The values move into the point. */
		struct experiment_point *point = &parts->points[i];
		struct program_values *values = i == 0 ? &quantities->total : &quantities->regions[i - 1];

		point->requests = pool_copy(&point->pool, requests->items, requests->nr, sizeof(*point->requests));
		point->values = pool_own(&point->pool, values->values, free);
		point->nr_values = values->nr;
		*values = (struct program_values){.nr = 0};
	}
	experiment_use_cpus(experiment, quantities->nr_cpus - ALONE);
	for (size_t i = 0; i < quantities->nr_notes; i++)
		texts_add(&whole->pool, &whole->notes, quantities->notes[i]);
	json_object_update_new(whole->json, json_pack("{s:o, s:O*, s:O*}", "program", experiment_json_program(workload),
						      "rules", quantities->rule_outputs, "passes", quantities->passes));
	origin_merge(experiment->origin, quantities->origin);
	for (size_t i = 0; i < parts->nr; i++)
		experiment_keep_point(experiment, &parts->points[i]);
}

int
experiment_add_program(struct experiment *experiment, const struct experiment_position *position,
		       struct program_workload *workload, const struct quantity_request *requests, size_t nr_requests,
		       int nr_runs, size_t max_passes, struct rot_error *err)
{
	struct parts parts = {.nr = 1 + program_workload_nr_regions(workload)};
	struct experiment_requests all = {0};
	struct program_quantities quantities = {.nr_regions = 0};
	const struct quantity_effort effort = experiment_effort(experiment, nr_runs);
	int rc = 0;

	parts.points = rot_calloc(parts.nr, sizeof(*parts.points));
	parts.points[0] = experiment_point_at(position);
	for (size_t i = 1; i < parts.nr; i++)
		parts.points[i] = region_at(position, program_workload_regions_at(workload, i - 1)->name);
	begin_point(experiment);
	for (size_t i = 0; rc == 0 && i < parts.nr; i++)
		rc = experiment_gather(experiment, &parts.points[i], requests, nr_requests, &all, err);
	if (rc == 0)
		rc = program_quantities_measure(experiment->rot, workload, all.items, all.nr, &effort, max_passes,
						&quantities, err);
	if (rc == 0 && !experiment->is_ahead)
		keep(experiment, &parts, workload, &all, &quantities);
	for (size_t i = 0; (rc < 0 || experiment->is_ahead) && i < parts.nr; i++)
		experiment_point_clear(&parts.points[i]);
	program_quantities_clear(&quantities);
	free(parts.points);
	free(all.items);
	return rc;
}
