/* SPDX-License-Identifier: MIT */
/* Points with their values, derived values, and what texts at a point see of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/paths.h"
#include "base/titles.h"
#include "base/utf8.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

void
experiment_point_clear(struct experiment_point *point)
{
	quantity_values_clear(point->values, point->nr_values);
	pool_clear(&point->pool);
}

struct experiment_point
experiment_point_at(const struct experiment_position *position)
{
	struct experiment_point point = {.nr_values = 0};
	autofree char *series = utf8_printable(position->series), *label = utf8_printable(position->label);
	json_t *coordinates = json_object();

	for (size_t i = 0; i < position->at.nr_coordinates; i++) {
		const struct coordinate *c = &position->at.coordinates[i];
		autofree char *text = isnan(c->number) ? utf8_printable(c->text) : NULL;

		json_object_set_new(coordinates, c->axis, text ? json_text(text) : json_number(c->number));
	}
	point.json =
		json_in_pool(&point.pool, json_pack("{s:o, s:o, s:o, s:s}", "series", json_text(series), "label",
						    json_text(label), "coordinates", coordinates, "cacheState", ""));
	point.series = json_text_at(point.json, "series");
	point.label = json_text_at(point.json, "label");
	return point;
}

const json_t *
experiment_point_on(const struct experiment_point *point, const char *axis)
{
	return json_object_get(json_object_get(point->json, "coordinates"), axis);
}

void
experiment_keep_point(struct experiment *experiment, const struct experiment_point *point)
{
	struct experiment_point *own = &pool_add(&experiment->pool, experiment->points, experiment->nr_points);
	autofree char *doubts = NULL;

	*own = *point;
	/* The runs took the same time for all values of a point: one note, of the first one that has any. */
	for (size_t i = 0; i < own->nr_values && !doubts; i++)
		doubts = value_doubts_text(&own->values[i]);
	texts_add(&own->pool, &own->notes, doubts);
	experiment_note_trust(own);
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
	for (size_t i = 0; i < point->nr_values && request->name; i++)
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

/* Makes the point's named values variables: PREFIXNAME, best.PREFIXNAME, ... */
static void
set_values(const struct experiment *experiment, const struct experiment_point *point, const char *prefix,
	   struct expression_scope *scope)
{
	for (size_t i = 0; i < experiment->nr_names; i++) {
		const struct quantity_value *value = experiment_point_value(point, &experiment->names[i].request);
		autofree char *name = rot_format("%s%s", prefix, experiment->names[i].name);
		autofree char *best = rot_format("best.%s", name);
		autofree char *quartile = rot_format("upperQuartile.%s", name);
		autofree char *expected = rot_format("expected.%s", name);

		if (value)
			expression_scope_set_number(scope, name, value->summary.value);
		if (value && isfinite(quantity_best_run(value)))
			expression_scope_set_number(scope, best, quantity_best_run(value));
		if (value && isfinite(quantity_upper_quartile(value)))
			expression_scope_set_number(scope, quartile, quantity_upper_quartile(value));
		if (value && isfinite(value->expected))
			expression_scope_set_number(scope, expected, value->expected);
	}
}

static void
set_variable(const char *name, const json_t *value, struct expression_scope *scope)
{
	if (json_is_string(value))
		expression_scope_set_string(scope, name, json_string_value(value));
	else
		expression_scope_set_number(scope, name, json_number_value(value));
}

struct expression_scope *
experiment_place_scope(const json_t *point)
{
	struct expression_scope *scope = expression_scope_new(NULL);
	const char *axis;
	json_t *coordinate;

	expression_scope_set_string(scope, "series", json_text_at(point, "series"));
	expression_scope_set_string(scope, "label", json_text_at(point, "label"));
	json_object_foreach(json_object_get(point, "coordinates"), axis, coordinate)
		set_variable(axis, coordinate, scope);
	return scope;
}

