/* SPDX-License-Identifier: MIT */
/* What every controller does: collect points with their quantities and ceilings. */
#include "controllers/experiment.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/experiment_internal.h"
#include "controllers/output.h"
#include "controllers/value_text.h"
#include "memory.h"
#include "number.h"
#include "quantities/samples.h"
#include "rot.h"
#include "support/json.h"
#include "support/process.h"
#include "support/progress.h"

struct experiment *
experiment_new(struct rot *rot, const char *controller_name, const char *output_name, size_t nr_points_expected,
	       struct rot_error *err)
{
	struct experiment *experiment;
	int64_t runs = configuration_long(rot->configuration, "runs");

	if (runs > EXPERIMENT_MAX_RUNS) {
		rot_error_set(err, 0, "the key runs is %lld: at most %d", (long long)runs, EXPERIMENT_MAX_RUNS);
		return NULL;
	}
	if (output_name && output_check(output_name, err) < 0)
		return NULL;
	experiment = rot_calloc(1, sizeof(*experiment));
	experiment->rot = rot;
	experiment->controller_name = rot_strdup(controller_name);
	experiment->output_name = rot_strdup(output_name);
	experiment->configured_runs = (int)runs;
	progress_begin(nr_points_expected, configuration_bool(rot->configuration, "quiet"));
	return experiment;
}

void
experiment_keep_disturbed(struct experiment *experiment)
{
	experiment->keeps_disturbed = true;
}

/* ---- requests: their strings are constant, see quantity_parse ---- */

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static const char *
clock_of(const struct quantity_request *request)
{
	return request->clock && strcmp(request->clock, "auto") != 0 ? request->clock : "";
}

bool
experiment_same_request(const struct quantity_request *a, const struct quantity_request *b)
{
	return same_text(a->name, b->name) && same_text(a->operation, b->operation) &&
	       same_text(a->border, b->border) && same_text(clock_of(a), clock_of(b));
}

/* ---- what to show ---- */

struct experiment_plot
experiment_plot_default(enum experiment_plot_kind kind)
{
	return (struct experiment_plot){
		.kind = kind,
		.x_low = NAN,
		.x_high = NAN,
		.y_low = NAN,
		.y_high = NAN,
		.labels = EXPERIMENT_LABELS_ENDS,
	};
}

/* The members that are strings, so that copying and freeing need no list of their own each. */
static const char **
plot_string(struct experiment_plot *plot, size_t i)
{
	const char **const strings[] = {
		&plot->name,       &plot->title,           &plot->x,
		&plot->y,          &plot->x_label,         &plot->x_unit,
		&plot->y_label,    &plot->y_unit,          &plot->point_label,
		&plot->annotation, &plot->key_position,    &plot->condition,
		&plot->best,       &plot->difference_from,
	};

	return i < sizeof(strings) / sizeof(*strings) ? strings[i] : NULL;
}

static void
plot_clear(struct experiment_own_plot *own)
{
	for (size_t i = 0; plot_string(&own->plot, i); i++)
		free((char *)*plot_string(&own->plot, i));
	for (size_t i = 0; i < own->nr_curves; i++) {
		free(own->curves[i].name);
		free(own->curves[i].points);
	}
	free(own->curves);
	for (size_t i = 0; i < own->nr_markers; i++)
		free((char *)own->markers[i].label);
	free(own->markers);
}

