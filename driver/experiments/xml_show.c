/* SPDX-License-Identifier: MIT */
/* An XML controller shows its plots, tables, names of values and derived values. */
#include "experiments/xml_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "experiments/experiment.h"
#include "machine/machine.h"
#include "memory.h"
#include "nearest.h"
#include "planning/xml_plan.h"
#include "quantities/architecture.h"
#include "quantities/resolve.h"

/* The text of an attribute, "" where there is none: as long as the experiment. */
static const char *
text_of(struct experiment *experiment, const xmlNode *element, const char *attribute)
{
	return xml_unevaluated(experiment_pool(experiment), element, attribute, "");
}

/* ---- errors that would come after measuring, found before ---- */

/* An x of a plot that is no roofline: a quantity, a derived value, or an axis with numbers at every point. */
static int
check_x(const struct xml_controller *controller, const struct experiment *experiment, const char *x,
	const xmlNode *element, struct rot_error *err)
{
	autofree const char **names = NULL;
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
	return xml_error_at(element, err);
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
			autofree char *name = xml_attribute(q, "name", "");

			if (name[0]) {
				autofree char *whole = rot_format("%s%s", prefix, name);

				expression_scope_set_number(scope, whole, made_up + more);
				made_up *= 1.75;
			}
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
		autofree char *name = xml_is(element, "derived") ? xml_attribute(element, "name", "") : NULL;

		if (name && xmlHasProp(element, (const xmlChar *)"text"))
			expression_scope_set_string(scope, name, "text");
		else if (name)
			expression_scope_set_number(scope, name, made_up *= 1.25);
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
	autofree char *result = expression_text(scope, text, err);

	if (!result) {
		rot_error_prefix(err, "<%s>: %s", element->name, what);
		return xml_error_at(element, err);
	}
	return 0;
}

/* The texts at points, and the annotation of a plot. */
static int
check_texts(const struct xml_controller *controller, const struct experiment_plot *plot, const xmlNode *element,
	    struct rot_error *err)
{
	autoscope struct expression_scope *scope = NULL;
	int rc = 0;

	if (controller->nr_planned == 0)
		return 0;
	scope = made_up_scope(controller, controller->nr_elements);
	if (check_text(scope, plot->point_label, "pointLabel", element, err) < 0 ||
	    check_text(scope, plot->annotation, "annotation", element, err) < 0)
		rc = -1;
	return rc;
}

/* A condition that an attribute says. what: how it is called. */
static int
check_condition(const struct xml_controller *controller, const char *condition, const char *what,
		const xmlNode *element, struct rot_error *err)
{
	autoscope struct expression_scope *scope = NULL;
	bool holds;
	int rc = 0;

	if (controller->nr_planned == 0 || !condition[0])
		return 0;
	scope = made_up_scope(controller, 0);
	if (expression_bool(scope, condition, &holds, err) < 0)
		rc = xml_attribute_error(element, what, err);
	return rc;
}

/* The i-th element, a derived value, of what was derived before it. */
static int
check_derived(const struct xml_controller *controller, size_t i, const struct experiment_derived *derived,
	      struct rot_error *err)
{
	const xmlNode *element = controller->elements[i];
	autoscope struct expression_scope *scope = NULL;
	double number;
	bool holds;
	int rc = 0;

	if (controller->nr_planned == 0)
		return 0;
	scope = made_up_scope(controller, i);
	if (derived->base[0])
		set_made_up_values(controller, "base.", 0.75, scope);
	if (derived->condition[0] && expression_bool(scope, derived->condition, &holds, err) < 0)
		rc = xml_attribute_error(element, "if", err);
	else if (derived->kind == EXPERIMENT_DERIVED_NUMBER &&
		 expression_number(scope, derived->text, &number, err) < 0)
		rc = xml_attribute_error(element, "is", err);
	else if (check_text(scope, derived->base, "base", element, err) < 0)
		rc = -1;
	else if (derived->kind != EXPERIMENT_DERIVED_NUMBER &&
		 (check_text(scope, derived->text, "text", element, err) < 0 ||
		  check_text(scope, derived->border, "border", element, err) < 0 ||
		  check_text(scope, derived->operation, "operation", element, err) < 0 ||
		  check_text(scope, derived->instruction_set, "instructionSet", element, err) < 0))
		rc = -1;
	return rc;
}

