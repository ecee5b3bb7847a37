/* SPDX-License-Identifier: MIT */
/* What a point of a plot is, for who points at it: which point, its values, where they are from, the roof above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_drawing.h"
#include "memory.h"
#include "plots/roofline_shape.h"
#include "quantities/value_text.h"
#include "support/point_title.h"

/* Appends a line; takes it over. */
static void
add_line(char **text, char *line)
{
	char *longer = rot_format("%s%s%s", *text, (*text)[0] && line[0] ? "\n" : "", line);

	free(*text);
	free(line);
	*text = longer;
}

/* "Triad 10000", and the axes that the label does not say. */
static void
add_name(char **text, const struct experiment_point *point)
{
	add_line(text, point_title(point->series, ", ", point->label));
	for (size_t i = 0; i < point->at.nr_coordinates; i++) {
		const struct coordinate *c = &point->at.coordinates[i];

		if (strcmp(c->text, point->label) != 0 && strcmp(c->text, point->series) != 0)
			add_line(text, rot_format("%s: %s", c->axis, c->text));
	}
}

/* "measured", "counted by blocks", "modelled", "expected", "given". */
static const char *
kind_in_words(const struct quantity_value *value)
{
	if (strcmp(value->kind, "measured") == 0 && drawing_is_stepped(value))
		return "counted by blocks";
	return value->kind;
}

static void
add_value(char **text, const struct quantity_value *value)
{
	char *name = camel_case_words(value->name), *of = value_of_words(value), *number = value_text(value),
	     *estimator = camel_case_words(value->summary.estimator ? value->summary.estimator : "");

	add_line(text, rot_format("%s%s%s%s: %s %s", name, *of ? " (" : "", of, *of ? ")" : "", number,
				  shown_unit(value->unit).shown));
	if (value->summary.n > 1)
		add_line(text, rot_format("  %s of n = %zu%s", estimator, value->summary.n,
					  value->summary.tainted ? ", without disturbed runs" : ""));
	add_line(text, rot_format("  %s%s%s%s%s", kind_in_words(value), value->source[0] ? ": " : "", value->source,
				  value->grade[0] ? ", grade " : "", value->grade));
	free(name);
	free(of);
	free(number);
	free(estimator);
}

char *
drawing_about_point(const struct drawing *d, const struct experiment_point *point)
{
	const struct quantity_request *requests[] = {&d->own->y, &d->own->x};
	char *text = rot_strdup("");

	add_name(&text, point);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const struct quantity_value *value =
			requests[i]->name ? experiment_point_value(point, requests[i]) : NULL;

		if (value)
			add_value(&text, value);
	}
	return text;
}

void
drawing_tell_bounds(struct drawing *d, const struct roofline_plot *plot)
{
	for (size_t s = 0; s < d->nr_series; s++)
		for (size_t i = 0; i < d->series[s].nr_points; i++) {
			struct plot_point *point = &d->points[s][i];
			const struct roofline_bound bound = roofline_bound_of(plot, point);
			char *text = (char *)point->about, *verdict, *threads;

			if (!text || !bound.is_known || d->experiment->nr_stored_machines > 1 ||
			    !isfinite(point->y.value))
				continue;
			verdict = bound.ceiling->is_bandwidth
					  ? verdict_text("bound by bandwidth", "by computing", bound.probability)
					  : verdict_text("bound by computing", "by bandwidth", bound.probability);
			threads = bound.ceiling->nr_threads > 1
					  ? rot_format(" of %d threads", bound.ceiling->nr_threads)
					  : rot_strdup("");
			add_line(&text, rot_format("%.3g %% of the roof%s at this intensity (%s): %s",
						   100 * point->y.value / bound.performance, threads,
						   bound.ceiling->name, verdict));
			free(threads);
			free(verdict);
			point->about = text;
		}
}