static int
parse_plot(struct experiment_own_plot *own, struct rot_error *err)
{
	const struct experiment_plot *plot = &own->plot;
	struct rot_error ignored;

	if (quantity_parse(&own->y, plot->y, err) < 0)
		return rot_error_prefix(err, "plot: y");
	if (plot->best[0] && quantity_parse(&own->best, plot->best, err) < 0)
		return rot_error_prefix(err, "plot: best");
	if (plot->kind > EXPERIMENT_SERIES)
		return 0;
	if (plot->kind != EXPERIMENT_ROOFLINE) {
		if (quantity_parse(&own->x, plot->x, strchr(plot->x, ':') ? err : &ignored) == 0)
			return 0;
		own->x = (struct quantity_request){0};
		return strchr(plot->x, ':') ? rot_error_prefix(err, "plot: x") : 0;
	}
	if (quantity_parse(&own->x, plot->x, err) < 0)
		return rot_error_prefix(err, "plot: x");
	if (strcmp(own->x.name, "operationalIntensity") != 0 || strcmp(own->y.name, "performance") != 0) {
		rot_error_set(err, 0, "a roofline of '%s' over '%s'", own->y.name, own->x.name);
		return rot_error_hint(err, "its x is an operationalIntensity and its y a performance; "
					   "other plots are of type distribution or series");
	}
	if (!same_text(own->x.operation, own->y.operation))
		return rot_error_set(err, 0, "a roofline whose x counts '%s' and whose y counts '%s'",
				     own->x.operation ? own->x.operation : "",
				     own->y.operation ? own->y.operation : "");
	return 0;
}

static int
check_key_position(const struct experiment_plot *plot, struct rot_error *err)
{
	const char *word = plot->key_position ? plot->key_position : "", *choices;

	choices = configuration_key_find("keyPosition")->choices;
	if (!*word || configuration_key_takes("keyPosition", word))
		return 0;
	rot_error_set(err, 0, "a plot's keyPosition cannot be '%s'", word);
	return rot_error_hint(err, "it is one of: %s", choices);
}

int
experiment_add_plot(struct experiment *experiment, const struct experiment_plot *plot, struct rot_error *err)
{
	struct experiment_own_plot own = {.plot = *plot};

	if (check_key_position(plot, err) < 0)
		return -1;
	for (size_t i = 0; plot_string(&own.plot, i); i++)
		*plot_string(&own.plot, i) = rot_strdup(*plot_string(&own.plot, i));
	for (size_t i = 0; i < experiment->nr_plots; i++)
		if (same_text(experiment->plots[i].plot.name, own.plot.name)) {
			rot_error_set(err, 0, "two plots with the name '%s'", own.plot.name);
			rot_error_hint(err, "the files of a plot are OUTPUT-NAME.pdf, ...: give each another name");
			plot_clear(&own);
			return -1;
		}
	if (parse_plot(&own, err) < 0) {
		plot_clear(&own);
		return -1;
	}
	experiment->plots = rot_realloc(experiment->plots, experiment->nr_plots + 1, sizeof(*experiment->plots));
	experiment->plots[experiment->nr_plots++] = own;
	return 0;
}

void
experiment_add_curve(struct experiment *experiment, const char *name, const double *x, const double *y, size_t nr)
{
	struct experiment_own_plot *own = &experiment->plots[experiment->nr_plots - 1];
	struct experiment_curve curve = {rot_strdup(name), rot_calloc(nr + 1, sizeof(*curve.points)), nr};

	for (size_t i = 0; i < nr; i++)
		curve.points[i] = (struct plot_point){
			.x = summary_single(x[i], "given"), .y = summary_single(y[i], "given"), .size = NAN};
	own->curves = rot_realloc(own->curves, own->nr_curves + 1, sizeof(*own->curves));
	own->curves[own->nr_curves++] = curve;
}

void
experiment_add_marker(struct experiment *experiment, double x, const char *label)
{
	struct experiment_own_plot *own = &experiment->plots[experiment->nr_plots - 1];

	own->markers = rot_realloc(own->markers, own->nr_markers + 1, sizeof(*own->markers));
	own->markers[own->nr_markers++] = (struct plot_marker){x, rot_strdup(label)};
}

int
experiment_name_value(struct experiment *experiment, const char *name, const char *quantity, bool is_everywhere,
		      struct rot_error *err)
{
	struct quantity_request request;

	if (quantity_parse(&request, quantity, err) < 0)
		return -1;
	experiment->names = rot_realloc(experiment->names, experiment->nr_names + 1, sizeof(*experiment->names));
	experiment->names[experiment->nr_names++] =
		(struct experiment_value_name){rot_strdup(name), request, is_everywhere};
	return 0;
}

