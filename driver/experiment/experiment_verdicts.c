/* SPDX-License-Identifier: MIT */
/* What bounds each series of the first roofline, and how near it comes to that: a line below the tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "support/entry.h"

/* Points of a series that one ceiling bounds. */
struct bounded {
	const struct peak *ceiling;
	size_t nr;
	double low, high; /* shares of the roof */
};

static const struct experiment_own_plot *
first_roofline(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++)
		if (experiment->plots[i].plot.kind == EXPERIMENT_ROOFLINE)
			return &experiment->plots[i];
	return NULL;
}

struct experiment_bound
experiment_bound_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
		    const struct experiment_point *point)
{
	struct experiment_bound bound = {.share = NAN};
	const struct quantity_value *x = plot ? experiment_point_value(point, &plot->x) : NULL,
				    *y = plot ? experiment_point_value(point, &plot->y) : NULL;
	const struct peak *bandwidth, *peak;
	struct summary top, slope, ridge;
	const char *clock;
	double low, level;

	if (!x || !y || !(x->summary.value > 0) || !(y->summary.value > 0) || !isfinite(x->summary.value) ||
	    !plot->x.border || !(point->nr_cpus > 0))
		return bound;
	bound.nr_threads = experiment_roof_threads(experiment, point->nr_cpus);
	bandwidth = experiment_highest_peak(experiment, NULL, plot->x.border, bound.nr_threads);
	peak = experiment_highest_peak(experiment, plot->y.operation, NULL, bound.nr_threads);
	if (!bandwidth || !peak)
		return bound;
	clock = experiment_clock_shown(experiment);
	low = experiment_peak_line(bandwidth, clock) * x->summary.value;
	level = experiment_peak_line(peak, clock);
	bound.ceiling = low < level ? bandwidth : peak;
	bound.share = y->summary.value / fmin(low, level);
	top = experiment_roof_value(experiment, plot->y.operation, NULL, bound.nr_threads);
	slope = experiment_roof_value(experiment, NULL, plot->x.border, bound.nr_threads);
	ridge = summary_quotient(&top, &slope);
	bound.memory_bound = summary_probability_below(&x->summary, &ridge);
	return bound;
}

double
experiment_roof_share(const struct experiment *experiment, const struct experiment_point *point,
		      const struct peak **ceiling)
{
	const struct experiment_bound bound = experiment_bound_of(experiment, first_roofline(experiment), point);

	*ceiling = bound.ceiling;
	return bound.share;
}

/* Adds the point to the others of its ceiling. */
static void
judge(struct bounded bounded[2], const struct experiment *experiment, const struct experiment_point *point)
{
	const struct peak *ceiling = NULL;
	const double share = experiment_roof_share(experiment, point, &ceiling);
	struct bounded *of = &bounded[ceiling && ceiling->kind == PEAK_PERFORMANCE];

	if (isnan(share))
		return;
	of->ceiling = ceiling;
	of->low = of->nr ? fmin(of->low, share) : share;
	of->high = of->nr ? fmax(of->high, share) : share;
	of->nr++;
}

/* "0.8", "51 to 56"; both in percent. */
static char *
shares_text(double low, double high)
{
	char *from = rot_format("%.*f", low < 10, low), *to = rot_format("%.*f", high < 10, high), *text;

	text = strcmp(from, to) == 0 ? rot_strdup(from) : rot_format("%s to %s", from, to);
	free(from);
	free(to);
	return text;
}

static void
print(const char *series, const struct bounded bounded[2], FILE *out)
{
	const size_t nr = bounded[0].nr + bounded[1].nr;

	for (int i = 0; i < 2; i++) {
		const struct bounded *of = &bounded[i];
		char *points, *shares, *name, *text;

		if (of->nr == 0)
			continue;
		points = of->nr == nr ? rot_strdup("") : rot_format(", %zu of %zu points", of->nr, nr);
		shares = shares_text(100 * of->low, 100 * of->high);
		name = experiment_peak_name(of->ceiling);
		text = rot_format("%s: at %s %% of its roof, %s (%d thread%s)%s\n", series, shares, name,
				  of->ceiling->nr_threads, of->ceiling->nr_threads == 1 ? "" : "s", points);
		text_print_fitting(text, out);
		free(text);
		free(points);
		free(shares);
		free(name);
	}
}

/* Under the roof of as many threads. */
static bool
are_together(const struct experiment *experiment, const struct experiment_point *a, const struct experiment_point *b)
{
	return strcmp(a->series, b->series) == 0 &&
	       experiment_roof_threads(experiment, a->nr_cpus) == experiment_roof_threads(experiment, b->nr_cpus);
}

static bool
is_first(const struct experiment *experiment, size_t point)
{
	for (size_t i = 0; i < point; i++)
		if (are_together(experiment, &experiment->points[i], &experiment->points[point]))
			return false;
	return true;
}

void
experiment_print_verdicts(const struct experiment *experiment, FILE *out)
{
	for (size_t i = 0; i < experiment->nr_points; i++) {
		struct bounded bounded[2] = {{0}};

		if (!is_first(experiment, i))
			continue;
		for (size_t k = i; k < experiment->nr_points; k++)
			if (are_together(experiment, &experiment->points[i], &experiment->points[k]))
				judge(bounded, experiment, &experiment->points[k]);
		print(experiment->points[i].series, bounded, out);
	}
}
