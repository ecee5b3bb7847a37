/* SPDX-License-Identifier: MIT */
/* What a point of a plot is, for who points at it: which point, its values, where they are from, the roof above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_drawing.h"
#include "memory.h"
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
	if (strcmp(value->kind, "measured") == 0 && drawing_is_by_blocks(value))
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

/* "51 % of the roof of 2 threads at this intensity (memory load): bound by bandwidth (99 % sure)" */
static void
add_bound(char **text, const struct experiment_bound *bound)
{
	char *threads = bound->nr_threads > 1 ? rot_format(" of %d threads", bound->nr_threads) : rot_strdup("");
	char *verdict = bound->share < VERDICT_FAR_BELOW ? rot_strdup("bound by neither bandwidth nor computing")
			: bound->is_bandwidth ? verdict_text("bound by bandwidth", "by computing", bound->probability)
					      : verdict_text("bound by computing", "by bandwidth", bound->probability);
	char *percent = digits_text(100 * bound->share, 3);

	add_line(text, rot_format("%s %% of the roof%s at this intensity (%s): %s", percent, threads, bound->ceiling,
				  verdict));
	free(percent);
	free(threads);
	free(verdict);
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
	if (d->page && d->own->plot.kind == EXPERIMENT_ROOFLINE) {
		struct experiment_bound bound = experiment_bound_of(d->experiment, d->own, point);

		if (bound.ceiling)
			add_bound(&text, &bound);
		experiment_bound_clear(&bound);
	}
	return text;
}
