/* SPDX-License-Identifier: MIT */
/* Points with their values, and what texts at a point see of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"

static struct point
coordinates_copy(const struct point *at)
{
	struct point copy = {rot_calloc(at->nr_coordinates + 1, sizeof(*copy.coordinates)), at->nr_coordinates};

	for (size_t i = 0; i < copy.nr_coordinates; i++) {
		const struct coordinate *c = &at->coordinates[i];

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
	json_decref(point->passes);
	experiment_point_clear_derived(point);
	experiment_bound_clear(&point->stored_bound);
}

struct experiment_point
experiment_point_at(const struct experiment_position *position)
{
	return (struct experiment_point){
		.series = rot_strdup(position->series),
		.label = rot_strdup(position->label),
		.at = coordinates_copy(&position->at),
	};
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

static const char *
clock_of(const struct quantity_request *request)
{
	return request->clock && strcmp(request->clock, "auto") != 0 ? request->clock : "";
}

bool
experiment_same_request(const struct quantity_request *a, const struct quantity_request *b)
{
	return quantity_same_word(a->name, b->name) && quantity_same_word(a->operation, b->operation) &&
	       quantity_same_word(a->border, b->border) && quantity_same_word(clock_of(a), clock_of(b));
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
		if (value && isfinite(quantity_best_run(value)))
			expression_scope_set_number(scope, best, quantity_best_run(value));
		if (value && isfinite(quantity_upper_quartile(value)))
			expression_scope_set_number(scope, quartile, quantity_upper_quartile(value));
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
