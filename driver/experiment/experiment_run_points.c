/* SPDX-License-Identifier: MIT */
/* Points of plots that show runs one by one, or how many there are of each value. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "quantities/value_text.h"
#include "statistics/series.h"

#define NR_STEPS 20

double
experiment_view_factor(const struct sample_view *view, const struct quantity_value *value)
{
	if (view->reference != SAMPLES_ALONE)
		return view->is_error ? 100 : 1;
	return value->unit ? shown_unit(value->unit).factor : 1;
}

static struct plot_point
point_at(double x, double y)
{
	return (struct plot_point){
		.x = summary_single(x, "run"), .y = summary_single(y, "run"), .label = rot_strdup(""), .size = NAN};
}

/* In their order, counted from 1. */
static size_t
points_of_runs(const double *seen, size_t nr, struct plot_point *points)
{
	for (size_t i = 0; i < nr; i++)
		points[i] = point_at((double)(i + 1), seen[i]);
	return nr;
}

/* Of values that are all the same: this share of them, so that their step can be seen. */
#define NARROW_STEP 0.001

/*
 * Steps of the same width from the least to the highest, and an empty one at either end, so that the line begins and
 * ends at 0. Of values that are all the same one step.
 */
static size_t
points_of_steps(const double *seen, size_t nr, struct plot_point *points)
{
	const struct summary summary = summary_median(seen, nr);
	const bool is_one = summary.minimum == summary.maximum;
	const double width = !is_one              ? (summary.maximum - summary.minimum) / NR_STEPS
			     : summary.value != 0 ? NARROW_STEP * fabs(summary.value)
						  : NARROW_STEP;
	const double low = is_one ? summary.minimum - width / 2 : summary.minimum;
	const size_t nr_steps = is_one ? 1 : NR_STEPS;
	size_t counts[NR_STEPS + 2] = {0};

	for (size_t i = 0; i < nr; i++) {
		const size_t step = (size_t)((seen[i] - low) / width);

		counts[1 + (step < nr_steps ? step : nr_steps - 1)]++;
	}
	for (size_t i = 0; nr > 0 && i < nr_steps + 2; i++)
		points[i] = point_at(low + ((double)i - 0.5) * width, (double)counts[i]);
	return nr > 0 ? nr_steps + 2 : 0;
}

/* What a thread gave, as the view sees it; share: what is expected of a thread, or 1. */
static double
seen_of_thread(const struct sample_view *view, double value, double share)
{
	return view->is_error ? series_error(value, share) : value / share;
}

/* Of each run that counts, what the first two workloads gave, a thread's share being expected. */
static size_t
points_of_threads(const struct sample_view *view, const struct quantity_value *value, struct plot_point *points)
{
	const double *first = value->thread_samples, *second = first ? first + value->nr_samples : NULL;
	const double share = view->reference == SAMPLES_TO_EXPECTED ? value->expected / (double)value->nr_threads : 1;
	const double factor = experiment_view_factor(view, value);
	size_t nr = 0;

	for (size_t i = 0; value->nr_threads > 1 && i < value->nr_samples; i++)
		if (quantity_keeps_run(value, i))
			points[nr++] = point_at(factor * seen_of_thread(view, first[i], share),
						factor * seen_of_thread(view, second[i], share));
	return nr;
}

size_t
experiment_run_points(const struct experiment_plot *plot, const struct quantity_value *value,
		      struct plot_point **points)
{
	const size_t most = value->nr_samples > NR_STEPS + 2 ? value->nr_samples : NR_STEPS + 2;
	size_t nr;
	double *seen = sample_view_of(&plot->view, value, &nr);

	*points = rot_calloc(most, sizeof(**points));
	for (size_t i = 0; i < nr; i++)
		seen[i] *= experiment_view_factor(&plot->view, value);
	if (plot->kind == EXPERIMENT_THREADS)
		nr = nr ? points_of_threads(&plot->view, value, *points) : 0;
	else if (plot->kind == EXPERIMENT_RUNS)
		nr = points_of_runs(seen, nr, *points);
	else
		nr = points_of_steps(seen, nr, *points);
	free(seen);
	return nr;
}