/* ---- measuring ---- */

static void
requests_add(struct experiment_requests *requests, const struct quantity_request *request)
{
	if (!request->name)
		return;
	for (size_t i = 0; i < requests->nr; i++)
		if (experiment_same_request(&requests->items[i], request))
			return;
	requests->items = rot_realloc(requests->items, requests->nr + 1, sizeof(*requests->items));
	requests->items[requests->nr++] = *request;
}

/* What columns, names and the plots that show the point need. */
static int
add_shown(const struct experiment *experiment, const struct experiment_point *point,
	  struct experiment_requests *requests, struct rot_error *err)
{
	bool shows;

	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const struct experiment_own_plot *own = &experiment->plots[i];

		if (experiment_shows(own->plot.condition, point, &shows, err) < 0)
			return rot_error_prefix(err, "plot '%s'", own->plot.title);
		if (!shows)
			continue;
		requests_add(requests, &own->x);
		requests_add(requests, &own->y);
		requests_add(requests, &own->best);
	}
	for (size_t i = 0; i < experiment->nr_tables; i++) {
		const struct experiment_own_table *table = &experiment->tables[i];

		if (experiment_shows(table->condition, point, &shows, err) < 0)
			return rot_error_prefix(err, "table '%s'", table->title);
		if (!shows)
			continue;
		requests_add(requests, &table->best);
		for (size_t k = 0; k < table->nr_columns; k++)
			requests_add(requests, &table->columns[k].request);
	}
	for (size_t i = 0; i < experiment->nr_accuracies; i++) {
		const struct experiment_own_accuracy *own = &experiment->accuracies[i];

		if (experiment_shows(own->condition, point, &shows, err) < 0)
			return rot_error_prefix(err, "accuracy '%s'", own->title);
		if (shows)
			requests_add(requests, &own->of);
	}
	for (size_t i = 0; i < experiment->nr_names; i++)
		if (experiment->names[i].is_everywhere)
			requests_add(requests, &experiment->names[i].request);
	return 0;
}

static const char *
cache_state_name(const struct kernel_base *kernel)
{
	static const char *const names[2][2] = {{"cold caches", "cold code, warm data"},
						{"warm code, cold data", "warm code and data"}};

	return names[kernel->warm_code][kernel->warm_data];
}

static char *
cache_state_of(const struct measurement *measurement)
{
	char *state = rot_strdup("");

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);
		const char *name =
			workload->kernel && !workload_is_load(workload) ? cache_state_name(workload->kernel) : "";

		if (!strstr(state, name)) {
			char *longer = rot_format("%s%s%s", state, state[0] ? "; " : "", name);

			free(state);
			state = longer;
		}
	}
	return state;
}

void
experiment_take_hashes(struct experiment *experiment, char **hashes)
{
	for (size_t i = 0; hashes && hashes[i]; i++) {
		size_t known = 0;

		while (known < experiment->nr_hashes && strcmp(experiment->hashes[known], hashes[i]) != 0)
			known++;
		if (known < experiment->nr_hashes) {
			free(hashes[i]);
			continue;
		}
		experiment->hashes =
			rot_realloc(experiment->hashes, experiment->nr_hashes + 1, sizeof(*experiment->hashes));
		experiment->hashes[experiment->nr_hashes++] = hashes[i];
	}
	free(hashes);
}

static struct point
coordinates_copy(const struct coordinate *coordinates, size_t nr)
{
	struct point copy = {rot_calloc(nr ? nr : 1, sizeof(*copy.coordinates)), nr};

	for (size_t i = 0; i < nr; i++) {
		const struct coordinate *c = &coordinates[i];

		copy.coordinates[i] =
			(struct coordinate){rot_strdup(c->axis), c->number,
					    isnan(c->number) ? rot_strdup(c->text) : rot_number_in_full(c->number)};
	}
	return copy;
}