/* ---- what plots and tables of accuracy see of runs ---- */

/* relativeTo and minimumOf. */
static int
read_view(const struct xml_controller *controller, struct sample_view *view, const xmlNode *element,
	  struct rot_error *err)
{
	double minimum_of;

	if (xml_attribute_is(element, "relativeTo", "minimum"))
		view->reference = SAMPLES_TO_MINIMUM;
	else if (xml_attribute_is(element, "relativeTo", "expected"))
		view->reference = SAMPLES_TO_EXPECTED;
	if (xml_evaluated_number(element, "minimumOf", 1, controller->constants, &minimum_of, err) < 0)
		return -1;
	if (minimum_of < 1 || minimum_of > CONFIGURATION_MAX_RUNS || minimum_of != floor(minimum_of)) {
		rot_error_set(err, 0, "minimumOf is %g: expected a whole number of runs", minimum_of);
		return xml_error_at(element, err);
	}
	view->minimum_of = (size_t)minimum_of;
	return 0;
}

static int
refuse_plot(const xmlNode *element, const char *what, struct rot_error *err)
{
	rot_error_set(err, 0, "<plot>: %s", what);
	return xml_error_at(element, err);
}

/* RelativeTo and minimumOf; then what a plot shows of runs, and whether that, and having an x, fits
 * its type. */
static int
read_runs(const struct xml_controller *controller, struct experiment_plot *plot, const xmlNode *element,
	  struct rot_error *err)
{
	const bool wants_ratio =
		xml_attribute_is(element, "show", "ratio") || xml_attribute_is(element, "show", "error");
	const bool has_x = xmlHasProp(element, (const xmlChar *)"x") != NULL;

	if (has_x && plot->kind > EXPERIMENT_SERIES)
		return refuse_plot(element, "histogram, runs and threads have no x", err);
	if (!has_x && plot->kind <= EXPERIMENT_SERIES)
		return refuse_plot(element, "roofline, distribution and series lack an x", err);
	if (read_view(controller, &plot->view, element, err) < 0)
		return -1;
	plot->has_view = xmlHasProp(element, (const xmlChar *)"show") || plot->kind > EXPERIMENT_SERIES;
	if (plot->has_view && (plot->kind == EXPERIMENT_ROOFLINE || plot->kind == EXPERIMENT_SERIES))
		return refuse_plot(element, "show is of distribution, histogram, runs and threads", err);
	if (!wants_ratio && plot->view.reference != SAMPLES_ALONE)
		return refuse_plot(element, "relativeTo is of what shows a ratio or an error", err);
	if (plot->view.reference == SAMPLES_TO_MINIMUM && plot->kind == EXPERIMENT_THREADS)
		return refuse_plot(element,
				   "relativeTo=\"minimum\" is of runs: threads are held against what is expected", err);
	if (plot->view.minimum_of > 1 && (!plot->has_view || plot->kind == EXPERIMENT_THREADS))
		return refuse_plot(element, "minimumOf is of what shows samples, a ratio or an error of each run", err);
	if (wants_ratio && plot->view.reference == SAMPLES_ALONE)
		plot->view.reference = SAMPLES_TO_EXPECTED;
	plot->view.is_error = xml_attribute_is(element, "show", "error");
	return 0;
}

/* ---- lines of plots that no point makes: curves of a theory, and markers at a value of x ---- */

#define NR_CURVE_POINTS 200

/* The element being read: a line of the plot that was added last, which is plot. */
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
	autoscope struct expression_scope *scope = expression_scope_new(line->controller->constants);

	expression_scope_set_number(scope, variable, of_variable);
	return xml_evaluated_number(line->element, attribute, NAN, scope, value, err);
}

/* From from to to, in steps of the same factor; the plot's x is a variable of that name. */
static int
show_curve(const struct line *line, struct rot_error *err)
{
	const struct expression_scope *constants = line->controller->constants;
	double from, to, x[NR_CURVE_POINTS], y[NR_CURVE_POINTS];

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
	experiment_add_curve(line->experiment, text_of(line->experiment, line->element, "name"), x, y, NR_CURVE_POINTS);
	return 0;
}

