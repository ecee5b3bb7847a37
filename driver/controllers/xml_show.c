/* SPDX-License-Identifier: MIT */
/* What an XML controller shows: its plots, tables, names of values and derived values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/xml_run_internal.h"
#include "memory.h"
#include "nearest.h"
#include "quantities/architecture.h"

/* A plot being read: the strings of the struct, to be freed after it was added. */
struct reading {
	struct experiment_plot plot;
	char *owned[20];
	size_t nr_owned;
};

static const char *
own(struct reading *reading, char *text)
{
	return reading->owned[reading->nr_owned++] = text;
}

static void
reading_clear(struct reading *reading)
{
	for (size_t i = 0; i < reading->nr_owned; i++)
		free(reading->owned[i]);
}

static int
read_scale(struct xml_controller *controller, struct reading *reading, const xmlNode *element, struct rot_error *err)
{
	struct experiment_plot *plot = &reading->plot;
	bool is_x = xml_attribute_is(element, "axis", "x");
	double *low = is_x ? &plot->x_low : &plot->y_low, *high = is_x ? &plot->x_high : &plot->y_high;

	*(is_x ? &plot->x_label : &plot->y_label) = own(reading, xml_attribute(element, "label", ""));
	*(is_x ? &plot->x_unit : &plot->y_unit) = own(reading, xml_attribute(element, "unit", ""));
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
		char *text = xml_attribute(a, "text", ""),
		     *longer = rot_format("%s%s%s", all, all[0] ? "\n" : "", text);

		free(text);
		free(all);
		all = longer;
	}
	return all;
}

/* Of a quantity with one word: is it the request's? Rates are offered with the clock of the configuration. */
static bool
is_word_of(const char *of, const struct quantity_request *request)
{
	const char *const words[] = {request->operation, request->border, request->clock};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i] && strcmp(of, words[i]) == 0)
			return true;
	return false;
}

/* Counted by steps, so not of kernels that take too long, and nothing says what to expect of these. */
static bool
is_of_some_points(const struct rot *rot, const struct quantity_offer *offer)
{
	return !offer->of[0] && strcmp(offer->kind, "modelled") == 0 &&
	       (offer->may_be_stepped || rot->architecture->counts_by_steps);
}

static bool
is_unknown(const struct rot *rot, const struct quantity_offer *offer)
{
	return strcmp(offer->kind, "unavailable") == 0 || is_of_some_points(rot, offer);
}

/* Can the quantity be measured here, of all points, or is it known in advance? If not, the plot shows its curves alone,
 * and without any it is left out. */
static bool
is_known_here(struct rot *rot, const char *quantity)
{
	struct quantity_request request = {0};
	struct quantity_offer *offers;
	struct rot_error ignored;
	bool is_known = true;
	size_t nr;

	if (quantity_parse(&request, quantity, &ignored) < 0)
		return true; /* said where the plot is added */
	nr = quantity_offers(rot, &offers);
	for (size_t i = 0; i < nr; i++)
		if (strcmp(offers[i].name, request.name) == 0 && is_unknown(rot, &offers[i]) &&
		    (!offers[i].of[0] || is_word_of(offers[i].of, &request)))
			is_known = false;
	free(offers);
	return is_known;
}

static bool
is_optional_and_unknown(const struct xml_controller *controller, const xmlNode *element)
{
	char *y = xml_attribute(element, "y", "");
	bool is = xml_attribute_is(element, "optional", "true") && !is_known_here(controller->rot, y);

	free(y);
	return is;
}