void
experiment_point_clear(struct experiment_point *point)
{
	for (size_t i = 0; i < point->nr_values; i++)
		quantity_value_clear(&point->values[i]);
	free(point->values);
	free(point->requests);
	for (size_t i = 0; i < point->at.nr_coordinates; i++) {
		free((char *)point->at.coordinates[i].axis);
		free((char *)point->at.coordinates[i].text);
	}
	free(point->at.coordinates);
	free(point->series);
	free(point->label);
	free(point->cache_state);
	for (size_t i = 0; i < point->nr_notes; i++)
		free(point->notes[i]);
	free(point->notes);
	rot_graph_delete(point->program);
	json_decref(point->rule_outputs);
	experiment_point_clear_derived(point);
}

struct experiment_point
experiment_point_at(const char *series, const char *label, const struct coordinate *coordinates, size_t nr_coordinates)
{
	return (struct experiment_point){
		.series = rot_strdup(series),
		.label = rot_strdup(label),
		.at = coordinates_copy(coordinates, nr_coordinates),
	};
}

/* The plots come last, when nobody may be looking any more. */
static void
warn_if_plots_will_fail(const struct experiment *experiment)
{
	char *gnuplot = experiment->nr_plots > 0 ? process_find("gnuplot") : NULL;

	if (experiment->nr_plots > 0 && !gnuplot)
		rot_warning("gnuplot is missing: plots will not be drawn, only their scripts written (apt-get install "
			    "gnuplot-nox)");
	free(gnuplot);
}

int
experiment_nr_runs(const struct experiment *experiment, int nr_runs)
{
	return experiment->configured_runs ? experiment->configured_runs : nr_runs;
}

struct quantity_effort
experiment_effort(const struct experiment *experiment, int nr_runs)
{
	const struct configuration *configuration = experiment->rot->configuration;

	return (struct quantity_effort){
		.nr_runs = experiment_nr_runs(experiment, nr_runs),
		.precision = experiment->configured_runs ? 0 : configuration_double(configuration, "precision"),
		.budget_s = configuration_double(configuration, "timeBudget"),
		.nr_starts = (int)configuration_long(configuration, "starts"),
		.wants_own_cost = true,
		.keeps_disturbed = experiment->keeps_disturbed,
	};
}

static int
measure_point(struct experiment *experiment, struct experiment_point *point, const struct measurement *measurement,
	      const struct experiment_requests *requests, int nr_runs, struct rot_error *err)
{
	struct quantity_value *values = rot_calloc(requests->nr + 1, sizeof(*values));
	char **hashes = NULL;
	const struct quantity_effort effort = experiment_effort(experiment, nr_runs);
	int rc = quantities_measure_with(experiment->rot, measurement, requests->items, requests->nr, &effort, values,
					 &hashes, &point->rule_outputs, err);

	if (rc < 0) {
		free(values);
		return -1;
	}
	experiment_take_hashes(experiment, hashes);
	point->values = values;
	point->requests = requests->items;
	point->nr_values = requests->nr;
	return 0;
}

void
experiment_begin_point(const struct experiment *experiment)
{
	if (experiment->nr_points == 0)
		warn_if_plots_will_fail(experiment);
	progress_point();
}

int
experiment_gather(const struct experiment *experiment, const struct experiment_point *point,
		  const struct quantity_request *requests, size_t nr_requests, struct experiment_requests *all,
		  struct rot_error *err)
{
	for (size_t i = 0; i < nr_requests; i++)
		requests_add(all, &requests[i]);
	return add_shown(experiment, point, all, err);
}

/* The runs took the same time for all values of a point: one note, of the first one that has any. */
static void
note_doubts(struct experiment_point *point)
{
	char *text = NULL;

	for (size_t i = 0; i < point->nr_values && !text; i++)
		text = value_doubts_text(&point->values[i]);
	if (!text)
		return;
	point->notes = rot_realloc(point->notes, point->nr_notes + 1, sizeof(*point->notes));
	point->notes[point->nr_notes++] = text;
}

