/* SPDX-License-Identifier: MIT */
/* Which points plots and tables show, and the quantities that these need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"

int
experiment_shows(const char *condition, const struct experiment_point *point, bool *shows, struct rot_error *err)
{
	struct expression_scope *scope;
	int rc;

	*shows = true;
	if (condition[0] == '\0')
		return 0;
	scope = expression_scope_new(NULL);
	expression_scope_set_string(scope, "series", point->series);
	expression_scope_set_string(scope, "label", point->label);
	point_set_variables(&point->at, scope);
	rc = expression_bool(scope, condition, shows, err);
	expression_scope_delete(scope);
	return rc;
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
	const struct experiment_point **chosen = rot_calloc(2 * experiment->nr_points + 1, sizeof(*chosen));
	size_t nr_chosen = 0;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		bool shows;

		if (experiment_shows(condition, &experiment->points[i], &shows, err) < 0) {
			free(chosen);
			return -1;
		}
		if (shows)
			chosen[nr_chosen++] = &experiment->points[i];
	}
	*nr = best->name ? keep_best(chosen, nr_chosen, best) : nr_chosen;
	*points = chosen;
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

int
experiment_gather(const struct experiment *experiment, const struct experiment_point *point,
		  const struct quantity_request *requests, size_t nr_requests, struct experiment_requests *all,
		  struct rot_error *err)
{
	for (size_t i = 0; i < nr_requests; i++)
		requests_add(all, &requests[i]);
	return add_shown(experiment, point, all, err);
}
