/* SPDX-License-Identifier: MIT */
/* The plots, tables and named values that an experiment is asked for, and the points that these show. */
#include <math.h>
#include <string.h>

#include "base/configuration.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/vocabulary.h"

/* ---- plots ---- */

struct experiment_plot
experiment_plot_default(enum experiment_plot_kind kind)
{
	struct experiment_plot plot = {.kind = kind, .labels = EXPERIMENT_LABELS_ENDS};

	plot.name = plot.title = plot.x = plot.y = plot.x_label = plot.x_unit = plot.y_label = plot.y_unit = "";
	plot.point_label = plot.annotation = plot.key_position = plot.condition = plot.best = plot.difference_from = "";
	plot.x_low = plot.x_high = plot.y_low = plot.y_high = NAN;
	return plot;
}

static int
parse_plot(const struct experiment *experiment, struct experiment_own_plot *own, struct rot_error *err)
{
	const struct experiment_plot *plot = &own->plot;
	struct rot_error ignored;

	if (plot->kind == EXPERIMENT_SERIES && experiment_has_derived(experiment, plot->y))
		own->y = (struct quantity_request){0};
	else if (quantity_parse(&own->y, plot->y, err) < 0)
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
	if (!quantity_same_word(own->x.operation, own->y.operation))
		return rot_error_set(err, 0, "a roofline whose x counts '%s' and whose y counts '%s'",
				     own->x.operation ? own->x.operation : "",
				     own->y.operation ? own->y.operation : "");
	return 0;
}

int
experiment_add_plot(struct experiment *experiment, const struct experiment_plot *plot, struct rot_error *err)
{
	struct experiment_own_plot own = {.plot = *plot};

	if (*plot->key_position && !configuration_key_takes("keyPosition", plot->key_position)) {
		rot_error_set(err, 0, "a plot's keyPosition cannot be '%s'", plot->key_position);
		return rot_error_hint(err, "it is one of: %s", configuration_key_find("keyPosition")->choices);
	}
	for (size_t i = 0; i < experiment->nr_plots; i++)
		if (strcmp(experiment->plots[i].plot.name, own.plot.name) == 0) {
			rot_error_set(err, 0, "two plots with the name '%s'", own.plot.name);
			return rot_error_hint(err, "the files of a plot are OUTPUT-NAME.pdf, ...: give each another "
						   "name");
		}
	if (parse_plot(experiment, &own, err) < 0)
		return -1;
	pool_add(&experiment->pool, experiment->plots, experiment->nr_plots) = own;
	return 0;
}

void
experiment_add_curve(struct experiment *experiment, const char *name, const double *x, const double *y, size_t nr)
{
	struct experiment_own_plot *own = &experiment->plots[experiment->nr_plots - 1];
	struct pool *pool = &experiment->pool;
	struct experiment_curve curve = {name, pool_calloc(pool, nr, sizeof(*curve.points)), nr};

	for (size_t i = 0; i < nr; i++)
		curve.points[i] = (struct plot_point){
			.x = summary_single(x[i], "given"), .y = summary_single(y[i], "given"), .size = NAN};
	pool_add(pool, own->curves, own->nr_curves) = curve;
}

void
experiment_add_model(struct experiment *experiment, const char *name, const char *derived)
{
	struct experiment_own_plot *own = &experiment->plots[experiment->nr_plots - 1];

	pool_add(&experiment->pool, own->models, own->nr_models) = (struct experiment_model){name, derived};
}

void
experiment_add_marker(struct experiment *experiment, double x, const char *label)
{
	struct experiment_own_plot *own = &experiment->plots[experiment->nr_plots - 1];

	pool_add(&experiment->pool, own->markers, own->nr_markers) = (struct plot_marker){x, label};
}

int
experiment_name_value(struct experiment *experiment, const char *name, const char *quantity, bool is_everywhere,
		      struct rot_error *err)
{
	struct quantity_request request;

	if (quantity_parse(&request, quantity, err) < 0)
		return -1;
	pool_add(&experiment->pool, experiment->names, experiment->nr_names) =
		(struct experiment_value_name){name, request, is_everywhere};
	return 0;
}

/* ---- tables ---- */

int
experiment_add_table(struct experiment *experiment, const char *title, const char *condition, const char *best,
		     struct rot_error *err)
{
	struct experiment_own_table table = {.title = title, .condition = condition};

	if (best[0] && quantity_parse(&table.best, best, err) < 0)
		return rot_error_prefix(err, "table: best");
	pool_add(&experiment->pool, experiment->tables, experiment->nr_tables) = table;
	return 0;
}