static int
show_model(const struct line *line, struct rot_error *err)
{
	const char *of = text_of(line->experiment, line->element, "of");

	if (!experiment_has_derived(line->experiment, of)) {
		rot_error_set(err, 0, "<model of=\"%s\">: no derived value has that name", of);
		return xml_error_at(line->element, err);
	}
	experiment_add_model(line->experiment, text_of(line->experiment, line->element, "name"), of);
	return 0;
}

static int
show_marker(const struct line *line, struct rot_error *err)
{
	double at;

	if (xml_evaluated_number(line->element, "at", NAN, line->controller->constants, &at, err) < 0)
		return -1;
	experiment_add_marker(line->experiment, at, text_of(line->experiment, line->element, "label"));
	return 0;
}

/* One for each level that is known, and larger than the one before. */
static int
show_cache_markers(const struct line *line, struct rot_error *err)
{
	const struct machine *machine = rot_facts(line->controller->rot);
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

/* Each <curve>, <model>, <marker> and <cacheMarkers> of the element of the plot that was added last, which is
 * plot. */
static int
show_lines(const struct xml_controller *controller, struct experiment *experiment, const struct experiment_plot *plot,
	   const xmlNode *element, struct rot_error *err)
{
	static const struct {
		const char *element;
		int (*show)(const struct line *line, struct rot_error *err);
	} kinds[] = {{"curve", show_curve},
		     {"model", show_model},
		     {"marker", show_marker},
		     {"cacheMarkers", show_cache_markers}};

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

static int
read_scale(struct xml_controller *controller, struct experiment *experiment, struct experiment_plot *plot,
	   const xmlNode *element, struct rot_error *err)
{
	bool is_x = xml_attribute_is(element, "axis", "x");
	double *low = is_x ? &plot->x_low : &plot->y_low, *high = is_x ? &plot->x_high : &plot->y_high;

	*(is_x ? &plot->x_label : &plot->y_label) = text_of(experiment, element, "label");
	*(is_x ? &plot->x_unit : &plot->y_unit) = text_of(experiment, element, "unit");
	*(is_x ? &plot->is_x_log : &plot->is_y_log) = xml_attribute_is(element, "logarithmic", "true");
	if (xml_evaluated_number(element, "from", NAN, controller->constants, low, err) < 0 ||
	    xml_evaluated_number(element, "to", NAN, controller->constants, high, err) < 0)
		return -1;
	if (*low >= *high) {
		rot_error_set(err, 0, "<scale> from %g to %g: from must be below to", *low, *high);
		return xml_error_at(element, err);
	}
	if ((*low <= 0 || *high <= 0) &&
	    (plot->kind == EXPERIMENT_ROOFLINE || xml_attribute_is(element, "logarithmic", "true"))) {
		rot_error_set(err, 0, "<scale>: from and to of a logarithmic axis must be above 0");
		return xml_error_at(element, err);
	}
	return 0;
}

static char *
annotation_of(const xmlNode *element)
{
	char *all = rot_strdup("");

	for (const xmlNode *a = xml_child(element, "annotation"); a; a = xml_next(a, "annotation")) {
		autofree char *text = xml_attribute(a, "text", "");

		rot_append(&all, "%s%s", all[0] ? "\n" : "", text);
	}
	return all;
}

/* Is the one word of a quantity the request's? Rates are offered with the clock of the configuration. */
static bool
is_word_of(const char *of, const struct quantity_request *request)
{
	const char *const words[] = {request->operation, request->border, request->clock};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i] && strcmp(of, words[i]) == 0)
			return true;
	return false;
}

/* Counts without events are of each point only where none has too much work for it. */
static bool
is_counted_of_all(const struct xml_controller *controller)
{
	enum step_obstacle obstacle = STEPS_CAN;
	struct rot_error ignored;
	double steps;

	for (size_t i = 0; obstacle == STEPS_CAN && i < controller->nr_planned; i++)
		if (step_obstacle_of_work(controller->rot, controller->rot->architecture,
					  controller->planned[i].measurement, &obstacle, &steps, &ignored) < 0)
			return false;
	return obstacle == STEPS_CAN;
}

