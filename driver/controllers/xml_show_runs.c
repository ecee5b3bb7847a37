/* SPDX-License-Identifier: MIT */
/* What plots and tables of accuracy see of runs. */
#include <math.h>

#include "configuration/configuration.h"
#include "controllers/xml_run_internal.h"

int
xml_show_view(const struct xml_controller *controller, struct sample_view *view, const xmlNode *element,
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

static int
check_has_x(const struct experiment_plot *plot, const xmlNode *element, struct rot_error *err)
{
	const bool has_x = xmlHasProp(element, (const xmlChar *)"x") != NULL;

	if (has_x && plot->kind > EXPERIMENT_SERIES)
		return refuse_plot(element, "histogram, runs and threads have no x", err);
	if (!has_x && plot->kind <= EXPERIMENT_SERIES)
		return refuse_plot(element, "roofline, distribution and series lack an x", err);
	return 0;
}

int
xml_show_runs(const struct xml_controller *controller, struct experiment_plot *plot, const xmlNode *element,
	      struct rot_error *err)
{
	const bool wants_ratio =
		xml_attribute_is(element, "show", "ratio") || xml_attribute_is(element, "show", "error");

	if (check_has_x(plot, element, err) < 0 || xml_show_view(controller, &plot->view, element, err) < 0)
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
