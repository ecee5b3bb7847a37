/* SPDX-License-Identifier: MIT */
/* The ceilings of an XML controller: groups of them, and the variants among which the best is looked for. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_work.h"
#include "memory.h"
#include "planning/xml_plan.h"

void
planned_ceiling_clear(struct planned_ceiling *planned)
{
	expression_scope_delete(planned->scope);
	free(planned->name);
	free(planned->operation);
	free(planned->border);
	free(planned->access);
	free(planned->instruction_set);
	for (size_t i = 0; i < planned->nr_axes; i++) {
		free(planned->axes[i].name);
		free(planned->axes[i].values);
	}
	free(planned->axes);
	for (size_t i = 0; i < planned->nr_seeds; i++)
		free(planned->seeds[i]);
	free(planned->seeds);
	rot_graph_delete(planned->measurement);
}

/* ---- what it is ---- */

/* The attribute evaluated; NULL without it. */
static int
evaluated_or_null(const xmlNode *element, const char *name, const struct expression_scope *scope, char **text,
		  struct rot_error *err)
{
	*text = NULL;
	if (!xmlHasProp(element, (const xmlChar *)name))
		return 0;
	*text = xml_evaluated(element, name, NULL, scope, err);
	return *text ? 0 : -1;
}

static int
check_request(const struct planned_ceiling *planned, struct rot_error *err)
{
	struct quantity_request ignored = {0};
	char *text;
	int rc;

	text = planned->operation ? rot_format("performance:%s", planned->operation)
				  : rot_format("throughput:%s", planned->border);
	rc = quantity_parse(&ignored, text, err);
	free(text);
	return rc < 0 ? xml_error_at(planned->element, err) : 0;
}

static int
plan_kind(struct planned_ceiling *planned, struct rot_error *err)
{
	char *throughput = NULL, *latency = NULL;
	int rc = -1;

	if (evaluated_or_null(planned->element, "performance", planned->scope, &planned->operation, err) < 0 ||
	    evaluated_or_null(planned->element, "throughput", planned->scope, &throughput, err) < 0 ||
	    evaluated_or_null(planned->element, "latency", planned->scope, &latency, err) < 0)
		goto out;
	if ((planned->operation != NULL) + (throughput != NULL) + (latency != NULL) != 1) {
		rot_error_set(err, 0, "<ceiling> needs either a performance or a throughput or a latency");
		rot_error_hint(err, "performance=\"doublePrecisionFlop\" or throughput=\"llcRam\"");
		xml_error_at(planned->element, err);
		goto out;
	}
	planned->is_latency = latency != NULL;
	planned->border = latency ? latency : throughput;
	latency = throughput = NULL;
	rc = check_request(planned, err);
out:
	free(throughput);
	free(latency);
	return rc;
}

/* An attribute whose expression gives one of two words; without it the second. */
static int
plan_choice(const struct planned_ceiling *planned, const char *name, const char *yes, const char *no, bool *is_yes,
	    struct rot_error *err)
{
	char *text = xml_evaluated(planned->element, name, no, planned->scope, err);
	int rc = text ? 0 : -1;

	*is_yes = text && strcmp(text, yes) == 0;
	if (text && !*is_yes && strcmp(text, no) != 0) {
		rot_error_set(err, 0, "<ceiling %s=\"%s\">: expected %s or %s", name, text, yes, no);
		rc = xml_error_at(planned->element, err);
	}
	free(text);
	return rc;
}

/* ---- what it varies over ---- */

static int
plan_axis_values(struct planned_axis *axis, const xmlNode *element, const struct point *points, size_t nr,
		 struct rot_error *err)
{
	axis->values = rot_calloc(nr, sizeof(*axis->values));
	for (size_t i = 0; i < nr; i++) {
		double number = points[i].coordinates[0].number;

		if (number != floor(number) || fabs(number) > INT_MAX) { /* also NaN */
			rot_error_set(err, 0, "the axis '%s' of a <ceiling> needs whole numbers", axis->name);
			return xml_error_at(element, err);
		}
		axis->values[axis->nr_values++] = (int)number;
	}
	return 0;
}

static int
plan_axis(const struct xml_controller *controller, struct planned_ceiling *planned, const xmlNode *element,
	  struct rot_error *err)
{
	struct planned_axis *axis;
	struct point *points = NULL;
	size_t nr = 0;
	int rc = xml_plan_space(controller, element, &element, 1, planned->scope, &points, &nr, err);

