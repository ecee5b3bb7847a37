/* SPDX-License-Identifier: MIT */
/* From the plan of an XML controller to an experiment. For xml_*.c only. */
#ifndef CONTROLLERS_XML_RUN_INTERNAL_H
#define CONTROLLERS_XML_RUN_INTERNAL_H

#include "experiment/experiment.h"
#include "planning/xml_plan.h"

/*
 * xml_points.c: measures the points into the experiment. Interrupted: those that are there, maybe with fewer runs. A
 * point that fails for a reason of its own becomes a failure of the experiment, and the others are measured; it is an
 * error where it is the only one, none could be measured, or with the key stopOnError.
 */
int xml_points_measure(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err);

/* xml_show.c: what the experiment shows: plots, columns and names; every text is tried on made-up values. */
int xml_show(struct xml_controller *controller, struct experiment *experiment, struct rot_error *err);

/*
 * xml_check.c: errors that would come after measuring, found before: of an x of a plot that is no roofline (a quantity,
 * a derived value, or an axis with numbers at every point); of the texts at points and the annotation of a plot; of a
 * condition that an attribute says (what: how it is called); and of the i-th element, a derived value of what was
 * derived before it.
 */
int xml_check_x(const struct xml_controller *controller, const struct experiment *experiment, const char *x,
		const xmlNode *element, struct rot_error *err);
int xml_check_texts(const struct xml_controller *controller, const struct experiment_plot *plot, const xmlNode *element,
		    struct rot_error *err);
int xml_check_condition(const struct xml_controller *controller, const char *condition, const char *what,
			const xmlNode *element, struct rot_error *err);
int xml_check_derived(const struct xml_controller *controller, size_t i, const struct experiment_derived *derived,
		      struct rot_error *err);

/* xml_show_runs.c: relativeTo and minimumOf; then what a plot shows of runs, and whether that, and having an x, fits
 * its type. */
int xml_show_view(const struct xml_controller *controller, struct sample_view *view, const xmlNode *element,
		  struct rot_error *err);
int xml_show_runs(const struct xml_controller *controller, struct experiment_plot *plot, const xmlNode *element,
		  struct rot_error *err);

/* xml_show_lines.c: each <curve>, <marker> and <cacheMarkers> of the element of the plot that was added last, which is
 * plot. */
int xml_show_lines(const struct xml_controller *controller, struct experiment *experiment,
		   const struct experiment_plot *plot, const xmlNode *element, struct rot_error *err);

#endif