static int
read_plot(struct xml_controller *controller, struct reading *reading, const xmlNode *element, struct rot_error *err)
{
	static const char *const kinds[] = {"roofline", "distribution", "series", "histogram", "runs", "threads"};
	static const char *const labels[] = {"none", "ends", "all"};
	struct experiment_plot *plot = &reading->plot;
	int seen[2] = {0};

	*plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (xml_attribute_is(element, "type", kinds[i]))
			plot->kind = (enum experiment_plot_kind)i;
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (xml_attribute_is(element, "labels", labels[i]))
			plot->labels = (enum experiment_labels)i;
	plot->name = own(reading, xml_attribute(element, "name", ""));
	plot->title = own(reading, xml_attribute(element, "title", ""));
	plot->x = own(reading, xml_attribute(element, "x", ""));
	plot->y = own(reading, xml_attribute(element, "y", ""));
	plot->point_label = own(reading, xml_attribute(element, "pointLabel", ""));
	plot->key_position = own(reading, xml_attribute(element, "keyPosition", ""));
	plot->condition = own(reading, xml_attribute(element, "if", ""));
	plot->best = own(reading, xml_attribute(element, "best", ""));
	plot->difference_from = own(reading, xml_attribute(element, "differenceFrom", ""));
	if (plot->difference_from[0] && plot->kind != EXPERIMENT_SERIES) {
		rot_error_set(err, 0, "<plot differenceFrom>: only a plot of type series shows differences");
		return xml_error_at(element, err);
	}
	if (xml_show_runs(controller, plot, element, err) < 0)
		return -1;
	if (is_optional_and_unknown(controller, element)) {
		plot->y = "time";
		plot->condition = "false()";
	}
	plot->annotation = own(reading, annotation_of(element));
	plot->connect_same_size = xml_attribute_is(element, "connectSameSize", "true");
	plot->has_default_peaks = xml_child(element, "defaultPeaks") != NULL;
	plot->has_all_peaks =
		plot->has_default_peaks && xml_attribute_is(xml_child(element, "defaultPeaks"), "show", "all");
	for (const xmlNode *s = xml_child(element, "scale"); s; s = xml_next(s, "scale")) {
		if (seen[xml_attribute_is(s, "axis", "y")]++) {
			rot_error_set(err, 0, "<scale> is there twice for one axis");
			return xml_error_at(s, err);
		}
		if (read_scale(controller, reading, s, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- all ---- */

static int
show_plot(struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	  struct rot_error *err)
{
	struct reading reading = {0};
	int rc;

	if (is_optional_and_unknown(controller, element) && !xml_child(element, "curve"))
		return 0;
	rc = read_plot(controller, &reading, element, err);
	if (rc == 0 && (reading.plot.kind == EXPERIMENT_DISTRIBUTION || reading.plot.kind == EXPERIMENT_SERIES))
		rc = xml_check_x(controller, experiment, reading.plot.x, element, err);
	if (rc == 0)
		rc = xml_check_texts(controller, &reading.plot, element, err);
	if (rc == 0)
		rc = xml_check_condition(controller, reading.plot.condition, "if", element, err);
	if (rc == 0 && experiment_add_plot(experiment, &reading.plot, err) < 0)
		rc = xml_error_at(element, err);
	if (rc == 0)
		rc = xml_show_lines(controller, experiment, &reading.plot, element, err);
	reading_clear(&reading);
	return rc;
}

static int
show_names(struct experiment *experiment, const xmlNode *quantity, bool is_everywhere, struct rot_error *err)
{
	for (; quantity; quantity = xml_next(quantity, "quantity")) {
		char *name = xml_attribute(quantity, "name", ""), *is = xml_attribute(quantity, "is", "");
		int rc = name[0] ? experiment_name_value(experiment, name, is, is_everywhere, err) : 0;

		free(name);
		free(is);
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
		char *of = xml_attribute(c, "of", ""), *heading = xml_attribute(c, "heading", "");
		struct quantity_request request = {0};
		const struct point *at = controller->nr_planned ? controller->planned[0].at : NULL;
		int rc = 0;

		if (strcmp(of, "series") != 0 && strcmp(of, "label") != 0 && !(at && point_coordinate(at, of)) &&
		    !experiment_has_derived(experiment, of))
			rc = quantity_parse(&request, of, err);
		if (rc == 0)
			rc = experiment_add_column(experiment, of, heading, err);
		free(of);
		free(heading);
		if (rc < 0)
			return xml_error_at(c, err);
	}
	return 0;
}

static int
show_table(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *table,
	   struct rot_error *err)
{
	char *title = xml_attribute(table, "title", ""), *condition = xml_attribute(table, "if", "");
	char *best = xml_attribute(table, "best", "");
	int rc = xml_check_condition(controller, condition, "if", table, err);

	if (rc == 0 && experiment_add_table(experiment, title, condition, best, err) < 0)
		rc = xml_error_at(table, err);
	free(title);
	free(condition);
	free(best);
	return rc < 0 ? -1 : show_columns(controller, experiment, table, err);
}

/* Names of quantities at the point, and where its series ends. */
static int
show_point(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *point,
	   struct rot_error *err)
{
	char *until = xml_attribute(point, "until", "");
	int rc = xml_check_condition(controller, until, "until", point, err);

	free(until);
	return rc < 0 ? -1 : show_names(experiment, xml_child(point, "quantity"), false, err);
}

static int
show_accuracy(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	      struct rot_error *err)
{
	struct experiment_accuracy accuracy = {.title = NULL};
	struct reading reading = {.nr_owned = 0};
	const struct point *at = controller->nr_planned ? controller->planned[0].at : NULL;
	int rc = xml_show_view(controller, &accuracy.view, element, err);

	accuracy.title = own(&reading, xml_attribute(element, "title", ""));
	accuracy.of = own(&reading, xml_attribute(element, "of", ""));
	accuracy.by = own(&reading, xml_attribute(element, "by", ""));
	accuracy.condition = own(&reading, xml_attribute(element, "if", ""));
	if (rc == 0)
		rc = xml_check_condition(controller, accuracy.condition, "if", element, err);
	if (rc == 0 && accuracy.by[0] && at && !point_coordinate(at, accuracy.by)) {
		rot_error_set(err, 0, "<accuracy by=\"%s\">: no axis is called that", accuracy.by);
		rc = xml_error_at(element, err);
	}
	if (rc == 0 && experiment_add_accuracy(experiment, &accuracy, err) < 0)
		rc = xml_error_at(element, err);
	reading_clear(&reading);
	return rc;
}

/* Of points with regions, series begin with that of the point. */
static int
check_series(const struct xml_controller *controller, const char *series, const xmlNode *element, struct rot_error *err)
{
	const char **names = rot_calloc(controller->nr_planned + 1, sizeof(*names));
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
	free(names);
	return is_there ? 0 : -1;
}

static int
show_look(const struct xml_controller *controller, struct experiment *experiment, const xmlNode *element,
	  struct rot_error *err)
{
	struct reading reading = {.nr_owned = 0};
	struct experiment_look look = {.series = own(&reading, xml_attribute(element, "series", "")),
				       .colour = own(&reading, xml_attribute(element, "colour", "")),
				       .marker = own(&reading, xml_attribute(element, "marker", ""))};
	int rc = xml_evaluated_number(element, "order", 0, controller->constants, &look.order, err);

	if (rc == 0)
		rc = check_series(controller, look.series, element, err);
	if (rc == 0 && experiment_add_look(experiment, &look, err) < 0) {
		rot_error_prefix(err, "<look>");
		rc = xml_error_at(element, err);
	}
	reading_clear(&reading);
	return rc;
}

/* ---- derived values ---- */

/* Of the attributes that say what it is, the one that is there. */
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
	struct reading reading = {.nr_owned = 0};
	int rc;

	derived.name = own(&reading, xml_attribute(element, "name", ""));
	derived.text = own(&reading, xml_attribute(element, kind_of_derived(element, &derived.kind), ""));
	derived.unit = own(&reading, xml_attribute(element, "unit", ""));
	derived.condition = own(&reading, xml_attribute(element, "if", ""));
	derived.border = own(&reading, xml_attribute(element, "border", ""));
	derived.instruction_set = own(&reading, xml_attribute(element, "instructionSet", ""));
	derived.operation = own(&reading, xml_attribute(element, "operation", ""));
	derived.clock = own(&reading, xml_attribute(element, "clock", ""));
	derived.base = own(&reading, xml_attribute(element, "base", ""));
	rc = xml_evaluated_number(element, "otherwise", NAN, controller->constants, &derived.otherwise, err);
	if (rc == 0)
		rc = xml_check_derived(controller, i, &derived, err);
	if (rc == 0)
		experiment_add_derived(experiment, &derived);
	reading_clear(&reading);
	return rc;
}

static void
show_choices(const struct xml_controller *controller, struct experiment *experiment)
{
	for (size_t i = 0; i < controller->nr_choices; i++) {
		const struct planned_choice *choice = &controller->choices[i];

		if (choice->text[0])
			experiment_add_choice(experiment, choice->name, choice->value, choice->text,
					      choice->candidates);
	}
}

int
xml_show(struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	show_choices(controller, experiment);
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