void
experiment_keep_point(struct experiment *experiment, const struct experiment_point *point)
{
	experiment->points = rot_realloc(experiment->points, experiment->nr_points + 1, sizeof(*experiment->points));
	experiment->points[experiment->nr_points] = *point;
	note_doubts(&experiment->points[experiment->nr_points]);
	experiment_note_trust(&experiment->points[experiment->nr_points++]);
}

/* Of all workloads that are no loads, each with the threads of its library. */
static double
nr_threads_of(const struct measurement *measurement)
{
	double nr = 0;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);
		const struct kernel_base *kernel = workload->kernel;

		if (!workload_is_load(workload))
			nr += kernel && kernel->num_threads > 1 ? (double)kernel->num_threads : 1;
	}
	return nr;
}

int
experiment_add_point(struct experiment *experiment, const char *series, const char *label,
		     const struct coordinate *coordinates, size_t nr_coordinates, const struct measurement *measurement,
		     const struct quantity_request *requests, size_t nr_requests, int nr_runs, struct rot_error *err)
{
	struct experiment_point point = experiment_point_at(series, label, coordinates, nr_coordinates);
	struct experiment_requests all = {0};
	int rc;

	point.cache_state = cache_state_of(measurement);
	experiment_use_cpus(experiment, nr_threads_of(measurement));
	experiment_begin_point(experiment);
	rc = experiment_gather(experiment, &point, requests, nr_requests, &all, err);
	if (rc == 0)
		rc = measure_point(experiment, &point, measurement, &all, nr_runs, err);
	if (rc == 0) {
		experiment_keep_point(experiment, &point);
	} else {
		experiment_point_clear(&point);
		free(all.items);
	}
	return rc;
}

void
experiment_add_values(struct experiment *experiment, const char *series, const char *label,
		      const struct quantity_request *requests, struct quantity_value *values, size_t nr_values)
{
	struct experiment_point point = experiment_point_at(series, label, NULL, 0);

	point.cache_state = rot_strdup("");
	point.requests = rot_calloc(nr_values + 1, sizeof(*point.requests));
	point.values = rot_calloc(nr_values + 1, sizeof(*point.values));
	point.nr_values = nr_values;
	for (size_t i = 0; i < nr_values; i++) {
		point.requests[i] = requests[i];
		point.values[i] = values[i];
		values[i] = (struct quantity_value){.nr_samples = 0};
	}
	experiment_keep_point(experiment, &point);
}

void
experiment_add_choice(struct experiment *experiment, const char *name, const char *value, const char *text,
		      json_t *candidates)
{
	json_t *choice = json_object();

	if (!experiment->choices)
		experiment->choices = json_array();
	json_object_set_new(choice, "name", json_text(name));
	json_object_set_new(choice, "value", json_text(value));
	json_object_set_new(choice, "text", json_text(text));
	json_object_set(choice, "candidates", candidates);
	json_array_append_new(experiment->choices, choice);
}

size_t
experiment_nr_points(const struct experiment *experiment)
{
	return experiment->nr_points;
}

const struct quantity_value *
experiment_point_value(const struct experiment_point *point, const struct quantity_request *request)
{
	for (size_t i = 0; i < point->nr_values; i++)
		if (experiment_same_request(&point->requests[i], request))
			return &point->values[i];
	return NULL;
}

const struct experiment_point *
experiment_find_point(const struct experiment *experiment, const char *series, const char *label)
{
	for (size_t i = 0; i < experiment->nr_points; i++)
		if (strcmp(experiment->points[i].series, series) == 0 &&
		    strcmp(experiment->points[i].label, label) == 0)
			return &experiment->points[i];
	return NULL;
}