struct expression_scope *
experiment_scope(const struct experiment *experiment, const struct experiment_point *point,
		 const struct experiment_point *first)
{
	struct expression_scope *scope = experiment_place_scope(point->json);
	const json_t *derived;
	size_t i;

	set_values(experiment, point, "", scope);
	json_array_foreach(point->derived, i, derived)
		set_variable(json_text_at(derived, "name"), json_object_get(derived, "value"), scope);
	if (first)
		set_values(experiment, first, "first.", scope);
	return scope;
}

int
experiment_last_holds(const struct experiment *experiment, const char *condition, bool *holds, struct rot_error *err)
{
	autoscope struct expression_scope *scope =
		experiment_scope(experiment, &experiment->points[experiment->nr_points - 1], NULL);

	return expression_bool(scope, condition, holds, err);
}

/* ---- derived values ---- */

void
experiment_add_derived(struct experiment *experiment, const struct experiment_derived *derived)
{
	pool_add(&experiment->pool, experiment->derived, experiment->nr_derived) = *derived;
}

const struct experiment_derived *
experiment_find_derived(const struct experiment *experiment, const char *name)
{
	for (size_t i = 0; i < experiment->nr_derived; i++)
		if (strcmp(experiment->derived[i].name, name) == 0)
			return &experiment->derived[i];
	return NULL;
}

bool
experiment_has_derived(const struct experiment *experiment, const char *name)
{
	return experiment_find_derived(experiment, name) != NULL;
}

/* ---- peaks ---- */

static int
wish_of(struct pool *pool, const struct experiment_derived *derived, const struct expression_scope *scope,
	struct peak_wish *wish, struct rot_error *err)
{
	*wish = (struct peak_wish){
		.operation = pool_own(pool, expression_text(scope, derived->operation, err), free),
		.border = pool_own(pool, expression_text(scope, derived->border, err), free),
		.access = pool_own(pool, expression_text(scope, derived->text, err), free),
		.instruction_set = pool_own(pool, expression_text(scope, derived->instruction_set, err), free),
	};
	return wish->operation && wish->border && wish->access && wish->instruction_set ? 0 : -1;
}

/* What follows from values that are derived before is not known yet: such a peak is not looked for, only used. */
size_t
experiment_wishes(struct pool *pool, const struct experiment *experiment, struct peak_wish **wishes)
{
	size_t nr = 0, same;

	*wishes = NULL;
	for (size_t p = 0; p < experiment->nr_points; p++) {
		autoscope struct expression_scope *scope = experiment_scope(experiment, &experiment->points[p], NULL);

		for (size_t i = 0; i < experiment->nr_derived; i++) {
			const struct experiment_derived *derived = &experiment->derived[i];
			struct rot_error ignored = {0};
			struct peak_wish wish;
			bool is_wanted = true;

			if (derived->kind != EXPERIMENT_DERIVED_PEAK ||
			    (derived->condition[0] &&
			     expression_bool(scope, derived->condition, &is_wanted, &ignored) < 0) ||
			    !is_wanted || wish_of(pool, derived, scope, &wish, &ignored) < 0)
				continue;
			for (same = 0; same < nr; same++)
				if (strcmp((*wishes)[same].operation, wish.operation) == 0 &&
				    strcmp((*wishes)[same].border, wish.border) == 0 &&
				    strcmp((*wishes)[same].access, wish.access) == 0 &&
				    strcmp((*wishes)[same].instruction_set, wish.instruction_set) == 0)
					break;
			if (same == nr)
				pool_add(pool, *wishes, nr) = wish;
		}
	}
	return nr;
}

/* ---- one value ---- */

/* The best of the ceilings of a name, and of peaks. *value stays NULL where there is none. */
static int
derive_one(const struct experiment *experiment, const struct architecture *architecture,
	   const struct experiment_derived *derived, const struct expression_scope *scope, json_t **value,
	   struct rot_error *err)
{
	const bool is_of_peaks = derived->kind == EXPERIMENT_DERIVED_LIMIT || derived->kind == EXPERIMENT_DERIVED_PEAK;
	autopool pool = {0};
	autofree char *text = NULL;
	const struct architecture_limit *limit = NULL;
	struct peak_wish wish;
	double number = NAN;
	int rc = 0;