	if (rc < 0)
		return -1;
	planned->axes = rot_realloc(planned->axes, planned->nr_axes + 1, sizeof(*planned->axes));
	axis = &planned->axes[planned->nr_axes++];
	*axis = (struct planned_axis){.name = xml_attribute(element, "name", "")};
	rc = plan_axis_values(axis, element, points, nr, err);
	points_delete(points, nr);
	return rc;
}

static const struct planned_axis *
find_axis(const struct planned_ceiling *planned, const char *name)
{
	for (size_t i = 0; i < planned->nr_axes; i++)
		if (strcmp(planned->axes[i].name, name) == 0)
			return &planned->axes[i];
	return NULL;
}

/* Each of its attributes is an axis, but for the condition, and each axis is one of its attributes. */
static int
plan_seed(struct planned_ceiling *planned, const xmlNode *element, struct rot_error *err)
{
	int *seed = rot_calloc(planned->nr_axes + 1, sizeof(*seed));

	planned->seeds = rot_realloc(planned->seeds, planned->nr_seeds + 1, sizeof(*planned->seeds));
	planned->seeds[planned->nr_seeds++] = seed;
	for (const xmlAttr *attribute = element->properties; attribute; attribute = attribute->next) {
		const char *name = (const char *)attribute->name;

		if (strcmp(name, "if") == 0 || find_axis(planned, name))
			continue;
		rot_error_set(err, 0, "<seed> of '%s': there is no axis '%s'", planned->name, name);
		return xml_error_at(element, err);
	}
	for (size_t i = 0; i < planned->nr_axes; i++) {
		double number;

		if (xml_evaluated_number(element, planned->axes[i].name, NAN, planned->scope, &number, err) < 0)
			return -1;
		if (number != floor(number) || fabs(number) > INT_MAX) {
			rot_error_set(err, 0, "<seed> of '%s' lacks a whole number for the axis '%s'", planned->name,
				      planned->axes[i].name);
			return xml_error_at(element, err);
		}
		seed[i] = (int)number;
	}
	return 0;
}

static int
plan_variants(const struct xml_controller *controller, struct planned_ceiling *planned, struct rot_error *err)
{
	for (const xmlNode *axis = xml_child(planned->element, "axis"); axis; axis = xml_next(axis, "axis")) {
		char *name = xml_attribute(axis, "name", "");
		bool is_known = find_axis(planned, name) != NULL;

		if (is_known)
			rot_error_set(err, 0, "two axes are called '%s'", name);
		free(name);
		if (is_known)
			return xml_error_at(axis, err);
		if (plan_axis(controller, planned, axis, err) < 0)
			return -1;
	}
	for (const xmlNode *seed = xml_child(planned->element, "seed"); seed; seed = xml_next(seed, "seed")) {
		bool is_wanted;

		if (xml_condition(seed, planned->scope, &is_wanted, err) < 0 ||
		    (is_wanted && plan_seed(planned, seed, err) < 0))
			return -1;
	}
	return 0;
}

/* ---- a variant ---- */

/* The work of a run: as given, over the fields of the kernel; else what the kernel's definition says. */
static int
plan_work(const struct xml_controller *controller, const struct planned_ceiling *planned,
	  const struct measurement *measurement, const struct expression_scope *outer, double *work,
	  struct rot_error *err)
{
	const struct kernel_base *kernel = measurement_workloads_at(measurement, 0)->kernel;
	struct expression_scope *scope = expression_scope_new(outer);
	struct rot *rot = controller->rot;
	bool is_known;
	int rc;

	expression_scope_set_entity(scope, kernel);
	rc = xml_evaluated_number(planned->element, "work", NAN, scope, work, err);
	expression_scope_delete(scope);
	if (rc < 0 || !isnan(*work))
		goto check;
	rot_error_set(err, 0, "the kernel's definition does not say the work of '%s'", planned->name);
	is_known = planned->operation ? kernel_expected_operations(rot, kernel, planned->operation, work, err)
				      : kernel_expected_bytes(rot, kernel, planned->border, "both", work, err);
	if (!is_known)
		return xml_error_at(planned->element, err);
check:
	if (rc == 0 && !(*work > 0)) {
		rot_error_set(err, 0, "the work of '%s' is %g per run: expected more than 0", planned->name, *work);
		rc = xml_error_at(planned->element, err);
	}
	return rc;
}

