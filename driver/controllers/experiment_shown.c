/* SPDX-License-Identifier: MIT */
/* Which points plots and tables show, and what the tables have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/experiment_internal.h"
#include "memory.h"

/* ---- tables ---- */

int
experiment_add_table(struct experiment *experiment, const char *title, const char *condition, const char *best,
		     struct rot_error *err)
{
	struct experiment_own_table table = {.title = NULL};

	if (best && best[0] && quantity_parse(&table.best, best, err) < 0)
		return rot_error_prefix(err, "table: best");
	table.title = rot_strdup(title ? title : "");
	table.condition = rot_strdup(condition ? condition : "");
	experiment->tables = rot_realloc(experiment->tables, experiment->nr_tables + 1, sizeof(*experiment->tables));
	experiment->tables[experiment->nr_tables++] = table;
	return 0;
}

static struct experiment_own_table *
last_table(struct experiment *experiment)
{
	if (experiment->nr_tables == 0)
		experiment_add_table(experiment, NULL, NULL, NULL, NULL);
	return &experiment->tables[experiment->nr_tables - 1];
}

int
experiment_add_column(struct experiment *experiment, const char *of, const char *heading, struct rot_error *err)
{
	struct experiment_column column = {.kind = COLUMN_AXIS};
	struct experiment_own_table *table;
	struct rot_error ignored;
	size_t derived;

	if (strcmp(of, "series") == 0)
		column.kind = COLUMN_SERIES;
	else if (strcmp(of, "label") == 0)
		column.kind = COLUMN_LABEL;
	else if (experiment_find_derived(experiment, of, &derived))
		column.kind = COLUMN_DERIVED;
	else if (quantity_parse(&column.request, of, strchr(of, ':') ? err : &ignored) == 0)
		column.kind = COLUMN_QUANTITY;
	else if (strchr(of, ':'))
		return rot_error_prefix(err, "column");
	if (column.kind != COLUMN_QUANTITY)
		column.request = (struct quantity_request){0};
	column.axis = rot_strdup(of);
	column.heading = rot_strdup(heading);
	table = last_table(experiment);
	table->columns = rot_realloc(table->columns, table->nr_columns + 1, sizeof(*table->columns));
	table->columns[table->nr_columns++] = column;
	return 0;
}

void
experiment_table_clear(struct experiment_own_table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		free(table->columns[i].axis);
		free(table->columns[i].heading);
	}
	free(table->columns);
	free(table->title);
	free(table->condition);
}

/* ---- the points that are shown ---- */

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