	if (derived->kind == EXPERIMENT_DERIVED_NUMBER) {
		rc = expression_number(scope, derived->text, &number, err);
	} else if (is_of_peaks) {
		rc = wish_of(&pool, derived, scope, &wish, err);
		if (rc == 0 && derived->kind == EXPERIMENT_DERIVED_PEAK)
			number = experiment_peak_value(experiment, &wish, derived->clock);
		else if (rc == 0 && architecture)
			limit = architecture_limit(architecture, (int)experiment->rot->machine->cpu_model, wish.border,
						   wish.access, wish.instruction_set);
		number = limit ? limit->per_cycle : number;
	} else {
		text = expression_text(scope, derived->text, err);
		rc = text ? 0 : -1;
	}
	for (size_t i = 0; text && derived->kind == EXPERIMENT_DERIVED_CEILING && i < experiment->nr_ceilings; i++)
		if (strcmp(experiment->ceilings[i].name, text) == 0)
			number = fmax(number, experiment->ceilings[i].value); /* of a number and NaN the number */
	if (isnan(number))
		number = derived->otherwise;
	if (text && derived->kind == EXPERIMENT_DERIVED_TEXT)
		*value = json_text(text);
	else if (isfinite(number))
		*value = json_number(number);
	return rc;
}

/* ---- all of them ---- */

/* What cannot be computed is missing; each of them is told once. */
static void
derive_at(struct experiment *experiment, const struct architecture *architecture, struct experiment_point *point)
{
	autoscope struct expression_scope *scope = experiment_scope(experiment, point, NULL);

	point->derived = json_in_pool(&point->pool, json_array());
	for (size_t i = 0; i < experiment->nr_derived; i++) {
		struct experiment_derived *derived = &experiment->derived[i];
		json_t *value = NULL;
		struct rot_error why = {0};
		const struct experiment_point *base = NULL;
		autofree char *series = NULL; /* of the base */
		bool is_wanted = true;
		int rc = derived->condition[0] ? expression_bool(scope, derived->condition, &is_wanted, &why) : 0;

		if (rc == 0 && is_wanted) {
			series = expression_text(scope, derived->base, &why);
			rc = series ? 0 : -1;
		}
		if (series && *series)
			base = experiment_find_point(experiment, series, point->label);
		if (base)
			set_values(experiment, base, "base.", scope);
		if (rc == 0 && is_wanted && (base || !derived->base[0]))
			rc = derive_one(experiment, architecture, derived, scope, &value, &why);
		if (rc < 0 && !derived->is_told) {
			autofree char *title = point_title(point->series, " ", point->label);

			rot_warning("%s of '%s' is left out: %s", derived->name, title, why.text);
		}
		derived->is_told = derived->is_told || rc < 0;
		if (!value)
			continue;
		set_variable(derived->name, value, scope);
		json_array_append_new(point->derived, json_pack("{s:o, s:o, s:o}", "name", json_text(derived->name),
								"unit", json_text(derived->unit), "value", value));
	}
}

void
experiment_derive(struct experiment *experiment)
{
	autofree char *folder = rot_format("%s/driver/architectures", experiment->rot->paths->data);
	struct rot_error why = {0};
	/* That of this processor, whether its events can be counted or not. */
	struct architecture *architecture =
		experiment->nr_derived ? architecture_load(folder, experiment->rot->machine, NULL, &why) : NULL;

	for (size_t i = 0; experiment->nr_derived && i < experiment->nr_points; i++)
		if (!experiment->points[i].derived)
			derive_at(experiment, architecture, &experiment->points[i]);
	architecture_delete(architecture);
}