void
experiment_set_values(const struct experiment *experiment, const struct experiment_point *point, const char *prefix,
		      struct expression_scope *scope)
{
	for (size_t i = 0; i < experiment->nr_names; i++) {
		const struct quantity_value *value = experiment_point_value(point, &experiment->names[i].request);
		char *name = rot_format("%s%s", prefix, experiment->names[i].name);
		char *best = rot_format("best.%s", name), *quartile = rot_format("upperQuartile.%s", name),
		     *expected = rot_format("expected.%s", name);

		if (value)
			expression_scope_set_number(scope, name, value->summary.value);
		if (value && isfinite(experiment_best_run(value)))
			expression_scope_set_number(scope, best, experiment_best_run(value));
		if (value && isfinite(experiment_upper_quartile(value)))
			expression_scope_set_number(scope, quartile, experiment_upper_quartile(value));
		if (value && isfinite(value->expected))
			expression_scope_set_number(scope, expected, value->expected);
		free(expected);
		free(quartile);
		free(best);
		free(name);
	}
}

struct expression_scope *
experiment_scope(const struct experiment *experiment, const struct experiment_point *point,
		 const struct experiment_point *first)
{
	struct expression_scope *scope = expression_scope_new(NULL);

	expression_scope_set_string(scope, "series", point->series);
	expression_scope_set_string(scope, "label", point->label);
	point_set_variables(&point->at, scope);
	experiment_set_values(experiment, point, "", scope);
	experiment_set_derived(experiment, point, scope);
	if (first)
		experiment_set_values(experiment, first, "first.", scope);
	return scope;
}

int
experiment_last_holds(const struct experiment *experiment, const char *condition, bool *holds, struct rot_error *err)
{
	struct expression_scope *scope =
		experiment_scope(experiment, &experiment->points[experiment->nr_points - 1], NULL);
	int rc = expression_bool(scope, condition, holds, err);

	expression_scope_delete(scope);
	return rc;
}

/* ---- end ---- */

void
experiment_delete(struct experiment *experiment)
{
	if (!experiment)
		return;
	progress_end();
	for (size_t i = 0; i < experiment->nr_points; i++)
		experiment_point_clear(&experiment->points[i]);
	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		experiment_ceiling_clear(&experiment->ceilings[i]);
	for (size_t i = 0; i < experiment->nr_plots; i++)
		plot_clear(&experiment->plots[i]);
	for (size_t i = 0; i < experiment->nr_names; i++)
		free(experiment->names[i].name);
	for (size_t i = 0; i < experiment->nr_tables; i++)
		experiment_table_clear(&experiment->tables[i]);
	for (size_t i = 0; i < experiment->nr_accuracies; i++)
		experiment_accuracy_clear(&experiment->accuracies[i]);
	for (size_t i = 0; i < experiment->nr_derived; i++)
		experiment_derived_clear(&experiment->derived[i]);
	for (size_t i = 0; i < experiment->nr_hashes; i++)
		free(experiment->hashes[i]);
	for (size_t i = 0; i < experiment->nr_stored_machines; i++)
		free(experiment->stored_machines[i]);
	peak_list_clear(&experiment->roof);
	json_decref(experiment->choices);
	free(experiment->roof_note);
	free(experiment->stored_machines);
	free(experiment->points);
	free(experiment->ceilings);
	free(experiment->plots);
	free(experiment->names);
	free(experiment->tables);
	free(experiment->accuracies);
	free(experiment->derived);
	free(experiment->hashes);
	free(experiment->controller_name);
	free(experiment->output_name);
	free(experiment);
}

int
experiment_write(struct experiment *experiment, bool is_complete, struct rot_error *err)
{
	char *path = rot_format("%s.json", experiment->output_name);
	json_t *json;
	int rc;

	experiment_derive(experiment);
	experiment_check_ceilings(experiment);
	json = experiment_json(experiment, is_complete);
	progress_clear();
	experiment_print_table(experiment, stdout);
	if (!is_complete)
		printf("Not complete: stopped after %zu points.\n", experiment->nr_points);
	fflush(stdout);
	rc = output_write_json(json, path, err);
	json_decref(json);
	free(path);
	return rc < 0 ? -1 : experiment_write_plots(experiment, err);
}