int
xml_plan_ceiling_variant(const struct xml_controller *controller, const struct planned_ceiling *planned,
			 const int *coordinates, struct measurement **measurement, double *work, struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(planned->scope);
	int rc = -1;

	for (size_t i = 0; i < planned->nr_axes; i++)
		expression_scope_set_number(scope, planned->axes[i].name, coordinates[i]);
	*measurement = xml_plan_measurement(controller, planned->element, scope, err);
	if (*measurement)
		rc = plan_work(controller, planned, *measurement, scope, work, err);
	if (rc < 0) {
		rot_graph_delete(*measurement);
		*measurement = NULL;
	}
	expression_scope_delete(scope);
	return rc;
}

/* The first seed that the kernel takes, else the first value of each axis. */
static int
plan_first_variant(const struct xml_controller *controller, struct planned_ceiling *planned, struct rot_error *err)
{
	int *first = rot_calloc(planned->nr_axes + 1, sizeof(*first)), rc = -1;

	for (size_t i = 0; i < planned->nr_axes; i++)
		first[i] = planned->axes[i].values[0];
	for (size_t i = 0; rc < 0 && i < planned->nr_seeds; i++) {
		struct rot_error why = {0};

		rc = xml_plan_ceiling_variant(controller, planned, planned->seeds[i], &planned->measurement,
					      &planned->work, &why);
	}
	if (rc < 0)
		rc = xml_plan_ceiling_variant(controller, planned, first, &planned->measurement, &planned->work, err);
	free(first);
	return rc;
}

/* ---- all of it ---- */

int
xml_plan_ceiling(struct xml_controller *controller, const xmlNode *element, const struct point *at,
		 const struct point *inner, struct rot_error *err)
{
	struct planned_ceiling *planned;

	controller->ceilings =
		rot_realloc(controller->ceilings, controller->nr_ceilings + 1, sizeof(*controller->ceilings));
	planned = &controller->ceilings[controller->nr_ceilings++];
	*planned = (struct planned_ceiling){
		.element = element,
		.scope = expression_scope_new(controller->constants),
	};
	point_set_variables(at, planned->scope);
	if (inner)
		point_set_variables(inner, planned->scope);
	planned->name = xml_evaluated(element, "name", NULL, planned->scope, err);
	planned->access = planned->name ? xml_evaluated(element, "access", "", planned->scope, err) : NULL;
	planned->instruction_set =
		planned->access ? xml_evaluated(element, "instructionSet", "", planned->scope, err) : NULL;
	if (!planned->instruction_set || plan_kind(planned, err) < 0 ||
	    plan_choice(planned, "rare", "true", "false", &planned->is_rare, err) < 0 ||
	    plan_choice(planned, "threads", "1", "all", &planned->is_of_one_thread, err) < 0 ||
	    xml_plan_runs(element, planned->scope, &planned->nr_runs, err) < 0 ||
	    plan_variants(controller, planned, err) < 0)
		return -1;
	return plan_first_variant(controller, planned, err);
}

static int
plan_ceilings_at(struct xml_controller *controller, const xmlNode *group, const struct point *at,
		 const struct point *inner, const struct expression_scope *outer, struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(outer);
	int rc = 0;

	point_set_variables(inner, scope);
	for (const xmlNode *element = xml_child(group, "ceiling"); rc == 0 && element;
	     element = xml_next(element, "ceiling")) {
		bool is_wanted;

		rc = xml_condition(element, scope, &is_wanted, err);
		if (rc == 0 && is_wanted)
			rc = xml_plan_ceiling(controller, element, at, inner, err);
	}
	expression_scope_delete(scope);
	if (rc < 0 && inner->nr_coordinates > 0) {
		char *place = point_text(inner);

		rot_error_append(err, " (at %s)", place);
		free(place);
	}
	return rc;
}

int
xml_plan_ceilings(struct xml_controller *controller, const xmlNode *group, const struct point *at,
		  struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(controller->constants);
	struct point *points = NULL;
	size_t nr_points = 0;
	bool is_wanted;
	int rc;

	point_set_variables(at, scope);
	rc = xml_condition(group, scope, &is_wanted, err);
	if (rc == 0 && is_wanted)
		rc = xml_plan_inner_space(controller, group, scope, &points, &nr_points, err);
	for (size_t i = 0; rc == 0 && i < nr_points; i++)
		rc = plan_ceilings_at(controller, group, at, &points[i], scope, err);
	points_delete(points, nr_points);
	expression_scope_delete(scope);
	return rc;
}
