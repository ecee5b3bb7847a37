/* SPDX-License-Identifier: MIT */
/* Lines of plots that no point makes: curves of a theory, and markers at a value of x. */
#include <math.h>
#include <stdlib.h>

#include "controllers/xml_run_internal.h"
#include "machine/machine.h"

#define NR_CURVE_POINTS 200

/* What is being read: a line of the plot that was added last, which is plot. */
struct line {
	const struct xml_controller *controller;
	struct experiment *experiment;
	const struct experiment_plot *plot;
	const xmlNode *element;
};

/* The value of an attribute where that variable has a value. */
static int
evaluate(const struct line *line, const char *attribute, const char *variable, double of_variable, double *value,
	 struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(line->controller->constants);
	int rc;

	expression_scope_set_number(scope, variable, of_variable);
	rc = xml_evaluated_number(line->element, attribute, NAN, scope, value, err);
	expression_scope_delete(scope);
	return rc;
}

/* From from to to, in steps of the same factor; the plot's x is a variable of that name. */
static int
show_curve(const struct line *line, struct rot_error *err)
{
	const struct expression_scope *constants = line->controller->constants;
	double from, to, x[NR_CURVE_POINTS], y[NR_CURVE_POINTS];
	char *name;

	if (xml_evaluated_number(line->element, "from", NAN, constants, &from, err) < 0 ||
	    xml_evaluated_number(line->element, "to", NAN, constants, &to, err) < 0)
		return -1;
	if (!(from > 0 && to > from)) {
		rot_error_set(err, 0, "<curve> from %g to %g: expected 0 < from < to", from, to);
		return xml_error_at(line->element, err);
	}
	for (size_t i = 0; i < NR_CURVE_POINTS; i++) {
		x[i] = from * pow(to / from, (double)i / (NR_CURVE_POINTS - 1));
		if (evaluate(line, "y", line->plot->x, x[i], &y[i], err) < 0)
			return -1;
	}
	name = xml_attribute(line->element, "name", "");
	experiment_add_curve(line->experiment, name, x, y, NR_CURVE_POINTS);
	free(name);
	return 0;
}

static int
show_marker(const struct line *line, struct rot_error *err)
{
	char *label;
	double at;

	if (xml_evaluated_number(line->element, "at", NAN, line->controller->constants, &at, err) < 0)
		return -1;
	label = xml_attribute(line->element, "label", "");
	experiment_add_marker(line->experiment, at, label);
	free(label);
	return 0;
}

/* One for each level that is known, and larger than the one before. */
static int
show_cache_markers(const struct line *line, struct rot_error *err)
{
	const struct machine *machine = line->controller->rot->machine;
	const struct {
		double bytes;
		const char *label;
	} caches[] = {
		{(double)machine->l1_data_bytes, "L1"},
		{(double)machine->l2_bytes, "L2"},
		{(double)machine->llc_bytes, "last-level cache"},
	};
	double largest = 0, at;

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		if (caches[i].bytes <= largest)
			continue;
		largest = caches[i].bytes;
		if (evaluate(line, "at", "bytes", largest, &at, err) < 0)
			return -1;
		experiment_add_marker(line->experiment, at, caches[i].label);
	}
	return 0;
}

int
xml_show_lines(const struct xml_controller *controller, struct experiment *experiment,
	       const struct experiment_plot *plot, const xmlNode *element, struct rot_error *err)
{
	static const struct {
		const char *element;
		int (*show)(const struct line *line, struct rot_error *err);
	} kinds[] = {{"curve", show_curve}, {"marker", show_marker}, {"cacheMarkers", show_cache_markers}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (const xmlNode *e = xml_child(element, kinds[i].element); e; e = xml_next(e, kinds[i].element)) {
			const struct line line = {controller, experiment, plot, e};

			if (plot->kind == EXPERIMENT_ROOFLINE) {
				rot_error_set(err, 0, "<%s>: a roofline has none", kinds[i].element);
				return xml_error_at(e, err);
			}
			if (kinds[i].show(&line, err) < 0)
				return -1;
		}
	}
	return 0;
}
