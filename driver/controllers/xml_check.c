/* SPDX-License-Identifier: MIT */
/* What is shown of an XML controller, tried before anything is measured: on made-up values of its quantities. */
#include <math.h>
#include <stdlib.h>

#include "controllers/xml_run_internal.h"
#include "memory.h"
#include "nearest.h"

int
xml_check_x(const struct xml_controller *controller, const struct experiment *experiment, const char *x,
	    const xmlNode *element, struct rot_error *err)
{
	const char **names;
	struct quantity_request request = {0};
	struct rot_error ignored;
	const struct point *at = controller->nr_planned ? controller->planned[0].at : NULL;

	if (quantity_parse(&request, x, &ignored) == 0 || experiment_has_derived(experiment, x) || !at)
		return 0;
	for (size_t i = 0; point_coordinate(at, x) && i < controller->nr_planned; i++)
		if (isnan(point_coordinate(controller->planned[i].at, x)->number)) {
			rot_error_set(err, 0, "<plot x=\"%s\">: the axis has values that are no numbers", x);
			return xml_error_at(element, err);
		}
	if (point_coordinate(at, x))
		return 0;
	names = rot_calloc(at->nr_coordinates + 1, sizeof(*names));
	for (size_t i = 0; i < at->nr_coordinates; i++)
		names[i] = at->coordinates[i].axis;
	rot_error_set(err, 0, "<plot x=\"%s\">: neither an axis nor a quantity nor a derived value", x);
	rot_nearest_hint(err, x, names, at->nr_coordinates,
			 "name an axis of this controller, or one of 'rot list quantities'");
	free(names);
	return xml_error_at(element, err);
}

static void
set_made_up_value(struct expression_scope *scope, const char *prefix, const char *name, double value)
{
	char *whole = rot_format("%s%s", prefix, name);

	expression_scope_set_number(scope, whole, value);
	free(whole);
}

/*
 * Made-up values, all different, so that a text which divides by a difference of two does not fail for nothing. more:
 * those with other prefixes are so much larger.
 */
static void
set_made_up_values(const struct xml_controller *controller, const char *prefix, double more,
		   struct expression_scope *scope)
{
	double made_up = 1.25;

	for (size_t i = 0; i < controller->nr_elements; i++) {
		const xmlNode *parent = controller->elements[i];
		const xmlNode *q = xml_is(parent, "quantity") ? parent
				   : xml_is(parent, "point")  ? xml_child(parent, "quantity")
							      : NULL;

		for (; q; q = q == parent ? NULL : xml_next(q, "quantity")) {
			char *name = xml_attribute(q, "name", "");

			if (name[0]) {
				set_made_up_value(scope, prefix, name, made_up + more);
				made_up *= 1.75;
			}
			free(name);
		}
	}
}

/* The same for derived values, of the first elements of the file. */
static void
set_made_up_derived(const struct xml_controller *controller, size_t nr_elements, struct expression_scope *scope)
{
	double made_up = 3.75;

	for (size_t i = 0; i < nr_elements; i++) {
		const xmlNode *element = controller->elements[i];
		char *name = xml_is(element, "derived") ? xml_attribute(element, "name", "") : NULL;

		if (name && xmlHasProp(element, (const xmlChar *)"text"))
			expression_scope_set_string(scope, name, "text");
		else if (name)
			expression_scope_set_number(scope, name, made_up *= 1.25);
		free(name);
	}
}

/* A point of the experiment as its texts see it, with the derived values of the first elements. */
static struct expression_scope *
made_up_scope(const struct xml_controller *controller, size_t nr_elements)
{
	struct expression_scope *scope = expression_scope_new(NULL);

	expression_scope_set_string(scope, "series", controller->planned[0].series);
	expression_scope_set_string(scope, "label", controller->planned[0].label);
	point_set_variables(controller->planned[0].at, scope);
	set_made_up_values(controller, "", 0, scope);
	set_made_up_values(controller, "best.", 0.25, scope);
	set_made_up_values(controller, "upperQuartile.", 0.125, scope);
	set_made_up_values(controller, "expected.", 0.0625, scope);
	set_made_up_values(controller, "first.", 0.5, scope);
	set_made_up_derived(controller, nr_elements, scope);
	return scope;
}

static int
check_text(const struct expression_scope *scope, const char *text, const char *what, const xmlNode *element,
	   struct rot_error *err)
{
	char *result = expression_text(scope, text, err);

	if (!result) {
		rot_error_prefix(err, "<%s>: %s", element->name, what);
		return xml_error_at(element, err);
	}
	free(result);
	return 0;
}

int
xml_check_texts(const struct xml_controller *controller, const struct experiment_plot *plot, const xmlNode *element,
		struct rot_error *err)
{
	struct expression_scope *scope;
	int rc = 0;

	if (controller->nr_planned == 0)
		return 0;
	scope = made_up_scope(controller, controller->nr_elements);
	if (check_text(scope, plot->point_label, "pointLabel", element, err) < 0 ||
	    check_text(scope, plot->annotation, "annotation", element, err) < 0)
		rc = -1;
	expression_scope_delete(scope);
	return rc;
}

static int
attribute_error(const xmlNode *element, const char *name, struct rot_error *err)
{
	rot_error_prefix(err, "<%s %s>", element->name, name);
	return xml_error_at(element, err);
}

int
xml_check_condition(const struct xml_controller *controller, const char *condition, const char *what,
		    const xmlNode *element, struct rot_error *err)
{
	struct expression_scope *scope;
	bool holds;
	int rc = 0;

	if (controller->nr_planned == 0 || !condition[0])
		return 0;
	scope = made_up_scope(controller, 0);
	if (expression_bool(scope, condition, &holds, err) < 0)
		rc = attribute_error(element, what, err);
	expression_scope_delete(scope);
	return rc;
}

int
xml_check_derived(const struct xml_controller *controller, size_t i, const struct experiment_derived *derived,
		  struct rot_error *err)
{
	const xmlNode *element = controller->elements[i];
	struct expression_scope *scope;
	double number;
	bool holds;
	int rc = 0;

	if (controller->nr_planned == 0)
		return 0;
	scope = made_up_scope(controller, i);
	if (derived->base[0])
		set_made_up_values(controller, "base.", 0.75, scope);
	if (derived->condition[0] && expression_bool(scope, derived->condition, &holds, err) < 0)
		rc = attribute_error(element, "if", err);
	else if (derived->kind == EXPERIMENT_DERIVED_NUMBER &&
		 expression_number(scope, derived->text, &number, err) < 0)
		rc = attribute_error(element, "is", err);
	else if (check_text(scope, derived->base, "base", element, err) < 0)
		rc = -1;
	else if (derived->kind != EXPERIMENT_DERIVED_NUMBER &&
		 (check_text(scope, derived->text, "text", element, err) < 0 ||
		  check_text(scope, derived->border, "border", element, err) < 0 ||
		  check_text(scope, derived->operation, "operation", element, err) < 0 ||
		  check_text(scope, derived->instruction_set, "instructionSet", element, err) < 0))
		rc = -1;
	expression_scope_delete(scope);
	return rc;
}