/*
 * Counting without events is left out where the system refuses it and the user did not ask for it; the quantity is not
 * known then. A user who names a TLB asks for its misses.
 */
static bool
is_unknown(const struct xml_controller *controller, const struct quantity_offer *offer)
{
	const bool is_asked = strcmp(offer->name, "tlbMisses") == 0 &&
			      configuration_origin(controller->rot->configuration, "tlb") != CONFIGURATION_DEFAULT;

	return strcmp(offer->kind, "unavailable") == 0 ||
	       (!offer->of[0] && strcmp(offer->kind, "modelled") == 0 &&
		((offer->may_be_stepped && !is_asked) || !is_counted_of_all(controller)));
}

/* Can the quantity be measured here, of all points, or is it known in advance? If not, the plot shows its curves alone,
 * and without any it is left out. */
static bool
is_known_here(const struct xml_controller *controller, const char *quantity)
{
	struct quantity_request request = {0};
	autofree struct quantity_offer *offers = NULL;
	struct rot_error ignored;
	bool is_known = true;
	size_t nr;

	if (quantity_parse(&request, quantity, &ignored) < 0)
		return true; /* said where the plot is added */
	nr = quantity_offers(controller->rot, &offers);
	for (size_t i = 0; i < nr; i++)
		if (strcmp(offers[i].name, request.name) == 0 &&
		    (!offers[i].of[0] || is_word_of(offers[i].of, &request)) && is_unknown(controller, &offers[i]))
			is_known = false;
	return is_known;
}

static bool
is_optional_and_unknown(const struct xml_controller *controller, const xmlNode *element)
{
	autofree char *y = xml_attribute(element, "y", "");

	return xml_attribute_is(element, "optional", "true") && !is_known_here(controller, y);
}