int
experiment_add_column(struct experiment *experiment, const char *of, const char *heading, struct rot_error *err)
{
	struct experiment_column column = {.kind = COLUMN_AXIS, .axis = of, .heading = heading};
	struct experiment_own_table *table;
	struct rot_error ignored;

	if (strcmp(of, "series") == 0)
		column.kind = COLUMN_SERIES;
	else if (strcmp(of, "label") == 0)
		column.kind = COLUMN_LABEL;
	else if (experiment_has_derived(experiment, of))
		column.kind = COLUMN_DERIVED;
	else if (quantity_parse(&column.request, of, strchr(of, ':') ? err : &ignored) == 0)
		column.kind = COLUMN_QUANTITY;
	else if (strchr(of, ':'))
		return rot_error_prefix(err, "column");
	if (column.kind != COLUMN_QUANTITY)
		column.request = (struct quantity_request){0};
	if (experiment->nr_tables == 0)
		experiment_add_table(experiment, "", "", "", NULL);
	table = &experiment->tables[experiment->nr_tables - 1];
	pool_add(&experiment->pool, table->columns, table->nr_columns) = column;
	return 0;
}

/* ---- which points are shown, and what is measured for it ---- */

int
experiment_shows(const char *condition, const json_t *point, bool *shows, struct rot_error *err)
{
	autoscope struct expression_scope *scope = NULL;

	*shows = true;
	if (condition[0] == '\0')
		return 0;
	scope = experiment_place_scope(point);
	return expression_bool(scope, condition, shows, err);
}

/* Below everything where the point has none. */
static double
value_of(const struct experiment_point *point, const struct quantity_request *request)
{
	const struct quantity_value *value = experiment_point_value(point, request);

	return value && !isnan(value->summary.value) ? value->summary.value : -INFINITY;
}

/* Keeps the best of each series, where it stands; of equal ones the first. */
static size_t
keep_best(const struct experiment_point **points, size_t nr, const struct quantity_request *best)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		bool is_best = true;

		for (size_t j = 0; is_best && j < nr; j++) {
			double mine = value_of(points[i], best), other = value_of(points[j], best);

			if (strcmp(points[j]->series, points[i]->series) == 0)
				is_best = j < i ? mine > other : mine >= other;
		}
		if (is_best)
			points[nr + kept++] = points[i];
	}
	memmove(points, points + nr, kept * sizeof(*points));
	return kept;
}

int
experiment_choose(const struct experiment *experiment, const char *condition, const struct quantity_request *best,
		  const struct experiment_point ***points, size_t *nr, struct rot_error *err)
{
	autofree const struct experiment_point **chosen = rot_calloc(2 * experiment->nr_points + 1, sizeof(*chosen));
	size_t nr_chosen = 0;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		bool shows;

		if (experiment_shows(condition, experiment->points[i].json, &shows, err) < 0)
			return -1;
		if (shows)
			chosen[nr_chosen++] = &experiment->points[i];
	}
	*nr = best->name ? keep_best(chosen, nr_chosen, best) : nr_chosen;
	*points = rot_keep(&chosen);
	return 0;
}

/* ---- what is asked for at a point ---- */

static void
requests_add(struct experiment_requests *requests, const struct quantity_request *request)
{
	if (!request->name)
		return;
	for (size_t i = 0; i < requests->nr; i++)
		if (experiment_same_request(&requests->items[i], request))
			return;
	rot_add(requests->items, requests->nr) = *request;
}

int
experiment_gather(const struct experiment *experiment, const struct experiment_point *point,
		  const struct quantity_request *asked, size_t nr_asked, struct experiment_requests *requests,
		  struct rot_error *err)
{
	bool shows;

	for (size_t i = 0; i < nr_asked; i++)
		requests_add(requests, &asked[i]);
	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const struct experiment_own_plot *own = &experiment->plots[i];

		if (experiment_shows(own->plot.condition, point->json, &shows, err) < 0)
			return rot_error_prefix(err, "plot '%s'", own->plot.title);
		if (!shows)
			continue;
		requests_add(requests, &own->x);
		requests_add(requests, &own->y);
		requests_add(requests, &own->best);
	}
	for (size_t i = 0; i < experiment->nr_tables; i++) {
		const struct experiment_own_table *table = &experiment->tables[i];

		if (experiment_shows(table->condition, point->json, &shows, err) < 0)
			return rot_error_prefix(err, "table '%s'", table->title);
		if (!shows)
			continue;
		requests_add(requests, &table->best);
		for (size_t k = 0; k < table->nr_columns; k++)
			requests_add(requests, &table->columns[k].request);
	}
	for (size_t i = 0; i < experiment->nr_accuracies; i++) {
		const struct experiment_accuracy *own = &experiment->accuracies[i];

		if (experiment_shows(own->condition, point->json, &shows, err) < 0)
			return rot_error_prefix(err, "accuracy '%s'", own->title);
		if (shows)
			requests_add(requests, &own->of);
	}
	for (size_t i = 0; i < experiment->nr_names; i++)
		if (experiment->names[i].is_everywhere)
			requests_add(requests, &experiment->names[i].request);
	return 0;
}
