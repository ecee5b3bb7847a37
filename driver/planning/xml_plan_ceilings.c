/* SPDX-License-Identifier: MIT */
/* The ceilings of an XML controller: groups of them, and the variants among which the best is looked for. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/kernel_work.h"
#include "memory.h"
#include "planning/xml_plan.h"

/* ---- what it is ---- */

/* The attribute evaluated; NULL without it. */
static int
evaluated_or_null(struct pool *pool, const struct planned_ceiling *planned, const char *name, char **text,
		  struct rot_error *err)
{
	*text = NULL;
	if (!xmlHasProp(planned->element, (const xmlChar *)name))
		return 0;
	*text = xml_evaluated(pool, planned->element, name, NULL, planned->scope, err);
	return *text ? 0 : -1;
}

static int
plan_kind(struct pool *pool, struct planned_ceiling *planned, struct rot_error *err)
{
	char *throughput, *latency;
	struct quantity_request ignored = {0};
	autofree char *text = NULL;

	if (evaluated_or_null(pool, planned, "performance", &planned->operation, err) < 0 ||
	    evaluated_or_null(pool, planned, "throughput", &throughput, err) < 0 ||
	    evaluated_or_null(pool, planned, "latency", &latency, err) < 0)
		return -1;
	if ((planned->operation != NULL) + (throughput != NULL) + (latency != NULL) != 1) {
		rot_error_set(err, 0, "<ceiling> needs either a performance or a throughput or a latency");
		rot_error_hint(err, "performance=\"doublePrecisionFlop\" or throughput=\"llcRam\"");
		return xml_error_at(planned->element, err);
	}
	planned->is_latency = latency != NULL;
	planned->border = latency ? latency : throughput;
	text = planned->operation ? rot_format("performance:%s", planned->operation)
				  : rot_format("throughput:%s", planned->border);
	return quantity_parse(&ignored, text, err) < 0 ? xml_error_at(planned->element, err) : 0;
}

/* An attribute whose expression gives one of two words; without it the second. */
static int
plan_choice(const struct planned_ceiling *planned, const char *name, const char *yes, const char *no, bool *is_yes,
	    struct rot_error *err)
{
	autopool pool = {0};
	const char *text = xml_evaluated(&pool, planned->element, name, no, planned->scope, err);

	if (!text)
		return -1;
	*is_yes = strcmp(text, yes) == 0;
	if (*is_yes || strcmp(text, no) == 0)
		return 0;
	rot_error_set(err, 0, "<ceiling %s=\"%s\">: expected %s or %s", name, text, yes, no);
	return xml_error_at(planned->element, err);
}

/* ---- what it varies over ---- */

static int
plan_axis(struct xml_controller *controller, struct planned_ceiling *planned, const xmlNode *element,
	  struct rot_error *err)
{
	struct pool *pool = &controller->pool;
	struct planned_axis *axis;
	struct point *points;
	size_t nr;