static int
read_plot(struct xml_controller *controller, struct experiment *experiment, struct experiment_plot *plot,
	  const xmlNode *element, struct rot_error *err)
{
	static const char *const kinds[] = {"roofline", "distribution", "series", "histogram", "runs", "threads"};
	static const char *const labels[] = {"none", "ends", "all"};
	int seen[2] = {0};

	*plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (xml_attribute_is(element, "type", kinds[i]))
			plot->kind = (enum experiment_plot_kind)i;
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (xml_attribute_is(element, "labels", labels[i]))
			plot->labels = (enum experiment_labels)i;
	plot->name = text_of(experiment, element, "name");
	plot->title = text_of(experiment, element, "title");
	plot->x = text_of(experiment, element, "x");
	plot->y = text_of(experiment, element, "y");
	plot->point_label = text_of(experiment, element, "pointLabel");
	plot->key_position = text_of(experiment, element, "keyPosition");
	plot->condition = text_of(experiment, element, "if");
	plot->best = text_of(experiment, element, "best");
	plot->difference_from = text_of(experiment, element, "differenceFrom");
	if (plot->difference_from[0] && plot->kind != EXPERIMENT_SERIES) {
		rot_error_set(err, 0, "<plot differenceFrom>: only a plot of type series shows differences");
		return xml_error_at(element, err);
	}
	if (read_runs(controller, plot, element, err) < 0)
		return -1;
	if (is_optional_and_unknown(controller, element)) {
		plot->y = "time";
		plot->condition = "false()";
	}
	plot->annotation = pool_own(experiment_pool(experiment), annotation_of(element), free);
	plot->connect_same_size = xml_attribute_is(element, "connectSameSize", "true");
	plot->has_default_peaks = xml_child(element, "defaultPeaks") != NULL;
	plot->has_all_peaks =
		plot->has_default_peaks && xml_attribute_is(xml_child(element, "defaultPeaks"), "show", "all");
	for (const xmlNode *s = xml_child(element, "scale"); s; s = xml_next(s, "scale")) {
		if (seen[xml_attribute_is(s, "axis", "y")]++) {
			rot_error_set(err, 0, "<scale> is there twice for one axis");
			return xml_error_at(s, err);
		}
		if (read_scale(controller, experiment, plot, s, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- all ---- */

static int
show_plot(struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	  struct rot_error *err)
{
	struct experiment_plot plot;
	int rc;

	if (is_optional_and_unknown(controller, element) && !xml_child(element, "curve"))
		return 0;
	rc = read_plot(controller, experiment, &plot, element, err);
	if (rc == 0 && (plot.kind == EXPERIMENT_DISTRIBUTION || plot.kind == EXPERIMENT_SERIES))
		rc = check_x(controller, experiment, plot.x, element, err);
	if (rc == 0)
		rc = check_texts(controller, &plot, element, err);
	if (rc == 0)
		rc = check_condition(controller, plot.condition, "if", element, err);
	if (rc == 0 && experiment_add_plot(experiment, &plot, err) < 0)
		rc = xml_error_at(element, err);
	if (rc == 0)
		rc = show_lines(controller, experiment, &plot, element, err);
	return rc;
}

static int
show_names(struct experiment *experiment, const xmlNode *quantity, bool is_everywhere, struct rot_error *err)
{
	for (; quantity; quantity = xml_next(quantity, "quantity")) {
		const char *name = text_of(experiment, quantity, "name");
		autofree char *is = xml_attribute(quantity, "is", "");
		int rc = name[0] ? experiment_name_value(experiment, name, is, is_everywhere, err) : 0;

		if (rc < 0)
			return xml_error_at(quantity, err);
	}
	return 0;
}

static int
show_columns(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *table,
	     struct rot_error *err)
{
	for (const xmlNode *c = xml_child(table, "column"); c; c = xml_next(c, "column")) {
		const char *of = text_of(experiment, c, "of");
		struct quantity_request request = {0};
		const struct point *at = controller->nr_planned ? controller->planned[0].at : NULL;
		int rc = 0;

		if (strcmp(of, "series") != 0 && strcmp(of, "label") != 0 && !(at && point_coordinate(at, of)) &&
		    !experiment_has_derived(experiment, of))
			rc = quantity_parse(&request, of, err);
		if (rc == 0)
			rc = experiment_add_column(experiment, of, text_of(experiment, c, "heading"), err);
		if (rc < 0)
			return xml_error_at(c, err);
	}
	return 0;
}

static int
show_table(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *table,
	   struct rot_error *err)
{
	const char *title = text_of(experiment, table, "title"), *condition = text_of(experiment, table, "if"),
		   *best = text_of(experiment, table, "best");
	int rc = check_condition(controller, condition, "if", table, err);

	if (rc == 0 && experiment_add_table(experiment, title, condition, best, err) < 0)
		rc = xml_error_at(table, err);
	return rc < 0 ? -1 : show_columns(controller, experiment, table, err);
}

/* Names of quantities at the point, and where its series ends. */
static int
show_point(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *point,
	   struct rot_error *err)
{
	autofree char *until = xml_attribute(point, "until", "");
	int rc = check_condition(controller, until, "until", point, err);

	return rc < 0 ? -1 : show_names(experiment, xml_child(point, "quantity"), false, err);
}

static int
show_accuracy(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	      struct rot_error *err)
{
	struct experiment_accuracy accuracy = {.title = text_of(experiment, element, "title"),
					       .by = text_of(experiment, element, "by"),
					       .condition = text_of(experiment, element, "if")};
	const struct point *at = controller->nr_planned ? controller->planned[0].at : NULL;
	int rc = read_view(controller, &accuracy.view, element, err);

	if (rc == 0)
		rc = check_condition(controller, accuracy.condition, "if", element, err);
	if (rc == 0 && accuracy.by[0] && at && !point_coordinate(at, accuracy.by)) {
		rot_error_set(err, 0, "<accuracy by=\"%s\">: no axis is called that", accuracy.by);
		rc = xml_error_at(element, err);
	}
	if (rc == 0 && quantity_parse(&accuracy.of, text_of(experiment, element, "of"), err) < 0) {
		rot_error_prefix(err, "accuracy: of");
		rc = xml_error_at(element, err);
	}
	if (rc == 0)
		experiment_add_accuracy(experiment, &accuracy);
	return rc;
}

/* The series of the point itself comes before those of its regions. */
static int
check_series(const struct xml_controller *controller, const char *series, const xmlNode *element, struct rot_error *err)
{
	autofree const char **names = rot_calloc(controller->nr_planned + 1, sizeof(*names));
	bool is_there = controller->nr_planned == 0;

	for (size_t i = 0; i < controller->nr_planned; i++) {
		names[i] = controller->planned[i].series;
		is_there = is_there || strncmp(series, names[i], strlen(names[i])) == 0;
	}
	if (!is_there) {
		rot_error_set(err, 0, "<look series=\"%s\">: no series is called that", series);
		rot_nearest_hint(err, series, names, controller->nr_planned, "");
		xml_error_at(element, err);
	}
	return is_there ? 0 : -1;
}

static int
show_look(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	  struct rot_error *err)
{
	struct experiment_look look = {.series = text_of(experiment, element, "series"),
				       .colour = text_of(experiment, element, "colour"),
				       .marker = text_of(experiment, element, "marker")};
	int rc = xml_evaluated_number(element, "order", 0, controller->constants, &look.order, err);

	if (rc == 0)
		rc = check_series(controller, look.series, element, err);
	if (rc == 0 && experiment_add_look(experiment, &look, err) < 0) {
		rot_error_prefix(err, "<look>");
		rc = xml_error_at(element, err);
	}
	return rc;
}

/* ---- derived values ---- */

/* The one attribute that is there of those that say what it is. */
static const char *
kind_of_derived(const xmlNode *element, enum experiment_derived_kind *kind)
{
	static const char *const attributes[] = {
		[EXPERIMENT_DERIVED_NUMBER] = "is",       [EXPERIMENT_DERIVED_TEXT] = "text",
		[EXPERIMENT_DERIVED_CEILING] = "ceiling", [EXPERIMENT_DERIVED_LIMIT] = "limit",
		[EXPERIMENT_DERIVED_PEAK] = "peak",
	};

	*kind = EXPERIMENT_DERIVED_NUMBER;
	while (!xmlHasProp(element, (const xmlChar *)attributes[*kind]))
		(*kind)++;
	return attributes[*kind];
}

static int
show_derived(const struct xml_controller *controller, struct experiment *experiment, size_t i, struct rot_error *err)
{
	const xmlNode *element = controller->elements[i];
	struct experiment_derived derived = {.kind = EXPERIMENT_DERIVED_NUMBER};
	int rc;

	derived.name = text_of(experiment, element, "name");
	derived.text = text_of(experiment, element, kind_of_derived(element, &derived.kind));
	derived.unit = text_of(experiment, element, "unit");
	derived.condition = text_of(experiment, element, "if");
	derived.border = text_of(experiment, element, "border");
	derived.instruction_set = text_of(experiment, element, "instructionSet");
	derived.operation = text_of(experiment, element, "operation");
	derived.clock = text_of(experiment, element, "clock");
	derived.base = text_of(experiment, element, "base");
	rc = xml_evaluated_number(element, "otherwise", NAN, controller->constants, &derived.otherwise, err);
	if (rc == 0)
		rc = check_derived(controller, i, &derived, err);
	if (rc == 0)
		experiment_add_derived(experiment, &derived);
	return rc;
}

int
xml_show(struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	for (size_t i = 0; i < controller->nr_choices; i++) {
		const struct planned_choice *choice = &controller->choices[i];

		if (choice->text[0])
			experiment_add_choice(experiment, choice->name, choice->value, choice->text,
					      choice->candidates);
	}
	/* Columns may be of derived values, wherever these stand. */
	for (size_t i = 0; i < controller->nr_elements; i++)
		if (xml_is(controller->elements[i], "derived") && show_derived(controller, experiment, i, err) < 0)
			return -1;
	for (size_t i = 0; i < controller->nr_elements; i++) {
		const xmlNode *element = controller->elements[i];
		int rc = 0;

		if (xml_is(element, "plot"))
			rc = show_plot(controller, experiment, element, err);
		else if (xml_is(element, "table"))
			rc = show_table(controller, experiment, element, err);
		else if (xml_is(element, "quantity"))
			rc = show_names(experiment, element, true, err);
		else if (xml_is(element, "point"))
			rc = show_point(controller, experiment, element, err);
		else if (xml_is(element, "accuracy"))
			rc = show_accuracy(controller, experiment, element, err);
		else if (xml_is(element, "look"))
			rc = show_look(controller, experiment, element, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}
