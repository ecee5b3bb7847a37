/* SPDX-License-Identifier: MIT */
/* Lines of plots that no point makes: curves of a theory, and markers at a value of x. */
#include <math.h>
#include <stdlib.h>

#include "controllers/experiment.h"
#include "controllers/xml_plan.h"

#define NR_CURVE_POINTS 200

/* y at x, the plot's x being a variable of that name. */
static int
evaluate_curve(const struct xml_controller *controller, const char *variable, const xmlNode *element, double x,
	       double *y, struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(controller->constants);
	int rc;

	expression_scope_set_number(scope, variable, x);
	rc = xml_evaluated_number(element, "y", NAN, scope, y, err);
	expression_scope_delete(scope);
	return rc;
}

/* From from to to, in steps of the same factor. */
int
xml_show_curve(const struct xml_controller *controller, struct experiment *experiment,
	       const struct experiment_plot *plot, const xmlNode *element, struct rot_error *err)
{
	double from, to, x[NR_CURVE_POINTS], y[NR_CURVE_POINTS];
	char *name;

	if (plot->kind == EXPERIMENT_ROOFLINE) {
		rot_error_set(err, 0, "<curve>: a roofline has none");
		return xml_error_at(element, err);
	}
	if (xml_evaluated_number(element, "from", NAN, controller->constants, &from, err) < 0 ||
	    xml_evaluated_number(element, "to", NAN, controller->constants, &to, err) < 0)
		return -1;
	if (!(from > 0 && to > from)) {
		rot_error_set(err, 0, "<curve> from %g to %g: expected 0 < from < to", from, to);
		return xml_error_at(element, err);
	}
	for (size_t i = 0; i < NR_CURVE_POINTS; i++) {
		x[i] = from * pow(to / from, (double)i / (NR_CURVE_POINTS - 1));
		if (evaluate_curve(controller, plot->x, element, x[i], &y[i], err) < 0)
			return -1;
	}
	name = xml_attribute(element, "name", "");
	experiment_add_curve(experiment, name, x, y, NR_CURVE_POINTS);
	free(name);
	return 0;
}

int
xml_show_marker(const struct xml_controller *controller, struct experiment *experiment,
		const struct experiment_plot *plot, const xmlNode *element, struct rot_error *err)
{
	char *label;
	double at;

	if (plot->kind == EXPERIMENT_ROOFLINE) {
		rot_error_set(err, 0, "<marker>: a roofline has none");
		return xml_error_at(element, err);
	}
	if (xml_evaluated_number(element, "at", NAN, controller->constants, &at, err) < 0)
		return -1;
	label = xml_attribute(element, "label", "");
	experiment_add_marker(experiment, at, label);
	free(label);
	return 0;
}