	if (xml_plan_space(controller, pool, element, &element, 1, planned->scope, &points, &nr, err) < 0)
		return -1;
	axis = &pool_add(pool, planned->axes, planned->nr_axes);
	axis->name = xml_unevaluated(pool, element, "name", "");
	axis->values = pool_calloc(pool, nr, sizeof(*axis->values));
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
plan_seed(struct pool *pool, struct planned_ceiling *planned, const xmlNode *element, struct rot_error *err)
{
	int *seed = pool_calloc(pool, planned->nr_axes, sizeof(*seed));

	pool_add(pool, planned->seeds, planned->nr_seeds) = seed;
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
plan_variants(struct xml_controller *controller, struct planned_ceiling *planned, struct rot_error *err)
{
	for (const xmlNode *axis = xml_child(planned->element, "axis"); axis; axis = xml_next(axis, "axis")) {
		autofree char *name = xml_attribute(axis, "name", "");

		if (find_axis(planned, name)) {
			rot_error_set(err, 0, "two axes are called '%s'", name);
			return xml_error_at(axis, err);
		}
		if (plan_axis(controller, planned, axis, err) < 0)
			return -1;
	}
	for (const xmlNode *seed = xml_child(planned->element, "seed"); seed; seed = xml_next(seed, "seed")) {
		bool is_wanted;

		if (xml_condition(seed, planned->scope, &is_wanted, err) < 0 ||
		    (is_wanted && plan_seed(&controller->pool, planned, seed, err) < 0))
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
	autoscope struct expression_scope *scope = expression_scope_new(outer);
	struct rot *rot = controller->rot;

	expression_scope_set_entity(scope, kernel);
	if (xml_evaluated_number(planned->element, "work", NAN, scope, work, err) < 0)
		return -1;
	if (isnan(*work)) {
		rot_error_set(err, 0, "the kernel's definition does not say the work of '%s'", planned->name);
		if (planned->operation ? !kernel_expected_operations(rot, kernel, planned->operation, work, err)
				       : !kernel_expected_bytes(rot, kernel, planned->border, "both", work, err))
			return xml_error_at(planned->element, err);
	}
	if (*work > 0)
		return 0;
	rot_error_set(err, 0, "the work of '%s' is %g per run: expected more than 0", planned->name, *work);
	return xml_error_at(planned->element, err);
}

int
xml_plan_ceiling_variant(const struct xml_controller *controller, const struct planned_ceiling *planned,
			 const int *coordinates, struct measurement **measurement, double *work, struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(planned->scope);
	autograph struct measurement *variant = NULL;

	*measurement = NULL;
	for (size_t i = 0; i < planned->nr_axes; i++)
		expression_scope_set_number(scope, planned->axes[i].name, coordinates[i]);
	variant = xml_plan_measurement(controller, planned->element, scope, err);
	if (!variant || plan_work(controller, planned, variant, scope, work, err) < 0)
		return -1;
	*measurement = rot_keep(&variant);
	return 0;
}

/* The first seed that the kernel takes, else the first value of each axis. */
static int
plan_first_variant(struct xml_controller *controller, struct planned_ceiling *planned, struct rot_error *err)
{
	autofree int *first = rot_calloc(planned->nr_axes + 1, sizeof(*first));
	int rc = -1;

	for (size_t i = 0; i < planned->nr_axes; i++)
		first[i] = planned->axes[i].values[0];
	for (size_t i = 0; rc < 0 && i < planned->nr_seeds; i++) {
		struct rot_error why = {0};

		rc = xml_plan_ceiling_variant(controller, planned, planned->seeds[i], &planned->measurement,
					      &planned->work, &why);
	}
	if (rc < 0)
		rc = xml_plan_ceiling_variant(controller, planned, first, &planned->measurement, &planned->work, err);
	pool_own(&controller->pool, planned->measurement, rot_graph_delete);
	return rc;
}

/* ---- all of it ---- */

int
xml_plan_ceiling(struct xml_controller *controller, const xmlNode *element, const struct point *at,
		 const struct point *inner, struct rot_error *err)
{
	struct pool *pool = &controller->pool;
	struct planned_ceiling *planned = &pool_add(pool, controller->ceilings, controller->nr_ceilings);

	planned->element = element;
	planned->scope = pool_own(pool, expression_scope_new(controller->constants), expression_scope_delete);
	point_set_variables(at, planned->scope);
	if (inner)
		point_set_variables(inner, planned->scope);
	planned->name = xml_evaluated(pool, element, "name", NULL, planned->scope, err);
	planned->access = planned->name ? xml_evaluated(pool, element, "access", "", planned->scope, err) : NULL;
	planned->instruction_set =
		planned->access ? xml_evaluated(pool, element, "instructionSet", "", planned->scope, err) : NULL;
	if (!planned->instruction_set || plan_kind(pool, planned, err) < 0 ||
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
	autoscope struct expression_scope *scope = expression_scope_new(outer);
	int rc = 0;

	point_set_variables(inner, scope);
	for (const xmlNode *element = xml_child(group, "ceiling"); rc == 0 && element;
	     element = xml_next(element, "ceiling")) {
		bool is_wanted;

		rc = xml_condition(element, scope, &is_wanted, err);
		if (rc == 0 && is_wanted)
			rc = xml_plan_ceiling(controller, element, at, inner, err);
	}
	if (rc < 0 && inner->nr_coordinates > 0) {
		autofree char *place = point_text(inner);

		rot_error_append(err, " (at %s)", place);
	}
	return rc;
}

int
xml_plan_ceilings(struct xml_controller *controller, const xmlNode *group, const struct point *at,
		  struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(controller->constants);
	autopool pool = {0};
	struct point *points;
	size_t nr_points = 0;
	bool is_wanted;

	point_set_variables(at, scope);
	if (xml_condition(group, scope, &is_wanted, err) < 0 ||
	    (is_wanted && xml_plan_inner_space(controller, &pool, group, scope, &points, &nr_points, err) < 0))
		return -1;
	for (size_t i = 0; i < nr_points; i++)
		if (plan_ceilings_at(controller, group, at, &points[i], scope, err) < 0)
			return -1;
	return 0;
}
