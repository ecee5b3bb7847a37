/* SPDX-License-Identifier: MIT */
/* Values that follow from others: of a point's quantities, of ceilings, and of what the processor's documents allow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/paths.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "support/json.h"
#include "support/point_title.h"

/* The members that are strings. */
static const char **
derived_string(struct experiment_derived *derived, size_t i)
{
	const char **const strings[] = {&derived->name,      &derived->unit,   &derived->condition,
					&derived->text,      &derived->border, &derived->instruction_set,
					&derived->operation, &derived->clock,  &derived->base};

	return i < sizeof(strings) / sizeof(*strings) ? strings[i] : NULL;
}

void
experiment_derived_clear(struct experiment_own_derived *own)
{
	for (size_t i = 0; derived_string(&own->derived, i); i++)
		free((char *)*derived_string(&own->derived, i));
}

void
experiment_add_derived(struct experiment *experiment, const struct experiment_derived *derived)
{
	struct experiment_own_derived own = {.derived = *derived};

	for (size_t i = 0; derived_string(&own.derived, i); i++) {
		const char *text = *derived_string(&own.derived, i);

		*derived_string(&own.derived, i) = rot_strdup(text ? text : "");
	}
	experiment->derived =
		rot_realloc(experiment->derived, experiment->nr_derived + 1, sizeof(*experiment->derived));
	experiment->derived[experiment->nr_derived++] = own;
}

const struct experiment_own_derived *
experiment_find_derived(const struct experiment *experiment, const char *name, size_t *i)
{
	for (*i = 0; *i < experiment->nr_derived; (*i)++)
		if (strcmp(experiment->derived[*i].derived.name, name) == 0)
			return &experiment->derived[*i];
	return NULL;
}

bool
experiment_has_derived(const struct experiment *experiment, const char *name)
{
	size_t i;

	return experiment_find_derived(experiment, name, &i) != NULL;
}

/* ---- peaks ---- */

static int
wish_of(const struct experiment_derived *derived, const struct expression_scope *scope, struct peak_wish *wish,
	struct rot_error *err)
{
	*wish = (struct peak_wish){
		.operation = expression_text(scope, derived->operation, err),
		.border = expression_text(scope, derived->border, err),
		.access = expression_text(scope, derived->text, err),
		.instruction_set = expression_text(scope, derived->instruction_set, err),
	};
	if (wish->operation && wish->border && wish->access && wish->instruction_set)
		return 0;
	peak_wish_clear(wish);
	return -1;
}

static bool
is_same_wish(const struct peak_wish *a, const struct peak_wish *b)
{
	return strcmp(a->operation, b->operation) == 0 && strcmp(a->border, b->border) == 0 &&
	       strcmp(a->access, b->access) == 0 && strcmp(a->instruction_set, b->instruction_set) == 0;
}

/* Takes the wish over. */
static void
add_wish(struct peak_wish **wishes, size_t *nr, struct peak_wish *wish)
{
	for (size_t i = 0; i < *nr; i++)
		if (is_same_wish(&(*wishes)[i], wish)) {
			peak_wish_clear(wish);
			return;
		}
	*wishes = rot_realloc(*wishes, *nr + 1, sizeof(**wishes));
	(*wishes)[(*nr)++] = *wish;
}

/* What follows from values that are derived before is not known yet: such a peak is not looked for, only used. */
static void
wish_at(const struct experiment *experiment, const struct experiment_point *point, struct peak_wish **wishes,
	size_t *nr)
{
	struct expression_scope *scope = experiment_scope(experiment, point, NULL);

	for (size_t i = 0; i < experiment->nr_derived; i++) {
		const struct experiment_derived *derived = &experiment->derived[i].derived;
		struct rot_error ignored = {0};
		struct peak_wish wish;
		bool is_wanted = true;

		if (derived->kind != EXPERIMENT_DERIVED_PEAK ||
		    (derived->condition[0] && expression_bool(scope, derived->condition, &is_wanted, &ignored) < 0) ||
		    !is_wanted || wish_of(derived, scope, &wish, &ignored) < 0)
			continue;
		add_wish(wishes, nr, &wish);
	}
	expression_scope_delete(scope);
}

size_t
experiment_wishes(const struct experiment *experiment, struct peak_wish **wishes)
{
	size_t nr = 0;

	*wishes = NULL;
	for (size_t i = 0; i < experiment->nr_points; i++)
		wish_at(experiment, &experiment->points[i], wishes, &nr);
	return nr;
}

static int
derive_peak(const struct experiment *experiment, const struct experiment_derived *derived,
	    const struct expression_scope *scope, double *number, struct rot_error *err)
{
	struct peak_wish wish;

	if (wish_of(derived, scope, &wish, err) < 0)
		return -1;
	*number = experiment_peak_value(experiment, &wish, derived->clock);
	peak_wish_clear(&wish);
	return 0;
}

/* ---- one value ---- */

/* The best of its name; NaN if there is none. */
static double
value_of_ceiling(const struct experiment *experiment, const char *name)
{
	double best = NAN;

	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		if (strcmp(experiment->ceilings[i].name, name) == 0)
			best = fmax(best, experiment->ceilings[i].best); /* of a number and NaN, the number */
	return best;
}

static int
derive_limit(const struct experiment *experiment, const struct architecture *architecture,
	     const struct experiment_derived *derived, const struct expression_scope *scope, double *number,
	     struct rot_error *err)
{
	char *border = expression_text(scope, derived->border, err);
	char *set = border ? expression_text(scope, derived->instruction_set, err) : NULL;
	char *access = set ? expression_text(scope, derived->text, err) : NULL;
	const struct architecture_limit *limit =
		access && architecture ? architecture_limit(architecture, (int)experiment->rot->machine->cpu_model,
							    border, access, set)
				       : NULL;
	int rc = access ? 0 : -1;

	*number = limit ? limit->per_cycle : NAN;
	free(border);
	free(set);
	free(access);
	return rc;
}

/* The values of the base, as variables. *has_base: is there such a point, or none asked for? */
static int
set_base(const struct experiment *experiment, const struct experiment_derived *derived,
	 const struct experiment_point *point, struct expression_scope *scope, bool *has_base, struct rot_error *err)
{
	char *series = expression_text(scope, derived->base, err);
	const struct experiment_point *base =
		series && *series ? experiment_find_point(experiment, series, point->label) : NULL;
	int rc = series ? 0 : -1;

	*has_base = !derived->base[0] || base;
	if (base)
		experiment_set_values(experiment, base, "base.", scope);
	free(series);
	return rc;
}

static int
derive_one(const struct experiment *experiment, const struct architecture *architecture,
	   const struct experiment_derived *derived, const struct expression_scope *scope,
	   struct experiment_derived_value *value, struct rot_error *err)
{
	char *name;

	switch (derived->kind) {
	case EXPERIMENT_DERIVED_NUMBER:
		return expression_number(scope, derived->text, &value->number, err);
	case EXPERIMENT_DERIVED_LIMIT:
		return derive_limit(experiment, architecture, derived, scope, &value->number, err);
	case EXPERIMENT_DERIVED_PEAK:
		return derive_peak(experiment, derived, scope, &value->number, err);
	case EXPERIMENT_DERIVED_TEXT:
		value->text = expression_text(scope, derived->text, err);
		return value->text ? 0 : -1;
	default:
		name = expression_text(scope, derived->text, err);
		if (name)
			value->number = value_of_ceiling(experiment, name);
		free(name);
		return name ? 0 : -1;
	}
}

/* ---- all of them ---- */

static void
set_variable(const char *name, const struct experiment_derived_value *value, struct expression_scope *scope)
{
	if (value->text)
		expression_scope_set_string(scope, name, value->text);
	else if (!isnan(value->number))
		expression_scope_set_number(scope, name, value->number);
}

void
experiment_set_derived(const struct experiment *experiment, const struct experiment_point *point,
		       struct expression_scope *scope)
{
	for (size_t i = 0; i < point->nr_derived; i++)
		set_variable(experiment->derived[i].derived.name, &point->derived[i], scope);
}

static void
tell_left_out(const struct experiment_own_derived *own, const struct experiment_point *point,
	      const struct rot_error *why)
{
	char *title = point_title(point->series, " ", point->label);

	rot_warning("%s of '%s' is left out: %s", own->derived.name, title, why->text);
	free(title);
}

/* What cannot be computed is missing; each of them is told once. */
static void
derive_at(struct experiment *experiment, const struct architecture *architecture, struct experiment_point *point)
{
	struct expression_scope *scope = experiment_scope(experiment, point, NULL);

	point->derived = rot_calloc(experiment->nr_derived + 1, sizeof(*point->derived));
	for (size_t i = 0; i < experiment->nr_derived; i++) {
		struct experiment_own_derived *own = &experiment->derived[i];
		struct experiment_derived_value value = {.number = NAN};
		struct rot_error why = {0};
		bool is_wanted = true, has_base = true;
		int rc = own->derived.condition[0] ? expression_bool(scope, own->derived.condition, &is_wanted, &why)
						   : 0;

		if (rc == 0 && is_wanted)
			rc = set_base(experiment, &own->derived, point, scope, &has_base, &why);
		if (rc == 0 && is_wanted && has_base) {
			rc = derive_one(experiment, architecture, &own->derived, scope, &value, &why);
			if (isnan(value.number))
				value.number = own->derived.otherwise;
		}
		if (rc < 0 && !own->is_told)
			tell_left_out(own, point, &why);
		own->is_told = own->is_told || rc < 0;
		point->derived[point->nr_derived++] = value;
		set_variable(own->derived.name, &value, scope);
	}
	expression_scope_delete(scope);
}

void
experiment_derive(struct experiment *experiment)
{
	char *folder = rot_format("%s/driver/architectures", experiment->rot->paths->data);
	struct rot_error why = {0};
	/* That of this processor, whether its events can be counted or not. */
	struct architecture *architecture =
		experiment->nr_derived ? architecture_load(folder, experiment->rot->machine, NULL, &why) : NULL;

	for (size_t i = 0; experiment->nr_derived && i < experiment->nr_points; i++)
		if (!experiment->points[i].derived)
			derive_at(experiment, architecture, &experiment->points[i]);
	architecture_delete(architecture);
	free(folder);
}

void
experiment_point_clear_derived(struct experiment_point *point)
{
	for (size_t i = 0; i < point->nr_derived; i++)
		free(point->derived[i].text);
	free(point->derived);
}

json_t *
experiment_json_derived(const struct experiment *experiment, const struct experiment_point *point)
{
	json_t *json = json_array();

	for (size_t i = 0; i < point->nr_derived; i++) {
		const struct experiment_derived *derived = &experiment->derived[i].derived;
		const struct experiment_derived_value *value = &point->derived[i];
		json_t *item;

		if (!value->text && isnan(value->number))
			continue;
		item = json_object();
		json_object_set_new(item, "name", json_text(derived->name));
		json_object_set_new(item, "unit", json_text(derived->unit));
		json_object_set_new(item, "value", value->text ? json_text(value->text) : json_number(value->number));
		json_array_append_new(json, item);
	}
	return json;
}
